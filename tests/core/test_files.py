"""Files and folders are written whole or not at all; errors of reading name the line.

Killed writers are in tests/reliability.
"""

import gzip
import hashlib
import json
import os
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core import codec, digests, files, folders
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.folders import MANIFEST, atomic_folder, read_manifest, write_manifest
from spor_tasks.core.sample import AttributeValue, SampleMaker, Triple

SHIP = SampleMaker("webnlg")([Triple("Gull", "home port", "Ålborg")], ["At Ålborg."])
CAFE = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Gull: fish."], name="Gull")


def test_samples_are_written_in_the_published_bytes_and_half_a_surrogate_pair_as_an_escape(
    tmp_path,
):
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)


@given(JSON, st.booleans(), st.binary(max_size=3))
def test_json_is_decoded_as_the_standard_library_does(value, is_ascii, end):
    """NaN and halves of surrogate pairs are among the values, and some contents are no JSON."""
    text = json.dumps(value, ensure_ascii=is_ascii)
    for content in (text, text.encode(errors="surrogatepass") + end):
        try:
            expected = repr(json.loads(content))
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                files.decode(content)
        else:
            assert repr(files.decode(content)) == expected


LINES = b'{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize("content", [LINES, gzip.compress(LINES)], ids=["plain", "gzip"])
def test_rows_have_the_number_of_their_line(tmp_path, content):
    path = tmp_path / "rows"
    path.write_bytes(content)
    assert list(files.read_rows(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:2", {"b": 2})]
    ends = os.pipe()
    with open(ends[1], "wb") as write_end:  # noqa: PTH123 - a descriptor has no path
        write_end.write(content)
    pipe = Path(f"/dev/fd/{ends[0]}")
    assert list(files.read_rows(pipe))[1] == (f"{pipe}:2", {"b": 2})
    os.close(ends[0])


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (b'{"a": 1}\n\n \r\n{"b": 2}\n\n', (":1", ":4")),
        (b'\n{"a": 1}\n{"b": 2}', (":2", ":3")),
        (b'[{"a": 1}, {"b": 2}]', (", row 1", ", row 2")),
        (b'\xef\xbb\xbf[\r\n  {"a": 1},\n\n  {\n"b": 2}\n]\n', (", row 1", ", row 2")),
        (b'\xef\xbb\xbf\r\n{"a": 1}\r\n', (":2",)),
        (b'\xef\xbb\xbf\n[\n{"a": 1}]\n', (", row 1",)),
        (b" [\n] \n", ()),
    ],
)
def test_blank_lines_are_none_and_a_list_is_read_as_its_rows(tmp_path, content, places):
    path = tmp_path / "rows.json"
    rows = ({"a": 1}, {"b": 2})
    for written in (content, gzip.compress(content)):
        path.write_bytes(written)
        expected = [(f"{path}{place}", row) for place, row in zip(places, rows, strict=False)]
        assert list(files.read_rows(path)) == expected


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b'[{"a": 1}, 2]', "is not a JSON object"), (b'[{"a": 1}', "not JSON"), (b"[" * 99, "JSON")],
)
def test_a_list_with_something_else_is_refused(content, fault):
    with pytest.raises(CorpusError, match=fault):
        list(files.parse_rows([content], "rows"))


def test_a_list_that_would_fill_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(files, "LIST_BYTES", 100)
    with pytest.raises(CorpusError, match="more than 100 bytes"):
        list(files.parse_rows([b"[\n", *[b'{"a": 1},\n'] * 50], "rows"))


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
        (LONGEST + b" " * (LIMIT + 1) + b"\n" + LONGEST, 1, "is longer than 1,000,000 bytes"),
        (LONGEST + b" " + LONGEST.strip() + b" ", 1, "is longer than 1,000,000 bytes"),
    ],
)
def test_a_bad_line_is_named(tmp_path, monkeypatch, content, read, fault):
    monkeypatch.setattr(files, "ROW_BYTES", LIMIT)
    path = tmp_path / "rows.jsonl"
    for written in (content, gzip.compress(content)):
        path.write_bytes(written)
        rows = []
        with pytest.raises(CorpusError, match=fault) if fault else nullcontext() as caught:
            rows.extend(files.read_rows(path))
        assert len(rows) == read
        assert not caught or caught.value.where == f"{path}:{read + 1}"


