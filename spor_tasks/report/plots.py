"""The report's plots, by matplotlib: readable in print and for colour-blind readers."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    BLUE,
    GREEN,
    INK,
    LOOKS,
    ORANGE,
    PAPER,
    SKY,
    SOFT,
    VERMILION,
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
_WIDE = 9  # % of a bar that have room for a number
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
            _consistency(rows),
            _cases(rows),
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


# --- Score by number of units, and by category -------------------------------------------------


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
    return _grouped(panels, _against_units, 2.5, "units", "Score against number of units")


def _by_category(outcomes: Iterable[Outcomes]) -> Plot | None:
    panels = _panels(outcomes, lambda sample: sample.category, ("parent", "copy_rule"))
    most = max((len(each.groups) for panel in panels for each in panel.series), default=0)
    height = 1.0 + 0.26 * most
    return _grouped(panels, _beside_categories, height, "categories", "Score by category")


def _grouped(
    panels: Sequence[_Panel],
    draw_panel: Callable[["Axes", _Panel], None],
    height: float,
    name: str,
    title: str,
) -> Plot | None:
    if not panels:
        return None
    figure, grid, dropped = panels_of([panel.title for panel in panels], height)
    for panel, axes in zip(panels, grid, strict=False):
        draw_panel(axes, panel)
    caption = f"Means over samples, and seeds, with 95 % intervals over samples.{dropped}"
    return plot_of(figure, name, title, caption, wide=len(panels) > 1)


def _against_units(axes: "Axes", panel: _Panel) -> None:
    for number, series in enumerate(panel.series):
        sizes = np.array(series.groups) + _shift(number, panel, 0.08)
        axes.errorbar(sizes, series.means, yerr=series.reach, **_style(panel, series))
    axes.set_xticks(sorted({size for series in panel.series for size in series.groups}))
    if panel.spec.headline != "cwio":  # from 0 to 100; τ may be negative
        highest = max((mean for series in panel.series for mean in series.means), default=0)
        axes.set_ylim(bottom=0, top=None if highest else 1)
    axes.set_xlabel("units")
    axes.set_ylabel(label(panel.spec.headline))
    axes.grid(axis="y")
    axes.legend(handlelength=2.4)


def _beside_categories(axes: "Axes", panel: _Panel) -> None:
    names = sorted({name for series in panel.series for name in series.groups})
    for number, series in enumerate(panel.series):
        shift = _shift(number, panel, 0.16)
        places = [names.index(name) + shift for name in series.groups]
        style = _style(panel, series) | {"linestyle": "none"}
        axes.errorbar(series.means, places, xerr=series.reach, **style)
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(label(panel.spec.headline))
    axes.grid(axis="x")
    axes.legend()


def _shift(number: int, panel: _Panel, step: float) -> float:
    """Return how far a series stands from its group's place, so that none hides another."""
    return step * (number - (len(panel.series) - 1) / 2)


def _style(panel: _Panel, series: _Series) -> dict[str, Any]:
    look = look_of(panel.spec, series.arm)
    return {
        "color": look.color,
        "marker": look.marker,
        "linestyle": look.line,
        "linewidth": 1.3,
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


# --- Order invariance and the copy rule: shares that add up --------------------------------------


class _Share(NamedTuple):
    """A part of a bar; its value is the mean of a metric, or the rest up to 100."""

    metric: str | None
    label: str
    color: str
    hatch: str


_ORDERS: Mapping[str, Sequence[_Share]] = {
    title: (
        _Share(f"{metric}_pbh", "for both orders", BLUE, ""),
        _Share(f"{metric}_poh", "for one", SKY, "///"),
        _Share(None, "for neither", PAPER, ""),
    )
    for title, metric in (
        ("Fidelity: does the text express all units?", "fidelity"),
        ("Ordering: is the order that of a reference?", "ordering"),
        ("Both at once", "faithful_ordering"),
    )
}

_COPIES = (
    _Share("copy_rule", "copied, nothing leaked", GREEN, ""),
    _Share("copy_rule_11", "copied and leaked", ORANGE, "///"),
    _Share("copy_rule_00", "neither", PAPER, ""),
    _Share("copy_rule_01", "not copied, leaked", VERMILION, "xxx"),
)


def _consistency(rows: Iterable[Comparison]) -> Plot | None:
    title = "Does the input order matter?"
    caption = (
        "Samples whose two outputs, for two input orders, have a property: both, one, or neither."
    )
    return _shares(rows, _ORDERS, "consistency", title, caption)


def _cases(rows: Iterable[Comparison]) -> Plot | None:
    title = "Copied or memorised?"
    caption = "The cases of the copy rule: is the phrase copied, and does what it hides appear?"
    return _shares(rows, {"": _COPIES}, "cases", title, caption)


def _shares(
    rows: Iterable[Comparison],
    panels: Mapping[str, Sequence[_Share]],
    name: str,
    title: str,
    caption: str,
) -> Plot | None:
    bars = _bars(rows, {share.metric for each in panels.values() for share in each} - {None})
    if not bars:
        return None
    figure = figure_of(4.6 + 1.8 * len(panels), 1.2 + 0.46 * len(bars))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False).flat
    for axes, (heading, shares) in zip(grid, panels.items(), strict=True):
        _stack(axes, bars, shares)
        axes.set_title(heading)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return plot_of(figure, name, title, caption, wide=len(panels) > 1)


class _Bar(NamedTuple):
    label: str
    means: dict[str, float]


def _bars(rows: Iterable[Comparison], needed: set[str | None]) -> list[_Bar]:
    """Return the scores by metric of each arm of each model, for a task with these metrics."""
    bars: dict[tuple[str | None, ...], _Bar] = {}
    for row in rows:
        if needed.issubset(row.spec.reported):
            what = words(row.spec.name.corpus, row.variant, row.spec.name.protocol)
            for arm, cell in (("as is", row.as_is), *row.by_arm):
                if cell.mean is not None:
                    bar = _Bar(f"{short(row.model)}, {arm}\n{what}", {})
                    key = row.task, row.model, row.apart, arm
                    bars.setdefault(key, bar).means[row.metric] = cell.mean
    return list(bars.values())[:_MOST_ROWS]


def _stack(axes: "Axes", bars: Sequence[_Bar], shares: Sequence[_Share]) -> None:
    """Draw the bars, with their parts side by side and numbers where there is room."""
    left = np.zeros(len(bars))
    for share in shares:
        means = [bar.means.get(share.metric or "", 0.0) for bar in bars]
        values = np.array(means) if share.metric else 100 - left
        drawn = axes.barh(
            range(len(bars)),
            values,
            left=left,
            height=0.62,
            color=share.color,
            hatch=share.hatch,
            edgecolor=INK,
            linewidth=0.5,
            label=share.label,
        )
        numbers = [f"{value:.0f}" if value >= _WIDE else "" for value in values]
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
        axes.bar_label(drawn, numbers, label_type="center", size=7.5, bbox=box)
        left += values
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of samples")
    without_frame(axes)
