"""Sets by name (aspect, corpus, protocol and part), from all registered benchmarks."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from spor_tasks.core.contracts import SetName, Sets, SetSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SplitPair


def benchmarks() -> tuple[Sets, ...]:
    """Return all registered benchmarks, those of this package first.

    Raises:
        ConfigError: one cannot be imported, or lacks an attribute of the contract.
    """
    return tuple(registry().get("benchmark", name) for name in registry().names("benchmark"))


@cache
def available() -> tuple[SetSpec, ...]:
    """Return all shipped sets; the first of an aspect and corpus is the default."""
    return tuple(spec for benchmark in benchmarks() for spec in benchmark.sets())


def find(aspect: str, corpus: str, protocol: str | None = None, part: str | None = None) -> SetSpec:
    """Return the declaration of shipped sets.

    ``protocol`` defaults to ``published`` if there are such sets, and ``part`` to the first.

    Raises:
        SplitError: there are no such sets; the error lists all sets.
    """
    for spec in available():
        if (
            spec.name[:2] == (aspect, corpus)
            and protocol in (None, spec.name.protocol)
            and part in (None, spec.name.part)
        ):
            return spec
    asked = " ".join(filter(None, [aspect, corpus, protocol, part]))
    raise SplitError(
        f"there is no split {asked!r}",
        remedy=f"There are {', '.join(str(spec.name) for spec in available())}.",
    )


def load(
    aspect: str, corpus: str, protocol: str | None = None, part: str | None = None
) -> SplitPair:
    """Return shipped sets as :func:`find` finds them; equal calls return the same object.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    spec = find(aspect, corpus, protocol, part)
    sets: Sets = registry().get("benchmark", spec.benchmark)
    return sets.load(spec.name)


def recipe(spec: SetSpec) -> Mapping[str, Any] | None:
    """Return settings and ``seed`` of the search that found shipped sets, None without one."""
    sets: Sets = registry().get("benchmark", spec.benchmark)
    return sets.recipe(spec.name)


def arms_of(name: SetName) -> tuple[str, ...]:
    """Return the training arms of shipped sets."""
    return find(*name).arms


def place_of(benchmark: str, aspect: str) -> tuple[int, int]:
    """Return where an aspect stands among those of all benchmarks."""
    sets: Sets = registry().get("benchmark", benchmark)
    return registry().names("benchmark").index(benchmark), list(sets.groups).index(aspect)


def group_title(spec: SetSpec) -> str:
    """Return the title of the aspect that sets are about."""
    sets: Sets = registry().get("benchmark", spec.benchmark)
    return sets.groups[spec.name.aspect]
