"""Groups of samples: any score is also given over the samples of a group, as `totto_bleu_overlap`.

Twins about invented entities are a group too: of a sample with a twin, the second half of the
outputs is for the twin, and its values are those of `parent_twin`.

A sample's context says which groups it is in, and no metric knows of them. ToTTo's ``overlap`` is
true where the training set has a table with the same header. CompMCTG's ``unseen`` is true where
training lacks the combination. Under several splits it is a text with a 0 or 1 for each. The
sample is then in a half as often as splits put it there, as if their samples were concatenated.
"""

from collections.abc import Container, Mapping, Sequence

from spor_tasks.core.contracts import Score
from spor_tasks.core.sample import Sample, sides
from spor_tasks.metrics.base import Judgement, Metric, Texts
from spor_tasks.metrics.totals import Value

OVERLAP = ("overlap", "nonoverlap")
"""ToTTo's groups: samples with a table header of the training set, and the others."""

HALVES = ("id", "comp")
"""CompMCTG's groups: samples of combinations that training has, and compositional ones."""

GROUPS = (*OVERLAP, *HALVES)

TWINS = "twin"
"""The group of twins."""


def judge_all(
    metric: Metric,
    samples: Sequence[Sample],
    outputs: Sequence[Texts],
    keys: Container[str],
) -> list[Judgement]:
    """Return a metric's judgement of each sample, its twin among its groups.

    A sample with a twin has outputs for itself, then as many for the twin. No side is judged
    otherwise than it would be alone. ``keys`` are those of the scores over
    groups that are computed.
    """
    flat: list[tuple[Sample, Texts]] = []
    for sample, of_sample in zip(samples, outputs, strict=True):
        share = len(of_sample) // len(sides(sample))
        for number, side in enumerate(sides(sample)):
            flat.append((side, of_sample[number * share : (number + 1) * share]))
    results = iter(metric.judge([side for side, _ in flat], [texts for _, texts in flat]))
    judgements = []
    for sample in samples:
        values: dict[str, Value] = {}
        details: dict[str, object] = {}
        for group, _ in zip(("", TWINS), sides(sample), strict=False):
            of_side = next(results)
            values |= {str(Score(name, group)): each for name, each in of_side.values.items()}
            details |= {str(Score(name, group)): each for name, each in of_side.details.items()}
        shared = {name: value for name, value in values.items() if name in details}
        judgements.append(
            Judgement(
                values | in_groups(sample, values, keys),
                details | in_groups(sample, shared, keys),
            )
        )
    return judgements


def memberships(sample: Sample) -> dict[str, int | None]:
    """Return the groups that a sample is in, and under how many splits; None without splits."""
    overlap, marks = sample.context.get("overlap"), marks_of(sample)
    groups: dict[str, int | None] = {}
    if isinstance(overlap, bool):
        groups[OVERLAP[not overlap]] = None
    for group, mark in zip(HALVES, "01", strict=True):
        if count := marks.count(mark):
            groups[group] = count if len(marks) > 1 else None
    return groups


def marks_of(sample: Sample) -> str:
    """Return a 0 for each split that has a sample's combination in training, else a 1.

    It is empty where the sample does not say so.
    """
    unseen = sample.context.get("unseen")
    return str(int(unseen)) if isinstance(unseen, bool) else str(unseen or "")


def in_groups(
    sample: Sample, values: Mapping[str, Value], keys: Container[str]
) -> dict[str, Value]:
    """Return the values of a sample for those scores over its groups that have these keys.

    Under several splits it counts several times in a mean: its value is a sum and a count.
    """
    return {
        key: value if splits is None or not isinstance(value, float) else (value * splits, splits)
        for group, splits in memberships(sample).items()
        for name, value in values.items()
        if (key := str(Score(name, group))) in keys
    }
