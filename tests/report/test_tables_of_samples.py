"""Reports of runs about tables and twins: grids, programs, likelihoods, gaps, harmful cells."""

import json
import math
from dataclasses import replace

import pytest

from spor_tasks import report
from spor_tasks.core.contracts import Score
from spor_tasks.core.errors import ResultError
from spor_tasks.report import tables
from spor_tasks.report.document import SCHEMA, csv_text, json_text, latex, markdown, plain_text
from spor_tasks.report.exhibit import exhibit
from spor_tasks.results.compare import comparisons
from spor_tasks.results.facts import Declared
from spor_tasks.results.logged import Reader
from spor_tasks.results.runs import collect as collect_runs
from spor_tasks.results.samples import alone
from tests.support import cell_runs, golden, table_runs
from tests.support.html import chunk, packed_rows, page_of, tags_of
from tests.support.report_runs import SAMPLES, write_runs
from tests.support.result_files import declaring
from tests.support.twin_runs import OUTPUTS, SAMPLE, spec_of, write_run

TASK, PAIRS = table_runs.TASK, table_runs.PAIRS


REAL = {
    None: {"bleu_1": 48.8, "bleu_2": 27.1, "bleu_3": 12.6, "sp_acc": 42.1, "chrf": 40.0},
    "ppl": {"ppl": 8.8, "bpb": 0.9},
    "adversarial": {"adv_acc": 62.3, "adv_acc_distinct": 62.5, "adv_acc_count": 50.0},
    "c2f_published": {"bleu_1": 46.6, "bleu_2": 26.8, "bleu_3": 13.3},
    "c2f_adversarial": {"adv_acc": 64.9},
}


def test_tables_of_logicnlg_are_the_golden_ones(columns, tmp_path):
    """The paper's columns come first; its rows stand beside ours of the real corpus alone."""
    for part, scores in REAL.items():
        task = "_".join(filter(None, ["logicnlg", part]))
        metadata = {"corpus": "logicnlg"}
        table_runs.write_scores(tmp_path, task, part, scores, n=4305, metadata=metadata)
    found = report.collect([columns, tmp_path])
    assert not [problem for problem in found.problems if problem.lost]
    document = replace(tables.document(found), problems=())
    golden.same("logicnlg.txt", plain_text(document) + "\n")
    for text in (markdown(document), latex(document)):
        assert text.count("GPT-Coarse-to-Fine") == 4


def test_scores_of_a_breakdown_add_no_test_between_arms(tmp_path):
    write_runs(tmp_path)
    declared = {"reported": ("parent",), "breakdown": ("chrf", "coverage")}
    results = [
        declaring(each, **declared)
        for each in collect_runs([tmp_path]).runs
        if each.spec.sets.aspect == "systematicity"
    ]
    rows, _ = comparisons(results, Reader().read(results)[0])
    assert {row.metric for row in rows if row.difference} == {"parent"}
    assert {row.metric for row in rows if row.arms[0].counts} == {"chrf", "coverage"}
    assert {n for row in rows for n in row.arms[0].counts} == {SAMPLES}


def test_no_number_without_an_end_gets_into_json(columns, tmp_path):
    ends = {"high": math.inf, "low": -math.inf, "n": 1.5}
    assert json.loads(json_text(**ends)) == {"schema": SCHEMA, "high": None, "low": None, "n": 1.5}
    report.write_leaderboard([columns], tmp_path)
    texts = [file.read_text("utf-8") for file in tmp_path.rglob("*.json")]
    document = tables.document(report.collect([columns]))
    for text in (document.files("report")["report.json"], *texts):
        assert json.loads(text, parse_constant=pytest.fail)


def test_tables_of_the_page_are_bounded_and_no_markup(columns, cells):
    for folder in (columns, cells):
        html = page_of(folder)
        assert "window.broken = true" not in html
        assert {"img", "b"}.isdisjoint(tag for tag, _ in tags_of(html))
    (test,) = chunk(html, 0)["tests"]
    assert {each["category"] for each in test["traits"]} <= {"overlap", "nonoverlap"}
    *_, last = packed_rows(html, test)
    rows = last["table"]["rows"]
    assert sum(row if isinstance(row, int) else 1 for row in rows) == cell_runs.ROWS
    assert sum(not isinstance(row, int) for row in rows) < 20


@pytest.mark.parametrize(
    ("task", "change"),
    [
        (TASK, {"sp_program": 7}),
        (TASK, {"sp_programs": "many"}),
        (TASK, {"sp_search": 1}),
        *((PAIRS, {"tokens": tokens}) for tokens in ([1], [0, 1], ["1", "2"])),
    ],
)
def test_bad_evidence_is_named(columns, tmp_path, task, change):
    for name in (f"results_{task}.json", f"samples_{task}_{task.rpartition('_')[2]}.jsonl"):
        (tmp_path / name).write_bytes((columns / name).read_bytes())
    row, *_ = map(json.loads, (tmp_path / name).read_text().splitlines())
    row["doc"] |= change
    (tmp_path / name).write_text(json.dumps(row))
    with pytest.raises(ResultError) as caught:
        exhibit(tmp_path, "0")
    assert caught.value.where
    assert caught.value.remedy


def test_a_value_alone_is_what_its_score_would_be():
    for name, value, score in (
        ("adv_acc_distinct", (50.0, 1), 50.0),
        ("bpb", (30.0, 15), 2.0),
        ("cwio", (3, 0.5), 0.5),
        ("parent", 40.0, 40.0),
        ("ppl", None, None),
        ("bpb", (0.0, 0), None),
    ):
        declared = Declared.of(
            replace(ORDERS, judging=replace(ORDERS.judging, reported=(Score(name),)))
        )
        assert alone(declared, name, value) == score


ORDERS = spec_of("order_invariance", "main")


def test_every_score_stands_beside_that_of_twins_and_their_gap(tmp_path):
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
def test_a_damaged_twin_is_named_by_its_line(twin, tmp_path):
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
