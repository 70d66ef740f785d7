"""The report's plots, by matplotlib: readable in print and for colour-blind readers.

Each hue (Okabe and Ito's) goes with a marker or a hatch of its own. Equal reports are equal bytes.
"""

import io
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.aspects.named import group_title
from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.visible import visible
from spor_tasks.report.browser import Outcomes
from spor_tasks.report.collect import Report
from spor_tasks.results.comparisons import Cell, Comparison
from spor_tasks.results.grid import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = (
    "No plots were drawn: matplotlib is not installed. Run `pip install 'spor-tasks[report]'`."
)

INK, SOFT, PAPER = "#111111", "#666666", "#ffffff"
"""The neutral colours; a page may put its own in their place."""

_BLUE, _VERMILION, _GREEN, _SKY, _ORANGE = "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#e69f00"
_GRAY = "#999999"

_SETTINGS: dict[Any, Any] = {  # Any: matplotlib spells out every key as a type
    "svg.hashsalt": "spor",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a model's name may have a dollar sign
    "font.family": "DejaVu Sans",  # which comes with matplotlib: the same widths everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "figure.dpi": 100,
}

_MOST_ROWS = 40  # that a plot can have and be read
_MOST_PANELS = 12
_NAME = 30  # characters of a model's name

_LEVEL = 1.959964  # standard errors on either side in 95 %


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a file name without its ending, what it shows, and the picture twice.

    ``wide`` asks for the whole width of a page.
    """

    name: str
    title: str
    caption: str
    svg: str
    png: bytes
    wide: bool = False


def available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(report: Report, outcomes: Sequence[Outcomes]) -> tuple[Plot, ...]:
    """Return the plots that are not empty; none without matplotlib."""
    if not available():
        return ()
    import matplotlib as mpl  # noqa: PLC0415 - optional, and half a second

    rows = [row for table in report.tables for row in table.rows if not row.published]
    with mpl.rc_context(_SETTINGS):
        return tuple(
            plot
            for plot in (
                _gaps(rows),
                _by_units(outcomes),
                _consistency(rows),
                _cases(rows),
                _by_category(outcomes),
            )
            if plot
        )


class _Look(NamedTuple):
    color: str
    marker: str
    line: str


_LOOKS = (_Look(_BLUE, "o", "-"), _Look(_VERMILION, "s", "--"))
_AS_IS = _Look(_GRAY, "D", ":")


def _look(spec: SetSpec, arm: str | None) -> _Look:
    return _LOOKS[spec.arms.index(arm)] if arm in spec.arms else _AS_IS


# --- Arm gaps ------------------------------------------------------------------------------------


_GAPS = ("parent", "fidelity_pbh", "ordering_pbh")  # of one scale, and of two arms


def _gaps(rows: Iterable[Comparison]) -> Plot | None:
    found = [row for row in rows if row.difference and row.metric in _GAPS]
    if not found:
        return None
    left_out = len(found) - _MOST_ROWS
    found = found[:_MOST_ROWS]
    figure = _figure(8.6, 0.9 + 0.46 * len(found) + 0.3 * len({row.aspect for row in found}))
    scores, gaps = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    at, ticks, titles = 0.0, [], []
    for title, same in groupby(found, key=lambda row: group_title(row.spec)):
        titles.append((at, title))
        at += 0.75
        for row in same:
            ticks.append((at, f"{_short(row.model)}\n{_what(row)}"))
            for number, cell in enumerate(row.arms):
                _point(scores, cell, at + 0.2 * number - 0.1, _LOOKS[number])
            if row.as_is.mean is not None:
                _point(scores, row.as_is, at, _AS_IS)
            _gap(gaps, row, at)
            at += 1
    for place, title in titles:
        scores.text(0, place, title, transform=_across(scores), weight="bold", va="center")
    scores.set_yticks([place for place, _ in ticks], [label for _, label in ticks], fontsize=8)
    scores.set_ylim(at - 0.4, -0.5)
    scores.set_xlabel("score")
    gaps.set_xlabel("first arm − second arm")
    gaps.axvline(0, color=SOFT, linewidth=0.8)
    for axes in (scores, gaps):
        axes.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    figure.legend(
        handles=[
            _handle(_LOOKS[0], "first arm (Atom, Invisible, Original)"),
            _handle(_LOOKS[1], "second arm (Combination, Visible, Match)"),
            _handle(_AS_IS, "as is"),
        ],
        loc="outside upper left",
        ncols=3,
        fontsize=8,
        handletextpad=0.3,
        columnspacing=1.2,
    )
    dropped = f" {left_out} more are in the tables." if left_out > 0 else ""
    return _plot(
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
    return _words(name.corpus, name.part, row.variant, name.protocol, metric)


def _point(axes: "Axes", cell: Cell, at: float, look: _Look) -> None:
    if cell.mean is None:
        return
    if cell.interval:
        axes.plot([cell.interval.low, cell.interval.high], [at, at], color=look.color, linewidth=1)
    axes.plot(cell.mean, at, look.marker, color=look.color, markersize=5)


def _gap(axes: "Axes", row: Comparison, at: float) -> None:
    found = row.difference
    if found is None:
        return
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
    """An arm's mean score in each group of samples, with standard error and number of samples."""

    arm: str | None
    groups: Sequence[int | str]
    means: Sequence[float]
    errors: Sequence[float]


