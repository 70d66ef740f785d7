"""Files are read with errors that name the line, and written whole or not at all."""

import gzip
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spor_tasks.core import codec, digests, files, folders
from spor_tasks.core.errors import CorpusError, ResultError
from spor_tasks.core.sample import AttributeValue, SampleMaker, Triple
from tests.support import damage
from tests.support.damage import DAMAGE

SHIP = SampleMaker("webnlg")([Triple("Gull", "home port", "Ålborg")], ["At Ålborg."])
CAFE = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Gull: fish."], name="Gull")


def test_a_row_is_written_in_the_published_bytes() -> None:
    assert files.encode_row(codec.to_row(SHIP)).decode() == (
        '{"data": [["Gull", "home port", "Ålborg"]], "texts": ["At Ålborg."]}\n'
    )
    assert files.encode_row(codec.to_row(CAFE)).decode() == (
        '{"name": "Gull", "data": [["food", "fish"]], "texts": ["Gull: fish."]}\n'
    )


def test_the_digest_of_samples_is_that_of_the_file_which_holds_them(tmp_path: Path) -> None:
    path = tmp_path / "dataset.jsonl"
    files.write_rows(path, map(codec.to_row, [SHIP, SHIP]))
    assert digests.digest([SHIP, SHIP]) == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_come_with_the_line_they_stand_in(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = b'{"a": 1}\n{"b": 2}\n'
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert list(files.read_rows(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:2", {"b": 2})]


@pytest.mark.parametrize(
    ("second", "fault"),
    [
        (b'{"b": 2', "not JSON"),
        (b'"text"\n', "is not a JSON object"),
        (b'{"b": "\xff"}\n', "not JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, second: bytes, fault: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n' + second)
    with pytest.raises(CorpusError, match=fault) as caught:
        list(files.read_rows(path))
    assert caught.value.where == f"{path}:2"


def test_gzip_is_known_by_its_bytes_also_where_they_come_from_a_pipe() -> None:
    ends = os.pipe()
    with open(ends[1], "wb") as write_end:  # noqa: PTH123 - a descriptor has no path
        write_end.write(gzip.compress(b'{"a": 1}\n'))
    with open(ends[0], "rb") as read_end:  # noqa: PTH123
        assert list(files.stream_rows(read_end, "pipe")) == [("pipe:1", {"a": 1})]


def test_a_cut_gzip_file_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    whole = gzip.compress(b'{"a": 1}\n' * 1000)
    path.write_bytes(whole[:-12])
    read: list[object] = []
    with pytest.raises(CorpusError, match="cannot be read") as caught:
        read.extend(files.read_rows(path))
    assert caught.value.where == f"{path}:{len(read) + 1}"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_row_may_be_as_long_as_the_limit_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes, *, packed: bool
) -> None:
    monkeypatch.setattr(files, "ROW_BYTES", 1_000_000)
    path = tmp_path / "rows.jsonl"
    longest = b'{"a": "' + b"x" * (1_000_000 - 9 - len(end)) + b'"}' + end
    for rows, read in ((longest, 1), (b'{"a": 1}\n' + longest.replace(b":", b": "), 0)):
        path.write_bytes(gzip.compress(rows) if packed else rows)
        if read:
            assert len(list(files.read_rows(path))) == read
            continue
        with pytest.raises(CorpusError, match="is longer than 1,000,000 bytes") as caught:
            list(files.read_rows(path))
        assert caught.value.where == f"{path}:2"


def test_half_a_surrogate_pair_is_written_as_the_escape_that_it_was_read_from() -> None:
    line = b'{"output": "\\ud83d \xc3\x85"}\n'
    ((_, row),) = files.parse_rows([line], "memory")
    assert row["output"] == "\ud83d Å"
    assert files.encode_row(row) == line


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read") as caught:
        list(files.read_rows(tmp_path / "none.jsonl"))
    assert caught.value.where == str(tmp_path / "none.jsonl")


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


@pytest.mark.parametrize("kind", sorted(DAMAGE))
def test_what_is_no_json_object_is_an_error_of_the_kind_that_is_asked_for(
    tmp_path: Path, kind: str
) -> None:
    damage.replace(tmp_path / "value.json", kind)
    with pytest.raises(ResultError, match=r"cannot be read|is not a JSON object") as caught:
        files.read_json(tmp_path / "value.json", ResultError)
    assert caught.value.where == str(tmp_path / "value.json")


@pytest.mark.parametrize("content", ['{"schema": 2}', "[]", '{"schema": 1'])
def test_a_manifest_of_another_schema_or_a_damaged_one_is_refused(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / folders.MANIFEST).write_text(content, "utf-8")
    with pytest.raises(ResultError) as caught:
        folders.read_manifest(tmp_path)
    assert caught.value.where == str(tmp_path / folders.MANIFEST)
