"""CompMCTG's accuracy: whether texts have the requested attributes, and the gap between halves.

Accuracy is the mean over aspects of how many texts a classifier of the aspect gives the requested
value. The published code rounds each aspect's accuracy to four digits, and their mean again; here
nothing is rounded. Every text has all aspects, so the mean over aspects is one over texts too.

The gaps compare the two groups of samples (:mod:`spor_tasks.metrics.groups`).
"""

from collections.abc import Container, Iterable, Mapping

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.linearize import prefix_of
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.groups import marks_of
from spor_tasks.metrics.totals import GAP_OF_SAME, RELATIVE_GAP, Answers, Value

ASPECTS = tuple(dict.fromkeys(aspect for space in PUBLISHED for aspect in space.aspects))
"""The published aspects, each of which has an accuracy of its own."""


def text_of(sample: Sample, output: str) -> str:
    """Return the whole text: the beginning that the sample gives, and what was written after it."""
    return prefix_of(sample) + output


# --- Accuracy -------------------------------------------------------------------------------------


def accuracies(prefix: str, aspects: Iterable[str]) -> tuple[ScoreInfo, ...]:
    """Return the accuracy of all texts, the gaps between halves, and the accuracy by aspect.

    The published gap is how much lower the accuracy of compositional texts is, in per cent of that
    of others. It has two flaws: halves that ask for some values more often than for others have a
    gap even if no code is read, and it is larger where both accuracies are low. The other gap is in
    points: the accuracy of other texts, weighted so that they request the same values as often,
    less that of compositional texts. Both are small too where a system is bad at everything, so
    neither more nor less of them is better.
    """
    gap = ScoreInfo(
        f"{prefix}_gap",
        "Gap",
        low=-float("inf"),
        higher_is_better=None,
        totals=RELATIVE_GAP,
        of_some=True,
    )
    of_same = ScoreInfo(
        f"{prefix}_gap_real",
        "Gap, same values",
        low=-100,
        higher_is_better=None,
        corrects=gap.name,
        totals=GAP_OF_SAME,
        of_some=True,
    )
    by_aspect = (
        ScoreInfo(f"{prefix}_acc_{aspect}", f"Accuracy, {aspect}", of_some=True, is_share=True)
        for aspect in aspects
    )
    return (ScoreInfo(f"{prefix}_acc", "Accuracy"), gap, of_same, *by_aspect)


def accuracy_values(
    prefix: str, aspects: Container[str], sample: Sample, recognized: Mapping[str, str | None]
) -> dict[str, Value]:
    """Return what a text adds to the scores of :func:`accuracies` with these aspects.

    ``recognized`` are the values that the text has, by aspect.
    """
    requested = {unit[0]: unit[-1] for unit in sample.units}
    right = {aspect: recognized.get(aspect) == value for aspect, value in requested.items()}
    share = 100 * sum(right.values()) / len(right)
    values: dict[str, Value] = {f"{prefix}_acc": share}
    if marks := marks_of(sample):
        answers = {f"{each} {value}": 100.0 * right[each] for each, value in requested.items()}
        first, second = map(marks.count, "01")
        sums = [share * count if count else 0 for count in (first, second)]
        values[f"{prefix}_gap"] = (sums[0], first, sums[1], second)
        values[f"{prefix}_gap_real"] = Answers(tuple(map(int, marks)), answers)
    for aspect, is_right in right.items():
        if aspect in aspects:
            values[f"{prefix}_acc_{aspect}"] = 100.0 * is_right
    return values
