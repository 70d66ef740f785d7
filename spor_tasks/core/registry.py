"""Benchmarks, corpora, metrics and objectives by name, so that the library need not import them.

An entry is a line of `spor_tasks/registry.toml`, or an entry point of an installed package in the
group ``spor_tasks.<kind>``. Its object is imported on first use.
"""

import logging
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata, resources
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError, SporError, advice, line
from spor_tasks.core.foreign import Foreign, guarded, in_words

_log = logging.getLogger(__name__)

PartKind: TypeAlias = Literal["benchmark", "corpus", "metric", "objective"]


class Entry(NamedTuple):
    """A name and its object, as ``module:attribute``; ``package`` is another one that has it."""

    kind: PartKind
    name: str
    target: str
    package: str | None = None

    def __str__(self) -> str:
        of = f" of the package {self.package}" if self.package else ""
        return f"the {self.kind} {self.name!r} ({self.target}){of}"


_PARTS: Mapping[PartKind, tuple[str, ...]] = {
    "benchmark": ("title", "source", "groups", "sets", "find", "load", "tables", "captions"),
    "corpus": ("parts", "linearize"),
    "metric": ("scores", "signature", "judge"),
    "objective": ("pairs", "loss", "steps", "step"),
}
# What commands about other entries call too.
_USES: Mapping[PartKind, Callable[[Any], object]] = {
    "benchmark": lambda found: ({**found.groups}, min(spec.task for spec in found.sets())),
    "metric": lambda found: {info.name: info.of_some for info in found.scores},
}


class Registry:
    """Entries by kind and name; the object of each is imported when it is requested.

    An entry of another package that cannot be used, or whose name is taken, is left out with a
    warning.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        corrected: Mapping[str, str] = MappingProxyType({}),
        scores: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self._corrected = corrected
        self.scores = scores
        """The scores of metrics, as far as they are declared."""
        self._entries: dict[tuple[PartKind, str], Entry] = {}
        for entry in entries:
            first = self._entries.setdefault((entry.kind, entry.name), entry)
            if entry.target != first.target:
                _leave_out(entry, f"{first.target} has its name")

    def names(self, kind: PartKind) -> tuple[str, ...]:
        """Return the names of a kind, those of this package first."""
        entries = (entry for entry in self._entries.values() if entry.kind == kind)
        return tuple(entry.name for entry in entries if _is_usable(entry))

    def correcting(self, metric: str) -> tuple[str, ...]:
        """Return the metrics that may correct a score of this one, without importing more.

        They are those that the registry declares so, and all metrics of other packages.
        """
        others = (each for each in self._entries.values() if each.kind == "metric" and each.package)
        found = [self._corrected[metric]] if metric in self._corrected else []
        return (*found, *(entry.name for entry in others if _is_usable(entry)))

    def scoring(self, scores: Collection[str]) -> tuple[str, ...]:
        """Return the metrics that may have one of these scores, without importing more.

        They are those that the registry declares so, and all whose scores it does not declare.
        """
        wanted = set(scores)
        metrics = (name for kind, name in self._entries if kind == "metric")
        found = [name for name in metrics if not wanted.isdisjoint(self.scores.get(name, wanted))]
        return tuple(name for name in found if _is_usable(self._entries["metric", name]))

    def get(self, kind: PartKind, name: str) -> Any:
        """Return the object with this name.

        Raises:
            ConfigError: the name is not registered, or its object cannot be imported.
        """
        entry = self._entries.get((kind, name))
        if entry is None or not _is_usable(entry):
            raise ConfigError(f"there is no {kind} {name!r}", remedy=advice(name, self.names(kind)))
        return _object(entry)


@cache  # one warning of each
def _is_usable(entry: Entry) -> bool:
    """Import an entry of another package; warn and return false if it cannot be used."""
    if entry.package is None:
        return True
    try:
        found, fault = _object(entry), ""
        for part in _PARTS[entry.kind]:
            getattr(found, part)
        if isinstance(found, type) != (entry.kind == "objective"):
            fault = "an objective is a class, and every other entry an object"
        else:
            with guarded(str(entry)):
                _USES.get(entry.kind, bool)(found)
    except SporError as error:
        fault = error.what
    except AttributeError as error:  # a part is missing
        fault = in_words(error)
    if fault:
        _leave_out(entry, fault)
    return not fault


def _leave_out(entry: Entry, why: str) -> None:
    _log.warning("%s", line(f"{entry} is left out: {why}"))


@cache  # each prompt needs the corpus of its sample
def _object(entry: Entry) -> Any:
    """Return the object of an entry; what another package's does is guarded.

    Raises:
        ConfigError: it cannot be imported.
    """
    with guarded(str(entry)):
        found = resolve_name(entry.target)
    return found if entry.package is None else Foreign(found, str(entry))


@cache
def registry() -> Registry:
    """Return the entries of this package and of installed ones, without those of training."""
    text = resources.files("spor_tasks").joinpath("registry.toml").read_text("utf-8")
    declared: Any = tomllib.loads(text)
    corrected, scores = declared.pop("corrected"), declared.pop("scores")
    own = (Entry(kind, *item) for kind, targets in declared.items() for item in targets.items())
    return Registry([*own, *installed("benchmark", "corpus", "metric")], corrected, scores)


def installed(*kinds: PartKind) -> Iterator[Entry]:
    """Yield the entries of other packages: their entry points of the groups ``spor_tasks.KIND``."""
    found: list[Any] = []
    try:
        found.append(metadata.entry_points())  # reads a file of every package
    except Exception:  # noqa: BLE001 - one damaged package hides all
        for package in metadata.distributions():
            try:
                found.append(package.entry_points)
            except Exception as error:  # noqa: BLE001 - whatever its files hold
                _log.warning("%s", line(f"entry points of a package: {in_words(error)}"))
    for kind in kinds:
        for point in (each for of in found for each in of.select(group=f"spor_tasks.{kind}")):
            yield Entry(kind, point.name, point.value, point.dist.name if point.dist else "unknown")
