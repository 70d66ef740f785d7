"""ToTTo's files: what is read of them, at random too, and what is wrong with them."""

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.table import Cell, CellTable, from_json, to_json
from spor_tasks.corpora.lines import FileSamples
from spor_tasks.corpora.sources import TOTTO as PUBLISHED
from spor_tasks.corpora.tables import header_of, header_values
from spor_tasks.corpora.totto import TOTTO, read_references, reader
from spor_tasks.corpora.totto.table import headers_of, table_of


def cell(value: str, *, is_header: bool = False, columns: int = 1, rows: int = 1) -> dict[str, Any]:
    return {"value": value, "is_header": is_header, "column_span": columns, "row_span": rows}


def example(number: int = 5, **changed: object) -> dict[str, Any]:
    table = [
        [cell("Year", is_header=True), cell("Film", is_header=True, columns=2)],
        [cell("1990", is_header=True), cell("Moss", rows=2), cell("ü")],
    ]
    return {
        "table": table,
        "table_webpage_url": "http://en.wikipedia.org/wiki/Moss",
        "table_page_title": "Moss",
        "table_section_title": "Films",
        "table_section_text": "",
        "highlighted_cells": [[1, 1], [1, 0]],
        "example_id": number,
        "overlap_subset": True,
        "sentence_annotations": [{"original_sentence": "x", "final_sentence": "Moss is of 1990."}],
    } | changed


def written(path: Path, *examples: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in examples), "utf-8")
    return path


def samples(path: Path) -> list[Sample]:
    return list(reader.read(path))


def test_an_example_becomes_a_sample(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", example(-(10**25)))
    ((where, sample),) = reader.read(path).numbered()
    assert where == f"{path}:1"
    assert sample.units == (AttributeValue("Film", "Moss"), AttributeValue("Year", "1990"))
    assert sample.references == ("Moss is of 1990.",)
    assert dict(sample.context) == {
        "name": str(-(10**25)),
        "title": "Moss",
        "section_title": "Films",
        "source": "http://en.wikipedia.org/wiki/Moss",
        "overlap": True,
        "table": from_json(
            {
                "cells": [
                    [["Year", True, 1, 1], ["Film", True, 2, 1]],
                    [["1990", True, 1, 1], ["Moss", False, 1, 2], "ü"],
                ],
                "highlighted": [[1, 1], [1, 0]],
            }
        ),
    }
    assert header_values(sample) == {"Year", "Film", "1990"}
    assert header_of(sample) == {"year", "film", "1990"}


def test_the_hidden_test_set_has_no_references(tmp_path: Path) -> None:
    hidden = example()
    del hidden["sentence_annotations"], hidden["overlap_subset"]
    (sample,) = samples(written(tmp_path / "a.jsonl", hidden))
    assert sample.references == ()
    assert "overlap" not in sample.context


def without(what: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    changed = example()
    what(changed)
    return changed


FAULTS: dict[str, object] = {
    "outside of the row": example(highlighted_cells=[[1, 3]]),
    "none highlighted": example(highlighted_cells=[]),
    "no value": without(lambda of: of["table"][1][1].pop("value")),
    "no columns": example(table=[[cell("a", columns=0)]]),
    "no sentence": example(sentence_annotations=[{}]),
}


LINES: dict[str, bytes] = {
    "text": b"Hello.",
    "half": json.dumps(example()).encode()[:200],
    "invalid UTF-8": json.dumps(example()).replace("Moss", "\\").encode().replace(b"\\\\", b"\xff"),
    "half of a pair": json.dumps(example(table_page_title="\ud800")).encode(),
    "many brackets": b'{"a": ' + b"[" * 100_000,
} | {name: json.dumps(fault).encode() for name, fault in FAULTS.items()}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(example(4)).encode() + b"\n" + line + b"\n")
    with pytest.raises(CorpusError) as error:
        samples(path)
    assert error.value.where == f"{path}:2"


def test_a_file_may_be_missing_or_a_folder(tmp_path: Path) -> None:
    for name in ("missing", "."):
        with pytest.raises(CorpusError) as error:
            samples(tmp_path / name)
        assert str(tmp_path / name) in str(error.value.where)


# --- At random ------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> FileSamples:
    examples = [example(number, table_page_title="ü" * number) for number in range(40)]
    return reader.read(written(tmp_path / "a.jsonl", *examples))


def test_samples_are_the_same_at_random_as_in_order(file: FileSamples) -> None:
    known = samples(file.path)
    assert len(file) == 40
    assert list(file) == known
    assert [file[i] for i in reversed(range(40))] == known[::-1]
    assert file[-3] == known[-3]
    assert file[5:30:7] == tuple(known[5:30:7])
    assert len({sample.id for sample in file}) == 40
    with pytest.raises(IndexError):
        file[40]


def test_a_last_line_without_an_end_is_read(file: FileSamples) -> None:
    known = file[39]
    file.path.write_bytes(file.path.read_bytes().rstrip())
    assert reader.read(file.path)[39] == known


def test_its_digest_is_that_of_the_file(file: FileSamples) -> None:
    sha = hashlib.sha256(file.path.read_bytes()).hexdigest()
    assert file.sha256 == digest(file) == sha
    file.path.unlink()
    assert reader.read(file.path).sha256 is None


def test_threads_and_processes_may_share_it(file: FileSamples) -> None:
    known = list(file)
    again = pickle.loads(pickle.dumps(file))  # noqa: S301 - our own
    assert again == file
    assert again[7] == known[7]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(file.__getitem__, range(40))) == known


