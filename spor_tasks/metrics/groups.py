"""Groups of samples: any score is also given over the samples of a group, as `totto_bleu_overlap`.

Twins about invented entities are a group too: of a sample with a twin, the second half of the
outputs is for the twin, and its values are those of `parent_twin`.

A sample's context says which groups it is in, and no metric knows of them. ToTTo's ``overlap`` is
true where the training set has a table with the same header. CompMCTG's ``unseen`` is true where
training lacks the combination. Under several splits it is a text with a 0 or 1 for each. The
sample is then in a half as often as splits put it there, as if their samples were concatenated.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from spor_tasks.core.contracts import Score
from spor_tasks.core.sample import Sample, sides
from spor_tasks.metrics.totals import Value

OVERLAP = ("overlap", "nonoverlap")
"""ToTTo's groups: samples with a table header of the training set, and the others."""

HALVES = ("id", "comp")
"""CompMCTG's groups: samples of combinations that training has, and compositional ones."""

GROUPS = (*OVERLAP, *HALVES)

TWINS = "twin"
"""The group of twins."""

T = TypeVar("T")


class Side(NamedTuple):
    """A sample or its twin, and the outputs for it."""

    sample: Sample
    outputs: Sequence[Any]
    is_twin: bool

    def named(self, values: Mapping[str, T]) -> dict[str, T]:
        """Return the values of this side by their keys among those of both."""
        group = TWINS if self.is_twin else ""
        return {str(Score(name, group)): value for name, value in values.items()}


def outputs_by_side(sample: Sample, outputs: Sequence[Any]) -> list[Side]:
    """Return the sample, and its twin if it has one, each with its share of the outputs."""
    samples = sides(sample)
    share = len(outputs) // len(samples)
    return [
        Side(side, outputs[number * share : (number + 1) * share], is_twin=number > 0)
        for number, side in enumerate(samples)
    ]


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
    first, second = map(marks_of(sample).count, "01")
    return (value * first if first else 0, first, value * second if second else 0, second)


def in_groups(
    sample: Sample, values: Mapping[str, Value], keys: Container[str]
) -> dict[str, Value]:
    """Return the values of a sample for those scores over its groups that have these keys.

    Under several splits it counts several times in a mean: its value is a sum and a count.
    """
    return {
        key: value if splits is None or not isinstance(value, float) else (value * splits, splits)
        for group, splits in memberships(sample)
        for name, value in values.items()
        if (key := str(Score(name, group))) in keys
    }
