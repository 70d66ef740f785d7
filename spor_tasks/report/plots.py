"""The report's plots, by matplotlib: readable in print and for colour-blind readers.

Each hue (Okabe and Ito's) goes with a marker of its own. Equal figures are equal bytes.
"""

import io
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from spor_tasks.aspects.named import group_title
from spor_tasks.core.visible import visible
from spor_tasks.metrics.base import score_info
from spor_tasks.metrics.totals import MEAN, RELATIVE_GAP
from spor_tasks.results.rows import Comparison
from spor_tasks.results.statistics import Interval
from spor_tasks.results.tables import label, section_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = (
    "No plots were drawn: matplotlib is not installed. Run `pip install 'spor-tasks[report]'`."
)

_INK, _SOFT, _PAPER = "#111111", "#666666", "#ffffff"  # as in `plots.mplstyle`
_MOST_ROWS = 60  # that a plot can have and be read
_NAME = 30  # characters of a model's name
_NORMAL = 1.959964  # standard errors on either side in 95 %


def _files(name: str) -> tuple[str, str]:
    return f"plots/{name}.svg", f"plots/{name}.png"


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a file name without its ending, a title, a caption, and the picture twice."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def files(self) -> dict[str, str | bytes]:
        """The picture as files, by their names in the folder of a report."""
        return dict(zip(_files(self.name), (self.svg, self.png), strict=True))


class _Look(NamedTuple):
    """How points look, and how far they are shifted from their row; empty ones have a fill."""

    color: str
    marker: str
    shift: float = 0.0
    fill: str | None = None


_LOOKS = (_Look("#0072b2", "o", -0.1), _Look("#d55e00", "s", 0.1))
_AS_IS = _Look("#999999", "D")
_ARMS = {
    "first arm (Atom, Invisible, Original)": _LOOKS[0],
    "second arm (Combination, Visible, Match)": _LOOKS[1],
    "as is": _AS_IS,
}
_TRAITS = {
    "units": ("units", "Score by number of units"),
    "category": ("categories", "Score by category"),
}
FILES = frozenset(chain.from_iterable(map(_files, ("gaps", "halves", "units", "categories"))))
"""The files of all plots, of which a report may have some."""
_OVER_SAMPLES = "Means over samples, and seeds, with 95 % intervals over samples."
_HALVES = dict(zip(("combinations in training (i.d.)", "compositional"), _LOOKS, strict=True))


class _Point(NamedTuple):
    """A score, both ends of its interval, and the parts that it is the mean of."""

    value: float
    look: _Look
    ends: Sequence[float] = ()
    parts: Sequence[float] = ()


class _Row(NamedTuple):
    """Scores under a title, and a point with a text for their difference; names have lines."""

    title: str
    name: Sequence[str]
    points: Sequence[_Point]
    difference: _Point | None = None
    text: str = ""


def available() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(rows: Sequence[Comparison], outcomes: Sequence[Mapping[str, Any]]) -> tuple[Plot, ...]:
    """Return the plots of rows of tables that are not empty; none without matplotlib.

    ``outcomes`` are those of :class:`~spor_tasks.report.browser.Browser`.
    """
    if not available():
        return ()
    plots = (
        _plot(
            filter(None, map(_arms, rows)),
            ("gaps", "Scores of the arms, and their difference"),
            "Means over seeds with 95 % intervals. Below zero, the model loses where it must "
            "generalize. Filled differences have p < 0.05.",
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
            _plot(_groups(outcomes, trait), names, _OVER_SAMPLES, _ARMS)
            for trait, names in _TRAITS.items()
        ),
    )
    return tuple(filter(None, plots))


# --- One plot ------------------------------------------------------------------------------------


