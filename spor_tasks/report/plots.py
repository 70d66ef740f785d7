"""The report's plots, as SVG: readable in print, in the dark and for colour-blind readers.

Each hue (Okabe and Ito's) goes with a marker of its own. Ink and paper are those of the page that a
plot stands in. Equal figures are equal bytes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from statistics import fmean, stdev
from typing import Any, NamedTuple

from spor_tasks.core.words import joined
from spor_tasks.report.browser import TestOutcomes
from spor_tasks.report.grid import section_title
from spor_tasks.report.templates import template
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.rows import Comparison
from spor_tasks.results.stats import Interval

_MOST_ROWS = 60  # that a plot can have and be read
_NAME = 36  # characters of a model's name
_NORMAL = 1.959964  # standard errors on either side in 95 %


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a file name without its ending, a title, a caption, and the SVG."""

    name: str
    title: str
    caption: str
    svg: str

    @property
    def file(self) -> str:
        """The name of its file in the folder of a report."""
        return f"plots/{self.name}.svg"


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
_ARMS = {
    "first arm (Atom, Invisible, Original)": _LOOKS[0],
    "second arm (Combination, Visible, Match)": _LOOKS[1],
    "as is": _AS_IS,
}
_TRAITS = {
    "units": ("units", "Score by number of units"),
    "category": ("categories", "Score by category"),
}
FILES = frozenset(
    f"plots/{name}.{ending}"
    for name, ending in product(("gaps", "halves", "units", "categories"), ("svg", "png"))
)
"""The files of all plots, of which a report may have some; those of 0.2 had PNG too."""
_OVER_SAMPLES = "Means over samples, and seeds, with 95 % intervals over samples."
_HALVES = dict(zip(("combinations in training (i.d.)", "compositional"), _LOOKS, strict=True))


class _Point(NamedTuple):
    """A score, both ends of its interval, and the parts that it is the mean of."""

    value: float
    look: _Look
    ends: Sequence[float] = ()
    parts: Sequence[float] = ()
    is_filled: bool = True

    @property
    def numbers(self) -> str:
        """The score and its interval as text."""
        ends = f" [{', '.join(format(end, '.2f') for end in self.ends)}]" if self.ends else ""
        return f"{self.value:.2f}{ends}"


class _PlotRow(NamedTuple):
    """Scores under a title, and a point with a text for their difference; names have lines."""

    title: str
    name: Sequence[str]
    points: Sequence[_Point]
    difference: _Point | None = None
    text: str = ""


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
    plots = (
        _plot(
            _arms(rows),
            ("gaps", "Scores of the arms, and their difference"),
            "Means over seeds with 95 % intervals. Below zero, the model loses where it must "
            "generalize; in order invariance, either side is an effect of the training texts' "
            "order. Filled differences have p < 0.05.",
            _ARMS,
            "first arm − second arm",
        ),
        _plot(
            _halves(rows),
            ("halves", "Known and new combinations"),
            "Means over the splits of a protocol, each of which is a thin line.",
            _HALVES,
            "gap in % of the first mean",
        ),
        *(
            _plot(_groups(means, trait), names, _OVER_SAMPLES, _ARMS)
            for trait, names in _TRAITS.items()
        ),
    )
    return tuple(plot for plot in plots if plot)


# --- One plot ------------------------------------------------------------------------------------

_WIDTH, _LABELS, _LEGEND, _FOOT = 1120, 340, 34, 46  # in pixels; labels are left of all axes
_MOST_TICKS = 8
_TITLE, _LINE = 26, 24  # the heights of a title and of a row; a row with a difference has more


