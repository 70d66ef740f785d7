"""LogicNLG is read as it was published, and its prompts are the published ones."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Column, Contrast, Fact, Sample, challenge_of
from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.logicnlg import read_outputs, reader
from spor_tasks.corpora.logicnlg.linearize import (
    MOST_TOKENS,
    body,
    in_variant,
    linearize,
    linked_columns,
    published,
    typed_table,
)
from spor_tasks.text import gpt2

HEADER = ("city", "people", "area")
TABLE = Table(HEADER, (("oslo ås", "7", "1.5"), ("bergen", "3", "2")))


def sample(*columns: int) -> Sample:
    units = tuple(Column(HEADER[i], str(i)) for i in columns)
    context: dict[str, Fact] = {"title": "norway", "name": "1.csv", "table": TABLE}
    return Sample("0", "logicnlg", units, ("Oslo is larger .",), context)


def test_a_published_prompt_has_the_linked_columns_in_their_order() -> None:
    assert published(sample(1, 0)) == (
        'Given the table title of "norway" .In row 1 , the people is 7 , the city is Oslo Ås . '
        "In row 2 , the people is 3 , the city is Bergen .Start describing :"
    )
    spaced = published(in_variant(sample(0), "spaced"))
    assert '" . In row 1 , ' in spaced
    assert spaced.endswith(" . Start describing : ")
    full = published(in_variant(sample(0), "full_table"))
    assert "the city is Oslo Ås , the people is 7 , the area is 1.5 ." in full


def test_an_instruction_shows_the_whole_table_and_names_the_linked_columns() -> None:
    text = linearize(sample(0, 1), "instruction")
    assert "| oslo ås | 7 | 1.5 |" in text
    assert 'the columns "city" and "people"' in text
    assert 'Use the column "area"' in linearize(sample(2), "instruction")


def test_a_table_is_read_with_what_stands_in_quotation_marks() -> None:
    assert parse_table('a#b\n"x#1"#"say ""no"""\n\n1#\n') == Table(
        ("a", "b"), (("x#1", 'say "no"'), ("1", ""))
    )
    assert parse_table("") == Table((), ())


def test_without_tables_both_ways_to_have_them_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TABFACT_DATA_DIR", raising=False)
    with pytest.raises(CorpusError) as error:
        reader.table_texts(tmp_path)
    assert "spor data fetch --corpus logicnlg" in str(error.value.remedy)
    assert "TABFACT_DATA_DIR" in str(error.value.remedy)


def test_the_parts_have_the_published_sizes(logicnlg_dir: Path) -> None:
    for part, tables, statements in (("val", 848, 4_260), ("test", 862, 4_305)):
        found = reader.read_part(part, logicnlg_dir)  # type: ignore[arg-type]
        assert len(found) == statements
        assert len({one.about("name") for one in found}) == tables
        assert len(reader.read_pairs(part, logicnlg_dir)) == statements  # type: ignore[arg-type]
    linked = Counter(len(one.units) for one in reader.read_part("test", logicnlg_dir))
    assert [linked[n] for n in range(1, 10)] == [1047, 1820, 964, 306, 104, 37, 5, 19, 3]
    challenge = reader.read_pairs("challenge", logicnlg_dir)
    assert (len(challenge), len({pair.about("name") for pair in challenge})) == (4_875, 982)


def test_pairs_have_columns_of_their_own_and_some_are_identical(logicnlg_dir: Path) -> None:
    pairs = [
        (pair, challenge_of(pair, Contrast)) for pair in reader.read_pairs("test", logicnlg_dir)
    ]
    assert sum(pair.units != false.units for pair, false in pairs) == 1_233
    assert sum(pair.target == false.text for pair, false in pairs) == 16


@pytest.fixture(scope="module")
def golden(golden_dir: Path) -> list[dict[str, Any]]:
    """What the published code makes of 150 statements."""
    with gzip.open(golden_dir / "logicnlg/linearisation.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def statements(
    logicnlg_dir: Path, golden: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Sample]]:
    """The rows of the published code, each with our sample."""
    known = {
        (part, one.about("name"), one.references[0]): one
        for part in ("val", "test")
        for one in reader.read_part(part, logicnlg_dir)
    }
    return [(row, known[row["split"], row["table_id"], row["sentence"]]) for row in golden]


