"""ToTTo's files: samples at random, parts in a folder, and headers of cells."""

import hashlib
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.core.table import Cell, CellTable, from_json, to_json
from spor_tasks.corpora.sources import TOTTO as PUBLISHED
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto import TOTTO, read_references, reader
from spor_tasks.corpora.totto.table import headers_of, table_of
from tests.support.rows import write_rows


def written(path, *numbers):
    cells = {"table": [[{"value": "Moss"}]], "highlighted_cells": [[0, 0]]}
    rows = ({**cells, "example_id": n, "table_page_title": "ü" * n} for n in numbers)
    return write_rows(path, *rows)


@pytest.fixture
def file(tmp_path):
    return reader.read(written(tmp_path / "a.jsonl", *range(40)))


def test_samples_are_the_same_at_random_as_in_order(file):
    in_order = list(reader.read(file.path))
    assert len(file) == 40
    assert list(file) == in_order
    assert [file[i] for i in reversed(range(40))] == in_order[::-1]
    assert (file[-3], file[5:30:7]) == (in_order[-3], tuple(in_order[5:30:7]))
    assert len({sample.id for sample in file}) == 40
    with pytest.raises(IndexError):
        file[40]
    file.path.write_bytes(file.path.read_bytes().rstrip())  # a last line without an end
    assert reader.read(file.path)[39] == in_order[39]
    lines = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"".join([*lines[:4], b"{\n", *lines[5:]]))
    with pytest.raises(CorpusError) as caught:
        reader.read(file.path)[4]
    assert caught.value.where == f"{file.path}:5"


def test_blank_lines_are_no_samples(file):
    in_order, lines = list(file), file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"\xef\xbb\xbf\n" + b"".join([*lines[:7], b" \r\n\n", *lines[7:], b"\n"]))
    again = reader.read(file.path)
    assert (len(again), list(again), again[7]) == (40, in_order, in_order[7])
    assert [where.rpartition(":")[2] for where, _ in again.numbered()][6:8] == ["8", "11"]


def test_its_digest_is_that_of_the_file(file):
    sha256 = hashlib.sha256(file.path.read_bytes()).hexdigest()
    assert file.sha256 == digest(file) == sha256
    file.path.unlink()
    assert reader.read(file.path).sha256 is None


def test_threads_and_processes_may_share_it(file):
    in_order = list(file)
    again = pickle.loads(pickle.dumps(file))  # noqa: S301 - our own
    assert again == file
    assert again[7] == in_order[7]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(file.__getitem__, range(40))) == in_order


def test_a_missing_file_is_an_error_when_it_is_read(tmp_path):
    train = reader.part("train", tmp_path)
    for read in (len, list, lambda samples: samples[0]):
        with pytest.raises(CorpusError) as caught:
            read(train)
        assert PUBLISHED.remedy in str(caught.value.remedy)


@pytest.mark.parametrize("below", ["", "totto_data"])
def test_places_of_the_parts(tmp_path, monkeypatch, below):
    def names(samples):
        return [sample.about("name") for sample in samples]

    monkeypatch.setenv(PUBLISHED.variable, str(tmp_path))
    (tmp_path / below).mkdir(exist_ok=True)
    written(tmp_path / below / PUBLISHED.files[1], 1)
    assert names(TOTTO.read().samples) == ["1"]  # the development set is enough
    for number, name in enumerate(PUBLISHED.files):
        written(tmp_path / below / name, number)
    assert [reader.part(part)[0].about("name") for part in reader.PARTS] == ["0", "1", "2"]
    assert names(TOTTO.everything()) == ["1"]
    assert names(TOTTO.read().samples) == ["0", "1"]
    assert names(sample for _, sample in read_references(None)) == ["1"]
    assert TOTTO.parts(None).keys() == {"train", "test"}


cells = st.builds(Cell, st.text(max_size=3), st.booleans(), st.integers(1, 3), st.integers(1, 3))
grids = st.lists(st.lists(cells, max_size=5).map(tuple), min_size=1, max_size=5).map(tuple)


@st.composite
def tables(draw):
    rows = draw(grids.filter(any))
    places = [(row, i) for row, of_row in enumerate(rows) for i in range(len(of_row))]
    return CellTable(rows, tuple(draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))))


@given(tables())
def test_headers_are_those_of_the_slow_definition(table):
    def span(row, index):
        start = sum(cell.column_span for cell in table.rows[row][:index])
        return {*range(start, start + table.rows[row][index].column_span)}

    for (row, index), headers in zip(
        table.highlighted, headers_of(table, table.highlighted), strict=True
    ):
        before = table.rows[row][:index]
        assert headers.of_row == tuple(cell.value for cell in before if cell.is_header)
        assert headers.of_column == tuple(
            cell.value
            for above, cells in enumerate(table.rows[:row])
            for i, cell in enumerate(cells)
            if cell.is_header and span(above, i) & span(row, index)
        )
    assert from_json(json.loads(json.dumps(to_json(table)))) == table
    sample = Sample("0", "totto", (), (), {"table": table})
    assert header_values(sample) == {cell.value for cell in table.cells if cell.is_header}


@pytest.mark.parametrize(
    "table",
    [
        *(None, "x", {"cells": 5}, {"cells": [[5]], "highlighted": [[0, 0]]}),
        *({"cells": [["a"]], "highlighted": places} for places in ([], [[1, 0]])),
        *({"header": 5}, {"header": ["a"]}, {"header": ["a"], "rows": [[1]]}),
    ],
)
def test_a_malformed_table_is_refused(table):
    with pytest.raises(ValueError, match=r"Expected|missing|highlighted"):
        from_json(table)


def test_a_sample_without_a_table_is_named():
    for read in (header_values, table_of):
        with pytest.raises(CorpusError, match=r"^sample 5: "):
            read(Sample("5", "totto", (), ()))
