"""`spor tasks register`: stubs come and go, also if lm-eval was uninstalled."""

from importlib.machinery import PathFinder
from pathlib import Path

import lm_eval
import pytest
import yaml

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs, task_files


def test_stubs_include_the_files_of_this_installation(tmp_path: Path) -> None:
    assert stubs.folder().parent == Path(lm_eval.__file__).parent / "tasks"
    folder = tmp_path / "stubs"
    stubs.register(folder)
    included = {path.name: yaml.safe_load(path.read_text())["include"] for path in folder.iterdir()}
    assert included == {file.path.name: str(file.path) for file in task_files.files()}
    moved = folder / "spor_systematicity_mini.yaml"
    text = moved.read_text()
    moved.write_text(text.replace(str(task_files.FOLDER), "/elsewhere/spor_tasks/tasks"))
    (folder / "spor_gone.yaml").write_text(text)
    (folder / "spor_rule_learnability_mini.yaml").unlink()
    assert not stubs.registered(folder)
    stubs.register(folder)
    assert stubs.registered(folder)
    assert moved.read_text() == text


def test_stubs_in_an_uninstalled_lm_eval_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [tmp_path / "one" / "lm_eval", tmp_path / "two" / "lm_eval"]
    for place in places:
        stubs.register(place / "tasks" / stubs._FOLDER)
    search = [str(place.parent) for place in places]
    assert PathFinder.find_spec("lm_eval", search)  # without lm-eval, `import lm_eval` works
    monkeypatch.setattr(stubs, "find_spec", lambda name: PathFinder.find_spec(name, search))
    with pytest.raises(ConfigError, match="lm-eval is not installed"):
        stubs.folder()
    (places[1] / "notes.txt").write_text("somebody's")
    assert cli.main(["tasks", "register"]) == 2
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert capsys.readouterr().out.count(": removed\n") == 2
    assert not list(places[0].rglob("*.yaml"))
    assert (places[1] / "notes.txt").is_file()


def test_a_folder_that_cannot_be_written_is_an_error_with_other_ways(tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("")
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        stubs.register(tmp_path / "tasks" / "stubs")
    assert "spor eval" in str(caught.value.remedy)
    assert "spor tasks path" in str(caught.value.remedy)
