"""Runs about ToTTo's embedded tables: scored outputs, and a large table of cells that mean harm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spor_tasks.core.codec import doc_of
from spor_tasks.core.sample import Fact, Sample
from spor_tasks.core.table import from_json
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.metrics.totals import Value
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from tests.support import table_runs, totto
from tests.support.invented_runs import HOSTILE
from tests.support.result_files import rows_of
from tests.support.scores import values_of as grouped_values

TASK = "totto_mini"
ROWS, COLUMNS = 250, 40
"""Of the table of the last sample."""


def values_of(sample: Sample, output: str) -> dict[str, Value]:
    """Return what the metrics of ToTTo log of an output."""
    return {
        name: value
        for metric in (TOTTO, TOTTO_REAL)
        for name, value in grouped_values(metric, sample, metric.judge_one(sample, output)).items()
    } | {"empty": 100.0 * (not output.strip())}


def write(folder: Path, samples: int = 8, **settings: Any) -> Path:  # noqa: ANN401 - what write_run takes
    """Write the results of a model on the embedded test set; return the folder.

    The first output is a reference, then come one without the first cell, and cells in a row.
    """
    given = TOTTO_MINI.part("test")[:samples]
    outputs = [_output(number, sample) for number, sample in enumerate(given)]
    return write_run(folder, given, outputs, **settings)


def _output(number: int, sample: Sample) -> str:
    match number % 3:
        case 0:
            return sample.references[0]
        case 1:
            return f"There is {sample.units[-1].value}."  # type: ignore[union-attr]
    return ", ".join(unit[-1] for unit in sample.units)


def write_run(
    folder: Path,
    samples: Sequence[Sample],
    outputs: Sequence[str],
    *,
    last: Mapping[str, Fact] | None = None,
    task: str = TASK,
    part: str | None = None,
    corpus: str = TASK,
    **settings: Any,  # noqa: ANN401 - what result_content takes
) -> Path:
    """Write the result and the samples of a run; ``last`` is in the context of the last sample."""
    values = [values_of(*each) for each in zip(samples, outputs, strict=True)]
    rows = rows_of(samples, ([output] for output in outputs), values)
    if last:
        rows[-1]["doc"] |= doc_of(replace(samples[-1], context={**samples[-1].context, **last}))
    metadata = {"benchmark": "totto", "corpus": corpus}
    settings = {"aspect": "totto", **settings, "metadata": metadata}
    table_runs.write_rows(folder, task, part, rows, **settings)
    return folder


def harmful() -> dict[str, Fact]:
    """Return a large table of cells that mean harm, for a sample with three units, and titles."""
    cells: list[Any] = [
        [HOSTILE[(row + column) % len(HOSTILE)] for column in range(COLUMNS)] for row in range(ROWS)
    ]
    cells[0] = [[text, True, 1, 1] for text in cells[0]]
    cells[99][0] = [HOSTILE[0], True, 1, 10**9]
    cells[100][20] = [f"cell 57 {HOSTILE[0]}", False, 10**9, 3]
    places = [[100, 20], [100, 20], [200, 39]]
    return {
        "table": from_json({"cells": cells, "highlighted": places}),
        "title": HOSTILE[1],
        "section_title": HOSTILE[5],
        "section_text": HOSTILE[0],
    }


def of_cells(cells: Sequence[Any], highlighted: Sequence[Sequence[int]]) -> Sample:
    """Return a sample about a table."""
    titles = {"title": "Ports", "section_title": "Boats"}
    return totto.sample("A reference.", cells=cells, highlighted=highlighted, **titles)
