"""`spor data check`: what is counted, and which violations are named."""

import json
import re
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import folder


def run(*arguments: str) -> int:
    return cli.main(["data", *arguments])


def test_violations_are_said_with_their_samples(
    built: Path, leaking: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", str(built), str(leaking)) == 1
    printed = capsys.readouterr().out.splitlines()
    (sample,) = folder.read_sets(leaking).test.samples
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
    (sample,) = folder.read_sets(leaking).test.samples
    assert report["violations"][0] == {
        "words": "2 training samples have exactly the units of a test sample",
        "samples": {"atom": [sample.id], "combination": [sample.id]},
    }


@pytest.mark.parametrize("target", ["nowhere", "published:colour:mini"])
def test_what_is_not_there_cannot_be_checked(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", target) == 2
    assert capsys.readouterr().err.startswith("error: ")


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
