"""The linker's mentions of a table, and how often they are those of the published linker."""

import json
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linking import Linked, Linker
from spor_tasks.corpora.logicnlg.runs import plain
from tests.support import golden

CITIES = Table(
    ("city", "population", "first mayor"),
    (
        ("new york", "800", "zdenka smith"),
        ("århus", "300", "jane doe"),
        ("springfield", "20", "zdenka smith"),
        ("ogdenville", "20", "ann b lee (jr)"),
    ),
)


def link(sentence: str, table: Table = CITIES, title: str = "cities of nowhere") -> Linked:
    return Linker(table, typed(table), title).link(sentence)


def test_cells_headers_and_the_title_are_linked_and_all_else_is_as_it_was() -> None:
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


def test_counts_are_distinguished_from_compared_numbers() -> None:
    counted = link("there are 2 mayors named Zdenka Smith")
    assert (None, 2) in counted.numbers
    assert "<COUNT" in counted.sentence
    compared = link("Springfield has a population of more than 15.5")
    assert ("population", 15.5) in compared.numbers
    assert "<COMPUTE" in compared.sentence
    assert plain("One of 1,000, and two hundred") == "1 of 1000 and 200"


def test_a_sentence_about_something_else_has_the_first_columns() -> None:
    linked = link("it rains")
    assert (linked.texts, linked.numbers, linked.columns) == ((), (), (0, 1, 2))
    assert linked.template == "it rains"
    assert link("it rains", Table((), ())).columns == ()


def test_columns_of_one_name_ragged_rows_and_empty_columns() -> None:
    twice = Table(("goals", "goals", ""), (("3", "4", "x # y"), ("1",), ("5", "6", "z", "more")))
    linked = link("goals of 4 and x # y", twice)
    assert ("goals.1", 4) in linked.numbers
    assert set(linked.columns) <= {0, 1, 2}
    assert link("the empty column", Table(("empty column",), (("",), ("",)))).columns == (0,)


@given(st.text(max_size=60), st.lists(st.lists(st.text(max_size=8), max_size=4), max_size=4))
def test_no_sentence_and_no_table_raises(sentence: str, rows: list[list[str]]) -> None:
    header, *body = map(tuple, rows) if rows else [()]
    table = Table(header, tuple(body))
    cells = " ".join(cell for row in rows for cell in row)
    for text in (sentence, f"{sentence} {cells}", cells):
        linked = link(text, table, sentence)
        assert all(0 <= column < len(header) for column in linked.columns)
        assert linked == link(text, table, sentence)


def test_long_sentences_take_no_time() -> None:
    assert link("new york population 800 " * 5000).columns


def test_links_are_mostly_those_of_the_published_code(logicnlg_dir: Path, golden_dir: Path) -> None:
    """The record was made with another tagger and other lemmas."""
    pages = json.loads((logicnlg_dir / "data/table_to_page.json").read_bytes())
    text_of, equal = reader.table_texts(logicnlg_dir), Counter[str]()
    for record in golden.read(golden_dir / "logicnlg", "search_trace", rows=373):
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