class _Panel(NamedTuple):
    title: str
    spec: SetSpec
    metric: str
    series: Sequence[_Series]


def _panels(
    outcomes: Iterable[Outcomes],
    group_of: Callable[[Outcomes], Sequence[int | str | None]],
    metrics: Iterable[str],
) -> list[_Panel]:
    """Return a panel for each model and task whose samples form several groups."""
    panels: dict[tuple[int, str], list[Outcomes]] = defaultdict(list)
    for each in outcomes:
        if each.metric in metrics:
            panels[id(each.test), each.run.model].append(each)
    made = []
    for same in panels.values():
        groups = group_of(same[0])
        names = sorted({group for group in groups if group is not None})
        if len(names) < 2:  # noqa: PLR2004 - nothing to compare
            continue
        run = same[0].run
        series = []
        by_arm: dict[str | None, list[Outcomes]] = defaultdict(list)
        for each in same:
            by_arm[each.run.arm].append(each)
        for arm, runs in by_arm.items():
            scores = _mean_over_runs(runs)
            series.append(_series(arm, names, scores, groups))
        title = f"{_short(run.model)}\n{_task(run.comparison)}"
        made.append(_Panel(title, run.spec, same[0].metric, series))
    return made


def _mean_over_runs(runs: Sequence[Outcomes]) -> NDArray[np.float64]:
    """Return each sample's mean over seeds; NaN if no run has a score for it."""
    sums, counts = (np.zeros(len(runs[0].test.sizes)) for _ in range(2))
    for each in runs:
        scores, samples = np.array(each.scores), np.array(each.samples, dtype=int)
        known = ~np.isnan(scores)
        np.add.at(sums, samples[known], scores[known])
        np.add.at(counts, samples[known], 1)
    means = np.full(len(sums), math.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _series(
    arm: str | None,
    names: Sequence[int | str],
    scores: NDArray[np.float64],
    groups: Sequence[int | str | None],
) -> _Series:
    of = np.array([names.index(group) if group is not None else -1 for group in groups])
    found = [
        (name, values)
        for number, name in enumerate(names)
        if len(values := scores[(of == number) & ~np.isnan(scores)])
    ]
    return _Series(
        arm,
        [name for name, _ in found],
        [float(values.mean()) for _, values in found],
        [
            float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            for _, values in found
        ],
    )


def _by_units(outcomes: Sequence[Outcomes]) -> Plot | None:
    panels = _panels(outcomes, lambda each: each.test.sizes, ("parent", "cwio", "copy_rule"))
    if not panels:
        return None
    figure, grid = _grid_of(panels, height=2.5)
    for panel, axes in zip(panels[:_MOST_PANELS], grid, strict=False):
        for number, series in enumerate(panel.series):
            look = _look(panel.spec, series.arm)
            sizes = np.array(series.groups) + 0.08 * (number - (len(panel.series) - 1) / 2)
            axes.errorbar(
                sizes,
                series.means,
                yerr=_LEVEL * np.nan_to_num(series.errors),
                color=look.color,
                marker=look.marker,
                linestyle=look.line,
                markersize=4.5,
                linewidth=1.3,
                elinewidth=0.9,
                label=series.arm or "as is",
            )
        axes.set_xticks(sorted({size for series in panel.series for size in series.groups}))
        _from_zero(axes, panel)
        axes.set_xlabel("units")
        axes.set_ylabel(label(panel.metric))
        axes.grid(axis="y", color=SOFT, alpha=0.25, linewidth=0.5)
        axes.legend(fontsize=7.5, handlelength=2.4)
    return _plot(
        figure,
        "units",
        "Score against number of units",
        "Means over samples, and seeds, with 95 % intervals over samples." + _dropped(panels),
        wide=len(panels) > 1,
    )


def _from_zero(axes: "Axes", panel: _Panel) -> None:
    """Start the axis of scores from 0 to 100 at zero; τ may be negative."""
    if panel.metric != "cwio":
        highest = max((mean for series in panel.series for mean in series.means), default=0)
        axes.set_ylim(bottom=0, top=None if highest else 1)


def _by_category(outcomes: Sequence[Outcomes]) -> Plot | None:
    panels = _panels(outcomes, lambda each: each.test.categories, ("parent", "copy_rule"))
    if not panels:
        return None
    most = max(len(series.groups) for panel in panels for series in panel.series)
    figure, grid = _grid_of(panels, height=1.0 + 0.26 * most)
    for panel, axes in zip(panels[:_MOST_PANELS], grid, strict=False):
        names = sorted({str(name) for series in panel.series for name in series.groups})
        for number, series in enumerate(panel.series):
            look = _look(panel.spec, series.arm)
            shift = 0.16 * (number - (len(panel.series) - 1) / 2)
            axes.errorbar(
                series.means,
                [names.index(str(name)) + shift for name in series.groups],
                xerr=_LEVEL * np.nan_to_num(series.errors),
                color=look.color,
                marker=look.marker,
                linestyle="none",
                markersize=4.5,
                elinewidth=0.9,
                label=series.arm or "as is",
            )
        axes.set_yticks(range(len(names)), [_short(name) for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlabel(label(panel.metric))
        axes.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.5)
        axes.legend(fontsize=7.5)
    return _plot(
        figure,
        "categories",
        "Score by category",
        "Means over samples, and seeds, with 95 % intervals over samples." + _dropped(panels),
        wide=len(panels) > 1,
    )


def _grid_of(
    panels: Sequence["_Panel | Points"], *, height: float
) -> tuple["Figure", list["Axes"]]:
    """Return a figure with axes for the panels, titled."""
    count = min(len(panels), _MOST_PANELS)
    columns = min(3, count)
    rows = math.ceil(count / columns)
    figure = _figure(max(4.2, 3.1 * columns), height * rows + 0.4)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid[count:]:
        axes.set_visible(False)
    for panel, axes in zip(panels[:count], grid, strict=False):
        axes.set_title(panel.title, fontsize=8)
    return figure, grid


def _dropped(panels: Sequence["_Panel | Points"]) -> str:
    more = len(panels) - _MOST_PANELS
    return f" {more} more panels are left out." if more > 0 else ""


# --- Numbers with intervals, of anything ---------------------------------------------------------


class Points(NamedTuple):
    """A panel with a row for each label, and a number of each series in each row.

    A number stands with the ends of its interval; NaN is left out.
    """

    title: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[tuple[float, float, float]]]


def draw_points(panels: Sequence[Points], name: str, title: str, caption: str) -> Plot | None:
    """Return a plot of the panels; None without panels or without matplotlib."""
    if not panels or not available():
        return None
    import matplotlib as mpl  # noqa: PLC0415 - optional, and half a second

    with mpl.rc_context(_SETTINGS):
        most = max(len(panel.labels) for panel in panels)
        figure, grid = _grid_of(panels, height=1.1 + 0.22 * most)
        for panel, axes in zip(panels, grid, strict=False):
            for number, (look, numbers) in enumerate(
                zip(_LOOKS, panel.series.values(), strict=False)
            ):
                for at, (value, low, high) in enumerate(numbers, start=1):
                    place = at + 0.24 * number - 0.12
                    axes.plot([low, high], [place, place], color=look.color, linewidth=1)
                    axes.plot(value, place, look.marker, color=look.color, markersize=4)
            names = [_short(label) for label in panel.labels]
            axes.set_yticks(range(1, len(names) + 1), names, fontsize=7.5)
            axes.set_ylim(most + 0.6, 0.4)
            axes.grid(axis="x", color=SOFT, alpha=0.25, linewidth=0.5)
            axes.axvline(0, color=SOFT, linewidth=0.8)
        handles = [
            _handle(look, label) for look, label in zip(_LOOKS, panels[0].series, strict=False)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles), fontsize=8)
        return _plot(figure, name, title, caption + _dropped(panels), wide=len(panels) > 1)


