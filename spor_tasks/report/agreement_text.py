"""Agreement with human judgements as text: for the terminal, as Markdown, CSV, JSON and a plot."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spor_tasks.core.files import atomic_write, writing
from spor_tasks.core.visible import visible
from spor_tasks.evaluation.agreement import FEWEST, Agreement, Estimate
from spor_tasks.report.escape import csv_table, markdown_text
from spor_tasks.report.plots import Plot, Points, draw_points
from spor_tasks.report.render import markdown_grid, plain_grid
from spor_tasks.results.grid import Grid, Line, Number

SCHEMA = 1
"""The version of the JSON format."""

LEVELS = ("texts", "systems")
COEFFICIENTS = ("pearson", "spearman", "kendall")
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
    return "\n\n".join([*map(plain_grid, _grids(found)), legend(found)])


def markdown(found: Sequence[Agreement]) -> str:
    """Return the correlations as Markdown."""
    grids = map(markdown_grid, _grids(found))
    return (
        "\n\n".join(["# Agreement with human judgements", markdown_text(legend(found)), *grids])
        + "\n"
    )


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
    content = {"schema": SCHEMA, "legend": legend(found), "agreements": found}
    return json.dumps(_plain(content), indent=2) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if dataclasses.is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, Path):
        return str(value)
    return None if isinstance(value, float) and math.isnan(value) else value


_PLACE = ("file", "judgement", "over", "n", "inputs", "left_out", "resamples", "seed")


def _place(each: Agreement, over: str) -> dict[str, object]:
    return {
        "file": str(each.file),
        "judgement": each.judgement,
        "over": over,
        "n": getattr(each, over),
        "inputs": each.inputs,
        "left_out": each.left_out,
        "resamples": each.resamples,
        "seed": each.seed,
    }


def correlations_csv(found: Iterable[Agreement]) -> str:
    """Return the correlations, one coefficient per row."""
    rows = (
        {
            **_place(each, row.over),
            "metric": row.metric,
            "coefficient": name,
            **_plain(getattr(row, name)),
        }
        for each in found
        for row in each.correlations
        for name in COEFFICIENTS
    )
    return csv_table((*_PLACE, "metric", "coefficient", *Estimate._fields), rows)


def differences_csv(found: Iterable[Agreement]) -> str:
    """Return the tests between metrics, one pair per row."""
    rows = (
        {**_place(each, row.over), **_plain(row), **_plain(row.difference)}
        for each in found
        for row in each.differences
    )
    fields = (*_PLACE, "metric", "other", *Estimate._fields, "t", "p")
    return csv_table(fields, ({name: row[name] for name in fields} for row in rows))


_FILES: tuple[tuple[str, Callable[[Sequence[Agreement]], str]], ...] = (
    ("agreement.md", markdown),
    ("agreement.json", as_json),
    ("correlations.csv", correlations_csv),
    ("differences.csv", differences_csv),
)


def write(found: Sequence[Agreement], out: Path) -> None:
    """Write tables and, if matplotlib is installed, a plot into the folder ``out``.

    Raises:
        ConfigError: the folder cannot be written.
    """
    files = {name: text(found).encode() for name, text in _FILES}
    if drawn := plot(found):
        files |= {"agreement.svg": drawn.svg.encode(), "agreement.png": drawn.png}
    for name, content in files.items():
        with writing(out / name), atomic_write(out / name) as file:
            file.write(content)


def plot(found: Sequence[Agreement]) -> Plot | None:
    """Return Pearson correlations in a panel for each judgement; None without matplotlib."""
    panels = [
        Points(
            f"{visible(each.file.stem)}\n{visible(each.judgement)}",
            [row.metric for row in each.correlations if row.over == LEVELS[0]],
            {
                f"over {over}": [row.pearson for row in each.correlations if row.over == over]
                for over in LEVELS
            },
        )
        for each in found
        if each.correlations
    ]
    caption = "Pearson's correlation with the judgement, with 95 % intervals over inputs."
    return draw_points(panels, "agreement", "Agreement with human judgements", caption)
