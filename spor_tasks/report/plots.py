"""The report's plots, as SVG: readable in print, in the dark and for colour-blind readers.

Each hue (Okabe and Ito's) goes with a marker of its own. Ink and paper are those of the page that a
plot stands in. Equal figures are equal bytes.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from statistics import fmean
from typing import NamedTuple

from spor_tasks.core.words import joined
from spor_tasks.metrics.tally import Column
from spor_tasks.report.browser import TestOutcomes
from spor_tasks.report.grid import section_title
from spor_tasks.report.templates import template
from spor_tasks.report.views import AS_IS
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.rows import Comparison
from spor_tasks.results.stats import Interval, clusters_of, estimate

_MOST_ROWS = 60  # that a plot can have and be read
_NAME = 36  # characters of a model's name


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a file name without its ending, a title, a caption, and the SVG.

    ``narrow`` is the same for a phone, where differences are numbers and ``filled`` says nothing.
    """

    name: str
    title: str
    caption: str
    svg: str
    narrow: str
    filled: str = ""

    @property
    def file(self) -> str:
        """The name of its file in the folder of a report."""
        return f"plots/{self.name}.svg"

    @property
    def is_of_samples(self) -> bool:
        """Whether it shows on which samples scores are low."""
        return self.name in _OF_SAMPLES


class _Look(NamedTuple):
    """How points look, and by how many pixels they are shifted from the middle of their row."""

    color: str
    shape: str
    shift: float = 0.0


_CIRCLE = "m-4.2 0a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0-8.4 0z"
_SQUARE, _DIAMOND = "m-3.8-3.8h7.6v7.6h-7.6z", "m0-5l5 5l-5 5l-5-5z"
_LOOKS = (_Look("#0072b2", _CIRCLE, -3.5), _Look("#d55e00", _SQUARE, 3.5))
_AS_IS = _Look("#8a8a8a", _DIAMOND)
_DIFFERENCE = _Look("currentColor", _CIRCLE)
_TRAITS = {
    "units": ("units", "Score by number of units"),
    "pairs": ("pairs", "Score by the share of a sample's pairs of units that an arm shows"),
    "category": ("categories", "Score by category"),
}
_OF_SAMPLES = tuple(name for name, _ in _TRAITS.values())
FILES = frozenset(
    f"plots/{name}.{ending}"
    for name, ending in product(("gaps", "order", "halves", *_OF_SAMPLES), ("svg", "png"))
)
"""The files of all plots, of which a report may have some; those of 0.2 had PNG too."""
_OVER_SAMPLES = (
    "Means over n samples{seeds} with 95 % intervals over clusters of samples; fewer than six "
    "clusters have none."
)
_OVER_SEEDS = "{scores} with 95 % intervals."
_FILLED = "Filled differences have p < 0.05."
_ONE_SEED = {"seeds": "", "scores": "Scores"}
_SEVERAL_SEEDS = {
    "seeds": ", and seeds where there are several,",
    "scores": "Means over seeds, where there are several,",
}
_HALVES = ("combinations in training (i.d.)", "compositional")


class _Point(NamedTuple):
    """A score of an arm, both ends of its interval, and the parts that it is the mean of."""

    value: float
    look: _Look
    name: str = ""
    ends: Sequence[float] = ()
    parts: Sequence[float] = ()
    is_filled: bool = True

    @property
    def numbers(self) -> str:
        """The score and its interval as text."""
        ends = f" [{', '.join(format(end, '.2f') for end in self.ends)}]" if self.ends else ""
        return f"{self.value:.2f}{ends}"


class _PlotRow(NamedTuple):
    """Scores under a title, and a point with a text for their difference.

    ``title`` and ``name`` have lines. ``subtracted`` names the arms of the difference. ``runs`` is
    the number of training seeds that a point is the mean of, at most.
    """

    title: Sequence[str]
    name: Sequence[str]
    points: Sequence[_Point]
    difference: _Point | None = None
    text: str = ""
    subtracted: str = ""
    runs: int = 1


def draw(rows: Sequence[Comparison], outcomes: Sequence[TestOutcomes]) -> tuple[Plot, ...]:
    """Return the plots of rows of tables that are not empty.

    ``outcomes`` are those of :class:`~spor_tasks.report.browser.Browser`.
    """
    scores = {row.metric: row.score for row in rows}
    means = [  # headlines from 0 to 100 that are means over samples
        (test, score)
        for test in outcomes
        if (score := scores.get(test.metric)) and score.is_percentage and score.totals == "mean"
    ]
    order = "Zero is no relation to the order of the input, one is the same order. "
    plots = (
        _plot(
            _arms(rows, lambda score: score.is_percentage),
            ("gaps", "Scores of the arms, and their difference"),
            f"{_OVER_SEEDS} Below zero, the model loses where it must generalize; in order "
            "invariance, either side is an effect of the training texts' order.",
            _FILLED,
        ),
        _plot(
            _arms(rows, lambda score: score.range == (-1, 1)),
            ("order", "Order of the texts, and the difference of the arms"),
            f"{order}{_OVER_SEEDS}",
            _FILLED,
        ),
        _plot(
            _halves(rows),
            ("halves", "Known and new combinations"),
            "Means over the splits of a protocol, each of which is a thin line.",
        ),
        *(_plot(_groups(means, trait), names, _OVER_SAMPLES) for trait, names in _TRAITS.items()),
    )
    return tuple(plot for plot in plots if plot)


