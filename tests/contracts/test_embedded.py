"""The embedded corpora: equal on every machine, their parts disjoint, and read by exact oracles."""

import gzip
import subprocess
import sys

import pytest

from spor_tasks.core import digests
from spor_tasks.core.sample import Contrast, challenge_of
from spor_tasks.core.table import Table
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.embedded import COMPMCTG_MINI, LOGICNLG_MINI, MINI, TOTTO_MINI
from spor_tasks.corpora.embedded.attributes import is_readable, values_of
from spor_tasks.corpora.embedded.statements import LOGICS, parse
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.truth import meaning
from tests.conftest import REPOSITORY

CORPORA = (MINI, TOTTO_MINI, LOGICNLG_MINI, COMPMCTG_MINI)
DIGESTS = {
    "mini": "894e2e9a7050ee1fd78c0a2aba81d5563257c171e669aa573abb475db7ea2257",
    "totto_mini": "480468f15e99f1301873752db15b5d3391b8c35c15683c9704dbdfc98817b6af",
    "logicnlg_mini": "9a076251026ec2bb5543927479fb9fdd5367041e511674bb3f1412d0f11e6c9b",
    "compmctg_mini": "2f674a56cb4d717d434e8512ca9eb1c0258e61690b517c85e97974c2bdc4ea96",
}


@pytest.mark.parametrize("corpus", CORPORA, ids=DIGESTS)
def test_a_corpus_has_its_digest_and_no_sample_of_a_part_in_another_one(corpus):
    everything = corpus.everything()
    assert digests.digest(everything) == DIGESTS[corpus.name]
    if corpus is not COMPMCTG_MINI:  # texts of two seeds, some of which are equal
        assert len({sample.id for sample in everything}) == len(everything)
        read = corpus.read()
        train, test = ({sample.cluster for sample in part} for part in (read.train, read.test))
        assert train.isdisjoint(test)


# --- Attributes -----------------------------------------------------------------------------------


def test_the_words_of_every_text_say_its_values():
    for sample in (*COMPMCTG_MINI.everything(), *COMPMCTG_MINI.part("held_out")):
        assert is_readable(sample.target)
        assert tuple(values_of(sample.target).values()) == combination_in(sample)


@pytest.mark.parametrize(
    ("text", "values", "readable"),
    [
        ("In short, the soup is lovely.", ("Positive", "Present", "Food"), True),
        ("in short,the soup IS\nlovely .", ("Positive", "Present", "Food"), True),
        ("the soup is lovely.", ("Positive", "Present", "Food"), False),
        ("In short, the soup is lovely and the cake is dull.", (None, "Present", "Food"), False),
        ("lovely dull is was soup song train", (None, None, None), False),
        ("In short, the soups island loveliness.", (None, None, None), False),
        ("", (None, None, None), False),
    ],
)
def test_missing_and_contradicting_words_have_no_value(text, values, readable):
    assert tuple(values_of(text).values()) == values
    assert is_readable(text) is readable


# --- Statements -----------------------------------------------------------------------------------

TABLE = Table(
    ("baker", "town", "coins"),
    (("Ann", "Eskdale", "9"), ("Bo", "Selby", "12"), ("Cy", "Selby", "20")),
)


def test_statements_mean_their_programs_and_their_counterparts_are_false():
    for sample in LOGICNLG_MINI.everything():
        for text in (sample.target, sample.target.upper().replace(" .", "."), f"\n{sample.target}"):
            found = meaning(text, table_of(sample))
            assert found == (sample.about("logic"), sample.about("program"), True)
        assert sample.challenge is None
        assert "other_program" not in sample.context
    pairs = LOGICNLG_MINI.part("pairs")
    assert [pair.id for pair in pairs] == [sample.id for sample in LOGICNLG_MINI.part("test")]
    for pair in pairs:
        false = meaning(challenge_of(pair, Contrast).text, table_of(pair))
        assert false
        assert (false.program, false.true) == (pair.about("other_program"), False)
    assert {sample.about("logic") for sample in pairs} == {*LOGICS}


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "Bo has more coins than Ann",  # cut before its end
        "Bo has more coins than Ann ..",
        "Bo has more coins than Dora .",  # not in the table
        "Bo has more coins than Bo .",  # of itself, where `no` would always be true
        "Selby has fewer coins in total than Selby .",
        "Bo has more goats than Ann .",  # of another table
        "Selby has more coins than Ann .",
        "Selby has 2 of the bakers .",
        "Selby has six of the bakers .",
        "every baker has more than 1 coins .",  # true of nearly every table
        "every baker has more than 012 coins .",
        "every baker has more than ¹² coins .",
        "every baker has most than 12 coins .",
        "every baker has more than twenty coins .",
        "Bo has NaN more coins than Ann .",
        "every <person> has <op> than <number> <things> .",
    ],
)
def test_a_text_outside_the_language_has_no_meaning(text):
    assert meaning(text, TABLE) is None


@pytest.mark.parametrize(
    "table",
    [
        Table((), ()),
        Table(("baker", "town"), (("Ann", "Selby"),)),
        Table(("baker", "town", "coins", "more"), (("Ann", "Selby", "1", "2"),)),
        Table(("baker", "town", "coins"), ((), ("Ann",))),
    ],
)
def test_nothing_is_stated_about_a_table_without_its_cells(table):
    assert parse("Ann is the only baker from Selby .", table) is None


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", DIGESTS)
def test_a_generator_writes_the_files_again(name, tmp_path):
    script = REPOSITORY / "docs" / "generators" / f"{name}.py"
    corpus, pretraining = tmp_path / "corpus", tmp_path / "pretraining"
    subprocess.run([sys.executable, script, corpus, pretraining], cwd=REPOSITORY, check=True)
    for folder, own in (
        (corpus, REPOSITORY / "spor_tasks" / "corpora" / "embedded"),
        (pretraining, REPOSITORY / "training" / "pretraining"),
    ):
        found, expected = (
            gzip.decompress((place / f"{name}.jsonl.gz").read_bytes()) for place in (folder, own)
        )
        assert found == expected