class _Axis(NamedTuple):
    """A scale between two places, with the numbers that are written below it."""

    label: str
    left: float
    right: float
    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value is drawn."""
        return self.left + (self.right - self.left) * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """Round numbers, four to nine of them."""
        length = self.high - self.low
        power = 10.0 ** math.floor(math.log10(length))
        step = power * next(n for n in (0.2, 0.5, 1, 2) if length / power < _MOST_TICKS * n)
        return [n * step for n in range(math.ceil(self.low / step), int(self.high // step) + 1)]


def _plot(
    rows: Iterable[_PlotRow],
    names: tuple[str, str],
    caption: str,
    looks: Mapping[str, _Look],
    difference: str = "",
) -> Plot | None:
    """Return a plot with the names of its file and for its readers; None without rows.

    Differences have an axis of their own, which ``difference`` is the label of.
    """
    drawn = list(rows)
    if not drawn:
        return None
    if (left_out := len(drawn) - _MOST_ROWS) > 0:
        caption += f" {left_out} more rows are left out."
    drawn = drawn[:_MOST_ROWS]
    end = 740 if difference else _WIDTH - 20
    axes = [_axis("score", _LABELS, end, [point for row in drawn for point in row.points])]
    if difference:
        gaps = [_Point(0, _AS_IS), *(row.difference for row in drawn if row.difference)]
        axes.append(_axis(difference, end + 40, _WIDTH - 20, gaps))
    groups, y, height = [], float(_LEGEND), _LINE * len(axes)
    for title, same in groupby(drawn, key=lambda row: row.title):
        first = y + _TITLE + height / 2
        placed = [(row, first + number * height) for number, row in enumerate(same)]
        groups.append((title, y + 16, placed))
        y += _TITLE + height * len(placed)
    svg = template("plot.svg.j2").render(
        title=names[1],
        looks=looks,
        axes=axes,
        groups=groups,
        labels=_LABELS,
        top=_LEGEND,
        bottom=y,
        width=_WIDTH,
        height=y + _FOOT,
    )
    return Plot(*names, caption, svg)


def _axis(label: str, left: float, right: float, points: Iterable[_Point]) -> _Axis:
    values = [value for point in points for value in (point.value, *point.ends, *point.parts)]
    margin = (max(values) - min(values)) / 20 or 1
    return _Axis(label, left, right, min(values) - margin, max(values) + margin)


def _short(name: str) -> str:
    """Return a model's name, of a long one the end."""
    return name if len(name) <= _NAME else f"…{name[-_NAME:]}"


# --- Rows of the tables --------------------------------------------------------------------------


def _arms(rows: Iterable[Comparison]) -> Iterator[_PlotRow]:
    """Yield the scores of arms and their difference: headlines from 0 to 100, to fit one scale."""
    for row in rows:
        difference = row.difference
        if row.metric != row.spec.headline or not row.score.is_percentage or not difference:
            continue
        cells = zip((*row.arms, row.as_is), (*_LOOKS, _AS_IS), strict=True)
        points = [
            _Point(cell.mean, look, _ends(cell.interval))
            for cell, look in cells
            if cell.mean is not None
        ]
        sets = row.spec.sets
        test = joined(" · ", sets.corpus, sets.part, row.variant, sets.protocol, row.score.label)
        ends, is_filled = _ends(difference.interval), bool(difference.mark)
        gap = _Point(difference.value, _DIFFERENCE, ends, is_filled=is_filled)
        text = f"{difference.value:+.2f}{difference.mark}"
        yield _PlotRow(row.spec.about.aspect, (_short(row.model), test), points, gap, text)


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
            looks = zip(halves, _LOOKS, strict=True)
            points = [_Point(fmean(half), look, parts=half) for half, look in looks]
            loss = 100 * (first - second) / first if first else 0.0
            yield _PlotRow(title, [system], points, _Point(loss, _DIFFERENCE), f"{loss:+.1f} %")


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
        models: dict[str, dict[Any, dict[str, list[float]]]] = {}
        for (model, arm, sample), values in sorted(over_runs.items()):
            group = getattr(test.traits[sample], trait)
            if group is not None:
                arms = models.setdefault(model, {}).setdefault(group, {})
                arms.setdefault(arm, []).append(fmean(values))
        looks = dict(zip(test.arms, _LOOKS, strict=False))
        for model, groups in models.items():
            title = " · ".join((_short(model), test.title, score.label))
            for group, arms in sorted(groups.items()) if len(groups) > 1 else ():
                points = [_mean(of_arm, looks.get(arm, _AS_IS)) for arm, of_arm in arms.items()]
                yield _PlotRow(title, [_short(str(group))], points)


def _mean(values: Sequence[float], look: _Look) -> _Point:
    """Return the mean of samples with its interval, by the normal distribution."""
    mean, n = fmean(values), len(values)
    reach = _NORMAL * stdev(values) / math.sqrt(n) if n > 1 else 0.0
    return _Point(mean, look, (mean - reach, mean + reach))
