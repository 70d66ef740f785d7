"""What upstream would take: tasks without this package that show and count the same."""

import ast
import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from lm_eval.api.task import Task
from lm_eval.tasks import TaskManager

from spor_tasks import export, tasks
from spor_tasks.errors import ConfigError
from spor_tasks.splits import published, registry
from spor_tasks.splits.registry import SplitName
from spor_tasks.store import to_row, write_rows
from spor_tasks.tasks.generate import task_name
from tests.harness.test_task_files import PROMPTS_SHA256, prompts
from tests.scripted import ScriptedLM, evaluate, half_right

MINI = [split for split in registry.available() if split.corpus == "mini"]
RELEASED = [split for split in registry.available() if split.protocol == "published"]


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks over the embedded corpus, exported."""
    folder = tmp_path_factory.mktemp("mini") / "spor"
    export.write(folder, MINI)
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks over the released sets, exported."""
    folder = tmp_path_factory.mktemp("released") / "spor"
    export.write(folder)
    return folder


@pytest.fixture
def mini_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The embedded corpus's test sets, where those of the released ones lie in their repository."""
    for name in MINI:
        path = published.test_path(name.aspect, name.corpus, name.part)
        write_rows(tmp_path / path, map(to_row, registry.load(*name).test.samples))
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path))
    return tmp_path


def manager(folder: Path) -> TaskManager:
    return TaskManager(include_path=folder, include_defaults=False)


def utils(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("exported", folder / "utils.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["exported"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("mini_data")
def test_exported_tasks_give_the_numbers_of_our_own(mini: Path) -> None:
    ours, theirs = ScriptedLM(half_right), ScriptedLM(half_right)
    expected = evaluate(ours, "spor_mini")
    actual = evaluate(theirs, "spor_mini", manager=manager(mini))
    assert repr(expected["results"]) == repr(actual["results"]), "NaN is not equal to itself"
    assert expected["n-samples"] == actual["n-samples"]
    assert expected["versions"] == actual["versions"]
    assert [request.args for request in ours.requests] == [
        request.args for request in theirs.requests
    ]
    assert len(ours.requests) > 1000


@pytest.mark.usefixtures("mini_data")
@pytest.mark.parametrize(
    ("arguments", "causal"),
    [({}, True), ({"prompt_style": "seq2seq"}, False), ({"backend": "seq2seq"}, False)],
)
def test_the_prompt_is_that_of_the_model(
    mini: Path, arguments: dict[str, Any], *, causal: bool
) -> None:
    metadata = TaskManager(include_path=mini, include_defaults=False, metadata=arguments)
    task: Task = metadata.load("spor_systematicity_mini")["tasks"]["spor_systematicity_mini"]
    assert task.eval_docs[0]["prompt"].endswith(" Output:") == causal


def test_nothing_of_this_package_is_imported(mini: Path) -> None:
    (folder,) = {file.parent for file in mini.glob("*.py")}
    nodes = ast.walk(ast.parse((folder / "utils.py").read_text()))
    imported = {
        alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in (
            [ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names
        )
    }
    assert "rapidfuzz" in imported
    assert imported - sys.stdlib_module_names == {
        *("datasets", "huggingface_hub", "lm_eval", "numpy", "rapidfuzz", "sacrebleu"),
    }
    for file in mini.iterdir():
        if file.name != "README.md":
            assert "spor_tasks" not in file.read_text().replace("# --- spor_tasks -", "")


def test_the_released_sets_and_their_groups_are_exported_and_no_more(released: Path) -> None:
    files = {file.stem for file in released.glob("*.yaml")}
    wanted = {task_name(split) for split in RELEASED}
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
    assert {file.name for file in tasks.expand(["spor"])} == wanted
    page = (released / "README.md").read_text()
    assert "### Checklist" in page
    for own in ("mini", "_icl_", "_beam5", "_strict", "package -->"):
        assert own not in page


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("split", RELEASED, ids=task_name)
def test_exported_prompts_of_the_real_tasks_are_ours(released: Path, split: SplitName) -> None:
    name = task_name(split)
    lines = "".join(
        prompt + "\n" for prompt in prompts(manager(released).load(name)["tasks"][name])
    )
    assert hashlib.sha256(lines.encode()).hexdigest() == PROMPTS_SHA256[name]


def test_data_that_is_not_at_hand_is_fetched_and_checked(
    mini: Path, mini_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = utils(mini)
    monkeypatch.delenv("SPOR_DATA_DIR")
    monkeypatch.setattr(module, "RAW_URL", str(mini_data))
    pair = registry.load("systematicity", "mini")
    test_file = published.test_path("systematicity", "mini", None)
    arguments = {"corpus": "mini", "test_file": test_file}
    sha256 = hashlib.sha256((mini_data / test_file).read_bytes()).hexdigest()
    found = module.load(**arguments, test_sha256=sha256)["test"]
    assert found["id"] == [sample.id for sample in pair.test.samples]
    with pytest.raises(module.CorpusError, match="is not the released file"):
        module.load(**arguments, test_sha256="0" * 64)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(ConfigError):
        export.write(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