# --- Order invariance and the copy rule: shares that add up --------------------------------------


class _Share(NamedTuple):
    """A part of a bar; its value is the mean of a metric, or the rest up to 100."""

    metric: str | None
    label: str
    color: str
    hatch: str


_ORDER_PANELS: Mapping[str, Sequence[_Share]] = {
    "Fidelity: does the text express all units?": (
        _Share("fidelity_pbh", "for both orders", _BLUE, ""),
        _Share("fidelity_poh", "for one", _SKY, "///"),
        _Share(None, "for neither", PAPER, ""),
    ),
    "Ordering: is the order that of a reference?": (
        _Share("ordering_pbh", "for both orders", _BLUE, ""),
        _Share("ordering_poh", "for one", _SKY, "///"),
        _Share(None, "for neither", PAPER, ""),
    ),
    "Both at once": (
        _Share("faithful_ordering_pbh", "for both orders", _BLUE, ""),
        _Share("faithful_ordering_poh", "for one", _SKY, "///"),
        _Share(None, "for neither", PAPER, ""),
    ),
}

_COPY_SHARES = (
    _Share("copy_rule", "copied, nothing leaked", _GREEN, ""),
    _Share("copy_rule_11", "copied and leaked", _ORANGE, "///"),
    _Share("copy_rule_00", "neither", PAPER, ""),
    _Share("copy_rule_01", "not copied, leaked", _VERMILION, "xxx"),
)


