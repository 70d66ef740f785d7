"""Benchmarks, corpora, metrics and objectives by name, so that the library need not import them.

An entry is a line of `spor_tasks/registry.toml`, or an entry point of an installed package in the
group ``spor_tasks.<kind>``. Its object is imported on first use.
"""

import logging
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata, resources
from pkgutil import resolve_name
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError, advice

_log = logging.getLogger(__name__)

Kind: TypeAlias = Literal["benchmark", "corpus", "metric", "objective"]


class Entry(NamedTuple):
    """A name and its object, as ``module:attribute``; ``package`` is another one that has it."""

    kind: Kind
    name: str
    target: str
    package: str | None = None


_PARTS: Mapping[Kind, tuple[str, ...]] = {
    "benchmark": ("title", "groups", "sets", "find", "load", "grids", "overall", "published"),
    "corpus": ("parts", "linearize"),
    "metric": ("scores", "signature", "judge"),
    "objective": ("pairs", "loss", "steps", "step"),
}


class Registry:
    """Entries by kind and name; the object of each is imported when it is requested.

    An entry of another package that cannot be used, or whose name is taken, is left out with a
    warning.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries: dict[tuple[Kind, str], Entry] = {}
        for entry in entries:
            first = self._entries.setdefault((entry.kind, entry.name), entry)
            if entry.target != first.target:
                _leave_out(entry, f"{first.target} has its name")

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of a kind, those of this package first."""
        entries = (entry for entry in self._entries.values() if entry.kind == kind)
        return tuple(entry.name for entry in entries if _is_usable(entry))

    def get(self, kind: Kind, name: str) -> Any:  # noqa: ANN401 - each kind has its own contract
        """Return the object with this name.

        Raises:
            ConfigError: the name is not registered, or its object cannot be imported.
        """
        entry = self._entries.get((kind, name))
        if entry is None or not _is_usable(entry):
            raise ConfigError(f"there is no {kind} {name!r}", remedy=advice(name, self.names(kind)))
        try:
            return _resolved(entry.target)
        except (ImportError, AttributeError, ValueError) as error:
            where = f"{kind} {name!r} ({entry.target})"
            raise ConfigError(f"cannot be imported: {error}", where=where) from error


@cache  # one warning of each
def _is_usable(entry: Entry) -> bool:
    """Import an entry of another package; warn and return false if it cannot be used."""
    if entry.package is None:
        return True
    fault = None
    try:
        found = _resolved(entry.target)
        for part in _PARTS[entry.kind]:
            getattr(found, part)
        if isinstance(found, type) != (entry.kind == "objective"):
            fault = "an objective is a class, and every other entry an object"
    except Exception as error:  # noqa: BLE001 - whatever somebody's module does
        fault = f"{type(error).__name__}: {error}"
    if fault:
        _leave_out(entry, fault)
    return not fault


def _leave_out(entry: Entry, why: str) -> None:
    text = "the %s %r (%s) of the package %s is left out: %s"
    _log.warning(text, entry.kind, entry.name, entry.target, entry.package, why)


_resolved = cache(resolve_name)  # each prompt needs the corpus of its sample


@cache
def registry() -> Registry:
    """Return the entries of this package and of installed ones, without those of training."""
    text = resources.files("spor_tasks").joinpath("registry.toml").read_text("utf-8")
    declared: Any = tomllib.loads(text)
    own = (Entry(kind, *item) for kind, targets in declared.items() for item in targets.items())
    return Registry([*own, *installed("benchmark", "corpus", "metric")])


def installed(*kinds: Kind) -> Iterator[Entry]:
    """Yield the entries of other packages: their entry points of the groups ``spor_tasks.KIND``."""
    points = metadata.entry_points()
    for kind in kinds:
        for point in points.select(group=f"spor_tasks.{kind}"):
            yield Entry(kind, point.name, point.value, point.dist.name if point.dist else "unknown")
