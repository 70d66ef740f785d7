"""The report's plots, by matplotlib: readable in print and for colour-blind readers."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spor_tasks.aspects.named import group_title
from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.visible import visible
from spor_tasks.report.browser import Entry, Outcomes
from spor_tasks.report.collect import Report
from spor_tasks.report.figures import (
    AS_IS,
    INK,
    LOOKS,
    PAPER,
    SOFT,
    Plot,
    drawing,
    explain,
    figure_of,
    look_of,
    panels_of,
    plot_of,
    point,
    short,
    without_frame,
    words,
)
from spor_tasks.report.halves import halves_plot
from spor_tasks.results.comparisons import Comparison, Difference
from spor_tasks.results.grid import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = (
    "No plots were drawn: matplotlib is not installed. Run `pip install 'spor-tasks[report]'`."
)

_MOST_ROWS = 40  # that a plot can have and be read
_LEVEL = 1.959964  # standard errors on either side in 95 %


def available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(report: Report, outcomes: Sequence[Outcomes]) -> tuple[Plot, ...]:
    """Return the plots that are not empty; none without matplotlib."""
    if not available():
        return ()
    rows = [row for table in report.tables for row in table.rows if not row.published]
    with drawing():
        plots = (
            _gaps(rows),
            halves_plot(rows),
            _by_units(outcomes),
            _by_category(outcomes),
        )
    return tuple(filter(None, plots))


# --- Arm gaps ------------------------------------------------------------------------------------


_GAPS = ("parent", "fidelity_pbh", "ordering_pbh")  # of one scale, and of two arms


def _gaps(rows: Iterable[Comparison]) -> Plot | None:
    found = [(row, gap) for row in rows if row.metric in _GAPS and (gap := row.difference)]
    if not found:
        return None
    left_out, found = len(found) - _MOST_ROWS, found[:_MOST_ROWS]
    height = 0.9 + 0.46 * len(found) + 0.3 * len({row.aspect for row, _ in found})
    figure = figure_of(8.6, height)
    scores, gaps = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    beside = scores.get_yaxis_transform()  # the axes' width in one direction, data in the other
    at, ticks = 0.0, {}
    for title, same in groupby(found, key=lambda pair: group_title(pair[0].spec)):
        scores.text(0, at, title, transform=beside, weight="bold", va="center")
        at += 0.75
        for row, gap in same:
            ticks[at] = f"{short(row.model)}\n{_what(row)}"
            for shift, cell, look in zip(
                (-0.1, 0.1, 0), (*row.arms, row.as_is), (*LOOKS, AS_IS), strict=True
            ):
                if cell.mean is not None:
                    ends = (cell.interval.low, cell.interval.high) if cell.interval else ()
                    point(scores, cell.mean, ends, at + shift, look)
            _gap(gaps, gap, at)
            at += 1
    scores.set_yticks(list(ticks), list(ticks.values()))
    scores.set_ylim(at - 0.4, -0.5)
    scores.set_xlabel("score")
    gaps.set_xlabel("first arm − second arm")
    gaps.axvline(0, color=SOFT, linewidth=0.8)
    for axes in (scores, gaps):
        axes.grid(axis="x")
        without_frame(axes)
    looks = (
        (LOOKS[0], "first arm (Atom, Invisible, Original)"),
        (LOOKS[1], "second arm (Combination, Visible, Match)"),
        (AS_IS, "as is"),
    )
    explain(figure, looks)
    dropped = f" {left_out} more are in the tables." if left_out > 0 else ""
    return plot_of(
        figure,
        "gaps",
        "Scores of the arms, and their difference",
        "Means over seeds with 95 % intervals. Below zero, the model loses where it must "
        f"generalize. Filled differences have p < 0.05.{dropped}",
        wide=True,
    )


def _what(row: Comparison) -> str:
    metric = "" if row.metric == row.spec.headline else label(row.metric)
    name = row.spec.name
    return words(name.corpus, name.part, row.variant, name.protocol, metric)


def _gap(axes: "Axes", found: Difference, at: float) -> None:
    if found.interval:
        ends = [found.interval.low, found.interval.high]
        axes.plot(ends, [at, at], color=INK, linewidth=1.2)
    fill = INK if found.mark else PAPER
    axes.plot(found.value, at, "o", color=INK, markerfacecolor=fill, markersize=5.5)
    axes.annotate(
        f"{found.value:+.2f}{found.mark}".replace("-", "−"),
        (found.value, at),
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        fontsize=7.5,
    )


# --- Score by number of units, and by category ----------------------------------------------------


class _Series(NamedTuple):
    """An arm's mean score in each group of samples, and how far its 95 % interval reaches."""

    arm: str | None
    groups: Sequence[Any]
    means: Sequence[float]
    reach: Sequence[float]


