"""`spor data build`: what is written, printed and refused."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import check, folder, named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli import progress
from tests.support.processes import forked, wait_until


def run(*arguments: str) -> int:
    return cli.main(["data", *arguments])


@pytest.mark.parametrize("aspect", ARMS)
def test_what_is_built_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], aspect: str
) -> None:
    path = tmp_path / "sets"
    assert run("build", "--corpus=mini", f"--aspect={aspect}", f"--out={path}") == 0
    assert capsys.readouterr().out.startswith(f"{path}: {aspect} mini strict")
    assert {file.stem for file in path.iterdir()} == {*ARMS[aspect], "test", "manifest"}
    assert run("check", str(path)) == 0
    printed = capsys.readouterr().out
    assert f"{path}: {aspect} mini strict" in printed
    assert "every requirement holds" in printed


def test_a_build_prints_counts_or_its_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("build", "--corpus=mini", "--aspect=systematicity")
    assert run(*arguments, f"--out={tmp_path / 'a'}") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()][-1][:4] == [
        "test.jsonl",
        "200",
        "samples",
        str(sum(len(s.units) for s in named.load("systematicity", "mini").test.samples)),
    ]
    assert run(*arguments, f"--out={tmp_path / 'b'}", "--json") == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest == json.loads((tmp_path / "b" / "manifest.json").read_bytes())


def test_finished_sets_stay_unless_they_are_to_be_replaced(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("build", "--corpus=mini", "--aspect=rule_learnability", f"--out={built}")
    assert run(*arguments) == 2
    assert "already exists" in capsys.readouterr().err
    assert folder.read_sets(built).aspect == "systematicity"
    assert run(*arguments, "--overwrite") == 0
    assert folder.read_sets(built).aspect == "rule_learnability"


def test_of_two_builds_into_one_folder_at_once_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sets"
    script = "import sys; from spor_tasks.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "data", "build", "--corpus=mini", f"--out={path}"]
    builds = [
        subprocess.Popen([*command, f"--aspect={aspect}"], stderr=subprocess.PIPE, text=True)
        for aspect in ("order_invariance", "rule_learnability")
    ]
    errors = [build.communicate()[1] for build in builds]
    assert sorted(build.returncode for build in builds) == [0, 2]
    (error,) = filter(None, errors)
    assert re.search("is being written by another process|already exists", error)
    assert check.check(folder.read_sets(path)).holds
    assert list(tmp_path.iterdir()) == [path]


def build_with_a_log(log: Path, *arguments: str) -> int:
    """Build as a command does whose standard error is a file, where a line is soon written."""
    progress._SECONDS = progress._LINES_SECONDS = 0.01
    with log.open("w") as file, redirect_stderr(file):
        return run("build", "--corpus=mini", "--aspect=systematicity", "--search", *arguments)


def test_an_interrupted_search_writes_the_best_found_and_how_to_find_it_again(
    tmp_path: Path,
) -> None:
    log, found, again = (tmp_path / name for name in ("log", "found", "again"))
    log.touch()
    process = forked(build_with_a_log, log, f"--out={found}")
    wait_until(lambda: "best so far" in log.read_text(), process)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    assert "interrupted: " in log.read_text()
    assert check.check(folder.read_sets(found)).holds
    rounds = json.loads((found / folder.MANIFEST).read_bytes())["settings"]["rounds"]
    assert run("build", "--corpus=mini", "--aspect=systematicity", "--search",
               f"--rounds={rounds}", f"--out={again}") == 0  # fmt: skip
    assert [file.read_bytes() for file in sorted(again.iterdir())] == [
        file.read_bytes() for file in sorted(found.iterdir())
    ]


@pytest.mark.parametrize("wrong", ["--seconds=0", "--seconds=-3", "--seconds=soon", "--rounds=0"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, wrong: str) -> None:
    arguments = ("--corpus=mini", "--aspect=systematicity", "--search", f"--out={tmp_path / 'x'}")
    with pytest.raises(SystemExit, match="2"):
        run("build", *arguments, wrong)


def test_sets_that_cannot_be_built_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sets"
    assert run("build", "--corpus=mini", "--aspect=productivity", "--part=n5", f"--out={path}") == 2
    assert "no test sample of more than 5 units" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