def _plot(
    rows: Iterable[_Row],
    names: tuple[str, str],
    caption: str,
    looks: Mapping[str, _Look],
    difference: str = "",
) -> Plot | None:
    """Return a plot with the names of its file and for its readers; None without rows.

    Differences have axes of their own, which ``difference`` is the label of.
    """
    import matplotlib as mpl  # noqa: PLC0415 - optional, and half a second
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    drawn = list(rows)
    if not drawn:
        return None
    if (left_out := len(drawn) - _MOST_ROWS) > 0:
        caption += f" {left_out} more rows are left out."
    drawn = drawn[:_MOST_ROWS]
    titles = len({row.title for row in drawn})
    height = 0.9 + (0.46 if difference else 0.3) * len(drawn) + 0.3 * titles
    svg, png = io.StringIO(), io.BytesIO()
    with mpl.rc_context(fname=Path(__file__).with_name("plots.mplstyle")):
        figure = Figure(figsize=(8.6, height), layout="constrained")
        widths = (3, 2) if difference else (1,)
        settings: Any = {"sharey": True, "squeeze": False, "width_ratios": widths}
        all_axes = figure.subplots(1, len(widths), **settings)[0]
        for axes, text in zip(all_axes, ("score", difference), strict=False):
            axes.set_xlabel(text)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
        _draw_rows(drawn, *all_axes)
        handles = [
            all_axes[0].plot([], [], look.marker, color=look.color, label=name)[0]
            for name, look in looks.items()
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
        # Without time and versions: equal figures are equal bytes.
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return Plot(*names, caption, svg.getvalue(), png.getvalue())


def _draw_rows(rows: Iterable[_Row], scores: "Axes", differences: "Axes | None" = None) -> None:
    """Draw the rows from above, with a line for each title."""
    across = scores.get_yaxis_transform()  # the axes' width in one direction, data in the other
    at, ticks = 0.0, {}
    for title, same in groupby(rows, key=lambda row: row.title):
        scores.text(0, at, visible(title), transform=across, weight="bold", va="center")
        at += 0.75
        for row in same:
            ticks[at] = "\n".join(map(visible, row.name))
            for point in row.points:
                _draw_point(scores, point, at)
            if differences and row.difference:
                _draw_point(differences, row.difference, at)
                differences.annotate(
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
    if differences:
        differences.axvline(0, color=_SOFT, linewidth=0.8)


def _draw_point(axes: "Axes", point: _Point, row: float) -> None:
    color, marker, shift, fill = point.look
    at = row + shift
    axes.plot(point.ends, [at] * len(point.ends), color=color, linewidth=1)
    axes.plot(point.parts, [at] * len(point.parts), "|", color=color, alpha=0.5)
    axes.plot(point.value, at, marker, color=color, markerfacecolor=fill or color, markersize=5)


def _short(name: str) -> str:
    """Return a model's name, of a long one the end."""
    return name if len(name) <= _NAME else f"…{name[-_NAME:]}"


# --- Rows of the tables --------------------------------------------------------------------------


def _is_percentage(metric: str) -> bool:
    info = score_info(metric)
    return (info.low, info.high) == (0, 100)


def _arms(row: Comparison) -> _Row | None:
    """Return the scores of the arms and their difference; None of rows that are not plotted.

    Plotted are headlines from 0 to 100, which fit on one scale.
    """
    difference = row.difference
    if row.metric != row.spec.headline or not _is_percentage(row.metric) or not difference:
        return None
    cells = zip((*row.arms, row.as_is), (*_LOOKS, _AS_IS), strict=True)
    points = [
        _Point(cell.mean, look, _ends(cell.interval))
        for cell, look in cells
        if cell.mean is not None
    ]
    name = row.spec.name
    test = filter(None, [name.corpus, name.part, row.variant, name.protocol, label(row.metric)])
    look = _Look(_INK, "o", fill=_INK if difference.mark else _PAPER)
    return _Row(
        group_title(row.spec),
        (_short(row.model), " · ".join(test)),
        points,
        _Point(difference.value, look, _ends(difference.interval)),
        f"{difference.value:+.2f}{difference.mark}",
    )


def _ends(interval: Interval | None) -> Sequence[float]:
    return () if interval is None else (interval.low, interval.high)


def _halves(rows: Iterable[Comparison]) -> Iterator[_Row]:
    """Yield scores on known and on new combinations, if a relative gap compares them.

    A system has results of several splits. The means of both scores are over them, and the gap is
    that of the means.
    """
    scores: dict[tuple[str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in rows:
        relative = any(score_info(name).totals is RELATIVE_GAP for name in row.spec.reported)
        for gap in row.spec.gaps if relative else ():
            title = f"{section_title(row)}: {label(gap.score).rpartition(',')[0]}"
            for arm, cell in (("as is", row.as_is), *row.by_arm):
                if row.metric in gap and cell.mean is not None:
                    system = f"{_short(row.name)}, {arm}"
                    scores[title, system][row.metric != gap.subtracted].append(cell.mean)
    for (title, system), halves in scores.items():
        if all(halves):
            first, second = map(fmean, halves)
            looks = zip(halves, _LOOKS, strict=True)
            points = [_Point(fmean(half), look, parts=half) for half, look in looks]
            loss = 100 * (first - second) / first if first else 0.0
            yield _Row(title, [system], points, _Point(loss, _Look(_INK, "o")), f"{loss:+.1f} %")


# --- Rows of samples -----------------------------------------------------------------------------


def _groups(tests: Iterable[Mapping[str, Any]], trait: str) -> Iterator[_Row]:
    """Yield a row for each value of a trait, of each task and model that has several values.

    Scores are headlines from 0 to 100 that are means over samples.
    """
    for test in tests:
        metric, looks = test["metric"], dict(zip(test["arms"], _LOOKS, strict=False))
        if not _is_percentage(metric) or score_info(metric).totals is not MEAN:
            continue
        for model, groups in _means(test, trait).items():
            title = " · ".join((_short(model), test["title"], label(metric)))
            rows = [
                _Row(title, [_short(str(group))], [_mean(*arm, looks) for arm in arms.items()])
                for group, arms in sorted(groups.items())
            ]
            yield from rows if len(rows) > 1 else ()


_MeansByArm: TypeAlias = dict[str, list[float]]
"""By arm, the mean of each sample's scores over runs."""


def _means(test: Mapping[str, Any], trait: str) -> dict[str, dict[Any, _MeansByArm]]:
    """Return the means of samples by model, by group and by arm."""
    scores: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for run in test["runs"]:
        model, arm = run["facets"]["model"], run["facets"]["arm"]
        for sample, score in zip(run["samples"], run["scores"], strict=True):
            if score is not None:
                scores[model, arm, sample].append(score)
    means: dict[str, dict[Any, _MeansByArm]] = {}
    for (model, arm, sample), of_sample in sorted(scores.items()):
        group = test["traits"][sample][trait]
        if group is not None:
            arms = means.setdefault(model, {}).setdefault(group, {})
            arms.setdefault(arm, []).append(fmean(of_sample))
    return means


def _mean(arm: str, means: Sequence[float], looks: Mapping[str, _Look]) -> _Point:
    mean, n = fmean(means), len(means)
    reach = _NORMAL * float(np.std(means, ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    return _Point(mean, looks.get(arm, _AS_IS), (mean - reach, mean + reach))
