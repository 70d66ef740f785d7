"""The report's plots, by matplotlib: readable in print and for colour-blind readers."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spor_tasks.aspects.named import group_title
from spor_tasks.metrics.base import score_info
from spor_tasks.metrics.totals import RELATIVE_GAP
from spor_tasks.report.browser import Entry, Outcomes
from spor_tasks.report.collect import Report
from spor_tasks.report.figures import (
    AS_IS,
    INK,
    LOOKS,
    PAPER,
    SOFT,
    Look,
    Plot,
    drawing,
    explain,
    figure_of,
    look_of,
    plot_of,
    short,
    without_frame,
    words,
)
from spor_tasks.results.grid import label, section_title
from spor_tasks.results.rows import Comparison
from spor_tasks.results.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = (
    "No plots were drawn: matplotlib is not installed. Run `pip install 'spor-tasks[report]'`."
)

_MOST_ROWS = 60  # that a plot can have and be read
_NORMAL = 1.959964  # standard errors on either side in 95 %
_GAPS = ("parent", "fidelity_pbh", "ordering_pbh")  # of one scale, and of two arms
_BY_GROUP = ("parent", "copy_rule")  # of one scale

_ARMS = (
    (LOOKS[0], "first arm (Atom, Invisible, Original)"),
    (LOOKS[1], "second arm (Combination, Visible, Match)"),
    (AS_IS, "as is"),
)
_HALVES = tuple(zip(LOOKS, ("combinations in training (i.d.)", "compositional"), strict=True))


def available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(report: Report, outcomes: Sequence[Outcomes]) -> tuple[Plot, ...]:
    """Return the plots that are not empty; none without matplotlib."""
    if not available():
        return ()
    rows = [row for table in report.tables for row in table.rows if not row.published]
    sizes = _groups(outcomes, lambda sample: sample.size)
    categories = _groups(outcomes, lambda sample: sample.category)
    over_samples = "Means over samples, and seeds, with 95 % intervals over samples."
    with drawing():
        plots = (
            _plot(
                [gap for row in rows for gap in _gaps(row)],
                ("gaps", "Scores of the arms, and their difference"),
                "Means over seeds with 95 % intervals. Below zero, the model loses where it must "
                "generalize. Filled differences have p < 0.05.",
                _ARMS,
                "first arm − second arm",
            ),
            halves_plot(rows),
            _plot(list(sizes), ("units", "Score by number of units"), over_samples, _ARMS),
            _plot(list(categories), ("categories", "Score by category"), over_samples, _ARMS),
        )
    return tuple(filter(None, plots))


# --- Scores in rows, and their differences --------------------------------------------------------


class _Point(NamedTuple):
    """A score with its interval, or with ticks for the parts that it is the mean of."""

    value: float
    look: Look
    interval: Interval | None = None
    parts: Sequence[float] = ()


class _Row(NamedTuple):
    """Scores under a title, and a point with a text for their difference."""

    title: str
    name: str
    points: Sequence[_Point]
    difference: _Point | None = None
    text: str = ""


def _plot(
    rows: Sequence[_Row],
    names: tuple[str, str],
    caption: str,
    looks: Sequence[tuple[Look, str]],
    difference: str = "",
) -> Plot | None:
    """Return a plot with these names of its file and for its readers; None without rows."""
    if not rows:
        return None
    left_out, rows = len(rows) - _MOST_ROWS, rows[:_MOST_ROWS]
    row_height = 0.46 if difference else 0.3
    height = 0.9 + row_height * len(rows) + 0.3 * len({row.title for row in rows})
    figure = figure_of(8.6, height)
    widths = (3, 2) if difference else (1,)
    settings: Any = {"sharey": True, "squeeze": False, "width_ratios": widths}
    scores, *gap_axes = figure.subplots(1, len(widths), **settings)[0]
    across = scores.get_yaxis_transform()  # the axes' width in one direction, data in the other
    at, ticks = 0.0, {}
    for title, same in groupby(rows, key=lambda row: row.title):
        scores.text(0, at, title, transform=across, weight="bold", va="center")
        at += 0.75
        for row in same:
            ticks[at] = row.name
            for point in row.points:
                _draw(scores, point, at)
            if row.difference:
                _draw(gap_axes[0], row.difference, at)
                gap_axes[0].annotate(
                    row.text.replace("-", "−"),
                    (row.difference.value, at),
                    xytext=(0, 5),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7.5,
                )
            at += 1
    scores.set_yticks(list(ticks), list(ticks.values()))
    scores.set_ylim(at - 0.4, -0.5)
    scores.set_xlabel("score")
    for axes in gap_axes:
        axes.set_xlabel(difference)
        axes.axvline(0, color=SOFT, linewidth=0.8)
    for axes in (scores, *gap_axes):
        axes.grid(axis="x")
        without_frame(axes)
    explain(figure, looks)
    dropped = f" {left_out} more rows are left out." if left_out > 0 else ""
    return plot_of(figure, *names, caption + dropped)


def _draw(axes: "Axes", point: _Point, row: float) -> None:
    """Draw a point in a row of the axes."""
    color, marker, shift, fill = point.look
    at = row + shift
    if point.interval:
        axes.plot([point.interval.low, point.interval.high], [at, at], color=color, linewidth=1)
    axes.plot(point.parts, [at] * len(point.parts), "|", color=color, alpha=0.5)
    axes.plot(point.value, at, marker, color=color, markerfacecolor=fill or color, markersize=5)


def _gaps(row: Comparison) -> Iterator[_Row]:
    """Yield the scores of the arms, if there is a difference of those that are shown."""
    if row.metric not in _GAPS or (difference := row.difference) is None:
        return
    cells = zip((*row.arms, row.as_is), (*LOOKS, AS_IS), strict=True)
    points = [
        _Point(cell.mean, look, cell.interval) for cell, look in cells if cell.mean is not None
    ]
    metric = "" if row.metric == row.spec.headline else label(row.metric)
    name = row.spec.name
    test = words(name.corpus, name.part, row.variant, name.protocol, metric)
    look = Look(INK, "o", fill=INK if difference.mark else PAPER)
    yield _Row(
        group_title(row.spec),
        f"{short(row.model)}\n{test}",
        points,
        _Point(difference.value, look, difference.interval),
        f"{difference.value:+.2f}{difference.mark}",
    )


def halves_plot(rows: Iterable[Comparison]) -> Plot | None:
    """Return the plot of scores on known and on new combinations, if a relative gap compares them.

    A system has results of several splits. The means of both scores are over them, and the gap is
    that of the means.
    """
    caption = "Means over the splits of a protocol, each of which is a thin line."
    names = ("halves", "Known and new combinations")
    return _plot(list(_halves(rows)), names, caption, _HALVES, "gap in % of the first mean")


def _halves(rows: Iterable[Comparison]) -> Iterator[_Row]:
    scores: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in rows:
        relative = any(score_info(name).totals is RELATIVE_GAP for name in row.spec.reported)
        for gap in row.spec.gaps if relative else ():
            title = f"{section_title(row)}: {label(gap.one).rpartition(',')[0]}"
            for arm, cell in (("as is", row.as_is), *row.by_arm):
                if row.metric in gap and cell.mean is not None:
                    system = f"{short(row.name)}, {arm}"
                    scores[title, system][row.metric != gap.other].append(cell.mean)
    for (title, system), halves in scores.items():
        if all(halves):
            one, new = map(fmean, halves)
            looks = zip(halves, LOOKS, strict=True)
            points = [_Point(fmean(half), look, parts=half) for half, look in looks]
            loss = 100 * (one - new) / one if one else 0.0
            yield _Row(title, system, points, _Point(loss, Look(INK, "o")), f"{loss:+.1f} %")


def _groups(outcomes: Iterable[Outcomes], group_of: Callable[[Entry], Any]) -> Iterator[_Row]:
    """Yield a row for each group of samples, of each model and task that has several groups."""
    runs: dict[tuple[int, str], list[Outcomes]] = defaultdict(list)
    for each in outcomes:
        if each.run.spec.headline in _BY_GROUP:
            runs[id(each.test), each.run.model].append(each)
    for same in runs.values():
        run, groups = same[0].run, list(map(group_of, same[0].test.samples))
        arms: dict[str | None, list[Outcomes]] = defaultdict(list)
        for each in same:
            arms[each.run.arm].append(each)
        values = {arm: _values(each, groups) for arm, each in arms.items()}
        task = run.comparison.removeprefix("spor_").replace("_", " ")
        title = words(short(run.model), task, label(run.spec.headline))
        names = sorted({*groups} - {None})
        for name in names if len(names) > 1 else ():
            points = [
                _mean(means[name], look_of(run.spec, arm))
                for arm, means in values.items()
                if name in means
            ]
            yield _Row(title, short(str(name)), points)


def _values(runs: Iterable[Outcomes], groups: Sequence[Any]) -> Mapping[Any, list[float]]:
    """Return the samples' means over seeds, by the group of the sample."""
    scores: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        for sample, score in zip(run.samples, run.scores, strict=True):
            if score is not None:
                scores[sample].append(score)
    values: dict[Any, list[float]] = defaultdict(list)
    for sample, each in scores.items():
        values[groups[sample]].append(fmean(each))
    return values


def _mean(values: Sequence[float], look: Look) -> _Point:
    mean, count = fmean(values), len(values)
    reach = _NORMAL * float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    return _Point(mean, look, Interval.of(mean - reach, mean + reach, "samples"))
