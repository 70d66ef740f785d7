"""Demonstrations before a sample and its twin: the same ones, exchanged as the sample is."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from spor_tasks.aspects.order_invariance import with_matches
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Sets, sides
from spor_tasks.twins import Untwinned, twins_of


@cache  # the tasks of both arms need the same sets
def with_twins(pair: Sets) -> Sets:
    """Return sets of samples without their twins, whose arms have only samples that have some.

    In order invariance Match keeps a sample for each text of those that Original keeps, as
    :func:`spor_tasks.prompts.demonstrations.choose` needs it; only the first of each is ever shown.

    Raises:
        SplitError: an arm has no such sample.
        ConfigError: the corpus has no twins.
    """
    if pair.facts.aspect == "order_invariance":
        kept: list[list[Sample]] = [[], []]
        for sample, matches in with_matches(pair):
            if _has_twin(sample) and _has_twin(matches[0]):
                kept[0].append(sample)
                kept[1] += matches
    else:
        kept = [list(filter(_has_twin, samples)) for samples in pair.arms.values()]
    arms = {arm: tuple(samples) for arm, samples in zip(pair.arms, kept, strict=True)}
    for arm, samples in arms.items():
        if not samples:
            raise SplitError(f"no sample of {arm} has a twin, so none can be shown")
    return replace(pair, arms=arms, test=tuple(sides(sample)[0] for sample in pair.test))


def twins(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the twins of samples.

    Raises:
        SplitError: one has none.
        ConfigError: the corpus has no twins.
    """
    found = []
    for sample in samples:
        twin = twins_of(sample.corpus).twin(sample)
        if isinstance(twin, Untwinned):
            raise SplitError(f"has no twin: {twin.reason}", where=f"sample {sample.id}")
        found.append(twin)
    return tuple(found)


def _has_twin(sample: Sample) -> bool:
    return not isinstance(twins_of(sample.corpus).twin(sample), Untwinned)
