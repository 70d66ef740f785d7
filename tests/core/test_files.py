"""Files are read with errors that name the line, and written whole or not at all."""

import gzip
import hashlib
import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from spor_tasks.core import codec, digests, files
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, SampleMaker, Triple

SHIP = SampleMaker("webnlg")([Triple("Gull", "home port", "Ålborg")], ["At Ålborg."])
CAFE = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Gull: fish."], name="Gull")


def test_samples_are_written_in_the_published_bytes_and_half_a_surrogate_pair_as_an_escape(
    tmp_path: Path,
) -> None:
    path = tmp_path / "dataset.jsonl"
    files.write_rows(path, map(codec.to_row, [SHIP, CAFE]))
    assert path.read_text("utf-8") == (
        '{"data": [["Gull", "home port", "Ålborg"]], "texts": ["At Ålborg."]}\n'
        '{"name": "Gull", "data": [["food", "fish"]], "texts": ["Gull: fish."]}\n'
    )
    assert digests.digest([SHIP, CAFE]) == hashlib.sha256(path.read_bytes()).hexdigest()
    line = b'{"output": "\\ud83d \xc3\x85"}\n'
    ((_, row),) = files.parse_rows([line], "memory")
    assert row["output"] == "\ud83d Å"
    assert files.encode_row(row) == line


LINES = b'{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize("content", [LINES, gzip.compress(LINES)], ids=["plain", "gzip"])
def test_rows_have_the_number_of_their_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows"
    path.write_bytes(content)
    assert list(files.read_rows(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:2", {"b": 2})]
    ends = os.pipe()
    with open(ends[1], "wb") as write_end:  # noqa: PTH123 - a descriptor has no path
        write_end.write(content)
    pipe = Path(f"/dev/fd/{ends[0]}")
    assert list(files.read_rows(pipe))[1] == (f"{pipe}:2", {"b": 2})
    os.close(ends[0])


LIMIT = 1_000_000
LONGEST = b'{"a": "' + b"x" * (LIMIT - 10) + b'"}\n'


@pytest.mark.parametrize(
    ("content", "read", "fault"),
    [
        (LINES + b'{"b": 2', 2, "not JSON"),
        (LINES + b'"text"\n', 2, "is not a JSON object"),
        (LINES + b'{"b": "\xff"}\n', 2, "not JSON"),
        (LONGEST + LONGEST.strip() + b" ", 2, ""),
        (LONGEST + b" " + LONGEST, 1, "is longer than 1,000,000 bytes"),
        (LONGEST + b" " + LONGEST.strip() + b" ", 1, "is longer than 1,000,000 bytes"),
    ],
)
def test_a_bad_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, read: int, fault: str
) -> None:
    monkeypatch.setattr(files, "ROW_BYTES", LIMIT)
    path = tmp_path / "rows.jsonl"
    for written in (content, gzip.compress(content)):
        path.write_bytes(written)
        rows: list[object] = []
        with pytest.raises(CorpusError, match=fault) if fault else nullcontext() as caught:
            rows.extend(files.read_rows(path))
        assert len(rows) == read
        assert not caught or caught.value.where == f"{path}:{read + 1}"


def test_a_cut_gzip_file_or_a_missing_one_is_an_error_with_its_place(tmp_path: Path) -> None:
    cut, missing = tmp_path / "rows.jsonl.gz", tmp_path / "none.jsonl"
    cut.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-12])
    for path in (cut, missing):
        rows: list[object] = []
        with pytest.raises(CorpusError, match="cannot be read") as caught:
            rows.extend(files.read_rows(path))
        assert caught.value.where == (f"{path}:{len(rows) + 1}" if path is cut else str(path))


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    files.write_rows(path, [{"old": 1}])

    def rows() -> Iterator[dict[str, int]]:
        yield {"new": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_rows(path, rows())
    assert path.read_bytes() == b'{"old": 1}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_complete_when_it_is_sent_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
    files.write_rows(tmp_path / "rows.jsonl", [{"a": 1}])
    assert sizes == [len(b'{"a": 1}\n')]
