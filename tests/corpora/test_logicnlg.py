"""LogicNLG: files and prompts as published, and the linker's mentions of a table."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Column, Contrast, Sample, challenge_of
from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.logicnlg import read_outputs, reader
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linearize import (
    MOST_TOKENS,
    cells_of_columns,
    in_variant,
    linearize,
    linked_columns,
    published,
)
from spor_tasks.metrics.programs.linking import Linker
from spor_tasks.metrics.programs.mentions import plain
from spor_tasks.text import gpt2
from tests.support.golden import read

HEADER = ("city", "people", "area")
TABLE = Table(HEADER, (("oslo ås", "7", "1.5"), ("bergen", "3", "2")))


def sample(*columns):
    units = tuple(Column(HEADER[i], str(i)) for i in columns)
    context = {"title": "norway", "name": "1.csv", "table": TABLE}
    return Sample("0", "logicnlg", units, ("Oslo is larger .",), context)


def test_a_prompt_shows_the_linked_columns_or_the_whole_table():
    assert published(sample(1, 0)) == (
        'Given the table title of "norway" .In row 1 , the people is 7 , the city is Oslo Ås . '
        "In row 2 , the people is 3 , the city is Bergen .Start describing :"
    )
    full = published(in_variant(sample(0), "full_table"))
    assert "the city is Oslo Ås , the people is 7 , the area is 1.5 ." in full
    text = linearize(sample(0, 1), "instruction")
    assert "| oslo ås | 7 | 1.5 |" in text
    assert 'the columns "city" and "people"' in text
    assert 'Use the column "area"' in linearize(sample(2), "instruction")


def test_a_row_that_is_too_short_has_no_cell_in_the_last_columns():
    short = replace(sample(0, 2), context={"table": Table(TABLE.header, (*TABLE.rows, ("x",)))})
    columns = [*cells_of_columns(short)]
    assert [len(column) for column in columns] == [len(TABLE.rows) + 2, len(TABLE.rows) + 1]


def test_a_table_is_read_with_the_text_in_quotation_marks():
    assert parse_table('a#b\n"x#1"#"say ""no"""\n\n1#\n') == Table(
        ("a", "b"), (("x#1", 'say "no"'), ("1", ""))
    )
    assert parse_table("") == Table((), ())


def test_two_ways_to_get_tables_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("TABFACT_DATA_DIR", raising=False)
    with pytest.raises(CorpusError) as error:
        reader.table_texts(tmp_path)
    for way in ("spor data fetch --corpus logicnlg", "TABFACT_DATA_DIR"):
        assert way in str(error.value.remedy)


@pytest.fixture(scope="module")
def samples(logicnlg_dir):
    """The statements of a part by its name, and its pairs after `pairs of`."""
    return {
        "val": reader.read_part("val", logicnlg_dir),
        "test": reader.read_part("test", logicnlg_dir),
        "pairs of val": reader.read_pairs("val", logicnlg_dir),
        "pairs of test": reader.read_pairs("test", logicnlg_dir),
        "challenge": reader.read_pairs("challenge", logicnlg_dir),
    }


@pytest.fixture(scope="module")
def golden(golden_dir):
    """The work of the published code on 150 statements."""
    return read(golden_dir / "logicnlg", "linearisation", rows=150)


@pytest.fixture(scope="module")
def statements(samples, golden):
    """The rows of the published code, each with our sample."""
    known = {
        (part, one.about("name"), one.references[0]): one
        for part in ("val", "test")
        for one in samples[part]
    }
    return [(row, known[row["split"], row["table_id"], row["sentence"]]) for row in golden]


def ids(text):
    return list(gpt2.tokenizer().encode(text).ids)