def ids(text: str) -> list[int]:
    found: list[int] = gpt2.tokenizer().encode(text).ids
    return found


def test_prompts_are_the_published_ones(
    statements: Sequence[tuple[Mapping[str, Any], Sample]],
) -> None:
    cut = 0
    for row, one in statements:
        assert list(linked_columns(one)) == row["linked"]
        body = row["body"].rstrip()
        assert len(ids(body)) == row["n_body_tokens"]
        cut += row["n_body_tokens"] > MOST_TOKENS
        assert ids(published(one)) == row["gpt_desc_ids"]
        assert ids(published(in_variant(one, "coarse_to_fine"))) == row["c2f_desc_ids"]
        if row["n_body_tokens"] < MOST_TOKENS:  # the blank at the end is a token
            parts = [row["prefix"], row["body"], row["suffix"]]
            assert published(in_variant(one, "spaced")) == "".join(parts)
            assert published(one) == "".join(part.rstrip() for part in parts)
    assert (len(statements), cut) == (150, 18)


def test_prompts_of_pairs_are_the_published_ones(
    logicnlg_dir: Path, golden: Sequence[Mapping[str, Any]]
) -> None:
    pairs: dict[object, list[Sample]] = {}
    for part in ("val", "test"):
        for one in reader.read_pairs(part, logicnlg_dir):
            pairs.setdefault((part, one.about("name")), []).append(one)
    for row in golden:
        one = pairs[row["split"], row["table_id"]][row["i"]]
        for side, units in (("pos", one.units), ("neg", challenge_of(one, Contrast).units)):
            shown = replace(one, units=units)
            assert ids(published(shown)) == row[f"pair_gpt_{side}"]["desc_ids"]
            coarse = in_variant(shown, "coarse_to_fine")
            assert ids(published(coarse)) == row[f"pair_c2f_{side}"]["desc_ids"]


def test_templates_and_sentences_are_the_published_ones(
    statements: Sequence[tuple[Mapping[str, Any], Sample]],
) -> None:
    added = {"[ENT]": [50257], "[SEP]": [50258]}

    def pinned(text: str) -> list[int]:
        """The tokens of 2020: without the blanks before an added token, and after [SEP]."""
        parts = re.split(r" *(\[ENT\]|\[SEP\](?: |$))", text)
        found = [added.get(part.strip()) or ids(part.rstrip()) for part in parts if part.strip()]
        return [number for each in found for number in each]

    for row, one in statements:
        coarse = in_variant(one, "coarse_to_fine")
        assert pinned(str(one.about("template"))) == row["c2f_seq1_ids"]
        assert pinned(coarse.target) == row["c2f_seq2_ids"]


@pytest.mark.soak
def test_the_share_of_tables_that_are_cut(logicnlg_dir: Path) -> None:
    def is_cut(one: Sample, columns: Sequence[int]) -> bool:
        text = body(typed_table(one), columns).rstrip()
        return gpt2.first_tokens(text, MOST_TOKENS) != text

    tested = reader.read_part("test", logicnlg_dir)
    for samples, count in ((reader.read_part("val", logicnlg_dir), 160), (tested, 146)):
        assert sum(is_cut(one, linked_columns(one)) for one in samples) == count
    every = (is_cut(one, range(len(typed_table(one).columns))) for one in tested)
    assert sum(every) == 1_227


@pytest.mark.parametrize("given", [[], {"a.csv": 5}, {"a.csv": "A text ."}, None])
def test_outputs_of_another_form_are_refused(given: object) -> None:
    with pytest.raises(CorpusError) as error:
        list(read_outputs(given, "outputs.json"))
    assert error.value.where == "outputs.json"


def test_outputs_in_the_published_format_become_rows(
    logicnlg_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGICNLG_DATA_DIR", str(logicnlg_dir))
    given = json.loads((logicnlg_dir / "outputs/field_infusing.json").read_text())
    rows = [row for _, row in read_outputs(given, "file")]
    of_first = [row["output"] for row in rows if row["name"] == rows[0]["name"]]
    assert of_first == given[rows[0]["name"]]
    assert len(rows) == 4_305
    table = next(iter(given))
    for changed in (given[table][1:], [*given[table], "One more ."]):
        with pytest.raises(CorpusError) as error:
            list(read_outputs({**given, table: changed}, "file"))
        assert table in str(error.value.where)
