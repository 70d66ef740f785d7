"""Benchmarks, corpora, metrics and objectives by name, so that the library need not import them.

An entry is a line of `spor_tasks/registry.toml`, or an entry point of an installed package in the
group ``spor_tasks.<kind>``. Its object is imported on first use.
"""

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata, resources
from pkgutil import resolve_name
from typing import Any, Literal, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError, advice

Kind: TypeAlias = Literal["benchmark", "corpus", "metric", "objective"]


class Entry(NamedTuple):
    """A name and its object, as ``module:attribute``."""

    kind: Kind
    name: str
    target: str


class Registry:
    """Entries by kind and name; the object of each is imported when it is requested.

    Raises:
        ConfigError: two entries of a kind have one name.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._targets: dict[tuple[Kind, str], str] = {}
        for kind, name, target in entries:
            first = self._targets.setdefault((kind, name), target)
            if target != first:
                raise ConfigError(
                    f"two entries have the name {name!r}: {first} and {target}",
                    where=f"registry of {kind} entries",
                    remedy="Rename one of them, or uninstall the package that it comes from.",
                )

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of a kind, those of this package first."""
        return tuple(name for entry_kind, name in self._targets if entry_kind == kind)

    def get(self, kind: Kind, name: str) -> Any:  # noqa: ANN401 - each kind has its own contract
        """Return the object with this name.

        Raises:
            ConfigError: the name is not registered, or its object cannot be imported.
        """
        if (kind, name) not in self._targets:
            raise ConfigError(f"there is no {kind} {name!r}", remedy=advice(name, self.names(kind)))
        target = self._targets[kind, name]
        try:
            return _resolved(target)
        except (ImportError, AttributeError, ValueError) as error:
            where = f"{kind} {name!r} ({target})"
            raise ConfigError(f"cannot be imported: {error}", where=where) from error


_resolved = cache(resolve_name)  # each prompt needs the corpus of its sample


@cache
def registry() -> Registry:
    """Return the entries of this package and of installed ones, without those of training.

    Raises:
        ConfigError: two entries of a kind have one name.
    """
    text = resources.files("spor_tasks").joinpath("registry.toml").read_text("utf-8")
    declared: Any = tomllib.loads(text)
    own = (Entry(kind, *item) for kind, targets in declared.items() for item in targets.items())
    return Registry([*own, *installed("benchmark", "corpus", "metric")])


def installed(*kinds: Kind) -> Iterator[Entry]:
    """Yield the entries of other packages: their entry points of the groups ``spor_tasks.KIND``."""
    points = metadata.entry_points()
    for kind in kinds:
        for point in points.select(group=f"spor_tasks.{kind}"):
            yield Entry(kind, point.name, point.value)
