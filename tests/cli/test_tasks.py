"""`spor tasks`: what is listed and registered."""

import re
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path

from spor_tasks.harness import stubs, task_files
from tests.conftest import Patch, Spor


def test_the_tasks_are_listed_by_corpus_and_one_by_one(spor: Spor) -> None:
    assert any(Path(spor("tasks path")[:-1]).rglob("spor_systematicity_mini.yaml"))
    lines = spor("tasks list").splitlines()
    assert len(lines) <= 3 * 24
    cells = {line.split("  ")[0]: re.split(r"\s\s+", line)[1:] for line in lines}
    assert cells["spor"] == ["webnlg", "e2e", "mini", "viggo"]
    assert cells["spor_productivity_…"] == ["n3 n4 n5", "n3 n4 n5", "n3 n4", "n3 n4 n5"]
    assert cells["…_beam4"] == ["yes"]
    lines = spor("tasks list --all").splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in task_files.files()]
    assert (
        dict(line.split(maxsplit=1) for line in lines).items()
        >= {
            "spor_productivity_e2e_n4_beam5": "productivity, e2e, n4, published, 5 beams",
            "spor_systematicity_e2e_icl_atom": "systematicity, e2e, published, shown atom",
            "logicnlg_ppl": "logicnlg, ppl, published",
        }.items()
    )


def test_tasks_are_registered_and_removed(tmp_path: Path, monkeypatch: Patch, spor: Spor) -> None:
    package = tmp_path / "lm_eval"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(stubs, "find_spec", partial(PathFinder.find_spec, path=[str(tmp_path)]))
    folder = package / "tasks" / "spor_tasks_stubs"
    assert spor("tasks register") == f"{folder}: all tasks registered\n"
    assert len(list(folder.iterdir())) == len(task_files.files())
    assert spor("tasks register --remove") == f"{folder}: removed\n"
    assert not folder.exists()
