"""`spor tasks`: what is listed and registered."""

import re
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.harness import stubs, task_files


def test_the_tasks_are_listed_by_corpus_and_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "path"]) == 0
    assert any(Path(capsys.readouterr().out[:-1]).rglob("spor_systematicity_mini.yaml"))
    assert cli.main(["tasks", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 3 * 24
    cells = {line.split("  ")[0]: re.split(r"\s\s+", line)[1:] for line in lines}
    assert cells["spor"] == ["webnlg", "e2e", "mini", "viggo"]
    assert cells["spor_productivity_…"] == ["n3 n4 n5", "n3 n4 n5", "n3 n4", "n3 n4 n5"]
    assert cells["…_beam4"] == ["yes"]
    assert cli.main(["tasks", "list", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in task_files.files()]
    descriptions = dict(line.split(maxsplit=1) for line in lines)
    assert descriptions["spor_productivity_e2e_n4_beam5"] == (
        "productivity, e2e, n4, published, 5 beams"
    )
    assert descriptions["spor_systematicity_e2e_icl_atom"] == (
        "systematicity, e2e, published, shown atom"
    )
    assert descriptions["logicnlg_ppl"] == "logicnlg, ppl, published"


def test_tasks_are_registered_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "lm_eval"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(
        stubs, "find_spec", lambda name: PathFinder.find_spec(name, [str(tmp_path)])
    )
    folder = package / "tasks" / "spor_tasks_stubs"
    assert cli.main(["tasks", "register"]) == 0
    assert len(list(folder.iterdir())) == len(task_files.files())
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert not folder.exists()
    assert capsys.readouterr().out == f"{folder}: all tasks registered\n{folder}: removed\n"
