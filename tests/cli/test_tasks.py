"""`spor tasks`: what is listed, written and registered."""

from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.harness import stubs, task_files


@pytest.fixture
def stub_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "stubs"
    monkeypatch.setattr(stubs, "folder", lambda: folder)
    return folder


def test_the_path_is_that_of_the_task_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "path"]) == 0
    folder = Path(capsys.readouterr().out.removesuffix("\n"))
    assert any(folder.rglob("spor_systematicity_mini.yaml"))


def test_every_task_and_group_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in task_files.files()]
    says = dict(line.split(maxsplit=1) for line in lines)
    assert says["spor_systematicity_mini"] == "systematicity, mini, strict"
    assert says["spor_productivity_e2e_n4_beam5"] == "productivity, e2e, n4, published, 5 beams"
    assert says["spor_systematicity_e2e_icl_atom"] == "systematicity, e2e, published, shown atom"
    assert says["spor_productivity_mini"].startswith("group of spor_productivity_mini_n3, ")
    assert says["spor"].startswith("group of spor_webnlg, spor_e2e")
    assert says["logicnlg_ppl"] == "logicnlg, ppl, published"


def test_tasks_are_exported_into_a_folder_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tasks", "export", str(tmp_path / "spor")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'spor'}\n"
    assert (tmp_path / "spor" / "spor.yaml").is_file()
    assert cli.main(["tasks", "export", str(tmp_path / "spor")]) == 2
    assert "error: " in capsys.readouterr().err


def test_tasks_are_registered_and_removed(
    stub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = len(task_files.files())
    assert cli.main(["tasks", "register"]) == 0
    assert cli.main(["tasks", "register"]) == 0
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{stub_folder}: {number} written, 0 removed, 0 kept as is",
        f"{stub_folder}: 0 written, 0 removed, {number} kept as is",
        f"{stub_folder}: 0 written, {number} removed, 0 kept as is",
    ]
