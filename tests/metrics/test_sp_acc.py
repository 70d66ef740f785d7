"""SP-Acc: outputs that have a program, the programs that decide, and tables without a verdict."""

import json

import pytest

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Column, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.metrics import sp_acc
from spor_tasks.metrics.programs import ranking
from spor_tasks.metrics.programs.states import Limits
from spor_tasks.metrics.sp_acc import SP_ACC, SpAcc

ROWS = (("oslo", "7", "north"), ("bergen", "3", "west"), ("molde", "1", "west"))
MOST = "Oslo has the most people ."


def sample(header="city people coast", rows=ROWS):
    table = Table(tuple(header.split(" ")), tuple(map(tuple, rows)))
    context = {"name": "1.csv", "title": "norway", "table": table}
    return Sample("0", "logicnlg", (Column("city", "0"),), (MOST,), context)


def judge(output, metric=SP_ACC, of=None):
    judgement = metric.judge_one(of or sample(), output)
    assert json.dumps(judgement.details)
    return judgement


def test_a_true_sentence_is_true_and_a_false_one_false():
    values, details = judge(MOST)
    assert values == {"sp_acc": 100, "sp_found": 100, "sp_cut": 0, "sp_acc_found": 100}
    assert details["sp_program"] == "eq{oslo; hop{argmax{all_rows; people}; city}}"
    assert details["sp_verdict"] is True
    assert details["sp_programs"] > 8
    assert details["sp_linked"] == "<ENTITY0> have the most <ENTITY1> ."
    assert details["sp_columns"] == (0, 1)
    assert len(details["sp_best"]) == 3
    false = judge("Molde has the most people .").values
    assert (false["sp_acc"], false["sp_found"], false["sp_acc_found"]) == (0, 100, 0)
    upper = sample("City People Coast", [[cell.upper() for cell in row] for row in ROWS])
    assert judge(MOST, of=upper) == (values, details)


@pytest.mark.parametrize("output", ["", " . ", "it rains", "word " * 201, "x" * 2001])
def test_an_output_without_a_program_is_false(output):
    assert judge(output).values == {"sp_acc": 0, "sp_found": 0, "sp_cut": 0}


def test_three_of_many_programs_decide_and_one_of_few(monkeypatch):
    programs = []

    def fit(_, program):
        programs.append(program)
        return float("argmin" in program)

    monkeypatch.setattr(ranking, "fit", fit)
    few = judge("Oslo lies north").details
    assert (0 < few["sp_programs"] <= 8, len(few["sp_best"])) == (True, 1)
    programs.clear()
    many, details = judge(MOST)
    assert len(programs) == min(details["sp_programs"], 36) > 8
    best = [program for program in programs if "argmin" in program][:3]
    assert [each.partition("=")[0] for each in details["sp_best"]] == best
    assert many["sp_acc"] == 100 * any(each.endswith("=True") for each in details["sp_best"])


def test_a_search_that_a_limit_cut_is_reported_and_limits_are_in_the_signature():
    values, details = judge(MOST, SpAcc(limits=Limits(states=20)))
    assert (values["sp_cut"], details["sp_search"]) == (100, "states")
    start = "sp_acc|ranker:lexical-1|operators:published|"
    assert SP_ACC.signature.startswith(start)
    for limits, parts in (
        (Limits(), "steps:7 states:100000 sec:30"),
        (Limits(steps=3, states=500, seconds=2), "steps:3 states:500 sec:2"),
    ):
        assert {*parts.split()} <= {*SpAcc(limits=limits).signature.split("|")}
    with pytest.raises(ConfigError) as error:
        sp_acc.load("newest")
    assert error.value.remedy


def test_a_table_with_a_long_row_or_without_columns_has_no_verdict_and_others_have():
    for of in (sample(rows=[*ROWS, ["a", "1", "b", "c"]]), sample("", [["x", "y"]])):
        for output in (MOST, ""):
            assert judge(output, of=of).values == dict.fromkeys(("sp_acc", "sp_found", "sp_cut"))
    for header, rows in (
        ("city city people", [["oslo", "x", "7"], ["bergen", "y", "3"]]),
        ("city people", [["oslo", "7"], ["bergen"]]),
        ("city people a#b", [["oslo", "7", "1 # 2"], ["bergen", "3", "x; {y}"]]),
    ):
        assert judge(MOST, of=sample(header, rows)).values["sp_acc"] == 100
        judge("x ; { y } has the most people", of=sample(header, rows))


def test_the_first_true_statements_of_the_test_set(logicnlg_dir):
    samples = reader.read_part("test", logicnlg_dir)[:20]
    outputs = [(each.target,) for each in samples]
    judgements = SpAcc(limits=Limits(states=5000)).judge(samples, outputs)
    counts = {
        name: sum(each.values[name] == 100 for each in judgements)
        for name in ("sp_acc", "sp_found", "sp_cut")
    }
    assert counts == {"sp_acc": 12, "sp_found": 18, "sp_cut": 6}
