"""The training arms of each aspect, and what its builders have in common."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spor_tasks.core.sample import Sample, SetFacts, Sets, Untested

ARMS: Mapping[str, tuple[str, ...]] = {
    "systematicity": ("atom", "combination"),
    "productivity": ("invisible", "visible"),
    "order_invariance": ("original", "match"),
    "rule_learnability": ("original",),
}
"""The training arms, in the order in which the sets have them."""


def strict_sets(
    aspect: str,
    *arms: Sequence[Sample],
    test: Sequence[Sample],
    part: str | None = None,
    untested: Untested = (),
) -> Sets:
    """Return strict sets of an aspect, given its arms in the order of :data:`ARMS`."""
    facts = SetFacts(aspect=aspect, corpus=arms[0][0].corpus, protocol="strict", part=part)
    named = {name: tuple(arm) for name, arm in zip(ARMS[aspect], arms, strict=True)}
    return Sets(facts, named, tuple(test), untested)


def counted(reasons: Iterable[str] | Mapping[str, int]) -> Untested:
    """Return how many samples each reason keeps from being tested, the commonest first.

    The argument has a reason for each sample, or the count of each reason.
    """
    return tuple((+Counter(reasons)).most_common())


def in_words(untested: Untested) -> str:
    """Return the reasons with their counts, for an error."""
    return ", ".join(f"in {count:,} {reason}" for reason, count in untested) or "there are none"


def lacking(samples: Iterable[Sample], train: Iterable[Sample]) -> str:
    """Return how many units are not in training samples, of the sample with fewest such."""
    trained_units = {unit for sample in train for unit in sample.units}
    unknown = [len(set(sample.units) - trained_units) for sample in samples]
    return f"of {len(unknown):,}, the nearest lacks {min(unknown):,}"
