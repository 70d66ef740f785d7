"""Groups of samples: any score is also given over the samples of a group, as `totto_bleu_overlap`.

A sample's context says which groups it is in, and no metric knows of them. ToTTo's ``overlap`` is
true where the training set has a table with the same header. CompMCTG's ``unseen`` is true where
training lacks the combination. Under several splits it is a text with a 0 or 1 for each, and the
sample is in a half as often as splits put it there, as if their samples were concatenated.
"""

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.totals import Value

OVERLAP = ("overlap", "nonoverlap")
"""ToTTo's groups: samples with a table header of the training set, and the others."""

HALVES = ("id", "comp")
"""CompMCTG's groups: samples of combinations that training has, and compositional ones."""


class Membership(NamedTuple):
    """A group that a sample is in, and under how many splits; None if there are no splits."""

    group: str
    splits: int | None = None


def memberships(sample: Sample) -> Iterator[Membership]:
    """Yield the groups that a sample is in."""
    overlap = sample.context.get("overlap")
    if isinstance(overlap, bool):
        yield Membership(OVERLAP[not overlap])
    marks = marks_of(sample)
    for group, mark in zip(HALVES, "01", strict=True):
        if count := marks.count(mark):
            yield Membership(group, count if len(marks) > 1 else None)


def marks_of(sample: Sample) -> str:
    """Return a 0 for each split that has a sample's combination in training, else a 1.

    It is empty where the sample does not say so.
    """
    unseen = sample.context.get("unseen")
    return str(int(unseen)) if isinstance(unseen, bool) else str(unseen or "")


def difference_of_halves(value: float, sample: Sample) -> Value:
    """Return a sample's sum and count in the first of :data:`HALVES`, then in the second."""
    seen, unseen = map(marks_of(sample).count, "01")
    return (value * seen if seen else 0, seen, value * unseen if unseen else 0, unseen)


def in_groups(
    sample: Sample, values: Mapping[str, Value], names: Container[str]
) -> dict[str, Value]:
    """Return the values of a sample for those of the named scores that are over its groups.

    Under several splits it counts several times in a mean: its value is a sum and a count.
    """
    return {
        name: value if splits is None or not isinstance(value, float) else (value * splits, splits)
        for group, splits in memberships(sample)
        for score, value in values.items()
        if (name := f"{score}_{group}") in names
    }


def group_of(name: str) -> tuple[str, str] | None:
    """Return a score and a group by the name of the score over the group; None of any other."""
    score, _, group = name.rpartition("_")
    return (score, group) if group in (*OVERLAP, *HALVES) else None
