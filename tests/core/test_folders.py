"""A folder takes its place whole or not at all, whatever breaks off, and whoever else writes."""

import subprocess
import sys
from pathlib import Path

import pytest

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest

WRITER = """
import sys, time
from pathlib import Path
from spor_tasks.core.folders import atomic_folder
with atomic_folder(Path(sys.argv[1]), kind="sets", overwrite=True) as folder:
    (folder / "rows").write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def write(path: Path, content: str, *, overwrite: bool = False) -> None:
    with atomic_folder(path, kind="sets", overwrite=overwrite) as folder:
        (folder / "rows").write_text(content)
        write_manifest(folder, {"kind": "sets"})


def test_a_folder_appears_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sets"
    with atomic_folder(path, kind="sets", overwrite=False) as folder:
        (folder / "rows").write_text("all")
        assert not path.exists()
    assert (path / "rows").read_text() == "all"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_breaks_off_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def break_off() -> None:
        with atomic_folder(tmp_path / "sets", kind="sets", overwrite=False) as folder:
            (folder / "rows").write_text("half")
            raise error

    with pytest.raises(error):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    write(path, "old")
    with pytest.raises(ConfigError, match="already exists") as caught:
        write(path, "new")
    assert "`overwrite`" in str(caught.value.remedy)
    assert (path / "rows").read_text() == "old"
    write(path, "new", overwrite=True)
    assert (path / "rows").read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_stays_when_its_successor_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sets"
    write(path, "old")
    rename = Path.rename

    def fail_for_the_new(self: Path, target: Path) -> Path:
        if self.suffix == ".partial":
            raise OSError("no room")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new)
    with pytest.raises(OSError, match="no room"):
        write(path, "new", overwrite=True)
    assert (path / "rows").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def moved_away(tmp_path: Path) -> Path:
    """A folder as a process leaves it that is killed between two renames."""
    path = tmp_path / "sets"
    write(path, "old")
    path.rename(tmp_path / ".sets.old")
    write(tmp_path / ".sets.partial", "new")
    return path


def test_a_folder_goes_back_to_an_empty_one_and_never_over_what_has_come_since(
    moved_away: Path,
) -> None:
    moved_away.mkdir()
    with pytest.raises(ConfigError, match="already exists"):
        write(moved_away, "third")
    moved_away.rename(moved_away.with_name(".sets.old"))
    moved_away.mkdir()
    (moved_away / "rows").write_text("mine")
    with pytest.raises(ResultError, match="is not a finished folder"):
        read_manifest(moved_away)
    assert (moved_away / "rows").read_text() == "mine"


@pytest.mark.parametrize("kind", [None, "adapter"])
def test_a_folder_of_something_else_is_never_replaced(tmp_path: Path, kind: str | None) -> None:
    path = tmp_path / "thesis"
    path.mkdir()
    (path / "chapter").write_text("one")
    if kind:
        write_manifest(path, {"kind": kind})
    with pytest.raises(ConfigError, match="refusing to overwrite"):
        write(path, "new", overwrite=True)
    assert (path / "chapter").read_text() == "one"


def test_the_folder_that_one_stands_in_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "here"
    path.mkdir()
    monkeypatch.chdir(path)
    write(Path(), "new")
    assert (path / "rows").read_text() == "new"


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        write(tmp_path / "file" / "sets", "new")


def test_a_second_writer_is_told_so_and_nothing_is_left_of_one_that_is_killed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sets"
    write(path, "old")
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "writing\n"
        with pytest.raises(ConfigError, match="is being written by another process"):
            write(path, "new", overwrite=True)
        assert (path / "rows").read_text() == "old"
        writer.kill()
    write(path, "new", overwrite=True)
    assert (path / "rows").read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_is_turned_away_leaves_the_lock_to_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    with atomic_folder(path, kind="sets", overwrite=False):
        for _ in range(2):
            with pytest.raises(ConfigError, match="is being written"):
                write(path, "new")
    assert list(tmp_path.iterdir()) == [path]
    assert list(path.iterdir()) == []
