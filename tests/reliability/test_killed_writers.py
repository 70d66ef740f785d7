"""Wherever a writer is killed, a folder or file is whole afterwards.

Each test kills a writer before every one of its calls to the system in turn (`tests/killed.py`).
"""

import errno
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from spor_tasks.core import files, folders
from spor_tasks.core.errors import ConfigError
from tests.conftest import REPOSITORY
from tests.support import killed
from tests.support.damage import SOAK

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

KILLED = -9


class Writers:
    """A process that starts one writer after the other, and says how each ended."""

    def __init__(self, number):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.killed"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if number else None,
            text=True,
        )

    def start(self, action, path, content, call):
        print(json.dumps([action, str(path), content, call]), file=self.process.stdin, flush=True)

    def status(self):
        return int(self.process.stdout.readline())

    def __call__(self, action, path, content="", *, call=0):
        self.start(action, path, content, call)
        return self.status()


@pytest.fixture(scope="module")
def more_writers():
    started = [Writers(number) for number in range(2)]
    yield started
    for each in started:
        each.process.communicate()


@pytest.fixture
def writer(more_writers):
    return more_writers[0]


def held(path):
    """Return what all files of a folder hold; None where it does not exist."""
    if not path.exists():
        return None
    content = str(json.loads((path / folders.MANIFEST).read_bytes())["content"])
    assert {(path / name).read_text() for name in killed.FILES} == {content}
    return content


def kills(writer, action, folder, old="old", foreign=()):
    """Kill one who writes what lies at a path, at every call in turn; yield each path then."""
    before = folder / "before" / "out"
    before.parent.mkdir()
    assert not old or writer(action, before, old) == 0
    for name in foreign:
        (before / name).write_text("foreign")
    for call in count(1):
        path = folder / str(call) / "out"
        shutil.copytree(before.parent, path.parent)
        status = writer(action, path, "new", call=call)
        assert status in {0, KILLED}
        yield path
        if status == 0:
            assert call > 5
            return


@pytest.mark.parametrize("next_one", ["read_folder", "write_folder"])
def test_the_next_one_finds_the_folder(writer, tmp_path, next_one):
    """Where it is killed while it puts the folder back, the one after it does."""
    gone = None
    for path in kills(writer, "write_folder_in_two_renames", tmp_path):
        if held(path) is None:
            gone = gone or shutil.copytree(path.parent, tmp_path / "gone")
        assert writer(next_one, path, "third") == 0
        assert held(path) in ({"old", "new"} if next_one == "read_folder" else {"third"})
        if next_one == "read_folder":
            assert writer("write_folder", path, "last") == 0
        assert list(path.parent.iterdir()) == [path]
    assert gone
    for call in count(1):
        path = tmp_path / f"again-{call}" / "out"
        shutil.copytree(gone, path.parent)
        status = writer(next_one, path, "third", call=call)
        folders.read_manifest(path)
        assert held(path) in {"old", "third"}
        if status == 0:
            break
    assert call > 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems exchange no folders")
def test_a_folder_is_there_at_every_moment(writer, tmp_path):
    found = set()
    for path in kills(writer, "write_folder", tmp_path):
        found.add(held(path))
        assert writer("write_folder", path, "third") == 0
        assert list(path.parent.iterdir()) == [path]
    assert found == {"old", "new"}


def shown(folder):
    """Return what the files of a folder hold that open; hidden ones are a writer's own."""
    own = (path for path in folder.rglob("*") if ".partial" not in str(path.relative_to(folder)))
    return {str(path.relative_to(folder)): path.read_text() for path in own if path.is_file()}


FOREIGN = dict.fromkeys(("notes", "below/notes"), "foreign")


def report(content):
    """Return the files that one writer of several leaves."""
    names = (*killed.TOGETHER, f"only {content}", f"below/only {content}")
    return dict.fromkeys(names, content) | FOREIGN


def test_files_that_belong_together_are_all_old_or_all_new(writer, tmp_path):
    found = []
    for path in kills(writer, "write_together", tmp_path, foreign=FOREIGN):
        found.append(shown(path))
        assert found[-1] in (report("old"), report("new"))
        (path / ".page.abcd_123.partial").touch()  # as a killed writer of a single file leaves it
        assert writer("write_together", path, "old") == 0
        present = shown(path)
        assert {name: present[name] for name in report("old")} == report("old")
        assert not [each for each in path.rglob("*") if each.is_symlink() or "partial" in each.name]
    assert report("old") in found
    assert report("new") in found


FAULTY = ("mkdir", "rmdir", "rename", "replace", "unlink", "link", "symlink", "fsync", "open")