# --- The published files --------------------------------------------------------------------------


def test_a_missing_file_is_an_error_when_it_is_read(tmp_path: Path) -> None:
    train = reader.part("train", tmp_path)
    assert train.sha256 is None
    for read in (len, list, lambda of: of[0]):
        with pytest.raises(CorpusError) as error:
            read(train)
        assert error.value.remedy
        assert PUBLISHED.remedy in error.value.remedy


@pytest.mark.parametrize("below", ["", "totto_data"])
def test_parts_are_found_in_the_folder_or_as_in_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    monkeypatch.setenv(PUBLISHED.variable, str(tmp_path))
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(PUBLISHED.files):
        written(folder / name, example(number))
    assert [reader.part(part)[0].about("name") for part in reader.PARTS] == ["0", "1", "2"]
    assert [sample.about("name") for sample in TOTTO.everything()] == ["1"]
    read = TOTTO.read()
    assert [sample.about("name") for sample in read.samples] == ["0", "1"]
    assert [sample.about("name") for _, sample in read_references(None)] == ["1"]
    assert TOTTO.parts(None).keys() == {"train", "test"}


def test_the_development_set_is_enough(tmp_path: Path) -> None:
    written(tmp_path / PUBLISHED.files[1], example())
    read = TOTTO.read(tmp_path)
    assert (len(read.train), len(read.test), len(TOTTO.everything(tmp_path))) == (0, 1, 1)


def test_the_real_examples(totto_dir: Path, tmp_path: Path) -> None:
    shutil.copy(totto_dir / "dev_25.jsonl", tmp_path / PUBLISHED.files[1])
    dev = reader.part("dev", tmp_path)
    assert [*dev] == samples(totto_dir / "dev_25.jsonl")
    assert len(dev) == 25
    assert {len(sample.references) for sample in dev} <= {1, 2, 3}
    assert len({sample.id for sample in dev}) == 25


# --- Tables ---------------------------------------------------------------------------------------


cells = st.builds(Cell, st.text(max_size=3), st.booleans(), st.integers(1, 3), st.integers(1, 3))
grids = st.lists(st.lists(cells, max_size=5).map(tuple), min_size=1, max_size=5).map(tuple)


@st.composite
def tables(draw: st.DrawFn) -> CellTable:
    rows = draw(grids.filter(any))
    places = [(row, i) for row, of in enumerate(rows) for i in range(len(of))]
    return CellTable(rows, tuple(draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))))


@given(tables())
def test_headers_are_those_of_the_slow_definition(table: CellTable) -> None:
    def span(row: int, index: int) -> set[int]:
        start = sum(cell.column_span for cell in table.rows[row][:index])
        return {*range(start, start + table.rows[row][index].column_span)}

    for (row, index), headers in zip(
        table.highlighted, headers_of(table, table.highlighted), strict=True
    ):
        assert headers.of_row == tuple(
            cell.value for cell in table.rows[row][:index] if cell.is_header
        )
        assert headers.of_column == tuple(
            cell.value
            for above, cells in enumerate(table.rows[:row])
            for i, cell in enumerate(cells)
            if cell.is_header and span(above, i) & span(row, index)
        )


@given(tables())
def test_a_table_is_the_same_after_json(table: CellTable) -> None:
    assert from_json(json.loads(json.dumps(to_json(table)))) == table
    sample = Sample("0", "totto", (), (), {"table": table})
    assert header_values(sample) == {cell.value for cell in table.cells if cell.is_header}


@pytest.mark.parametrize(
    "table",
    [
        *(None, {}, "x", {"cells": 5}, {"cells": [[5]], "highlighted": [[0, 0]]}),
        {"cells": [["a"]], "highlighted": []},
        {"cells": [["a"]], "highlighted": [[1, 0]]},
        *({"header": 5}, {"header": ["a"]}, {"header": ["a"], "rows": [[1]]}),
    ],
)
def test_a_malformed_table_is_refused(table: object) -> None:
    with pytest.raises(ValueError, match=r"Expected|missing|highlighted"):
        from_json(table)


def test_a_sample_without_a_table_is_named() -> None:
    sample = Sample("5", "totto", (), ())
    for read in (header_values, table_of):
        with pytest.raises(CorpusError) as error:
            read(sample)
        assert error.value.where == "sample 5"
