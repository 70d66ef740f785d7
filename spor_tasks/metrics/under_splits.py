"""Scores of all samples, and the same scores of the samples of each half of a split.

A sample says in its context whether training lacks its combination: ``unseen`` is true or false, or
a text with a 0 or 1 for each split that answers are read under. A sample then counts in a half as
often as splits have it there, as if the splits were put together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spor_tasks.core.sample import Sample
from spor_tasks.metrics import halves
from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.totals import COUNTED_MEAN, Value

HALVES = ("id", "comp")
"""The ends of the names of scores of a half: of combinations that training shows, or lacks."""


def marks_of(sample: Sample) -> str:
    """Return a 0 for each split that shows a sample's combination, and a 1 for each that does not.

    It is empty where the sample does not say so.
    """
    unseen = sample.context.get("unseen")
    return str(int(unseen)) if isinstance(unseen, bool) else str(unseen or "")


def gap_of(value: float, marks: str) -> Value:
    """Return a sample's sum and count in the first half, then in the second."""
    seen, unseen = _counts(marks)
    return (value * seen if seen else 0, seen, value * unseen if unseen else 0, unseen)


def _counts(marks: str) -> tuple[int, int]:
    """Return how often a sample is in each half."""
    return marks.count("0"), marks.count("1")


def with_halves(infos: Sequence[ScoreInfo]) -> tuple[ScoreInfo, ...]:
    """Return means, then the same of each half, whose name ends theirs."""
    of_halves = halves.with_halves(infos, HALVES)[len(infos) :]
    return (*infos, *(replace(info, totals=COUNTED_MEAN) for info in of_halves))


def with_half(values: Mapping[str, float | None], marks: str) -> dict[str, Value]:
    """Return the values of a sample, and the same for each half that it is in."""
    found: dict[str, Value] = dict(values)
    for half, count in zip(HALVES, _counts(marks), strict=True):
        for name, value in values.items() if count else ():
            if value is None or len(marks) == 1:
                found[f"{name}_{half}"] = value
            else:
                found[f"{name}_{half}"] = value * count, count
    return found