class FullDisk:
    """A file that takes nothing."""

    def __init__(self, file, fail):
        self.file, self.fail = file, fail

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __getattr__(self, name):
        if name in {"write", "flush"}:
            self.fail()
        return getattr(self.file, name)


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(errno.EIO, "I/O error")], ids=repr)
def test_no_fault_loses_the_old_files_or_mixes_them_with_new_ones(
    fault, lasts, tmp_path, monkeypatch
):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    before = tmp_path / "before"
    killed.write_together(before, "old")
    for name in FOREIGN:
        (before / name).write_text("foreign")
    for call in count(1):
        path, calls = shutil.copytree(before, tmp_path / str(call)), 0

        def fail(call=call):
            nonlocal calls
            calls += 1
            if calls == call or (lasts and calls > call):
                raise fault

        def failing(function, fail=fail):
            return lambda *values, **more: fail() or function(*values, **more)

        def opened(*values, opener=Path.open, fail=fail, **more):
            file = opener(*values, **more)
            return FullDisk(file, fail) if "w" in str(values) else file

        with pytest.MonkeyPatch.context() as patch, suppress(type(fault), ConfigError):
            for name in FAULTY:
                patch.setattr(os, name, failing(getattr(os, name)))
            patch.setattr(Path, "open", opened)
            killed.write_together(path, "new")
        assert shown(path) in (report("old"), report("new"))
        if not lasts and calls >= call:
            assert not [each for each in path.rglob("*") if each.is_symlink()]
        if calls < call:
            break
        killed.write_together(path, "old")
        assert not [*path.rglob("*.partial")]
    assert call > 60
    assert shown(path) == report("new")


def test_a_reader_always_finds_a_file_also_where_a_folder_below_is_a_link(tmp_path, monkeypatch):
    folder, elsewhere, calls = tmp_path / "out", tmp_path / "else/where", 0
    elsewhere.mkdir(parents=True)
    folder.mkdir()
    (folder / "below").symlink_to(elsewhere)
    killed.write_together(folder, "old")

    def watched(function):
        def call(*values, **more):
            nonlocal calls
            calls += 1
            paths = [folder / name for name in killed.TOGETHER]
            assert {path.read_text() for path in paths} in ({"old"}, {"new"})
            on_its_way = [path.parent / path.readlink() for path in paths if path.is_symlink()]
            result = function(*values, **more)
            assert all(path.is_file() for path in on_its_way)
            return result

        return call

    for name in FAULTY:
        monkeypatch.setattr(os, name, watched(getattr(os, name)))
    killed.write_together(folder, "new")
    assert calls > 60
    assert (elsewhere / "record").read_text() == "new"


def test_what_a_living_writer_has_written_stays(tmp_path):
    with files.atomic_write(tmp_path / "a") as file:
        file.write(b"slow")
        files.write_json(tmp_path / "a", "fast")
        files.write_json(tmp_path / "b", "other")
    assert (tmp_path / "a").read_text() == "slow"


def test_a_disk_without_links_holds_each_file_old_or_new(tmp_path, monkeypatch):
    killed.write_together(tmp_path, "old")
    monkeypatch.setattr(os, "symlink", Mock(side_effect=OSError(errno.EPERM, "no links")))
    killed.write_together(tmp_path, "new")
    assert shown(tmp_path) | FOREIGN == report("new")


def test_a_folder_that_is_new_appears_whole_or_not_at_all(writer, tmp_path):
    found = set()
    for path in kills(writer, "write_folder", tmp_path, old=""):
        found.add(held(path))
        assert writer("write_folder", path, "new") == 0
        assert list(path.parent.iterdir()) == [path]
    assert found == {None, "new"}


def test_a_file_is_the_old_one_or_the_new_one(writer, tmp_path):
    found = set()
    for path in kills(writer, "write_file", tmp_path):
        (content,) = {row["content"] for _, row in files.read_rows(path)}
        found.add(content)
        assert writer("write_file", path, "third") == 0
        assert {row["content"] for _, row in files.read_rows(path)} == {"third"}
    assert found == {"old", "new"}


def test_a_fetch_that_is_killed_is_completed_by_the_next(writer, tmp_path):
    origin = tmp_path / "origin"
    origin.mkdir()
    for name in ("a.xml", "b.csv", "c.jsonl"):
        (origin / name).write_text(name * 100)
    published = {path.name: path.read_bytes() for path in origin.iterdir()}
    interrupted = 0
    for first in range(1, 24 * SOAK, 3):
        target = tmp_path / str(first)
        for call in range(first, first + 20, 5):
            assert writer("fetch_files", target, origin.name, call=call) in {0, KILLED}
            found = {path.name: path.read_bytes() for path in target.glob("[a-c]*")}
            assert found.items() <= published.items()
            interrupted += found.keys() != published.keys()
        assert writer("fetch_files", target, origin.name) == 0
        assert {path.name: path.read_bytes() for path in target.glob("[a-c]*")} == published
    assert interrupted > 3


def test_of_two_writers_one_wins(more_writers, tmp_path):
    path = tmp_path / "out"
    for each, content in zip(more_writers, ("one", "two"), strict=True):
        each.start("write_file_often", path, content, 0)
    assert [each.status() for each in more_writers] == [0, 0]
    assert len({row["content"] for _, row in files.read_rows(path)}) == 1
    assert list(tmp_path.iterdir()) == [path]
