"""Demonstrations before a sample and its twin: the same ones, exchanged as the sample is."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import accumulate, chain, compress, repeat

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair, sides
from spor_tasks.twins import Untwinned, twins_of


@cache  # the tasks of both arms need the same sets
def with_twins(pair: SplitPair) -> SplitPair:
    """Return sets of samples without their twins, whose arms have only samples that have some.

    In order invariance Match keeps a sample for each text of those that Original keeps, as
    :func:`spor_tasks.prompts.demonstrations.choose` needs it; only the first of each is ever shown.

    Raises:
        SplitError: an arm has no such sample.
        ConfigError: the corpus has no twins.
    """
    if pair.name.aspect == "order_invariance":
        stay = _in_both(*pair.arms)
    else:
        stay = tuple(tuple(map(_has_twin, arm.samples)) for arm in pair.arms)
    arms = tuple(
        replace(arm, samples=tuple(compress(arm.samples, of_arm)))
        for arm, of_arm in zip(pair.arms, stay, strict=True)
    )
    for arm in arms:
        if not arm.samples:
            raise SplitError(f"no sample of {arm.name} has a twin, so none can be shown")
    test = tuple(sides(sample)[0] for sample in pair.test.samples)
    return replace(pair, arms=arms, test=replace(pair.test, samples=test))


def twins(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the twins of samples.

    Raises:
        SplitError: one has none.
        ConfigError: the corpus has no twins.
    """
    return tuple(map(_twin, samples))


def _twin(sample: Sample) -> Sample:
    twin = twins_of(sample.corpus).twin(sample)
    if isinstance(twin, Untwinned):
        raise SplitError(f"has no twin: {twin.reason}", where=f"sample {sample.id}")
    return twin


def _has_twin(sample: Sample) -> bool:
    return not isinstance(twins_of(sample.corpus).twin(sample), Untwinned)


def _in_both(original: Split, match: Split) -> tuple[tuple[bool, ...], ...]:
    """Return which samples of Original stay, and of Match the one for each text of these."""
    counts = [len(sample.references) for sample in original.samples]
    firsts = accumulate(counts, initial=0)
    stay = tuple(
        _has_twin(sample) and _has_twin(match.samples[first])
        for sample, first in zip(original.samples, firsts, strict=False)
    )
    texts = (repeat(stays, count) for stays, count in zip(stay, counts, strict=True))
    return stay, tuple(chain.from_iterable(texts))
