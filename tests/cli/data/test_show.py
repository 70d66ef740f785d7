"""`spor data show`: a test sample beside training samples."""

import json
import re
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import folder


def run(*arguments: str) -> int:
    return cli.main(["data", *arguments])


def test_a_test_sample_is_shown_beside_training_samples_of_its_units(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", "3", f"--in={built}", "--most=1") == 0
    from_folder = capsys.readouterr().out
    sample = folder.read_sets(built).pair.test.samples[3]
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
