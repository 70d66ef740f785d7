"""Whatever lies where a file should, the command line says so and ends with 2; it never hangs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spor_tasks import cli, twins
from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import INSTALL_AGAIN
from spor_tasks.core.registry import registry
from spor_tasks.corpora import embedded
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.own import read_corpus
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto import reader as totto
from tests.conftest import REPOSITORY
from tests.support import damage
from tests.support.damage import DAMAGE, LONG_NAME, no_file_larger_than
from tests.support.result_files import SAMPLE, write_run

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes"),
]

SCORE = ["--metric", "parent", "--corpus", "webnlg"]
ROW = {"data": [list(SAMPLE.units[0])], "texts": ["By the sea."], "output": "By the sea."}
Captured = pytest.CaptureFixture[str]


def refused(captured: Captured, *arguments: object) -> str:
    """Return the error of a command that must end with one."""
    assert cli.main(list(map(str, arguments))) == 2
    told = captured.readouterr()
    assert told.err.startswith("error: ")
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize(
    "command",
    [
        lambda file: ["report", file],
        lambda file: ["show", file, "0"],
        lambda file: ["score", file, *SCORE],
        lambda file: ["data", "build", "--corpus", file, "--aspect", "systematicity", "--out", "x"],
        lambda file: ["data", "check", file.parent],
    ],
    ids=["report", "show", "score", "corpus", "manifest"],
)
def test_a_damaged_file_is_refused(
    command: Callable[[Path], list[object]],
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.chdir(tmp_path)
    damage.replace(tmp_path / "manifest.json", kind)
    assert str(tmp_path) in refused(capsys, *command(tmp_path / "manifest.json"))


@pytest.mark.parametrize("kind", sorted(DAMAGE.keys() - {"nothing"}))
@pytest.mark.parametrize("file", ["results_bad.json", "samples_spor_systematicity_mini_1.jsonl"])
def test_a_damaged_file_among_others_is_left_out_of_a_report(
    file: str, kind: str, tmp_path: Path, capsys: Captured
) -> None:
    write_run(tmp_path, "1", [7.0])
    damage.replace(tmp_path / file, kind)
    status = cli.main(["report", str(tmp_path)])
    out = capsys.readouterr().out
    assert "Systematicity: mini, strict sets" in out
    if file.startswith("results"):
        assert status == 1
        assert f"{file}: is not a readable result file" in out


COMMANDS_WITH_NAMES: Sequence[Sequence[str]] = (
    ["report", LONG_NAME],
    ["report", "{results}", "--out", LONG_NAME],
    ["push", LONG_NAME, "--to", "me/runs"],
    ["push", "{results}", "--to", LONG_NAME],
    ["show", f"{LONG_NAME}.jsonl", "0"],
    ["score", LONG_NAME, *SCORE],
    ["score", "{rows}", *SCORE, "--per-sample", LONG_NAME],
    ["data", "build", "--corpus", LONG_NAME, "--aspect", "systematicity", "--out", "x"],
    ["data", "build", "--corpus", "mini", "--aspect", "systematicity", "--out", LONG_NAME],
    ["data", "check", LONG_NAME],
    ["eval", "--tasks", "spor_mini", "--model_args", f"pretrained={LONG_NAME}"],
    ["eval", "--tasks", "spor_mini", "--model_args", f"pretrained={{results}},peft={LONG_NAME}"],
    ["eval", "--tasks", "spor_mini", "--models", LONG_NAME],
    ["eval", "--config", LONG_NAME],
)


@pytest.mark.parametrize("arguments", COMMANDS_WITH_NAMES, ids=lambda each: " ".join(each[:2])[:20])
def test_a_name_that_no_file_can_have_is_refused(
    arguments: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "results", "1", [7.0])
    (tmp_path / "results" / "config.json").write_text("{}")
    rows = tmp_path / "rows"
    rows.write_text(json.dumps(ROW))
    filled = [
        each.format(results=tmp_path / "results", rows=rows) if "{" in each else each
        for each in arguments
    ]
    assert refused(capsys, *filled)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results", "rows"]


def test_a_pipe_of_the_shell_is_read_and_a_named_one_is_not_waited_for(
    tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "rows").write_text(json.dumps(ROW))
    spor = f"{sys.executable} -m spor_tasks.cli score"
    done = subprocess.run(
        ["/bin/bash", "-c", f"{spor} <(cat {tmp_path}/rows) {' '.join(SCORE)}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "parent" in done.stdout
    os.mkfifo(tmp_path / "pipe")
    assert "it is not a regular file" in refused(capsys, "score", tmp_path / "pipe", *SCORE)


def _cut(path: Path, folder: Path) -> None:
    """Write the first half of a file to a folder."""
    content = path.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("module", "constant", "place", "read"),
    [
        (twins, "FOLDER", "e2e/twins.json.gz", lambda: twins.twins_of.__wrapped__("e2e")),
        (embedded, "FOLDER", "mini.jsonl.gz", lambda: embedded._parts.__wrapped__("mini")),
        (splits, "FILE", None, splits.facts.__wrapped__),
        (shipped, "FOLDER", "systematicity_e2e.json", lambda: shipped.load("e2e", ())),
    ],
    ids=["twins", "embedded corpus", "splits", "strict sets"],
)
def test_a_packaged_file_that_is_cut_is_one_clear_error(
    module: ModuleType,
    constant: str,
    place: str | None,
    read: Callable[[], object],
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = getattr(module, constant)
    whole = value / place if place else value
    cut = tmp_path / (place or value.name)
    _cut(whole, cut.parent)
    monkeypatch.setattr(module, constant, tmp_path if place else cut)
    with pytest.raises(CorpusError) as caught:
        read()
    assert str(caught.value.where).startswith(str(cut))
    assert caught.value.remedy == INSTALL_AGAIN
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("place", "content", "read"),
    [
        (
            "e2e-clean/test-fixed.csv",
            b"mr,ref",
            lambda folder: e2e.read_parts("test", folder=folder),
        ),
        (TOTTO.files[1], b'{"example_id": 3, "ta', lambda folder: [*totto.part("dev", folder)]),
        (
            "Yelp/gen.jsonl",
            b'{"review": "A te',
            lambda folder: registry().get("corpus", "yelp").read(folder),
        ),
        ("own.jsonl", b'{"data": [["a", "b', lambda folder: read_corpus(folder / "own.jsonl")),
    ],
    ids=["e2e", "totto", "compmctg", "own corpus"],
)
def test_a_corpus_file_that_is_cut_is_one_clear_error(
    place: str, content: bytes, read: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        read(tmp_path)
    assert str(caught.value.where).startswith(str(tmp_path / place))
    assert caught.value.remedy
    assert len(str(caught.value).splitlines()) == 2


# --- What cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "build", "--corpus", "mini", "--aspect", "systematicity", "--out", "{out}"],
        ["report", "{results}", "--out", "{out}"],
        ["score", "{rows}", *SCORE, "--per-sample", "{out}"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_full_disk_is_told_and_nothing_is_left(
    arguments: Sequence[str], tmp_path: Path, capsys: Captured
) -> None:
    write_run(tmp_path / "results", "1", [7.0])
    rows = tmp_path / "rows"
    rows.write_text(json.dumps(ROW))
    places: dict[str, Any] = {"results": tmp_path / "results", "rows": rows, "out": tmp_path / "o"}
    with no_file_larger_than(300):
        told = refused(capsys, *(argument.format(**places) for argument in arguments))
    assert "cannot be written" in told
    assert str(tmp_path / "o") in told
    assert not (tmp_path / "o" / "manifest.json").exists()
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "build", "--corpus", "mini", "--aspect", "systematicity", "--out"],
        ["report", "{results}", "--out"],
        ["report", "{results}", "--leaderboard", "--out"],
        ["baseline", "units-joined", "spor_systematicity_mini", "--results"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_folder_that_takes_no_files_is_told(
    arguments: Sequence[str], tmp_path: Path, capsys: Captured
) -> None:
    write_run(tmp_path / "results", "1", [7.0])
    (tmp_path / "file").write_text("")
    filled = [argument.format(results=tmp_path / "results") for argument in arguments]
    told = refused(capsys, *filled, tmp_path / "file" / "folder")
    assert "cannot be written" in told
    assert f"{tmp_path}/file" in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["tasks", "path"], ["tasks", "list"]])
def test_output_that_nothing_can_take_is_told(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert "error: standard output: [Errno 28]" in refused(capsys, *arguments)


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "rows").write_text(json.dumps(ROW))
    os.mkfifo(tmp_path / "device")
    told = refused(capsys, "score", tmp_path / "rows", *SCORE, "--per-sample", tmp_path / "device")
    assert "cannot be written: it is not a regular file" in told
    assert (tmp_path / "device").is_fifo()
