"""Outputs for the embedded tables of LogicNLG are true or false, by the program that they mean."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Column, Contrast, Sample, challenge_of
from spor_tasks.core.table import Table
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.corpora.logicnlg.linearize import published
from spor_tasks.metrics.truth import TRUTH, meaning
from tests.support.scores import scores_of

HEADER = ("baker", "town", "coins")
ROWS = (("Ann", "Eskdale", "9"), ("Bo", "Selby", "12"), ("Cy", "Selby", "20"))
TABLE = Table(HEADER, ROWS)


def sample(*rows, corpus="logicnlg_mini"):
    context = {"title": "spring fair", "table": Table(HEADER, rows or ROWS)}
    return Sample("0", corpus, (Column("baker", "0"),), ("Any .",), context)


def shares(*pairs):
    """Return the shares of true outputs and of sentences."""
    scores = scores_of(TRUTH, (TRUTH.judge_one(*pair) for pair in pairs))
    assert [score.name for score in scores] == ["truth", "truth_readable"]
    assert {(score.n, score.unscored) for score in scores} == {(len(pairs), 0)}
    true, readable = (score.value for score in scores)
    return true, readable


def test_shares_are_of_all_outputs():
    texts = (
        "Cy has the most coins .",  # true
        "the most coins go to Eskdale .",  # false
        "cy has more coins than the average baker.",  # true
        "Dora has the most coins .",  # not in the table
        "",
    )
    assert shares(*((sample(), text) for text in texts)) == (40, 60)


def test_the_program_of_an_output_is_logged():
    program = "eq{count{filter_eq{all_rows; town; Selby}}; 3}"
    values, details = TRUTH.judge_one(sample(), "Selby has three of the bakers .")
    assert details == {"truth": 0.0, "truth_readable": 100.0, "program": program}
    assert values == {"truth": 0.0, "truth_readable": 100.0}


def test_targets_are_true_their_counterparts_false_and_prompts_not_read():
    pairs = LOGICNLG_MINI.part("pairs")
    assert shares(*((pair, pair.target) for pair in pairs)) == (100, 100)
    assert shares(*((pair, challenge_of(pair, Contrast).text) for pair in pairs)) == (0, 100)
    assert shares(*((pair, published(pair)) for pair in pairs)) == (0, 0)


@given(st.text(alphabet=st.sampled_from("Ann Bo has more the 12 coins . , \n\0²İ"), max_size=80))
def test_any_output_has_a_verdict_or_none(text):
    read = meaning(text, TABLE)
    assert read is None or isinstance(read.true, bool)


def test_another_corpus_and_a_missing_or_damaged_table_are_refused():
    damaged = [sample(*ROWS, ("Di", "Selby", *more)) for more in (("7", "more"), ("many",))]
    for odd in (sample(corpus="logicnlg"), replace(sample(), context={}), *damaged):
        with pytest.raises(CorpusError) as error:
            TRUTH.judge_one(odd, "Di has more coins than Ann .")
        assert error.value.where
        assert error.value.remedy
    for odd in damaged:  # the table does not matter without a program
        assert TRUTH.judge_one(odd, "Nothing of the kind .").values["truth_readable"] == 0
