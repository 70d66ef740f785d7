"""`spor data build` and `check` of splits of combinations."""

import json
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.benchmarks.compmctg import folder, sets, splits
from spor_tasks.cli.data import combinations


def run(*arguments: str) -> int:
    return cli.main(["data", *arguments])


def test_the_command_and_the_benchmark_have_the_same_names() -> None:
    published = (f"{name}{sets.PUBLISHED}" for name in splits.PROTOCOLS)
    assert (*splits.PROTOCOLS, *published) == combinations.PROTOCOLS
    assert combinations.KIND == folder.KIND


def test_splits_are_built_without_a_text_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    out = tmp_path / "out"
    assert run("build", "--corpus=yelp", "--protocol=acd", f"--out={out}") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{out}: acd yelp\n")
    assert "0.500000  both ways" in printed
    assert "32 have this one" in printed
    assert {path.name for path in out.iterdir()} == {"unseen.jsonl", "manifest.json"}
    assert run("check", str(out)) == 0
    printed = capsys.readouterr().out
    assert "highest divergence of any split: 0.500000" in printed
    assert "every requirement holds" in printed


def test_both_print_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ("build", "--corpus=mixture", "--protocol=fewshot", f"--out={out}")
    assert run(*arguments, "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((out / "manifest.json").read_bytes())
    assert run("check", str(out), "--json") == 0
    found = json.loads(capsys.readouterr().out)[str(out)]
    assert (found["holds"], found["highest"], len(found["splits"])) == (True, 1.0, 8)


def test_sets_of_both_kinds_are_checked_together(
    tmp_path: Path, built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run("build", "--corpus=yelp", "--protocol=holdout", f"--out={out}") == 0
    assert "no split" not in capsys.readouterr().out
    assert run("check", str(out), str(built)) == 0
    assert capsys.readouterr().out.count("every requirement holds") == 2


def test_what_is_violated_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    run("build", "--corpus=yelp", "--protocol=acd", f"--out={out}")
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["splits"] = []
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    capsys.readouterr()
    assert run("check", str(out)) == 1
    assert "  ≠ the manifest says" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--corpus=yelp", "--protocol=acd", "--aspect=systematicity"),
        ("--corpus=yelp", "--protocol=acd", "--alpha=5"),
        ("--corpus=yelp", "--protocol=original", "--seed=0"),
        ("--corpus=e2e", "--protocol=acd"),
        ("--corpus=yelp", "--protocol=acd_published"),
    ],
)
def test_what_cannot_be_built_is_an_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    assert run("build", *arguments, f"--out={tmp_path / 'out'}") == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "out").exists()
