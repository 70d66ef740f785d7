"""`spor tasks register`: stubs come and go, also where lm-eval is gone."""

from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import lm_eval
import pytest
import yaml

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs, task_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lm_eval" / "tasks" / "stubs"


def test_each_stub_includes_the_file_of_one_task(folder: Path) -> None:
    stubs.register(folder)
    included = {path.name: yaml.safe_load(path.read_text())["include"] for path in folder.iterdir()}
    assert included == {file.path.name: str(file.path) for file in task_files.files()}
    assert stubs.registered(folder)


def test_stubs_of_another_installation_are_brought_up_to_date(folder: Path) -> None:
    stubs.register(folder)
    gone = folder / "spor_gone.yaml"
    moved = folder / "spor_systematicity_mini.yaml"
    missing = folder / "spor_rule_learnability_mini.yaml"
    text = moved.read_text()
    moved.write_text(text.replace(str(task_files.FOLDER), "/elsewhere/spor_tasks/tasks"))
    gone.write_text(text)
    missing.unlink()
    assert not stubs.registered(folder)
    stubs.register(folder)
    assert stubs.registered(folder)
    assert moved.read_text() == text
    assert not gone.exists()


@pytest.fixture
def remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two places where lm-eval was uninstalled before our stubs were removed."""
    places = [tmp_path / "one" / "lm_eval", tmp_path / "two" / "lm_eval"]
    for place in places:
        stubs.register(place / "tasks" / stubs._FOLDER)
        (place / "tasks" / "okapi" / "mmlu").mkdir(parents=True)  # as pip does
    search = [str(place.parent) for place in places]
    monkeypatch.setattr(stubs, "find_spec", lambda name: PathFinder.find_spec(name, search))
    return places


def test_a_folder_without_code_is_not_taken_for_lm_eval(remains: list[Path]) -> None:
    found = PathFinder.find_spec("lm_eval", [str(place.parent) for place in remains])
    assert found  # although there is no lm-eval, and `import lm_eval` works
    assert list(found.submodule_search_locations or ()) == list(map(str, remains))
    with pytest.raises(ConfigError, match="lm-eval is not installed"):
        stubs.folder()


def test_stubs_in_an_uninstalled_lm_eval_are_removed(
    remains: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (remains[1] / "notes.txt").write_text("somebody's")
    assert cli.main(["tasks", "register"]) == 2
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert capsys.readouterr().out.count(": removed\n") == 2
    assert not list(remains[0].rglob("*.yaml"))
    assert (remains[1] / "notes.txt").is_file()


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