def test_a_cut_gzip_file_or_a_missing_one_is_an_error_with_its_place(tmp_path):
    cut, missing = tmp_path / "rows.jsonl.gz", tmp_path / "none.jsonl"
    cut.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-12])
    for path in (cut, missing):
        rows = []
        with pytest.raises(CorpusError, match=r"cannot be read|does not exist") as caught:
            rows.extend(files.read_rows(path))
        assert caught.value.where == (f"{path}:{len(rows) + 1}" if path is cut else str(path))


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "rows.jsonl"
    files.write_rows(path, [{"old": 1}])

    def rows():
        yield {"new": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_rows(path, rows())
    assert path.read_bytes() == b'{"old": 1}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_complete_when_it_is_sent_to_the_disk(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
    files.write_rows(tmp_path / "rows.jsonl", [{"a": 1}])
    assert sizes == [len(b'{"a": 1}\n')]


# --- Folders --------------------------------------------------------------------------------------


def write(path, content, *, overwrite=False):
    with atomic_folder(path, kind="sets", overwrite=overwrite) as folder:
        (folder / "rows").write_text(content)
        write_manifest(folder, {"kind": "sets"})


@pytest.fixture
def old(tmp_path):
    """A finished folder."""
    write(tmp_path / "deep" / "sets", "old")
    return tmp_path / "deep" / "sets"


def holds(path, content):
    """Return whether a folder has this content, and nothing is beside it."""
    return (path / "rows").read_text() == content and list(path.parent.iterdir()) == [path]


def test_a_folder_appears_when_it_is_finished(tmp_path):
    path = tmp_path / "deep" / "sets"
    with atomic_folder(path, kind="sets", overwrite=False) as folder:
        (folder / "rows").write_text("all")
        assert not path.exists()
        for _ in range(2):  # a refused writer does not remove the lock
            with pytest.raises(ConfigError, match="is being written by another process"):
                write(path, "new")
    assert holds(path, "all")


def test_an_error_leaves_nothing(tmp_path):
    def break_off():
        with atomic_folder(tmp_path / "sets", kind="sets", overwrite=False) as folder:
            (folder / "rows").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_only_on_request(old):
    with pytest.raises(ConfigError, match="already exists") as caught:
        write(old, "new")
    assert "--overwrite" in str(caught.value.remedy)
    assert holds(old, "old")
    write(old, "new", overwrite=True)
    assert holds(old, "new")


def test_a_folder_stays_if_its_successor_cannot_be_renamed(old, monkeypatch):
    rename = Path.rename

    def fail_for_the_new(self, target):
        if self.suffix == ".partial":
            raise OSError("no room")
        return rename(self, target)

    monkeypatch.setattr(folders, "_exchanged", lambda *_: False)  # as where none can be exchanged
    monkeypatch.setattr(Path, "rename", fail_for_the_new)
    with pytest.raises(OSError, match="no room"):
        write(old, "new", overwrite=True)
    assert holds(old, "old")


def test_a_folder_goes_back_to_an_empty_one_and_never_over_a_newer_one(old):
    moved = old.with_name(".sets.old")
    old.rename(moved)  # as a process leaves it that is killed between two renames
    write(old.with_name(".sets.partial"), "new")
    old.mkdir()
    with pytest.raises(ConfigError, match="already exists"):
        write(old, "third")
    old.rename(moved)
    old.mkdir()
    (old / "rows").write_text("mine")
    with pytest.raises(ResultError, match="is not a finished folder"):
        read_manifest(old)
    assert (old / "rows").read_text() == "mine"


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    (tmp_path / "chapter").write_text("one")
    for _ in range(2):
        with pytest.raises(ConfigError, match="refusing to overwrite"):
            write(tmp_path, "new", overwrite=True)
        assert (tmp_path / "chapter").read_text() == "one"
        write_manifest(tmp_path, {"kind": "adapter"})


@pytest.mark.parametrize("content", ['{"schema": 2}', "[]", '{"schema": 1'])
def test_a_damaged_manifest_or_one_of_another_schema_is_refused(tmp_path, content):
    (tmp_path / MANIFEST).write_text(content, "utf-8")
    with pytest.raises(ResultError) as caught:
        read_manifest(tmp_path)
    assert caught.value.where == str(tmp_path / MANIFEST)


def test_the_working_folder_may_be_written_and_a_file_has_no_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path(), "new")
    assert (tmp_path / "rows").read_text() == "new"
    with pytest.raises(ConfigError, match="cannot be written"):
        write(tmp_path / "rows" / "sets", "new")


def test_standard_output_is_not_replaced_by_a_file(tmp_path):
    behind, link = tmp_path / "printed", tmp_path / "stdout"
    with behind.open("wb") as file:
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        with pytest.raises(OSError, match="not a regular file"), files.atomic_write(link):
            pass
    assert link.is_symlink()
    assert {*tmp_path.iterdir()} == {behind, link}
