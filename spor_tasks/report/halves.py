"""The plot of scores on known and on new combinations, where a gap in per cent compares these.

A system has results of several splits. The means of both scores are over them, and the gap is that
of the means.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from spor_tasks.metrics.base import score_info
from spor_tasks.metrics.totals import RELATIVE_GAP
from spor_tasks.report.figures import (
    LOOKS,
    Plot,
    explain,
    figure_of,
    plot_of,
    point,
    short,
    without_frame,
)
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import label, section_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 40  # that a plot can have and be read


class _Row(NamedTuple):
    """A system, and its scores in each split on known combinations, then on new ones."""

    title: str
    system: str
    scores: Sequence[Sequence[float]]


def halves_plot(rows: Iterable[Comparison]) -> Plot | None:
    """Return the plot, None if no benchmark of these rows has such a gap."""
    found = list(_rows(rows))
    if not found:
        return None
    left_out, found = len(found) - _MOST_ROWS, found[:_MOST_ROWS]
    height = 0.9 + 0.46 * len(found) + 0.3 * len({row.title for row in found})
    figure = figure_of(7.2, height)
    _draw(figure.subplots(), found)
    explain(figure, zip(LOOKS, ("combinations in training (i.d.)", "compositional"), strict=True))
    dropped = f" {left_out} more are in the tables." if left_out > 0 else ""
    return plot_of(
        figure,
        "halves",
        "Known and new combinations",
        "Means over the splits of a protocol, each of which is a thin line. On the right: how much "
        f"lower the second mean is, in per cent of the first.{dropped}",
        wide=True,
    )


def _rows(rows: Iterable[Comparison]) -> Iterator[_Row]:
    found: dict[tuple[str, str], Mapping[str, list[float]]] = defaultdict(
        lambda: {"id": [], "comp": []}
    )
    for row in rows:
        for gap in row.spec.gaps:
            if row.metric in gap and _is_relative(row):
                title = f"{section_title(row)}: {label(gap.one).rpartition(',')[0]}"
                half = "id" if row.metric == gap.other else "comp"
                for arm, cell in (("as is", row.as_is), *row.by_arm):
                    if cell.mean is not None:
                        found[title, f"{short(row.name)}, {arm}"][half].append(cell.mean)
    for (title, system), scores in found.items():
        if all(scores.values()):
            yield _Row(title, system, tuple(scores.values()))


def _is_relative(row: Comparison) -> bool:
    return any(score_info(name).totals is RELATIVE_GAP for name in row.spec.reported)


def _draw(axes: "Axes", rows: Sequence[_Row]) -> None:
    beside = axes.get_yaxis_transform()  # the axes' width in one direction, data in the other
    at, ticks = 0.0, {}
    for title, same in groupby(rows, key=lambda row: row.title):
        axes.text(0, at, title, transform=beside, weight="bold", va="center")
        at += 0.75
        for row in same:
            ticks[at] = row.system
            for shift, values, look in zip((-0.1, 0.1), row.scores, LOOKS, strict=True):
                if len(values) > 1:
                    axes.plot(values, [at + shift] * len(values), "|", color=look.color, alpha=0.5)
                point(axes, fmean(values), (), at + shift, look)
            axes.text(1.02, at, _gap(*map(fmean, row.scores)), transform=beside, va="center")
            at += 1
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_ylim(at - 0.4, -0.5)
    axes.set_xlabel("score")
    axes.grid(axis="x")
    without_frame(axes)


def _gap(known: float, new: float) -> str:
    return f"{100 * (known - new) / known:+.1f} %".replace("-", "−") if known else ""
