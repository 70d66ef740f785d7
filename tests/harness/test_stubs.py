"""`spor tasks register`: stubs come, go and never touch what is not theirs."""

import os
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import lm_eval
import pytest
import yaml

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs, task_files
from spor_tasks.harness.stubs import Changes

NUMBER = len(task_files.files())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lm_eval" / "tasks" / "stubs"


def test_each_stub_includes_the_file_of_one_task_or_group(folder: Path) -> None:
    assert stubs.register(folder) == Changes(written=NUMBER, removed=0, kept=0)
    included = {path.name: yaml.safe_load(path.read_text())["include"] for path in folder.iterdir()}
    assert included == {file.path.name: str(file.path) for file in task_files.files()}


def test_registering_again_changes_nothing(folder: Path) -> None:
    stubs.register(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert stubs.register(folder) == Changes(written=0, removed=0, kept=NUMBER)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_stubs_of_another_installation_are_brought_up_to_date(folder: Path) -> None:
    stubs.register(folder)
    moved, gone = folder / "spor_mini.yaml", folder / "spor_gone.yaml"
    text = moved.read_text()
    moved.write_text(text.replace(str(task_files.FOLDER), "/elsewhere/spor_tasks/tasks"))
    gone.write_text(text)
    assert not stubs.registered(folder)
    assert stubs.register(folder) == Changes(written=1, removed=1, kept=NUMBER - 1)
    assert moved.read_text() == text
    assert not gone.exists()
    assert stubs.registered(folder)


def test_removing_leaves_no_trace(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    stubs.register(folder)
    assert stubs.unregister(folder) == Changes(written=0, removed=NUMBER, kept=0)
    assert list(folder.parent.iterdir()) == []
    assert stubs.unregister(folder) == Changes(written=0, removed=0, kept=0)
    assert not stubs.registered(folder)


def test_files_of_others_are_never_touched(folder: Path) -> None:
    folder.mkdir(parents=True)
    other = folder / "someones_task.yaml"
    other.write_bytes(b"task: someones_task # caf\xe9\n")
    stubs.register(folder)
    stubs.unregister(folder)
    assert [path.read_bytes() for path in folder.iterdir()] == [b"task: someones_task # caf\xe9\n"]


def test_a_file_of_others_with_our_name_stops_us_before_anything_is_written(folder: Path) -> None:
    folder.mkdir(parents=True)
    other = folder / "spor_mini.yaml"
    other.write_text("group: spor_mini\n")
    with pytest.raises(ConfigError, match="refusing to replace it") as caught:
        stubs.register(folder)
    assert caught.value.where == str(other)
    assert [path.read_text() for path in folder.iterdir()] == ["group: spor_mini\n"]


def nothing_there(path: Path) -> None:
    path.symlink_to("/nowhere/at.yaml")


@pytest.mark.parametrize("make", [nothing_there, Path.mkdir, os.mkfifo])
def test_what_is_not_a_file_is_passed_over(make: Callable[[Path], None], folder: Path) -> None:
    folder.mkdir(parents=True)
    make(folder / "someones_task.yaml")
    assert stubs.register(folder) == Changes(written=NUMBER, removed=0, kept=0)
    assert stubs.registered(folder)
    assert stubs.unregister(folder) == Changes(written=0, removed=NUMBER, kept=0)
    assert [path.name for path in folder.iterdir()] == ["someones_task.yaml"]


@pytest.mark.parametrize("make", [nothing_there, Path.mkdir, os.mkfifo])
def test_what_is_not_a_file_is_not_replaced_either(
    make: Callable[[Path], None], folder: Path
) -> None:
    folder.mkdir(parents=True)
    make(folder / "spor_mini.yaml")
    assert not stubs.registered(folder)
    with pytest.raises(ConfigError, match="refusing to replace it") as caught:
        stubs.register(folder)
    assert caught.value.where == str(folder / "spor_mini.yaml")
    assert [path.name for path in folder.iterdir()] == ["spor_mini.yaml"]


def test_a_stub_that_is_not_text_any_more_is_written_anew_or_removed(folder: Path) -> None:
    stubs.register(folder)
    damaged = folder / "spor_mini.yaml"
    text = damaged.read_bytes()
    damaged.write_bytes(text[:-9] + b"\xe9\xff\n")
    assert not stubs.registered(folder)
    assert stubs.register(folder) == Changes(written=1, removed=0, kept=NUMBER - 1)
    assert damaged.read_bytes() == text
    damaged.write_bytes(text[:-9] + b"\xe9\xff\n")
    assert stubs.unregister(folder) == Changes(written=0, removed=NUMBER, kept=0)
    assert not folder.exists()


@pytest.fixture
def left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What is left in two places where lm-eval was uninstalled before our stubs were removed."""
    places = [tmp_path / "one" / "lm_eval", tmp_path / "two" / "lm_eval"]
    for place in places:
        stubs.register(place / "tasks" / stubs._FOLDER)
        (place / "tasks" / "okapi" / "mmlu").mkdir(parents=True)  # as pip does
    search = [str(place.parent) for place in places]
    monkeypatch.setattr(stubs, "find_spec", lambda name: PathFinder.find_spec(name, search))
    return places


def test_a_folder_without_code_is_not_taken_for_lm_eval(left_behind: list[Path]) -> None:
    found = PathFinder.find_spec("lm_eval", [str(place.parent) for place in left_behind])
    assert found  # although there is no lm-eval, and `import lm_eval` works
    assert list(found.submodule_search_locations or ()) == list(map(str, left_behind))
    with pytest.raises(ConfigError, match="lm-eval is not installed"):
        stubs.folder()


def test_what_an_uninstalled_lm_eval_left_is_removed(
    left_behind: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (left_behind[1] / "notes.txt").write_text("somebody's")
    assert cli.main(["tasks", "register"]) == 2
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert capsys.readouterr().out.count(f": 0 written, {NUMBER} removed, 0 kept as is\n") == 2
    assert not left_behind[0].exists()
    assert [path.name for path in left_behind[1].iterdir()] == ["notes.txt"]


def test_where_nothing_is_left_nothing_can_be_removed(
    left_behind: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    stubs.remove()
    assert not any(place.exists() for place in left_behind)
    assert cli.main(["tasks", "register", "--remove"]) == 2
    assert "lm-eval is not installed" in capsys.readouterr().err


@pytest.fixture
def unwritable(folder: Path) -> Iterator[Path]:
    """A folder that cannot be made, for the superuser either: its parent is a file."""
    folder.parent.parent.mkdir(parents=True)
    folder.parent.write_text("")
    yield folder
    folder.parent.unlink()


def test_where_nothing_can_be_written_the_other_ways_are_named(unwritable: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        stubs.register(unwritable)
    assert "spor eval" in str(caught.value.remedy)
    assert "--include_path" in str(caught.value.remedy)


def test_stubs_lie_where_lm_eval_looks_for_tasks() -> None:
    assert stubs.folder().parent == Path(lm_eval.__file__).parent / "tasks"
