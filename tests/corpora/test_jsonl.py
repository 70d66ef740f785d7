"""JSON Lines in the published field names, and what is wrong with a row that is not."""

import json
from pathlib import Path

import pytest

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Triple, challenge_of
from spor_tasks.corpora import jsonl
from tests.support.samples import read_samples

SHIP = {"data": [["Gull", "home port", "Ålborg"]], "texts": ["The Gull lies at Ålborg."]}
CAFE = {"name": "Gull", "data": [["food", "fish"]], "texts": ["Fish at Gull.", "Gull: fish."]}
NAMELESS = {"data": [["food", "fish"]], "texts": ["There is fish."]}
ORDERED = {
    "name": "Gull",
    "data": [["food", "fish"], ["area", "harbour"]],
    "texts": ["Fish at the harbour.", "At the harbour: fish."],
    "input_order_1": [1, 0],
    "input_order_2": [0, 1],
    "output_order": [[0, 1], [1, 0]],
}
ENTITY = {"data": [["Entity 1", "crew", "4"]], "replaced_entity": {"Gull": "Entity 1"}}
VALUE = {
    "name": "Gull",
    "data": [["price range", "more than Value A"]],
    "replaced_kv_pair": {"price range": "more than Value A"},
}
HIDDEN_NAMELESS = {field: VALUE[field] for field in ("data", "replaced_kv_pair")}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_triples_are_read(tmp_path: Path) -> None:
    (sample,) = read_samples(write(tmp_path / "own.jsonl", SHIP), "ships")
    assert sample.corpus == "ships"
    assert sample.units == (Triple("Gull", "home port", "Ålborg"),)
    assert sample.references == ("The Gull lies at Ålborg.",)
    assert sample.about("name") is None


def test_pairs_are_read_with_the_name_or_without_one(tmp_path: Path) -> None:
    (nameless,) = read_samples(write(tmp_path / "own.jsonl", NAMELESS), "cafes")
    assert nameless.about("name") is None
    assert nameless.units == (AttributeValue("food", "fish"),)
    (sample,) = read_samples(write(tmp_path / "own.jsonl", CAFE), "cafes")
    assert sample.about("name") == "Gull"
    assert sample.units == (AttributeValue("food", "fish"),)
    assert sample.references == ("Fish at Gull.", "Gull: fish.")


def test_orders_are_read(tmp_path: Path) -> None:
    (sample,) = read_samples(write(tmp_path / "own.jsonl", ORDERED), "cafes")
    assert challenge_of(sample, Orders).inputs == ((1, 0), (0, 1))
    assert challenge_of(sample, Orders).references == ((0, 1), (1, 0))
    unordered = {field: ORDERED[field] for field in ("name", "data", "texts")}
    (plain,) = read_samples(write(tmp_path / "own.jsonl", unordered), "cafes")
    assert plain.id == sample.id


def test_what_is_hidden_is_read_and_no_texts_are_asked_for(tmp_path: Path) -> None:
    (entity,) = read_samples(write(tmp_path / "own.jsonl", ENTITY), "own")
    (value,) = read_samples(write(tmp_path / "own.jsonl", VALUE), "own")
    assert challenge_of(entity, Hidden).phrases == (("Gull", "Entity 1"),)
    assert challenge_of(value, Hidden).phrases == (("price range", "more than Value A"),)
    assert (value.about("name"), entity.references, value.references) == ("Gull", (), ())


@pytest.mark.parametrize("row", [SHIP, CAFE, NAMELESS, ORDERED, ENTITY, VALUE, HIDDEN_NAMELESS])
def test_a_row_is_written_as_it_was_read(tmp_path: Path, row: dict[str, object]) -> None:
    (sample,) = read_samples(write(tmp_path / "own.jsonl", row), "own")
    assert json.dumps(to_row(sample)) == json.dumps(row)


def test_a_category_is_read_and_changes_no_id(tmp_path: Path) -> None:
    (plain,) = read_samples(write(tmp_path / "own.jsonl", SHIP), "ships")
    (sample,) = read_samples(write(tmp_path / "own.jsonl", {**SHIP, "category": "Ship"}), "ships")
    assert sample.about("category") == "Ship"
    assert sample.id == plain.id


def test_other_fields_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", SHIP, {**SHIP, "input_order_1": [0], "note": None})
    first, second = read_samples(path, "ships")
    assert first.units == second.units
    assert first.id != second.id


@pytest.mark.parametrize(
    ("before", "row", "field"),
    [
        (SHIP, {"texts": ["A"]}, "data"),
        (SHIP, {"data": SHIP["data"]}, "texts"),
        (SHIP, {**SHIP, "data": []}, "data"),
        (SHIP, {**SHIP, "texts": "A text"}, "texts"),
        (SHIP, {**SHIP, "texts": [None]}, r"texts\["),
        (SHIP, {**SHIP, "data": [["Gull", "crew", 4]]}, r"data\["),
        (SHIP, {**SHIP, "data": [["Gull", "a", "b"], "abc"]}, r"data\["),
        (SHIP, {**SHIP, "data": [["food", "fish"]]}, r"data\[0\]"),
        (SHIP, {**SHIP, "data": [["Gull", "crew", "4"], ["food", "fish"]]}, r"data\[1\]"),
        (CAFE, {**CAFE, "data": [["Gull", "food", "fish"]]}, r"data\[0\]"),
        (CAFE, {**CAFE, "data": [["Gull"]]}, "data"),
        (CAFE, {**CAFE, "data": [["Gull", "food", "fish", "today"]]}, "data"),
        (SHIP, {**SHIP, "name": "Gull"}, "name"),
        (SHIP, {**SHIP, "category": 3}, "category"),
        (CAFE, {**ORDERED, "input_order_2": None}, "input_order_2"),
        (CAFE, {**ORDERED, "input_order_1": [0]}, "input_order_1"),
        (CAFE, {**ORDERED, "input_order_1": [False, True]}, "input_order_1"),
        (CAFE, {**ORDERED, "output_order": [[0, 1], [1, []]]}, "output_order"),
        (CAFE, {**ORDERED, "output_order": [[0, 1]]}, "output_order"),
        (SHIP, {**ENTITY, "replaced_entity": {}}, "replaced_entity"),
        (CAFE, {**VALUE, "replaced_kv_pair": ["Value A"]}, "replaced_kv_pair"),
    ],
)
def test_a_bad_row_is_named_with_line_and_field(
    tmp_path: Path, before: object, row: object, field: str
) -> None:
    path = write(tmp_path / "own.jsonl", before, row)
    with pytest.raises(CorpusError, match=field) as caught:
        read_samples(path, "own")
    assert caught.value.where == f"{path}:2"
    assert caught.value.remedy


def test_a_file_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="has no samples") as caught:
        read_samples(write(tmp_path / "own.jsonl"), "own")
    assert caught.value.where == str(tmp_path / "own.jsonl")


def test_a_cut_line_is_named() -> None:
    with pytest.raises(CorpusError, match="not JSON") as caught:
        jsonl.parse_samples(b'{"data": [["a", "b", "c"]], "texts": ["A', "own", where="own.jsonl")
    assert caught.value.where == "own.jsonl:1"
