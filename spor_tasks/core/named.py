"""Sets by name (aspect, corpus, protocol and part), from all registered benchmarks."""

from collections.abc import Iterable
from functools import cache

from spor_tasks.core.contracts import Benchmark, TaskSpec
from spor_tasks.core.errors import SplitError, advice
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sets
from spor_tasks.core.words import joined


def benchmarks() -> tuple[Benchmark, ...]:
    """Return all registered benchmarks, those of this package first.

    Raises:
        ConfigError: one cannot be imported, or lacks an attribute of the contract.
    """
    return tuple(map(benchmark, registry().names("benchmark")))


@cache
def available() -> tuple[TaskSpec, ...]:
    """Return all shipped sets; the first of an aspect and corpus is the default."""
    return tuple(spec for benchmark in benchmarks() for spec in benchmark.sets())


def find(
    aspect: str, corpus: str, protocol: str | None = None, part: str | None = None
) -> TaskSpec:
    """Return the declaration of shipped sets.

    ``protocol`` defaults to ``published`` if there are such sets, and ``part`` to the first. A
    benchmark without aspects may know more sets than it ships, such as those in a file of the
    user's.

    Raises:
        SplitError: there are no such sets; the error lists those of the corpus, or all, of the
            benchmark that has the aspect.
        CorpusError: the file of such sets is missing or malformed.
    """
    for spec in available():
        sets = spec.sets
        if (
            (sets.aspect, sets.corpus) == (aspect, corpus)
            and protocol in (None, sets.protocol)
            and part in (None, sets.part)
        ):
            return spec
    if protocol and aspect in registry().names("benchmark"):
        return benchmark(aspect).find(aspect, corpus, protocol, part)
    name = joined(" ", aspect, corpus, protocol, part)
    asking = {spec.benchmark for spec in available() if spec.sets.aspect == aspect}
    specs = [spec for spec in available() if spec.benchmark in asking or not asking]
    raise no_sets(name, [spec for spec in specs if spec.sets.corpus == corpus] or specs)


def no_sets(name: object, known: Iterable[TaskSpec]) -> SplitError:
    """Return the error that no sets have a name; these are known."""
    remedy = advice(name, (spec.sets for spec in known), "`spor tasks list` shows all.")
    return SplitError(f"there is no split {str(name)!r}", remedy=remedy)


def load(aspect: str, corpus: str, protocol: str | None = None, part: str | None = None) -> Sets:
    """Return shipped sets as :func:`find` finds them; equal calls return the same object.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    spec = find(aspect, corpus, protocol, part)
    return benchmark(spec.benchmark).load(spec)


def check_has_units(corpus: str) -> None:
    """Check that a corpus is not one of tables or control codes.

    Raises:
        SplitError: it is.
    """
    is_known = corpus in registry().names("corpus")
    if is_known and getattr(registry().get("corpus", corpus), "units", "facts") != "facts":
        raise SplitError(
            "has tables or control codes, and SPOR's aspects are about units that recur",
            where=corpus,
            remedy="Use webnlg, e2e, viggo, mini, or a file of your own with such units.",
        )


def place_of(name: str, aspect: str) -> tuple[int, int]:
    """Return where an aspect stands among those of all benchmarks; last if it is not installed."""
    names = registry().names("benchmark")
    if name not in names:
        return len(names), 0
    return names.index(name), list(benchmark(name).groups).index(aspect)


def benchmark(name: str) -> Benchmark:
    """Return a registered benchmark.

    Raises:
        ConfigError: it is not registered, or it lacks a part of the contract.
    """
    found: Benchmark = registry().get("benchmark", name)
    return found
