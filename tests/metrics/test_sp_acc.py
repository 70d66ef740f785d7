"""SP-Acc: which outputs have a program, which programs decide, and what is not scored."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.sample import Column, Fact, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.metrics import sp_acc
from spor_tasks.metrics.base import Judgement, metric
from spor_tasks.metrics.programs import ranking
from spor_tasks.metrics.programs.states import Limits
from spor_tasks.metrics.sp_acc import SP_ACC, SpAcc
from tests.support.scores import scores_of

ROWS = [["oslo", "7", "north"], ["bergen", "3", "west"], ["molde", "1", "west"]]
MOST = "Oslo has the most people ."
PROGRAM = "eq{oslo; hop{argmax{all_rows; people}; city}}"
FALSE = "Molde has the most people ."


def sample(header: Sequence[str] = ("city", "people", "coast"), rows: Any = ROWS) -> Sample:  # noqa: ANN401
    table = Table(tuple(header), tuple(map(tuple, rows)))
    context: dict[str, Fact] = {"name": "1.csv", "title": "norway", "table": table}
    return Sample("0", "logicnlg", (Column("city", "0"),), (MOST,), context)


def judged(output: str, metric: SpAcc = SP_ACC, of: Sample | None = None) -> Judgement:
    found = metric.judge_one(of or sample(), output)
    assert json.dumps(found.details)
    return found


def test_a_true_sentence_is_true_and_a_false_one_false() -> None:
    assert judged(MOST).values["sp_acc"] == 100
    false = judged(FALSE).values
    assert (false["sp_acc"], false["sp_found"], false["sp_acc_found"]) == (0, 100, 0)
    assert metric("sp_acc") is SP_ACC


@pytest.mark.parametrize("output", ["", " . ", "it rains", "word " * 201, "x" * 2001])
def test_an_output_without_a_program_is_false(output: str) -> None:
    assert judged(output).values == {"sp_acc": 0, "sp_found": 0, "sp_cut": 0}


def test_of_few_programs_the_best_one_decides_and_of_many_any_of_three(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fits: list[str] = []

    def fit(sentence: str, program: str) -> float:
        assert sentence in {"Oslo lies north", MOST}
        fits.append(program)
        return float("argmin" in program)

    monkeypatch.setattr(ranking, "fit", fit)
    few = judged("Oslo lies north").details
    assert 0 < few["sp_programs"] <= 8
    assert len(few["sp_best"]) == 1
    fits.clear()
    many, details = judged(MOST)
    assert details["sp_programs"] > 8
    assert len(fits) == min(details["sp_programs"], 36)
    assert not any("=" in program for program in fits)
    best = [program for program in fits if "argmin" in program][:3]
    assert [one.partition("=")[0] for one in details["sp_best"]] == best
    assert many["sp_acc"] == 100 * any(one.endswith("=True") for one in details["sp_best"])


def test_a_search_that_a_limit_cut_is_reported() -> None:
    found = judged(MOST, SpAcc(limits=Limits(states=20)))
    assert found.values["sp_cut"] == 100
    assert found.details["sp_search"] == "states"


def test_the_details_have_the_program_and_its_verdict() -> None:
    found = judged(MOST).details
    assert found["sp_program"] == PROGRAM
    assert found["sp_verdict"] is True
    assert found["sp_programs"] > 8
    assert found["sp_linked"] == "<ENTITY0> have the most <ENTITY1> ."
    assert found["sp_columns"] == (0, 1)
    assert len(found["sp_best"]) == 3


def test_the_case_of_a_table_does_not_matter() -> None:
    upper = sample(["City", "People", "Coast"], [[cell.upper() for cell in row] for row in ROWS])
    assert judged(MOST) == judged(MOST, of=upper)


# --- Tables that are not as they should be --------------------------------------------------------


def test_a_table_with_a_row_that_is_too_long_or_without_columns_has_no_verdict() -> None:
    for of in (sample(rows=[*ROWS, ["a", "1", "b", "c"]]), sample([], [])):
        for output in (MOST, ""):
            assert judged(output, of=of).values == {
                "sp_acc": None,
                "sp_found": None,
                "sp_cut": None,
            }
    judgements = SP_ACC.judge([sample(rows=[["1"] * 9]), sample()], [(MOST,), (MOST,)])
    scores = {score.name: score for score in scores_of(SP_ACC, judgements)}
    assert (scores["sp_acc"].n, scores["sp_acc"].unscored, scores["sp_acc"].value) == (1, 1, 100)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (("city", "city", "people"), [["oslo", "x", "7"], ["bergen", "y", "3"]]),
        (("city", "people"), [["oslo", "7"], ["bergen"]]),
        (("city", "people", "none"), [["oslo", "7", ""], ["bergen", "3", ""]]),
        (("city", "people", "a # b"), [["oslo", "7", "1 # 2"], ["bergen", "3", "x; {y}"]]),
    ],
)
def test_other_faults_of_a_table_are_scored(header: Sequence[str], rows: Any) -> None:  # noqa: ANN401
    assert judged(MOST, of=sample(header, rows)).values["sp_acc"] == 100


def test_a_cell_that_reads_as_a_program_does_no_harm() -> None:
    of = sample(rows=[["x; {y}", "7", "a"], ["oslo", "3", "b"]])
    judged("x ; { y } has the most people", of=of)


def test_a_sample_without_a_table_is_an_error() -> None:
    with pytest.raises(CorpusError) as caught:
        SP_ACC.judge_one(replace(sample(), context={}), MOST)
    assert caught.value.where
    assert caught.value.remedy


# --- Settings -------------------------------------------------------------------------------------


def test_the_signature_has_whatever_can_change_the_number() -> None:
    parts = SP_ACC.signature.split("|")
    assert parts[:3] == ["sp_acc", "ranker:lexical-1", "operators:published"]
    assert {"steps:7", "states:100000", "sec:30"} <= set(parts)
    assert any("lemminflect:" in part for part in parts)
    other = SpAcc(limits=Limits(steps=3, states=500, seconds=2))
    assert {"steps:3", "states:500", "sec:2"} <= set(other.signature.split("|"))


def test_an_unknown_ranker_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        sp_acc.load("newest")
    assert caught.value.remedy


# --- Files of outputs -----------------------------------------------------------------------------


def test_the_first_true_statements_of_the_test_set(logicnlg_dir: Path) -> None:
    samples = reader.read_part("test", logicnlg_dir)[:40]
    outputs = [(each.target,) for each in samples]
    found = SpAcc(limits=Limits(states=5000)).judge(samples, outputs)
    counts = {
        name: sum(each.values[name] == 100 for each in found)
        for name in ("sp_acc", "sp_found", "sp_cut")
    }
    assert counts == {"sp_acc": 22, "sp_found": 35, "sp_cut": 12}
