"""The command `spor`: what it prints, and how it fails."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from spor_tasks import __version__, cli
from spor_tasks.aspects import stats
from spor_tasks.aspects.stats import Figure, Table
from spor_tasks.benchmarks.spor import released
from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.corpora import sources
from spor_tasks.harness import stubs, task_files


@pytest.fixture
def stub_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "stubs"
    monkeypatch.setattr(stubs, "folder", lambda: folder)
    return folder


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"spor {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["tasks"], ["data", "fetch", "--jobs", "0"]])
def test_a_command_that_is_incomplete_or_wrong_ends_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: spor" in capsys.readouterr().err


def test_the_path_is_that_of_the_task_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "path"]) == 0
    folder = Path(capsys.readouterr().out.removesuffix("\n"))
    assert (folder / "spor_systematicity_mini.yaml").is_file()


def test_every_task_and_group_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in task_files.files()]
    says = dict(line.split(maxsplit=1) for line in lines)
    assert says["spor_systematicity_mini"] == "systematicity, mini, strict"
    assert says["spor_productivity_e2e_n4_beam5"] == "productivity, e2e, n4, published, 5 beams"
    assert says["spor_systematicity_e2e_icl_atom"] == "systematicity, e2e, published, shown atom"
    assert says["spor_productivity_mini"].startswith("group of spor_productivity_mini_n3, ")
    assert "group of spor_webnlg, spor_e2e" in lines[0]


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


def test_an_error_is_told_without_a_traceback(
    stub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub_folder.write_text("")
    assert cli.main(["tasks", "register"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {stub_folder}: lm-eval's task folder cannot be written")
    assert "spor eval" in printed.err


def test_an_interrupt_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stubs, "folder", interrupt)
    assert cli.main(["tasks", "register"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_embedded_corpus_is_written_as_a_release_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["data", "write", "mini", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}\n"
    assert any((tmp_path / "train").rglob("*.xml"))
    pair = registry.load("systematicity", "mini")
    for name, split in zip(
        [
            "train_mini_systematicity_atom",
            "train_mini_systematicity_combination",
            "test_mini_systematicity",
        ],
        pair.splits,
        strict=True,
    ):
        lines = (tmp_path / released.path(name)).read_text().splitlines()
        assert [json.loads(line) for line in lines] == [to_row(sample) for sample in split.samples]


def test_a_fetch_from_a_folder_that_lacks_a_file_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    assert cli.main(["data", "fetch", "--from", str(source), "--to", str(target)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"error: {source}" in printed.err
    assert "is not there" in printed.err
    assert not target.exists()


def test_without_the_corpora_the_command_that_gets_them_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(sources.DATA_DIR_VARIABLE, str(tmp_path))
    assert cli.main(["data", "stats"]) == 2
    assert "spor data fetch" in capsys.readouterr().err


@pytest.mark.real_data
def test_a_fetch_from_a_local_copy_brings_every_file_and_says_whose_they_are(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["data", "fetch", "--from", str(data_dir), "--to", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert f"{tmp_path}: 214 fetched, 0 kept, 1 absent" in capsys.readouterr().out
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path}: 0 fetched, 214 kept, 1 absent" in printed
    assert "webnlg: CC BY-NC-SA 4.0" in printed


TABLES = (
    Table(
        "tiny: corpus",
        (
            Figure("training samples", 13_000, 13_000),
            Figure("samples by size", (1_200, 3), (1_200, 4)),
            Figure("divergence", 0.01484, None),
        ),
    ),
)


def test_figures_stand_beside_the_papers_and_a_difference_is_marked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stats, "statistics", lambda: iter(TABLES))
    assert cli.main(["data", "stats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in lines[1:5]] == [
        ["tiny: corpus", "here", "paper"],
        ["training samples", "13,000", "13,000"],
        ["samples by size", "1,200 3", "1,200 4", "≠"],
        ["divergence", "0.0148"],
    ]


def test_figures_are_to_be_had_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stats, "statistics", lambda: iter(TABLES))
    assert cli.main(["data", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "tiny: corpus": {
            "training samples": {"ours": 13_000, "paper": 13_000},
            "samples by size": {"ours": [1_200, 3], "paper": [1_200, 4]},
            "divergence": {"ours": 0.01484, "paper": None},
        }
    }


def test_the_digest_of_a_written_set_is_that_of_its_file(tmp_path: Path) -> None:
    cli.main(["data", "write", "mini", str(tmp_path)])
    file = tmp_path / released.path("test_mini_systematicity")
    metadata = next(f.content["metadata"] for f in task_files.expand(["spor_systematicity_mini"]))
    pair = registry.load("systematicity", "mini")
    assert digest(pair.test.samples) == metadata["test_sha256"]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == metadata["test_sha256"]
