"""A folder takes its place whole or not at all; killed writers are in tests/reliability."""

from pathlib import Path

import pytest

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.folders import MANIFEST, atomic_folder, read_manifest, write_manifest


def write(path: Path, content: str, *, overwrite: bool = False) -> None:
    with atomic_folder(path, kind="sets", overwrite=overwrite) as folder:
        (folder / "rows").write_text(content)
        write_manifest(folder, {"kind": "sets"})


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A finished folder."""
    write(tmp_path / "deep" / "sets", "old")
    return tmp_path / "deep" / "sets"


def holds(path: Path, content: str) -> bool:
    """Return whether a folder has this content, and nothing is beside it."""
    return (path / "rows").read_text() == content and list(path.parent.iterdir()) == [path]


def test_a_folder_appears_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sets"
    with atomic_folder(path, kind="sets", overwrite=False) as folder:
        (folder / "rows").write_text("all")
        assert not path.exists()
        for _ in range(2):  # a refused writer does not remove the lock
            with pytest.raises(ConfigError, match="is being written by another process"):
                write(path, "new")
    assert holds(path, "all")


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def break_off() -> None:
        with atomic_folder(tmp_path / "sets", kind="sets", overwrite=False) as folder:
            (folder / "rows").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_only_on_request(old: Path) -> None:
    with pytest.raises(ConfigError, match="already exists") as caught:
        write(old, "new")
    assert "`overwrite`" in str(caught.value.remedy)
    assert holds(old, "old")
    write(old, "new", overwrite=True)
    assert holds(old, "new")


def test_a_folder_stays_if_its_successor_cannot_be_renamed(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fail_for_the_new(self: Path, target: Path) -> Path:
        if self.suffix == ".partial":
            raise OSError("no room")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_the_new)
    with pytest.raises(OSError, match="no room"):
        write(old, "new", overwrite=True)
    assert holds(old, "old")


def test_a_folder_goes_back_to_an_empty_one_and_never_over_a_newer_one(old: Path) -> None:
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


def test_a_folder_of_something_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "chapter").write_text("one")
    for _ in range(2):
        with pytest.raises(ConfigError, match="refusing to overwrite"):
            write(tmp_path, "new", overwrite=True)
        assert (tmp_path / "chapter").read_text() == "one"
        write_manifest(tmp_path, {"kind": "adapter"})


@pytest.mark.parametrize("content", ['{"schema": 2}', "[]", '{"schema": 1'])
def test_a_damaged_manifest_or_one_of_another_schema_is_refused(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / MANIFEST).write_text(content, "utf-8")
    with pytest.raises(ResultError) as caught:
        read_manifest(tmp_path)
    assert caught.value.where == str(tmp_path / MANIFEST)


def test_the_working_folder_may_be_written_and_a_file_has_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(), "new")
    assert (tmp_path / "rows").read_text() == "new"
    with pytest.raises(ConfigError, match="cannot be written"):
        write(tmp_path / "rows" / "sets", "new")
