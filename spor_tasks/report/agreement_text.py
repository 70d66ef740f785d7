"""Agreement with human judgements as text: for the terminal, as Markdown, CSV, JSON and a plot."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spor_tasks.core.visible import visible
from spor_tasks.evaluation.agreement import Agreement, Estimate
from spor_tasks.metrics.correlation import FEWEST
from spor_tasks.report.escape import markdown_text
from spor_tasks.report.figures import (
    LOOKS,
    SOFT,
    Plot,
    drawing,
    explain,
    panels_of,
    plot_of,
    point,
    short,
)
from spor_tasks.report.formats import (
    csv_table,
    json_text,
    markdown_tables,
    plain_tables,
    plain_value,
    save,
)
from spor_tasks.report.plots import available
from spor_tasks.results.grid import Grid, Line, Number

LEVELS = ("texts", "systems")
COEFFICIENTS = ("pearson", "spearman", "kendall")
_TITLE = "Agreement with human judgements"
_HEADER = ("metric", "Pearson", "Spearman", "Kendall τ-b", "p")
_UNDEFINED = "–"
_SMALLEST_P = 0.001


def legend(found: Sequence[Agreement]) -> str:
    """Return the meaning of the signs in the tables."""
    drawn = f"{found[0].resamples:,} resamples, seed {found[0].seed}" if found else "none"
    return (
        f"[low, high]: 95 % bootstrap interval over whole inputs ({drawn}). p: Williams' test, "
        "two-sided, of whether the metric's Pearson correlation equals that of the strongest "
        "metric. Signs depend on the judgement: some judgements are higher for worse texts. "
        f"{_UNDEFINED} stands for a correlation with a constant, or for p if two metrics agree "
        "completely."
    )


def terminal(found: Sequence[Agreement]) -> str:
    """Return the correlations as aligned columns."""
    return plain_tables(_grids(found), legend(found))


def markdown(found: Sequence[Agreement]) -> str:
    """Return the correlations as Markdown."""
    return markdown_tables(_TITLE, markdown_text(legend(found)), _grids(found))


def _grids(found: Iterable[Agreement]) -> Iterator[Grid]:
    for each in found:
        for over in LEVELS:
            title = f"{each.file}: {each.judgement}, over {over}"
            yield Grid(title, _caption(each, over), _HEADER, tuple(_lines(each, over)), (), ())


def _caption(each: Agreement, over: str) -> str:
    counts = {
        "texts": f"n = {each.texts:,} texts for {each.inputs:,} inputs",
        "systems": f"n = {each.systems:,} systems, means over {each.texts:,} texts",
    }
    left_out = f"{each.left_out:,} left out for lack of the judgement or a score"
    few = f"too few: a correlation needs {FEWEST}"
    told = [
        counts[over],
        left_out if each.left_out else "",
        few if getattr(each, over) < FEWEST else "",
    ]
    return "; ".join(filter(None, told))


def _lines(each: Agreement, over: str) -> Iterator[Line]:
    strongest = each.strongest(over)
    p_of = {
        (set(pair) - {strongest}).pop(): difference.p
        for difference in each.differences
        if difference.over == over and strongest in (pair := (difference.metric, difference.other))
    }
    for row in each.correlations:
        if row.over == over:
            p = "strongest" if row.metric == strongest else _p(p_of.get(row.metric, math.nan))
            yield row.metric, *map(_number, (row.pearson, row.spearman, row.kendall)), p


def _number(estimate: Estimate) -> Number:
    value, low, high = (_UNDEFINED if math.isnan(x) else f"{x:.3f}" for x in estimate)
    return Number(value, "" if low == _UNDEFINED else f"{low}, {high}")


def _p(p: float) -> str:
    if math.isnan(p):
        return _UNDEFINED
    return f"{p:.3f}" if p >= _SMALLEST_P else f"<{_SMALLEST_P}"


# --- Files ----------------------------------------------------------------------------------------


def as_json(found: Sequence[Agreement]) -> str:
    """Return everything as JSON, with null for undefined numbers."""
    return json_text({"legend": legend(found), "agreements": found})


_PLACE = ("file", "judgement", "over", "n", "inputs", "left_out", "resamples", "seed")


def _place(each: Agreement, over: str) -> dict[str, object]:
    told = {name: getattr(each, name) for name in ("judgement", *_PLACE[4:])}
    return {"file": str(each.file), **told, "over": over, "n": getattr(each, over)}


def correlations_csv(found: Iterable[Agreement]) -> str:
    """Return the correlations, one coefficient per row."""
    rows = (
        {
            **_place(each, row.over),
            "metric": row.metric,
            "coefficient": name,
            **plain_value(getattr(row, name)),
        }
        for each in found
        for row in each.correlations
        for name in COEFFICIENTS
    )
    return csv_table((*_PLACE, "metric", "coefficient", *Estimate._fields), rows)


def differences_csv(found: Iterable[Agreement]) -> str:
    """Return the tests between metrics, one pair per row."""
    told = ("metric", "other", "t", "p")
    rows = (
        {
            **_place(each, row.over),
            **plain_value({name: getattr(row, name) for name in told}),
            **plain_value(row.difference),
        }
        for each in found
        for row in each.differences
    )
    return csv_table((*_PLACE, "metric", "other", *Estimate._fields, "t", "p"), rows)


def write(found: Sequence[Agreement], out: Path) -> None:
    """Write tables and, if matplotlib is installed, a plot into the folder ``out``.

    Raises:
        ConfigError: the folder cannot be written.
    """
    drawn = plot(found)
    texts = {
        "agreement.md": markdown(found),
        "agreement.json": as_json(found),
        "correlations.csv": correlations_csv(found),
        "differences.csv": differences_csv(found),
    }
    save(out, texts | (drawn.files if drawn else {}))


def plot(found: Sequence[Agreement]) -> Plot | None:
    """Return Pearson correlations in a panel for each judgement; None without matplotlib."""
    shown = [each for each in found if each.correlations]
    if not shown or not available():
        return None
    titles = [f"{visible(each.file.stem)}\n{visible(each.judgement)}" for each in shown]
    most = max(len(each.correlations) // len(LEVELS) for each in shown)
    with drawing():
        figure, grid, dropped = panels_of(titles, 1.1 + 0.22 * most)
        for each, axes in zip(shown, grid, strict=False):
            for over, look, shift in zip(LEVELS, LOOKS, (-0.12, 0.12), strict=True):
                rows = [row for row in each.correlations if row.over == over]
                for at, row in enumerate(rows):
                    value, *ends = row.pearson
                    point(axes, value, ends, at + shift, look)
            axes.set_yticks(range(len(rows)), [short(row.metric) for row in rows])
            axes.set_ylim(most - 0.4, -0.6)
            axes.grid(axis="x")
            axes.axvline(0, color=SOFT, linewidth=0.8)
        explain(figure, [(look, f"over {over}") for look, over in zip(LOOKS, LEVELS, strict=True)])
        caption = "Pearson's correlation with the judgement, with 95 % intervals over inputs."
        return plot_of(figure, "agreement", _TITLE, caption + dropped, wide=len(shown) > 1)
