"""What a model of table entailment is asked, and what its answers come to."""

import math
from collections.abc import Sequence

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Column, Sample
from spor_tasks.core.table import Table
from spor_tasks.metrics.base import Judgement
from spor_tasks.metrics.entailment import flattened, rows_of
from spor_tasks.metrics.learned import Claim, NliAcc
from tests.support.classifiers import WordJudge
from tests.support.scores import judge, scores_of

HEADER = ["city", "people", "area"]
ROWS = [["oslo ås", "7", "1.5"], ["bergen", "3", ""]]


def sample(
    *columns: int, header: Sequence[str] = HEADER, rows: Sequence[Sequence[str]] = ROWS
) -> Sample:
    units = tuple(Column(header[i], str(i)) for i in columns or (0,))
    table = Table(tuple(header), tuple(map(tuple, rows)))
    return Sample("0", "logicnlg", units, ("A city .",), {"title": "norway", "table": table})


# --- How tables are written -----------------------------------------------------------------------


def test_tapex_reads_cells_as_they_are() -> None:
    assert flattened(HEADER, rows_of(sample())) == (
        "col : city | people | area row 1 : oslo ås | 7 | 1.5 row 2 : bergen | 3 | "
    )


def test_columns_of_one_name_stay_apart_and_short_rows_end_empty() -> None:
    odd = sample(1, 0, header=["city", "city"], rows=[["oslo"], ["a", "b"]])
    assert rows_of(odd) == [("oslo", ""), ("a", "b")]
    assert flattened(["city", "city"], rows_of(odd)).startswith("col : city | city row 1 : oslo | ")


# --- What the answers come to ---------------------------------------------------------------------


class Fixed:
    """Answers with the same numbers, in order."""

    signature = "model:fixed"

    def __init__(self, *numbers: float | None) -> None:
        self.numbers = numbers

    def __call__(self, claims: Sequence[Claim]) -> Sequence[float | None]:
        return self.numbers[: len(claims)]


def test_an_output_counts_if_it_is_likelier_entailed_than_not() -> None:
    metric = NliAcc(Fixed(0.5, 0.50011, 0.9, 0.10004))
    judgements = metric.judge([sample()] * 4, [("It is .",)] * 4)
    assert [each.values["nli_acc"] for each in judgements] == [0, 100, 100, 0]
    (accuracy,) = scores_of(metric, judgements)
    assert (accuracy.name, accuracy.value, accuracy.n) == ("nli_acc", 50.0, 4)
    assert metric.signature.startswith("nli_acc|model:fixed|")


@pytest.mark.parametrize("output", ["", " ", "…", ". ,"])
def test_an_output_without_a_word_is_not_entailed_and_nothing_is_asked(output: str) -> None:
    model = WordJudge()
    assert judge(NliAcc(model), sample(), output).values == {"nli_acc": 0.0}
    assert model.asked == []


@pytest.mark.parametrize(
    "odd", [sample(rows=[]), sample(rows=[["a", "b", "c", "d"]]), sample(header=["city"], rows=[])]
)
@pytest.mark.parametrize("output", ["", "Oslo is a city ."])
def test_a_table_that_cannot_be_read_gives_no_verdict(odd: Sample, output: str) -> None:
    model = WordJudge()
    metric = NliAcc(model)
    judgement = judge(metric, odd, output)
    assert model.asked == []
    for score in scores_of(metric, [judgement, Judgement({"nli_acc": 100.0}, {})]):
        assert (score.value, score.n, score.unscored) == (100, 1, 1)


def test_where_the_classifier_has_no_verdict_there_is_none() -> None:
    metric = NliAcc(Fixed(None))
    judgement = judge(metric, sample(), "Oslo is a city .")
    assert judgement.details == {"nli_acc": None}
    assert all(math.isnan(score.value) for score in scores_of(metric, [judgement]))


def test_a_sample_without_a_table_is_named() -> None:
    bare = Sample("77", "logicnlg", (AttributeValue("a", "0"),), ())
    with pytest.raises(CorpusError) as caught:
        judge(NliAcc(WordJudge()), bare, "Oslo is a city .")
    assert caught.value.where == "sample 77"
    assert caught.value.remedy
