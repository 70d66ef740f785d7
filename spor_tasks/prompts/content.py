"""The content of prompts with demonstrations: a digest, and how alike the arms are."""

import hashlib
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.parent import PARENT
from spor_tasks.prompts.styles import prompt

Demonstrations: TypeAlias = tuple[Sample, ...]
"""What one prompt shows, in order. The text of each is its first reference."""

_KNOWN_SAMPLES = 65536  # more than a corpus has


@dataclass(frozen=True, slots=True)
class Prompted:
    """A test sample, and the demonstrations before it in each arm of its split."""

    sample: Sample
    arms: tuple[Demonstrations, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The content of the prompts of one arm, as means over the test samples.

    ``own_units`` counts how often units of the test sample are shown, ``other_units`` all other
    units of the demonstrations, ``words`` what stands between white space in their prompts and
    texts. ``copied`` is the PARENT of all their texts in a row; None where a test sample has no
    reference.
    """

    demonstrations: float
    own_units: float
    other_units: float
    words: float
    copied: float | None


def digest(prompted: Iterable[Prompted]) -> str:
    """Return a SHA-256 of which demonstrations all arms show before which test samples.

    It is the same for every arm, so that scores of two that may be compared have it in common.
    """
    sha = hashlib.sha256()
    for item in prompted:
        arms = (" ".join(sample.id for sample in arm) for arm in item.arms)
        sha.update(f"{item.sample.id}: {' | '.join(arms)}\n".encode(errors="backslashreplace"))
    return sha.hexdigest()


def matching(prompted: Sequence[Prompted]) -> tuple[Matching, ...]:
    """Return the content of the prompts of each arm, to see how alike they are."""
    samples = [item.sample for item in prompted]
    have_references = all(sample.references for sample in samples)
    mean = statistics.fmean
    of_arms = []
    for prompts in zip(*(item.arms for item in prompted), strict=True):
        shown = [[unit for each in prompt for unit in set(each.units)] for prompt in prompts]
        own = [
            sum(unit in sample.units for unit in units)
            for sample, units in zip(samples, shown, strict=True)
        ]
        of_arm = Matching(
            demonstrations=mean(len(prompt) for prompt in prompts),
            own_units=mean(own),
            other_units=mean(len(units) - count for units, count in zip(shown, own, strict=True)),
            words=mean(sum(words(each) for each in prompt) for prompt in prompts),
            copied=mean(map(worth, samples, prompts)) if have_references else None,
        )
        of_arms.append(of_arm)
    return tuple(of_arms)


@lru_cache(maxsize=_KNOWN_SAMPLES)
def words(sample: Sample) -> int:
    """Return the words of a demonstration: its prompt and its text."""
    return len(prompt(sample, "causal").split()) + len(sample.references[0].split())


def worth(sample: Sample, demonstrations: Demonstrations) -> float:
    """Return the PARENT of copying the demonstrations, from 0 to 100."""
    copied = " ".join(shown.references[0] for shown in demonstrations)
    return 100 * float(PARENT.judge_one(sample, copied).details["f"])