def test_the_parts_have_the_published_sizes(samples):
    sizes = {
        part: (len(of), len({one.about("name") for one in of})) for part, of in samples.items()
    }
    assert sizes == {
        **dict.fromkeys(("val", "pairs of val"), (4_260, 848)),
        **dict.fromkeys(("test", "pairs of test"), (4_305, 862)),
        "challenge": (4_875, 982),
    }
    of_table = [
        one for one in samples["val"] if one.about("name") == samples["val"][0].about("name")
    ]
    for i, one in enumerate(of_table):
        others = [other.target for other in of_table[:i] + of_table[i + 1 :]]
        assert list(one.references) == [one.target, *others]
    linked = Counter(len(one.units) for one in samples["test"])
    assert [linked[n] for n in range(1, 10)] == [1047, 1820, 964, 306, 104, 37, 5, 19, 3]


def test_prompts_and_templates_are_published(statements):
    added = {"[ENT]": [50257], "[SEP]": [50258]}

    def pinned(text):
        """The tokens of 2020: without the blanks before an added token, and after [SEP]."""
        parts = re.split(r" *(\[ENT\]|\[SEP\](?: |$))", text)
        tokens = [added.get(part.strip()) or ids(part.rstrip()) for part in parts if part.strip()]
        return [number for each in tokens for number in each]

    cut = 0
    for row, one in statements:
        assert list(linked_columns(one)) == row["linked"]
        assert len(ids(row["body"].rstrip())) == row["n_body_tokens"]
        cut += row["n_body_tokens"] > MOST_TOKENS
        coarse = in_variant(one, "coarse_to_fine")
        assert ids(published(one)) == row["gpt_desc_ids"]
        assert ids(published(coarse)) == row["c2f_desc_ids"]
        assert pinned(str(one.about("template"))) == row["c2f_seq1_ids"]
        assert pinned(coarse.target) == row["c2f_seq2_ids"]
        if row["n_body_tokens"] < MOST_TOKENS:  # the blank at the end is a token
            parts = [row["prefix"], row["body"], row["suffix"]]
            assert published(in_variant(one, "spaced")) == "".join(parts)
            assert published(one) == "".join(part.rstrip() for part in parts)
    assert (len(statements), cut) == (150, 18)


def test_prompts_of_pairs_are_the_published_ones(samples, golden):
    pairs = {}
    for part in ("val", "test"):
        for one in samples[f"pairs of {part}"]:
            pairs.setdefault((part, one.about("name")), []).append(one)
    for row in golden:
        one = pairs[row["split"], row["table_id"]][row["i"]]
        for side, units in (("pos", one.units), ("neg", challenge_of(one, Contrast).units)):
            shown = replace(one, units=units)
            assert ids(published(shown)) == row[f"pair_gpt_{side}"]["desc_ids"]
            coarse = in_variant(shown, "coarse_to_fine")
            assert ids(published(coarse)) == row[f"pair_c2f_{side}"]["desc_ids"]


@pytest.mark.parametrize("content", [[], {"a.csv": 5}, {"a.csv": "A text ."}, None])
def test_outputs_of_another_form_are_refused(content):
    with pytest.raises(CorpusError, match=r"^outputs\.json: "):
        list(read_outputs(content, "outputs.json"))


def test_published_outputs_become_rows(logicnlg_dir, samples, monkeypatch):
    monkeypatch.setattr(reader, "read_part", lambda part: samples[part])
    content = json.loads((logicnlg_dir / "outputs/field_infusing.json").read_text())
    rows = [row for _, row in read_outputs(content, "file")]
    assert len(rows) == 4_305
    table, texts = next(iter(content.items()))
    assert [row["output"] for row in rows if row["name"] == table] == texts
    for changed in (texts[1:], [*texts, "One more ."]):
        with pytest.raises(CorpusError) as error:
            list(read_outputs({**content, table: changed}, "file"))
        assert table in str(error.value.where)


CITIES = Table(
    ("city", "population", "first mayor"),
    (
        ("new york", "800", "zdenka smith"),
        ("århus", "300", "jane doe"),
        ("springfield", "20", "zdenka smith"),
        ("ogdenville", "20", "ann b lee (jr)"),
    ),
)


def link(sentence, table=CITIES, title="cities of nowhere"):
    return Linker(table, typed(table), title).link(sentence)


