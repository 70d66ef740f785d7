"""Runs on samples and their twins, as reports show them."""

import json
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.core.errors import ResultError
from spor_tasks.report.document import csv_text, plain_text
from spor_tasks.report.exhibit import exhibit
from tests.support import golden
from tests.support.twin_runs import OUTPUTS, SAMPLE, spec_of, write_run

ORDERS = spec_of("order_invariance", "main")


def test_every_score_stands_beside_that_of_twins_and_their_gap(tmp_path: Path) -> None:
    spec = spec_of("systematicity")
    for arm, gap in zip(spec.arms, (8.0, 3.0), strict=True):
        write_run(tmp_path, spec, OUTPUTS[::2], arm, gap)
    for arm in ORDERS.arms:
        write_run(tmp_path / "orders", ORDERS, OUTPUTS, arm, 5.0)
    document = report.write([tmp_path])
    assert document.problems == ()
    golden.same("twins.txt", plain_text(document) + "\n")
    assert "parent_twin" in csv_text(document)


@pytest.mark.parametrize(
    "twin",
    ["{", "[]", "{}", '{"id": "0"}', {"id": "0"}, "other units", "another challenge", "a twin"],
)
def test_a_damaged_twin_is_named_by_its_line(twin: object, tmp_path: Path) -> None:
    path = write_run(tmp_path, ORDERS, OUTPUTS, "original", 0.0)
    (samples,) = tmp_path.glob("*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    intact = json.loads(rows[1]["doc"]["twin"])
    changed = {
        "other units": intact | {"units": json.dumps(SAMPLE.units[:1])},
        "another challenge": intact | {"input_orders": None},
        "a twin": intact | {"twin": json.dumps(intact)},
    }.get(str(twin))
    rows[1]["doc"]["twin"] = json.dumps(changed) if changed else twin
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ResultError) as caught:
        exhibit(path, "1")
    assert str(caught.value.where).endswith(":2")
