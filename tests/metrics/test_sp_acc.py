"""SP-Acc: which outputs have a program, which programs decide, and what is not scored."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.sample import Column, Fact, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.evaluation import scoring
from spor_tasks.metrics import sp_acc
from spor_tasks.metrics.base import metric
from spor_tasks.metrics.programs.ranking import RankerInput
from spor_tasks.metrics.programs.states import Finished, Limits
from spor_tasks.metrics.sp_acc import SP_ACC, Judged, SpAcc
from tests.support.scores import scores_of

ROWS = [["oslo", "7", "north"], ["bergen", "3", "west"], ["molde", "1", "west"]]
MOST = "Oslo has the most people ."
PROGRAM = "eq{oslo; hop{argmax{all_rows; people}; city}}"
FALSE = "Molde has the most people ."


def sample(header: Sequence[str] = ("city", "people", "coast"), rows: Any = ROWS) -> Sample:  # noqa: ANN401
    table = Table(tuple(header), tuple(map(tuple, rows)))
    context: dict[str, Fact] = {"name": "1.csv", "title": "norway", "table": table}
    return Sample("0", "logicnlg", (Column("city", "0"),), (MOST,), context)


@dataclass
class FakeRanker:
    """Fits the programs that a function chooses, and remembers what it was asked."""

    chooses: Callable[[str], float]
    signature: str = "ranker:fake"
    asked: list[RankerInput] = field(default_factory=list)

    def __call__(self, items: Sequence[RankerInput]) -> list[float]:
        self.asked += items
        return [self.chooses(item.program) for item in items]


def judged(output: str, metric: SpAcc = SP_ACC, of: Sample | None = None) -> Judged:
    found = metric.measured(of or sample(), output)
    assert found is not None
    return found


def test_a_true_sentence_is_true_and_a_false_one_false() -> None:
    assert judged(MOST).true
    assert judged(MOST).best[0] == Finished(PROGRAM, verdict=True)
    assert not judged(FALSE).true
    assert judged(FALSE).programs > 0
    assert metric("sp_acc") is SP_ACC


@pytest.mark.parametrize("output", ["", " . ", "it rains", "word " * 201, "x" * 2001])
def test_an_output_without_a_program_is_false(output: str) -> None:
    found = judged(output)
    assert SP_ACC.values(found) == {"sp_acc": 0, "sp_found": 0, "sp_cut": 0}
    assert json.dumps(SP_ACC.describe(sample(), (output,), found))


def test_of_few_programs_the_best_one_decides_and_of_many_any_of_three() -> None:
    ranked = FakeRanker(lambda program: float("argmin" in program))
    few = judged("Oslo lies north", SpAcc(ranked))
    assert 0 < few.programs <= 8
    assert len(few.best) == 1
    many = judged(MOST, SpAcc(ranked))
    assert many.programs > 8
    assert len(many.best) == 3
    assert many.true == any(one.verdict for one in many.best)
    assert "argmin" in many.best[0].program


def test_the_ranker_sees_the_first_programs_without_verdicts_and_of_ties_the_first_wins() -> None:
    ranked = FakeRanker(lambda _: 0.0)
    found = judged(MOST, SpAcc(ranked))
    assert len(ranked.asked) == min(found.programs, 36)
    assert ranked.asked[0] == ("norway", MOST, found.best[0].program)
    assert [one.program for one in found.best] == [item.program for item in ranked.asked[:3]]
    assert not any("=True" in item.program for item in ranked.asked)


def test_a_search_that_a_limit_cut_is_told() -> None:
    cut = SpAcc(limits=Limits(states=20))
    found = judged(MOST, cut)
    assert found.is_cut
    assert cut.values(found)["sp_cut"] == 100
    assert cut.describe(sample(), (MOST,), found)["sp_search"] == "states"


def test_what_is_described_has_the_program_and_its_verdict() -> None:
    found = SP_ACC.describe(sample(), (MOST,), judged(MOST))
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
        assert SP_ACC.measured(of, MOST) is None
        assert SP_ACC.measured(of, "") is None
        assert json.dumps(SP_ACC.describe(of, (MOST,), None))
    evidence = SP_ACC.measure([sample(rows=[["1"] * 9]), sample()], [(MOST,), (MOST,)])
    scores = {score.name: score for score in scores_of(SP_ACC, evidence)}
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
    assert judged(MOST, of=sample(header, rows)).true


def test_a_cell_that_reads_as_a_program_does_no_harm() -> None:
    of = sample(rows=[["x; {y}", "7", "a"], ["oslo", "3", "b"]])
    found = judged("x ; { y } has the most people", of=of)
    assert json.dumps(SP_ACC.describe(of, ("",), found))


def test_a_table_without_rows_is_scored() -> None:
    assert not judged(MOST, of=sample(rows=[])).true


def test_a_sample_without_a_table_is_an_error() -> None:
    with pytest.raises(CorpusError) as caught:
        SP_ACC.measured(replace(sample(), context={}), MOST)
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


def test_two_processes_find_what_one_finds() -> None:
    outputs = [(MOST,), (FALSE,), ("",), ("Bergen lies west",)]
    samples = [sample()] * len(outputs)
    two = SpAcc(processes=2)
    assert two.measure(samples, outputs) == SP_ACC.measure(samples, outputs)
    assert two.signature == SP_ACC.signature


# --- Files of outputs -----------------------------------------------------------------------------


def test_a_file_is_scored(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = to_row(sample())
    file.write_text("\n".join(json.dumps({**row, "output": text}) for text in (MOST, "")), "utf-8")
    first, *_ = scoring.score(file, "sp_acc", "logicnlg").scores
    assert (first.name, first.value, first.n) == ("sp_acc", 50, 2)


def test_the_first_true_statements_of_the_test_set(logicnlg_dir: Path) -> None:
    samples = reader.read_part("test", logicnlg_dir)[:40]
    outputs = [(each.target,) for each in samples]
    found = list(filter(None, SpAcc(limits=Limits(states=5000)).measure(samples, outputs)))
    assert len(found) == len(samples)
    assert sum(each.true for each in found) == 22
    assert sum(each.programs > 0 for each in found) == 35
    assert sum(each.is_cut for each in found) == 12