def test_cells_headers_and_the_title_are_linked_and_all_else_is_as_it_was():
    linked = link("New York has the largest population of the cities of nowhere .")
    assert linked.links == (
        "#new york;1,0# have the largest #population;0,1# of the #city of nowhere;-1,-1# ."
    )
    assert linked.sentence == "<ENTITY0> have the largest <ENTITY1> of the <ENTITY2> ."
    assert linked.template == "[ENT] has the largest [ENT] of the [ENT] ."
    assert linked.texts == (("city", "new york"),)
    assert (linked.number_columns, linked.columns) == (("population",), (0, 1))
    assert "JJS" in linked.tags
    assert "#zdenka;-2,2#" in link("on Monday Zdenka called").links  # of several rows
    template = link("In 1,234 , New York , with 800 , was BIG").template
    assert template.startswith("In ")
    assert template.endswith("[ENT] , with [ENT] , was BIG")


def test_counts_are_distinguished_from_compared_numbers():
    counted = link("there are 2 mayors named Zdenka Smith")
    assert (None, 2) in counted.numbers
    assert "<COUNT" in counted.sentence
    compared = link("Springfield has a population of more than 15.5")
    assert ("population", 15.5) in compared.numbers
    assert "<COMPUTE" in compared.sentence
    assert plain("One of 1,000, and two hundred") == "1 of 1000 and 200"


def test_a_sentence_about_something_else_has_the_first_columns():
    linked = link("it rains")
    assert (linked.texts, linked.numbers, linked.columns) == ((), (), (0, 1, 2))
    assert linked.template == "it rains"
    assert link("it rains", Table((), ())).columns == ()


def test_columns_of_one_name_ragged_rows_and_empty_columns():
    twice = Table(("goals", "goals", ""), (("3", "4", "x # y"), ("1",), ("5", "6", "z", "more")))
    linked = link("goals of 4 and x # y", twice)
    assert ("goals.1", 4) in linked.numbers
    assert set(linked.columns) <= {0, 1, 2}
    assert link("the empty column", Table(("empty column",), (("",), ("",)))).columns == (0,)


@given(st.text(max_size=60), st.lists(st.lists(st.text(max_size=8), max_size=4), max_size=4))
def test_no_sentence_and_no_table_raises(sentence, rows):
    header, *body = map(tuple, rows) if rows else [()]
    table = Table(header, tuple(body))
    cells = " ".join(cell for row in rows for cell in row)
    for text in (sentence, f"{sentence} {cells}", cells):
        linked = link(text, table, sentence)
        assert all(0 <= column < len(header) for column in linked.columns)
        assert linked == link(text, table, sentence)


def test_long_sentences_take_no_time():
    assert link("new york population 800 " * 5000).columns


def test_links_are_mostly_those_of_the_published_code(logicnlg_dir, golden_dir):
    """The record was made with another tagger and other lemmas."""
    pages = json.loads((logicnlg_dir / "data/table_to_page.json").read_bytes())
    text_of, equal = reader.table_texts(logicnlg_dir), Counter[str]()
    for record in read(golden_dir / "logicnlg", "search_trace", rows=373):
        name = record["table_id"]
        linked = link(record["sentence"], parse_table(text_of(name)), pages[name][0])
        texts = [list(pair) for pair in linked.texts]
        numbers = [[column or "tmp_input", value] for column, value in linked.numbers]
        columns = [[*linked.text_columns], [*linked.number_columns]]
        agrees = {
            "normalized": linked.normalized == record["normalized"],
            "links": linked.links == record["linked"],
            "sentence": linked.sentence == record["masked"],
            "buffers": [texts, numbers, *columns]
            == [record[field] for field in ("mem_str", "mem_num", "head_str", "head_num")],
        }
        equal.update(name for name, agree in agrees.items() if agree)
        equal["all"] += all(agrees.values())
    assert equal == {"normalized": 323, "links": 314, "sentence": 343, "buffers": 357, "all": 310}