class _Panel(NamedTuple):
    title: str
    spec: SetSpec
    series: Sequence[_Series]


def _by_units(outcomes: Iterable[Outcomes]) -> Plot | None:
    panels = _panels(outcomes, lambda sample: sample.size, ("parent", "cwio", "copy_rule"))
    return _grouped(panels, "units", "Score by number of units")


def _by_category(outcomes: Iterable[Outcomes]) -> Plot | None:
    panels = _panels(outcomes, lambda sample: sample.category, ("parent", "copy_rule"))
    return _grouped(panels, "categories", "Score by category")


def _grouped(panels: Sequence[_Panel], name: str, title: str) -> Plot | None:
    """Return a plot with a row for each group of samples, and a point for each arm."""
    if not panels:
        return None
    most = max(len(each.groups) for panel in panels for each in panel.series)
    figure, grid, dropped = panels_of([panel.title for panel in panels], 1.0 + 0.26 * most)
    for panel, axes in zip(panels, grid, strict=False):
        groups = sorted({group for series in panel.series for group in series.groups})
        for number, series in enumerate(panel.series):
            places = [groups.index(group) + _shift(number, panel) for group in series.groups]
            axes.errorbar(series.means, places, xerr=series.reach, **_style(panel, series))
        axes.set_yticks(range(len(groups)), [short(str(group)) for group in groups])
        axes.set_ylim(len(groups) - 0.4, -0.6)
        axes.set_xlabel(label(panel.spec.headline))
        axes.grid(axis="x")
        axes.legend()
    caption = f"Means over samples, and seeds, with 95 % intervals over samples.{dropped}"
    return plot_of(figure, name, title, caption, wide=len(panels) > 1)


def _shift(number: int, panel: _Panel) -> float:
    """Return how far a series stands from its group's place, so that none hides another."""
    return 0.16 * (number - (len(panel.series) - 1) / 2)


def _style(panel: _Panel, series: _Series) -> dict[str, Any]:
    look = look_of(panel.spec, series.arm)
    return {
        "color": look.color,
        "marker": look.marker,
        "linestyle": "none",
        "markersize": 4.5,
        "elinewidth": 0.9,
        "label": series.arm or "as is",
    }


def _panels(
    outcomes: Iterable[Outcomes],
    group_of: Callable[[Entry], int | str | None],
    metrics: Iterable[str],
) -> list[_Panel]:
    """Return a panel for each model and task whose samples form several groups."""
    panels: dict[tuple[int, str], list[Outcomes]] = defaultdict(list)
    for each in outcomes:
        if each.run.spec.headline in metrics:
            panels[id(each.test), each.run.model].append(each)
    made = []
    for same in panels.values():
        groups = list(map(group_of, same[0].test.samples))
        if len(set(groups) - {None}) < 2:  # noqa: PLR2004 - nothing to compare
            continue
        by_arm: dict[str | None, list[Outcomes]] = defaultdict(list)
        for each in same:
            by_arm[each.run.arm].append(each)
        run = same[0].run
        task = visible(run.comparison.removeprefix("spor_")).replace("_", " ")
        series = [_series(arm, runs, groups) for arm, runs in by_arm.items()]
        made.append(_Panel(f"{short(run.model)}\n{task}", run.spec, series))
    return made


def _series(
    arm: str | None, runs: Iterable[Outcomes], groups: Sequence[int | str | None]
) -> _Series:
    """Return means over the samples of each group, of the samples' means over seeds."""
    scores: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        for sample, score in zip(run.samples, run.scores, strict=True):
            if score is not None:
                scores[sample].append(score)
    values: dict[Any, list[float]] = defaultdict(list)
    for sample, known in scores.items():
        if groups[sample] is not None:
            values[groups[sample]].append(fmean(known))
    names = sorted(values)
    reach = [
        _LEVEL * float(np.std(values[name], ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        for name in names
        if (count := len(values[name]))
    ]
    return _Series(arm, names, [fmean(values[name]) for name in names], reach)
