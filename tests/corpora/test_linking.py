"""What a sentence mentions of its table, and how often this is what the published linker found."""

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.table import Table, parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linearize import linked_columns, table_of, typed_table
from spor_tasks.corpora.logicnlg.linking import Linked, Linker
from spor_tasks.corpora.logicnlg.runs import plain
from tests.support import golden
from tests.support.soak import soak

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


def test_a_cell_a_header_and_the_title_are_linked() -> None:
    found = link("New York has the largest population of the cities of nowhere .")
    assert found.links == (
        "#new york;1,0# have the largest #population;0,1# of the #city of nowhere;-1,-1# ."
    )
    assert found.sentence == "<ENTITY0> have the largest <ENTITY1> of the <ENTITY2> ."
    assert found.template == "[ENT] has the largest [ENT] of the [ENT] ."
    assert found.texts == (("city", "new york"),)
    assert found.number_columns == ("population",)
    assert found.columns == (0, 1)
    assert "JJS" in found.tags


def test_counts_and_compared_numbers_are_told_apart() -> None:
    counted = link("there are 2 mayors named Zdenka Smith")
    assert (None, 2) in counted.numbers
    assert "<COUNT" in counted.sentence
    compared = link("Springfield has a population of more than 15.5")
    assert ("population", 15.5) in compared.numbers
    assert "<COMPUTE" in compared.sentence


def test_a_cell_that_several_rows_have_is_of_none_of_them() -> None:
    assert "#zdenka;-2,2#" in link("on Monday Zdenka called").links


def test_number_words_commas_and_accents() -> None:
    assert plain("One of 1,000, and two hundred") == "1 of 1000 and 200"
    assert link("aarhus and arhus").texts == (("city", "århus"),)


def test_a_sentence_about_something_else_has_the_first_columns() -> None:
    found = link("it rains")
    assert (found.texts, found.numbers, found.columns) == ((), (), (0, 1, 2))
    assert found.template == "it rains"
    assert link("it rains", Table(("a", "b"), ())).columns == (0, 1)
    assert link("it rains", Table((), ())).columns == ()


def test_tables_that_are_not_as_they_should_be() -> None:
    twice = Table(("goals", "goals", ""), (("3", "4", "x # y"), ("1",), ("5", "6", "z", "more")))
    found = link("goals of 4 and x # y", twice)
    assert ("goals.1", 4) in found.numbers
    assert set(found.columns) <= {0, 1, 2}
    assert link("the empty column", Table(("empty column",), (("",), ("",)))).columns == (0,)


def test_a_template_keeps_what_is_not_linked_as_it_was() -> None:
    found = link("In 1,234 , New York , with 800 , was BIG")
    assert found.template.startswith("In ")
    assert found.template.endswith("was BIG")
    assert "[ENT] , with [ENT] ," in found.template


@given(st.text(max_size=60), st.lists(st.lists(st.text(max_size=8), max_size=4), max_size=4))
def test_no_sentence_and_no_table_raises(sentence: str, rows: list[list[str]]) -> None:
    header, *body = map(tuple, rows) if rows else [()]
    table = Table(header, tuple(body))
    cells = " ".join(cell for row in rows for cell in row)
    for text in (sentence, f"{sentence} {cells}", cells):
        found = link(text, table, sentence)
        assert all(0 <= column < len(header) for column in found.columns)
        assert found == link(text, table, sentence)


def test_long_sentences_take_no_time() -> None:
    assert link("new york population 800 " * 5000).columns


# --- The published links --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def titles(logicnlg_dir: Path) -> dict[str, str]:
    path = logicnlg_dir / "data/table_to_page.json"
    return {name: row[0] for name, row in json.loads(path.read_bytes()).items()}


@pytest.fixture(scope="module")
def linker_of(logicnlg_dir: Path, titles: dict[str, str]) -> Callable[[str], Linker]:
    text_of = reader.table_texts(logicnlg_dir)

    @cache
    def linker(name: str) -> Linker:
        table = parse_table(text_of(name))
        return Linker(table, typed(table), titles[name])

    return linker


def test_links_are_mostly_those_of_the_published_code(
    linker_of: Callable[[str], Linker], golden_dir: Path
) -> None:
    """The record was made with another tagger and other lemmas."""
    same = Counter[str]()
    for record in golden.read(golden_dir / "logicnlg", "search_trace", rows=373):
        found = linker_of(record["table_id"]).link(record["sentence"])
        agrees = {
            "normalized": found.normalized == record["normalized"],
            "links": found.links == record["linked"],
            "sentence": found.sentence == record["masked"],
            "buffers": _buffers(found) == [record[f] for f in ("mem_str", "mem_num")]
            and [*found.text_columns] == record["head_str"]
            and [*found.number_columns] == record["head_num"],
        }
        same.update(what for what, agree in agrees.items() if agree)
        same["all"] += all(agrees.values())
    assert same == {"normalized": 323, "links": 314, "sentence": 343, "buffers": 357, "all": 310}


def _buffers(found: Linked) -> list[list[list[Any]]]:
    numbers = [[column or "tmp_input", value] for column, value in found.numbers]
    return [[list(pair) for pair in found.texts], numbers]


@pytest.mark.parametrize(
    ("part", "columns", "in_order", "templates"),
    [("val", 2332, 2315, 2213), soak("test", 2433, 2423, 2334)],
)
def test_about_half_of_the_columns_and_templates_of_the_data_are_found(
    logicnlg_dir: Path, part: reader.Part, columns: int, in_order: int, templates: int
) -> None:
    same = [0, 0, 0]
    linkers = dict[str, Linker]()
    for sample in reader.read_part(part, logicnlg_dir):
        name, title = str(sample.about("name")), str(sample.about("title"))
        linker = linkers.setdefault(name, Linker(table_of(sample), typed_table(sample), title))
        found, given_ = linker.link(sample.target), linked_columns(sample)
        same[0] += set(found.columns) == set(given_)
        same[1] += found.columns == given_
        same[2] += found.template == sample.about("template")
    assert same == [columns, in_order, templates]
