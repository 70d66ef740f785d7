"""Runs about ToTTo's embedded tables: scored outputs, and a large table of cells that mean harm."""

from dataclasses import replace

from spor_tasks.core.codec import doc_of
from spor_tasks.core.table import from_json
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL
from tests.support import table_runs, totto
from tests.support.invented_runs import HOSTILE
from tests.support.result_files import rows_of
from tests.support.scores import values_of as grouped_values

TASK = "totto_mini"
ROWS, COLUMNS = 250, 40
"""Of the table of the last sample."""


def values_of(sample, output):
    """Return what the metrics of ToTTo log of an output."""
    return {
        name: value
        for metric in (TOTTO, TOTTO_REAL)
        for name, value in grouped_values(metric, sample, metric.judge_one(sample, output)).items()
    } | {"empty": 100.0 * (not output.strip())}


def write(folder, samples=8, **settings):
    """Write the results of a model on the embedded test set; return the folder.

    The first output is a reference, then come one without the first cell, and cells in a row.
    """
    given = TOTTO_MINI.part("test")[:samples]
    outputs = [_output(number, sample) for number, sample in enumerate(given)]
    return write_run(folder, given, outputs, **settings)


def _output(number, sample):
    match number % 3:
        case 0:
            return sample.references[0]
        case 1:
            return f"There is {sample.units[-1].value}."
    return ", ".join(unit[-1] for unit in sample.units)


def write_run(
    folder, samples, outputs, *, last=None, task=TASK, part=None, corpus=TASK, **settings
):
    """Write the result and the samples of a run; ``last`` is in the context of the last sample."""
    values = [values_of(*each) for each in zip(samples, outputs, strict=True)]
    rows = rows_of(samples, ([output] for output in outputs), values)
    if last:
        rows[-1]["doc"] |= doc_of(replace(samples[-1], context={**samples[-1].context, **last}))
    metadata = {"benchmark": "totto", "corpus": corpus}
    settings = {"aspect": "totto", **settings, "metadata": metadata}
    table_runs.write_rows(folder, task, part, rows, **settings)
    return folder


def harmful():
    """Return a large table of cells that mean harm, for a sample with three units, and titles."""
    cells = [
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


def of_cells(cells, highlighted):
    """Return a sample about a table."""
    titles = {"title": "Ports", "section_title": "Boats"}
    return totto.sample("A reference.", cells=cells, highlighted=highlighted, **titles)