# --- One plot ------------------------------------------------------------------------------------

_WIDTH, _LABELS, _FOOT = 1120, 340, 46  # in pixels; labels are left of all axes
_NARROW = 340  # of which labels take nothing: they stand above their points
_MOST_TICKS = 8
_LEGEND, _LINE, _TEXT = 34, 24, 15  # the heights of the legend, of a row, and of a line of text


class _Axis(NamedTuple):
    """A scale between two places, with the numbers that are written below it."""

    label: str
    left: float
    right: float
    low: float
    high: float
    most_ticks: int

    def place(self, value: float) -> float:
        """Return where a value is drawn."""
        return self.left + (self.right - self.left) * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """Round numbers, four to nine of them, or half as many on a phone."""
        length = self.high - self.low
        power = 10.0 ** math.floor(math.log10(length))
        step = power * next(n for n in (0.2, 0.5, 1, 2, 5) if length / power < self.most_ticks * n)
        return [n * step for n in range(math.ceil(self.low / step), int(self.high // step) + 1)]


def _plot(
    rows: Iterable[_PlotRow], names: tuple[str, str], caption: str, filled: str = ""
) -> Plot | None:
    """Return a plot with the names of its file and for its readers; None without rows."""
    drawn = list(rows)
    if not drawn:
        return None
    is_of_several = any(row.runs > 1 for row in drawn)
    caption = caption.format_map(_SEVERAL_SEEDS if is_of_several else _ONE_SEED)
    if (left_out := len(drawn) - _MOST_ROWS) > 0:
        caption += f" {left_out} more rows are left out."
    drawn = drawn[:_MOST_ROWS]
    wide, narrow = (_svg(drawn, names[1], is_narrow=is_narrow) for is_narrow in (False, True))
    has_differences = any(row.difference for row in drawn)
    return Plot(*names, caption, wide, narrow, filled if has_differences else "")


def _svg(drawn: Sequence[_PlotRow], title: str, *, is_narrow: bool = False) -> str:
    """Return rows as SVG; differences have an axis of their own, on a phone only their numbers."""
    points = [point for row in drawn for point in row.points]
    gaps = [row.difference for row in drawn if row.difference and not is_narrow]
    width, labels, ticks = (_NARROW, 0, _MOST_TICKS // 2) if is_narrow else (_WIDTH, _LABELS, 8)
    end = 740 if gaps else width - 20
    axes = [_axis("score", labels + 12 * is_narrow, end, points, ticks)]
    if gaps:
        label = {row.subtracted: None for row in drawn if row.difference}
        gaps.append(_Point(0, _AS_IS))
        axes.append(_axis(" or ".join(label), end + 40, width - 20, gaps, ticks))
    looks = {
        ", ".join(dict.fromkeys(each.name for each in points if each.look == look)): look
        for look in (*_LOOKS, _AS_IS)
        if any(each.look == look for each in points)
    }
    top = float(_TEXT * len(looks) + 10 if is_narrow else _LEGEND)
    groups, y = [], top
    for of_group, same in groupby(drawn, key=lambda row: row.title):
        lines = of_group if is_narrow else [" · ".join(of_group)]
        titles, placed = [(line, y + 16 + _TEXT * at) for at, line in enumerate(lines)], []
        y += _TEXT * len(lines) + 11
        for row in same:
            above = _TEXT * len(row.name) if is_narrow else 0
            height = above + _LINE * len(axes)
            placed.append((row, y + above + _LINE * len(axes) / 2))
            y += height
        groups.append((titles, placed))
    return template("plot.svg.j2").render(
        title=title,
        looks=looks,
        axes=axes,
        groups=groups,
        labels=labels,
        top=top,
        bottom=y,
        width=width,
        height=y + _FOOT,
    )


def _axis(
    label: str, left: float, right: float, points: Iterable[_Point], most_ticks: int
) -> _Axis:
    values = [value for point in points for value in (point.value, *point.ends, *point.parts)]
    margin = (max(values) - min(values)) / 20 or 1
    return _Axis(label, left, right, min(values) - margin, max(values) + margin, most_ticks)


def _short(name: str) -> str:
    """Return a model's name, of a long one the end, from a slash on if it has one."""
    end = name[-_NAME:]
    return name if len(name) <= _NAME else f"…{end[max(0, end.find('/')) :]}"


# --- Rows of the tables --------------------------------------------------------------------------


def _arms(rows: Iterable[Comparison], fits: Callable[[ScoreFacts], bool]) -> Iterator[_PlotRow]:
    """Yield the headlines of a scale, if there are several cells of a row or their difference."""
    for row in rows:
        if row.metric != row.spec.headline or not fits(row.score):
            continue
        arms = tuple(map(str.capitalize, row.spec.arms))
        looks = *zip(arms, row.arms, _LOOKS, strict=False), (AS_IS, row.as_is, _AS_IS)
        points = [
            _Point(cell.mean, look, name, _ends(cell.interval))
            for name, cell, look in looks
            if cell.mean is not None
        ]
        if len(points) < 2:
            continue
        sets, difference, gap, text = row.spec.sets, row.difference, None, ""
        test = joined(" · ", sets.corpus, sets.part, row.variant, sets.protocol, row.score.label)
        if difference:
            ends, is_filled = _ends(difference.interval), bool(difference.mark)
            gap = _Point(difference.value, _DIFFERENCE, ends=ends, is_filled=is_filled)
            text = f"{difference.value:+.2f}{difference.mark}"
        name, title = (_short(row.model), test), [row.spec.about.aspect]
        runs = max(len(cell.values) for cell in (*row.arms, row.as_is))
        yield _PlotRow(title, name, points, gap, text, " − ".join(arms), runs)


def _ends(interval: Interval | None) -> Sequence[float]:
    return () if interval is None else (interval.low, interval.high)


def _halves(rows: Iterable[Comparison]) -> Iterator[_PlotRow]:
    """Yield scores on known and on new combinations, if a relative gap compares them.

    A system has results of several splits. The means of both scores are over them, and the gap is
    that of the means.
    """
    scores: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in rows:
        relative = any(row.spec.scores[name].totals == "relative gap" for name in row.spec.reported)
        for gap in row.spec.gaps if relative else ():
            title = f"{section_title(row)}: {row.spec.scores[row.spec.score(gap.score).name].label}"
            for arm, cell in (("as is", row.as_is), *row.by_arm):
                if row.metric in gap and cell.mean is not None:
                    known, new = scores[title, f"{_short(row.name)}, {arm}"]
                    (known if row.metric == gap.subtracted else new).append(cell.mean)
    for (title, system), halves in scores.items():
        if all(halves):
            first, second = map(fmean, halves)
            looks = zip(halves, _LOOKS, _HALVES, strict=True)
            points = [_Point(fmean(half), look, name, parts=half) for half, look, name in looks]
            loss = 100 * (first - second) / first if first else 0.0
            difference, label = _Point(loss, _DIFFERENCE), "gap in % of the first mean"
            yield _PlotRow([title], [system], points, difference, f"{loss:+.1f} %", label)


# --- Rows of samples -----------------------------------------------------------------------------


def _groups(tests: Iterable[tuple[TestOutcomes, ScoreFacts]], trait: str) -> Iterator[_PlotRow]:
    """Yield a row for each value of a trait, of each task and model that has several values.

    A point is the mean over samples, of each of which it has the mean over runs.
    """
    for test, score in tests:
        over_runs: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        for run in test.runs:
            for sample, value in zip(run.samples, run.scores, strict=True):
                if value is not None:
                    over_runs[run.facets.model, run.facets.arm, sample].append(value)
        runs = max(map(len, over_runs.values()), default=1)
        models: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
        sizes = dict[str, Counter[str]]()
        for (model, arm, sample), values in sorted(over_runs.items()):
            own = getattr(test.traits[sample], trait)
            groups = own if isinstance(own, tuple) else (own,)
            for group in (str(each) for each in groups if each is not None):
                arms = models.setdefault(model, {}).setdefault(group, {})
                arms.setdefault(arm, {})[sample] = fmean(values)
            sizes.setdefault(model, Counter())[arm] += 1
        looks = dict(zip(test.arms, _LOOKS, strict=False))
        for model, of_model in models.items():
            title = _short(model), test.title, score.label
            for group, of_group in sorted(of_model.items(), key=lambda item: _natural(item[0])):
                shown = {  # all samples of an arm are no group
                    arm: of_arm
                    for arm, of_arm in of_group.items()
                    if len(of_arm) < sizes[model][arm]
                }
                points = [
                    _mean(
                        of_arm,
                        test.clusters,
                        score.scale,
                        looks.get(arm, _AS_IS),
                        arm.capitalize() if arm in looks else arm,
                    )
                    for arm, of_arm in shown.items()
                ]
                if points:
                    counts = sorted({len(of_arm) for of_arm in shown.values()})
                    n = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
                    yield _PlotRow(title, [f"{_short(group)} (n = {n})"], points, runs=runs)


def _natural(text: str) -> list[str | int]:
    """Return what sorts a text by the numbers in it."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def _mean(
    values: Mapping[int, float],
    clusters: Sequence[int],
    scale: tuple[float, float],
    look: _Look,
    name: str,
) -> _Point:
    """Return the mean of some samples with its interval over their clusters, if it has one."""
    found = estimate(
        [[Column.of([*values.values()])]],
        clusters_of(clusters[sample] for sample in values),
        scale,
    )
    ends = (found.interval.low, found.interval.high) if found and found.interval else ()
    return _Point(fmean(values.values()), look, name, ends)
