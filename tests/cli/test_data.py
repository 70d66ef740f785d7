"""`spor data build | check | show`: what is written, printed and refused."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import check, folder
from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.sample import ARMS, Split, SplitPair
from tests.support.strategies import pool


def run(*arguments: str) -> int:
    return cli.main(["data", *arguments])


@pytest.fixture
def built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "sets"
    assert run("build", "--corpus=mini", "--aspect=systematicity", f"--out={path}") == 0
    capsys.readouterr()
    return path


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """Sets in which Atom holds the one test sample."""
    path = tmp_path / "leaking"
    test, combination = Split("test", pool(["ab"])), Split("combination", pool(["ab"]))
    pair = SplitPair(
        "systematicity", "letters", "strict", (Split("atom", pool(["c", "ab"])), combination), test
    )
    with folder.new(path) as staging:
        folder.write(staging, pair, {"settings": {"limit": 0.02}})
    return path


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
        str(sum(len(s.units) for s in registry.load("systematicity", "mini").test.samples)),
    ]
    assert run(*arguments, f"--out={tmp_path / 'b'}", "--json") == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest == json.loads((tmp_path / "b" / "manifest.json").read_bytes())


def test_finished_sets_stay_unless_they_are_to_be_replaced(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("build", "--corpus=mini", "--aspect=rule_learnability", f"--out={built}")
    assert run(*arguments) == 2
    assert "exists already" in capsys.readouterr().err
    assert folder.read(built).pair.aspect == "systematicity"
    assert run(*arguments, "--overwrite") == 0
    assert folder.read(built).pair.aspect == "rule_learnability"


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
    assert re.search("is being written by another process|exists already", error)
    assert check.check(folder.read(path).pair).holds
    assert list(tmp_path.iterdir()) == [path]


def test_sets_that_cannot_be_built_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sets"
    assert run("build", "--corpus=mini", "--aspect=productivity", "--part=n5", f"--out={path}") == 2
    assert "no test sample has more than 5 units" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_violations_are_said_with_their_samples(
    built: Path, leaking: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", str(built), str(leaking)) == 1
    printed = capsys.readouterr().out.splitlines()
    (sample,) = folder.read(leaking).pair.test.samples
    assert printed.count("  every requirement holds") == 1
    start = printed.index("  ≠ 1 test pairs occur in Atom")
    assert printed[start + 1 : start + 3] == [
        f"      1 in atom: {sample.id}",
        f"      1 in test: {sample.id}",
    ]


def test_a_check_can_be_had_as_json(leaking: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "strict:productivity:mini:n4", str(leaking), "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["strict:productivity:mini:n4"]["holds"] is True
    assert found["strict:productivity:mini:n4"]["threshold"] == 4
    report = found[str(leaking)]
    assert (report["holds"], report["pairs_in_atom"]) == (False, 1)
    (sample,) = folder.read(leaking).pair.test.samples
    assert report["violations"][0] == {
        "words": "2 training samples hold exactly a test sample's units",
        "samples": {"atom": [sample.id], "combination": [sample.id]},
    }


@pytest.mark.parametrize("target", ["nowhere", "published:colour:mini"])
def test_what_is_not_there_cannot_be_checked(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", target) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_test_sample_is_shown_beside_training_samples_of_its_units(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", "3", f"--in={built}", "--most=1") == 0
    from_folder = capsys.readouterr().out
    sample = folder.read(built).pair.test.samples[3]
    assert run("show", sample.id, "--corpus=mini", "--aspect=systematicity", "--most=1") == 0
    assert capsys.readouterr().out == from_folder
    lines = from_folder.splitlines()
    assert lines[0] == f"systematicity mini strict: test sample 3 of 200, {sample.id}"
    assert lines[1] == f"    [0] {' | '.join(sample.units[0])}"
    atom, combination = (
        [line for line in part.splitlines() if line.startswith("    [")]
        for part in from_folder.split("\n\n")[1:]
    )
    assert len(atom) == 1
    assert len(combination) > 1


def test_a_test_sample_can_be_had_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    request = ("--corpus=mini", "--aspect=systematicity", "--most=2", "--json")
    assert run("show", "3", *request) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown.keys() == {"index", "id", "data", "texts", "arms"}
    assert shown["index"] == 3
    for arm in shown["arms"].values():
        assert len(arm["samples"]) == 2
        for sample in arm["samples"]:
            assert [sample["data"].index(shown["data"][i]) for i in sample["held"]]
    assert len(shown["arms"]["combination"]["samples"][0]["held"]) > 1
    assert shown["arms"]["atom"]["together"] == 0


@pytest.mark.parametrize(
    ("aspect", "line"),
    [
        ("order_invariance", r" +in: [\d ]+, [\d ]+\n +texts: [\d ]+"),
        ("rule_learnability", r" +Entity 1 hides \w"),
    ],
)
def test_what_an_aspect_adds_to_a_test_sample_is_shown(
    aspect: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", "0", "--corpus=mini", f"--aspect={aspect}") == 0
    assert re.search(line, capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments", [["0"], ["0", "--corpus=mini"], ["200", "--corpus=mini", "--aspect=systematicity"]]
)
def test_a_sample_that_is_not_named_well_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", *arguments) == 2
    assert "test sample" in capsys.readouterr().err


@pytest.mark.real_data
def test_the_flaws_of_the_published_webnlg_sets_are_found(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    assert run("check", "published:systematicity:webnlg", "published:systematicity:e2e") == 1
    webnlg, e2e = capsys.readouterr().out.split("published:systematicity:e2e")
    found = re.findall(r"(≠ .*|\d+ in (?:atom|test)):?", webnlg)
    assert found == [
        "≠ 88 test pairs occur in Atom",
        "182 in atom",
        "164 in test",
        "≠ 62 test samples have every pair in Atom",
        "62 in test",
        "≠ atoms occur 6580 times in Atom but 6186 times in Combination",
    ]
    assert e2e.endswith("every requirement holds\n")
