"""`spor data`: sets that are built and checked, and corpora that are fetched."""

import json
import os
import re
import shutil
import signal
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import check, folder
from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli import progress
from spor_tasks.core.sample import SetName, Split, SplitPair
from spor_tasks.corpora import sources
from tests.support.processes import forked, wait_until
from tests.support.strategies import pool

Captured = pytest.CaptureFixture[str]
BUILD = ("build", "--corpus=mini", "--aspect")


def run(*arguments: object) -> int:
    return cli.main(["data", *map(str, arguments)])


# --- build ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("aspect", ARMS)
def test_built_sets_pass_the_check_and_stay_unless_they_are_to_be_replaced(
    tmp_path: Path, capsys: Captured, aspect: str
) -> None:
    path, again = tmp_path / "sets", tmp_path / "again"
    assert run(*BUILD, aspect, "--out", path) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{path}: {aspect} mini strict")
    assert {file.stem for file in path.iterdir()} == {*ARMS[aspect], "test", "manifest"}
    samples = folder.read_sets(path).test.samples
    assert re.search(rf"test.jsonl +{len(samples)} samples ", printed)
    assert run("check", path) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{path}: {aspect} mini strict")
    assert "every requirement holds" in printed
    assert run(*BUILD, aspect, "--out", again, "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((again / "manifest.json").read_bytes())
    written = {file.name: file.read_bytes() for file in path.iterdir()}
    assert {file.name: file.read_bytes() for file in again.iterdir()} == written
    replace = (*BUILD, "rule_learnability", "--out", path)
    assert run(*replace) == 2
    assert "already exists" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in path.iterdir()} == written
    assert run(*replace, "--overwrite") == 0
    assert {file.stem for file in path.iterdir()} == {"original", "test", "manifest"}


def build_with_a_log(log: Path, *arguments: str) -> int:
    """Build as a command does whose standard error is a file, where a line is soon written."""
    progress._LINES_SECONDS = 0.01
    with log.open("w") as file, redirect_stderr(file):
        return run(*BUILD, "systematicity", "--search", *arguments)


def test_an_interrupted_search_writes_the_best_sets_and_how_to_find_them_again(
    tmp_path: Path,
) -> None:
    log, best, again = (tmp_path / name for name in ("log", "best", "again"))
    log.touch()
    process = forked(build_with_a_log, log, f"--out={best}")
    wait_until(lambda: "best so far" in log.read_text(), process)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    assert "interrupted: " in log.read_text()
    assert check.check(folder.read_sets(best)).holds
    rounds = json.loads((best / folder.MANIFEST).read_bytes())["settings"]["rounds"]
    assert run(*BUILD, "systematicity", "--search", f"--rounds={rounds}", "--out", again) == 0
    assert [file.read_bytes() for file in sorted(again.iterdir())] == [
        file.read_bytes() for file in sorted(best.iterdir())
    ]


def test_a_refused_build_leaves_nothing(tmp_path: Path, capsys: Captured) -> None:
    for wrong in ("--seconds=-3", "--seconds=soon", "--rounds=0"):
        with pytest.raises(SystemExit, match="2"):
            run(*BUILD, "systematicity", "--search", "--out", tmp_path / "sets", wrong)
    capsys.readouterr()
    assert run(*BUILD, "productivity", "--part=n5", "--out", tmp_path / "sets") == 2
    assert "no test sample of more than 5 units" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# --- check ----------------------------------------------------------------------------------------


def test_violations_are_printed_with_their_samples(tmp_path: Path, capsys: Captured) -> None:
    """Atom holds the one test sample."""
    path = tmp_path / "leaking"
    test, combination = Split("test", pool(["ab"])), Split("combination", pool(["ab"]))
    atom = Split("atom", pool(["c", "ab"]))
    pair = SplitPair(SetName("systematicity", "letters", "strict"), (atom, combination), test)
    with folder.new(path) as staging:
        folder.write_sets(staging, pair, {"settings": {"limit": 0.02}})
    (sample,) = test.samples
    good = "strict:productivity:mini:n4"
    assert run("check", good, path) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed.count("  every requirement holds") == 1
    start = printed.index("  ≠ 1 test pairs occur in Atom")
    names = [f"      1 in {split}: {sample.id}" for split in ("atom", "test")]
    assert printed[start + 1 : start + 3] == names
    assert run("check", good, "nowhere") == 2
    assert "error: " in capsys.readouterr().err
    assert run("check", good, path, "--json") == 1
    rows = json.loads(capsys.readouterr().out)
    assert (rows[good]["holds"], rows[good]["threshold"]) == (True, 4)
    assert (rows[str(path)]["holds"], rows[str(path)]["pairs_in_atom"]) == (False, 1)
    assert rows[str(path)]["violations"][0] == {
        "words": "2 training samples have exactly the units of a test sample",
        "samples": {"atom": [sample.id], "combination": [sample.id]},
    }


@pytest.mark.real_data
def test_the_flaws_of_the_published_webnlg_sets_are_found(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    assert run("check", "published:systematicity:webnlg", "published:systematicity:e2e") == 1
    webnlg, e2e = capsys.readouterr().out.split("published:systematicity:e2e")
    assert re.findall(r"(≠ .*|\d+ in (?:atom|test)):?", webnlg) == [
        "≠ 88 test pairs occur in Atom",
        "182 in atom",
        "164 in test",
        "≠ 62 test samples have every pair in Atom",
        "62 in test",
        "≠ atoms occur 6580 times in Atom but 6186 times in Combination",
    ]
    assert e2e.endswith("every requirement holds\n")


# --- fetch ----------------------------------------------------------------------------------------


@pytest.mark.real_data
def test_a_local_copy_is_fetched_whole_and_kept(
    data_dir: Path, totto_dir: Path, tmp_path: Path, capsys: Captured
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in sources.TOTTO.files:
        shutil.copy(totto_dir / "train_sample.jsonl", source / name)
    for corpus, files, count, licence in (
        ("webnlg", data_dir, "214 {}, 1 absent", "webnlg: CC BY-NC-SA 4.0"),
        ("totto", source, "3 {}", "totto: CC BY-SA 3.0"),
    ):
        target = tmp_path / corpus
        for outcome in ("fetched", "kept"):
            assert run("fetch", "--corpus", corpus, "--from", files, "--to", target) == 0
            printed = capsys.readouterr().out
            assert f"{target}: {count.format(outcome)}" in printed
            assert licence in printed


def test_a_corpus_that_no_program_can_fetch_is_said_where_to_download(
    tmp_path: Path, capsys: Captured
) -> None:
    source, fetch = tmp_path / "source", ["fetch", "--corpus", "yelp", "--to", tmp_path / "yelp"]
    assert run(*fetch) == 2
    error = capsys.readouterr().err
    assert sources.COMPMCTG.url in error
    assert "--from data_compmctg.zip" in error
    for name in sources.COMPMCTG.files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(f"{name}\n", "utf-8")
    for options, outcome in ((["--from", source], "fetched"), ([], "kept")):
        assert run(*fetch, *options) == 0
        assert f"12 {outcome}" in capsys.readouterr().out
