"""The exported folder: the released sets' tasks, which show and count the same."""

import hashlib
from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import export, task_files
from spor_tasks.results.benchmarks import benchmark
from tests.harness.test_task_files import PROMPTS_SHA256, prompts
from tests.support.scripted import ScriptedLM, evaluate, half_right

RELEASED = [spec.task for spec in benchmark("spor").sets() if spec.name.protocol == "published"]


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks over the embedded corpus, exported."""
    folder = tmp_path_factory.mktemp("mini") / "spor"
    export.write(folder, "spor_mini")
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks over the released sets, exported."""
    folder = tmp_path_factory.mktemp("released") / "spor"
    export.write(folder)
    return folder


def manager(folder: Path) -> TaskManager:
    return TaskManager(include_path=folder, include_defaults=False)


def test_exported_tasks_give_the_numbers_of_our_own(mini: Path) -> None:
    ours, theirs = ScriptedLM(half_right), ScriptedLM(half_right)
    expected = evaluate(ours, "spor_mini", limit=50)
    actual = evaluate(theirs, "spor_mini", manager=manager(mini), limit=50)
    assert repr(expected["results"]) == repr(actual["results"]), "NaN is not equal to itself"
    assert expected["n-samples"] == actual["n-samples"]
    assert expected["versions"] == actual["versions"]
    assert [request.args for request in ours.requests] == [
        request.args for request in theirs.requests
    ]
    assert len(ours.requests) > 300


def test_the_released_sets_and_their_groups_are_exported_and_no_more(released: Path) -> None:
    files = {file.stem for file in released.rglob("*.yaml")}
    wanted = set(RELEASED)
    assert len(wanted) == 16
    groups = files - wanted
    assert wanted <= files
    assert {
        "spor",
        "spor_webnlg",
        "spor_e2e",
        "spor_productivity_e2e",
        "spor_systematicity",
    } < groups
    assert manager(released).all_tasks == sorted(files)
    assert {file.name for file in task_files.expand(["spor"])} == wanted
    assert {file.name for file in released.iterdir() if not file.suffix and file.is_file()} == {
        "_base",
        "_pair",
    }
    page = (released / "README.md").read_text("utf-8")
    assert "### Checklist" in page
    for own in ("mini", "_icl_", "_beam5", "_strict", "package -->"):
        assert own not in page


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", ["spor_order_invariance_e2e_main", "spor_systematicity_webnlg"])
def test_exported_prompts_of_the_real_tasks_are_ours(released: Path, name: str) -> None:
    lines = "".join(
        prompt + "\n" for prompt in prompts(manager(released).load(name)["tasks"][name])
    )
    assert hashlib.sha256(lines.encode()).hexdigest() == PROMPTS_SHA256[name]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigError):
        export.write(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