class _Bar(NamedTuple):
    label: str
    means: Mapping[str, float]


def _bars(rows: Iterable[Comparison], *shares: Sequence[_Share]) -> list[_Bar]:
    """Return the scores by metric of each arm of each model, for a task with these shares."""
    needed = {share.metric for each in shares for share in each} - {None}
    rows = [row for row in rows if needed.issubset(row.spec.reported)]
    tasks: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
    for row in rows:
        tasks[row.task, row.model, row.apart or ""].append(row)
    bars = []
    for same in tasks.values():
        row = same[0]
        arms: list[tuple[str, Callable[[Comparison], Cell]]] = [("as is", lambda row: row.as_is)]
        for number, arm in enumerate(row.spec.arms):
            arms.append((arm, lambda row, number=number: row.arms[number]))  # type: ignore[misc]
        for name, cell_of in arms:
            means = {row.metric: cell_of(row).mean for row in same}
            known = {metric: mean for metric, mean in means.items() if mean is not None}
            if known:
                what = _words(row.spec.name.corpus, row.variant, row.spec.name.protocol)
                bars.append(_Bar(f"{_short(row.model)}, {name}\n{what}", known))
    return bars[:_MOST_ROWS]


def _stack(axes: "Axes", bars: Sequence[_Bar], shares: Sequence[_Share]) -> None:
    """Draw the bars, with their parts side by side and numbers where there is room."""
    for at, bar in enumerate(bars):
        left = 0.0
        for share in shares:
            value = 100 - left if share.metric is None else bar.means.get(share.metric, 0.0)
            axes.barh(
                at,
                value,
                left=left,
                height=0.62,
                color=share.color,
                hatch=share.hatch,
                edgecolor=INK,
                linewidth=0.5,
                label=share.label if at == 0 else None,
            )
            if value >= 9:  # noqa: PLR2004 - narrower has no room for a number
                box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
                middle = left + value / 2
                axes.text(middle, at, f"{value:.0f}", ha="center", va="center", size=7.5, bbox=box)
            left += value
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars], fontsize=8)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of samples")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _consistency(rows: Iterable[Comparison]) -> Plot | None:
    bars = _bars(rows, *_ORDER_PANELS.values())
    if not bars:
        return None
    figure = _figure(10, 1.2 + 0.46 * len(bars))
    panels = figure.subplots(1, len(_ORDER_PANELS), sharey=True)
    for axes, (title, shares) in zip(panels, _ORDER_PANELS.items(), strict=True):
        _stack(axes, bars, shares)
        axes.set_title(title, fontsize=9)
    _legend_above(figure, panels[0])
    return _plot(
        figure,
        "consistency",
        "Does the input order matter?",
        "Samples whose two outputs, for two input orders, have a property: both, one, or neither.",
        wide=True,
    )


def _cases(rows: Iterable[Comparison]) -> Plot | None:
    bars = _bars(rows, _COPY_SHARES)
    if not bars:
        return None
    figure = _figure(6.4, 1.1 + 0.46 * len(bars))
    axes = figure.subplots()
    _stack(axes, bars, _COPY_SHARES)
    _legend_above(figure, axes)
    return _plot(
        figure,
        "cases",
        "Copied or memorised?",
        "The cases of the copy rule: is the phrase copied, and does what it hides appear?",
    )


def _legend_above(figure: "Figure", axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8)


# --- Pictures ----------------------------------------------------------------------------------


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    return Figure(figsize=(width, height), layout="constrained")


def _across(axes: "Axes") -> object:
    """Return coordinates with the axes' width in one direction and data in the other."""
    return axes.get_yaxis_transform()


def _handle(look: _Look, label: str) -> object:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional

    return Line2D([], [], color=look.color, marker=look.marker, linestyle="none", label=label)


def _plot(figure: "Figure", name: str, title: str, caption: str, *, wide: bool = False) -> Plot:
    svg, png = io.StringIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return Plot(name, title, caption, svg.getvalue(), png.getvalue(), wide)


def _short(name: str) -> str:
    """Return a model's name, made harmless and short; of a path, the end."""
    shown = visible(name)
    return shown if len(shown) <= _NAME else f"…{shown[-_NAME:]}"


def _task(name: str) -> str:
    return visible(name.removeprefix("spor_")).replace("_", " ")


def _words(*words: str | None) -> str:
    return " · ".join(visible(word) for word in words if word)
