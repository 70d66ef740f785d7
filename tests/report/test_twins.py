"""Runs on samples and their twins, as reports show them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.core.errors import ResultError
from spor_tasks.report.collect import collect
from spor_tasks.report.document import plain_text
from spor_tasks.report.exhibit import exhibit
from spor_tasks.report.exhibit_text import terminal
from spor_tasks.report.marking import Fault, faults_of, mark_all
from spor_tasks.report.tables import document
from spor_tasks.results.benchmarks import grids
from tests.support.twin_runs import OUTPUTS, SAMPLE, TWIN, spec_of, write_run


def test_every_score_stands_beside_that_of_twins_and_what_lies_between(tmp_path: Path) -> None:
    spec = spec_of("systematicity")
    for arm, gap in zip(spec.arms, (8.0, 3.0), strict=True):
        write_run(tmp_path, spec, OUTPUTS[::2], arm, gap)
    found = collect([tmp_path])
    assert found.problems == ()
    (table,) = found.tables
    (grid,) = grids(table)
    assert grid.header[:5] == ("model", "arm", "PARENT", "PARENT, twins", "original − twin")
    shown = [[getattr(cell, "value", cell) for cell in line[1:5]] for line in grid.runs]
    assert shown == [
        ["atom", "50.00", "42.00", "+8.00"],
        ["combination", "50.00", "47.00", "+3.00"],
        ["atom − combination", "+0.00", "-5.00", "+5.00"],
    ]
    assert "original − twin" in plain_text(document(found))


def test_everything_is_written_of_runs_with_twins(tmp_path: Path) -> None:
    for spec in (spec_of("systematicity"), spec_of("order_invariance", "main")):
        for arm in spec.arms:
            folder = tmp_path / "runs" / spec.name.aspect
            write_run(folder, spec, OUTPUTS[:: len(OUTPUTS) // spec.outputs], arm, 5.0)
    report.write([tmp_path / "runs"], tmp_path / "out")
    assert "original − twin" in (tmp_path / "out" / "report.md").read_text()
    assert "parent_twin" in (tmp_path / "out" / "report.csv").read_text()


def test_a_sample_is_shown_with_its_twin_and_each_output_is_marked_by_its_own_side(
    tmp_path: Path,
) -> None:
    path = write_run(tmp_path, spec_of("order_invariance", "main"), OUTPUTS, "original", 0.0)
    text = terminal(exhibit(path, "0"))
    before, _, after = text.partition("    the twin, input order 0 1:")
    assert "[0] food | Basque" in before
    assert "[0] food | Velmic" in before
    assert "[0: Basque]" in before
    assert "[0: Velmic]" in after
    assert "not located: [0] [1]" in after  # what the original has is not told of the twin
    assert text.count("input order 1 0:") == 2


def test_orders_are_unequal_where_those_of_one_side_are() -> None:
    asked = replace(SAMPLE, twin=TWIN)
    own, fine, short = OUTPUTS[:2], OUTPUTS[2], OUTPUTS[3]
    unequal, alike = [*own, fine, short], [*own, short, short]
    assert Fault.UNEQUAL in faults_of(asked, mark_all(asked, unequal, unequal))
    assert Fault.UNEQUAL not in faults_of(asked, mark_all(asked, alike, alike))


@pytest.mark.parametrize(
    "twin",
    [
        "{",
        "[]",
        "{}",
        '{"id": "0"}',
        {"id": "0"},
        "other units",
        "another challenge",
        "twins of it",
    ],
)
def test_a_damaged_twin_is_named_by_its_line(twin: object, tmp_path: Path) -> None:
    path = write_run(tmp_path, spec_of("order_invariance", "main"), OUTPUTS, "original", 0.0)
    (samples,) = tmp_path.glob("*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    known = json.loads(rows[1]["doc"]["twin"])
    changed = {
        "other units": known | {"units": json.dumps(SAMPLE.units[:1])},
        "another challenge": known | {"input_orders": None},
        "twins of it": known | {"twin": json.dumps(known)},
    }.get(str(twin))
    rows[1]["doc"]["twin"] = json.dumps(changed) if changed else twin
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ResultError) as caught:
        exhibit(path, "1")
    assert str(caught.value.where).endswith(":2")
