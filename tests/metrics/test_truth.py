"""Outputs for the embedded tables of LogicNLG are true or false, by the program that they mean."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Column, Contrast, Sample, challenge_of
from spor_tasks.core.table import Table
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.logicnlg.linearize import published, table_of
from spor_tasks.metrics.base import Score
from spor_tasks.metrics.truth import TRUTH, Meaning, meaning
from tests.support.scores import scores_of

HEADER = ("baker", "town", "coins")
ROWS = (("Ann", "Eskdale", "9"), ("Bo", "Selby", "12"), ("Cy", "Selby", "20"))
TABLE = Table(HEADER, ROWS)


def sample(*rows: tuple[str, ...], corpus: str = "logicnlg_mini") -> Sample:
    shown = Table(HEADER, rows or ROWS)
    units = (Column("baker", "0"),)
    return Sample("0", corpus, units, ("Any .",), {"title": "spring fair", "table": shown})


def scores(*pairs: tuple[Sample, str]) -> dict[str, Score]:
    judgements = (TRUTH.judge_one(*pair) for pair in pairs)
    return {score.name: score for score in scores_of(TRUTH, judgements)}


def test_shares_are_of_all_outputs() -> None:
    texts = (
        "Cy has the most coins .",  # true
        "the most coins go to Eskdale .",  # false
        "cy has more coins than the average baker.",  # true
        "Dora has the most coins .",  # not in the table
        "",
    )
    found = scores(*((sample(), text) for text in texts))
    assert {name: (score.value, score.n) for name, score in found.items()} == {
        "truth": (40, 5),
        "truth_readable": (60, 5),
    }
    assert {score.unscored for score in found.values()} == {0}


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("the most coins go to Selby .", True),
        ("the fewest coins go to Ann .", True),
        ("Bo has fewer coins than Ann .", False),
        ("Bo and Cy share a town .", True),
        ("Bo and Cy share no town .", False),
        ("Selby has two of the bakers .", True),
        ("Selby has five of the bakers .", False),
        ("the number of bakers with fewer than 13 coins is two .", True),
        ("the average number of coins is above 13 .", True),  # 13.67
        ("the average number of coins is above 14 .", False),
        ("the bakers from Eskdale have more than 17 coins in total .", False),
        ("Selby has more coins in total than Eskdale .", True),
        ("most of the bakers have fewer than 12 coins .", False),  # one of three
        ("most of the bakers are from Selby .", True),
        ("Ann is the only baker from Eskdale .", True),
        ("Bo is the only baker from Selby .", False),
        ("only Cy has more than 12 coins .", True),  # Bo has 12
        ("only Ann has more than 12 coins .", False),
        ("every baker from Selby has more than 11 coins .", True),
        ("every baker has more than 11 coins .", False),
        ("every baker has more than twenty coins .", None),
        ("Bo has NaN more coins than Ann .", None),
    ],
)
def test_a_sentence_is_true_false_or_not_of_the_language(text: str, true: bool | None) -> None:  # noqa: FBT001
    found = meaning(text, TABLE)
    assert (found and found.true) is true


def test_what_is_found_is_the_kind_of_logic_the_program_and_its_verdict() -> None:
    expected = Meaning("count", "eq{count{filter_eq{all_rows; town; Selby}}; 3}", true=False)
    assert meaning("Selby has three of the bakers .", TABLE) == expected
    values, details = TRUTH.judge_one(sample(), "Selby has three of the bakers .")
    assert values == {"truth": 0.0, "truth_readable": 100.0}
    assert details == {**values, "program": expected.program}
    assert TRUTH.judge_one(sample(), "").details["program"] is None


def test_every_statement_of_the_corpus_means_its_program_and_is_true() -> None:
    for sample in LOGICNLG_MINI.everything():
        found = meaning(sample.target, table_of(sample))
        assert found == (sample.about("logic"), sample.about("program"), True)


def test_targets_are_true_their_counterparts_false_and_prompts_not_read() -> None:
    pairs = LOGICNLG_MINI.part("pairs")
    assert scores(*((pair, pair.target) for pair in pairs))["truth"].value == 100
    false = scores(*((pair, challenge_of(pair, Contrast).text) for pair in pairs))
    assert (false["truth"].value, false["truth_readable"].value) == (0, 100)
    copied = scores(*((pair, published(pair)) for pair in pairs))
    assert (copied["truth"].value, copied["truth_readable"].value) == (0, 0)


@given(st.text(alphabet=st.sampled_from("Ann Bo has more the 12 coins . , \n\0²İ"), max_size=80))
def test_any_output_has_a_verdict_or_none(text: str) -> None:
    found = meaning(text, TABLE)
    assert found is None or isinstance(found.true, bool)


def test_another_corpus_and_a_missing_table_are_errors() -> None:
    for other in (sample(corpus="logicnlg"), replace(sample(), context={})):
        with pytest.raises(CorpusError) as error:
            TRUTH.judge_one(other, "Cy has the most coins .")
        assert error.value.where
        assert error.value.remedy


@pytest.mark.parametrize(
    "row",
    [
        ("Di", "Selby", "7", "more"),  # too long
        ("Di", "Selby", "many"),
    ],
)
def test_a_damaged_table_is_an_error_where_its_program_fails(row: tuple[str, ...]) -> None:
    damaged = sample(*ROWS, row)
    with pytest.raises(CorpusError) as error:
        TRUTH.judge_one(damaged, "Di has more coins than Ann .")
    assert error.value.where
    assert error.value.remedy
    assert TRUTH.judge_one(damaged, "Nothing of the kind .").values["truth_readable"] == 0
