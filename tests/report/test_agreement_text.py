"""`spor metrics agreement`: what it prints and writes, and how it fails."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import cli
from spor_tasks.evaluation import agreement
from spor_tasks.evaluation.judged import read_judged
from spor_tasks.report import agreement_text, plots

SYSTEMS = "abcd"
BAD = "<b>|x"


def rows() -> list[dict[str, Any]]:
    """Four systems for three inputs; system by system the metric is as good as people."""
    return [
        {
            "input": input_,
            "system": SYSTEMS[system],
            "data": [["The Gull", "food", "Basque"]],
            "output": "Basque food at The Gull." if system else "",
            "scores": {"theirs": 10 * system + input_, BAD: 5},
            "judgements": {"good": 3 * system - input_, "shame": -system},
        }
        for system in range(4)
        for input_ in range(3)
    ]


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "judged.jsonl", rows())


def test_correlations_stand_in_a_table_for_each_judgement_and_level(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--judgement", "good", "--metric", "theirs", "--metric", BAD, "--metric", "coverage"]
    assert cli.main(["metrics", "agreement", file, *asked, "--resamples", "30"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    title, header, *lines = printed.out.splitlines()
    assert title == f"{file}: good, over texts (n = 12 texts for 3 inputs)"
    assert header.split() == ["metric", "Pearson", "Spearman", "Kendall", "τ-b", "p"]
    assert [line.split()[0] for line in lines[:3]] == ["coverage", "theirs", BAD]
    assert lines[0].split()[-1] not in ("strongest", "–")
    assert lines[1].split()[-1] == "strongest"
    assert lines[2].split()[1:] == ["–"] * 4
    assert lines[4] == f"{file}: good, over systems (n = 4 systems, means over 12 texts)"
    assert lines[7].split()[:2] == ["theirs", "1.000"]
    assert "30 resamples, seed 0" in lines[-1]


def test_rows_that_are_left_out_and_systems_that_are_too_few_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = rows()[:6]
    some[0]["judgements"]["good"] = None
    file = write(tmp_path / "judged.jsonl", some)
    asked = ["--judgement", "good", "--metric", "theirs"]
    assert cli.main(["metrics", "agreement", file, *asked, "--resamples", "5"]) == 0
    printed = capsys.readouterr().out
    assert "n = 5 texts for 3 inputs; 1 left out for lack of the judgement or a score" in printed
    assert "n = 2 systems, means over 5 texts; 1 left out" in printed
    assert "too few: a correlation needs 3" in printed


def test_json_has_all_pairs_and_null_for_what_has_no_value(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    assert (
        cli.main(["metrics", "agreement", file, "--json", "--resamples", "20", "--seed", "4"]) == 0
    )
    printed = json.loads(capsys.readouterr().out, parse_constant=refuse)
    good, shame = printed["agreements"]
    assert (good["file"], good["judgement"], shame["judgement"]) == (file, "good", "shame")
    assert (good["texts"], good["inputs"], good["systems"], good["left_out"]) == (12, 3, 4, 0)
    assert (good["resamples"], good["seed"]) == (20, 4)
    cells = {(row["over"], row["metric"]): row for row in good["correlations"]}
    assert cells["systems", "theirs"]["kendall"]["value"] == 1
    assert cells["texts", BAD]["pearson"] == {"value": None, "low": None, "high": None}
    pairs = {(row["over"], row["metric"], row["other"]): row for row in good["differences"]}
    assert len(pairs) == 2 * 6  # of coverage, fidelity and two that came with the rows
    test = pairs["texts", "coverage", "theirs"]
    assert test["t"] < 0 < test["p"] < 1
    assert pairs["texts", "coverage", BAD]["p"] is None


def test_a_folder_gets_tables_and_a_plot_of_the_same_numbers(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "agreement"
    command = ["metrics", "agreement", file, "--resamples", "20"]
    assert cli.main([*command, "--out", str(out)]) == 0
    capsys.readouterr()
    assert cli.main([*command, "--json"]) == 0
    assert (out / "agreement.json").read_text() == capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        *("agreement.json", "agreement.md", "agreement.svg", "agreement.png"),
        *("correlations.csv", "differences.csv"),
    }
    with (out / "correlations.csv").open(newline="") as text:
        cells = {
            (row["judgement"], row["over"], row["metric"], row["coefficient"]): row
            for row in csv.DictReader(text)
        }
    assert len(cells) == 2 * 2 * 4 * 3
    assert float(cells["shame", "systems", "theirs", "spearman"]["value"]) == pytest.approx(-1)
    assert cells["good", "texts", BAD, "pearson"]["value"] == ""
    with (out / "differences.csv").open(newline="") as text:
        tests = list(csv.DictReader(text))
    assert len(tests) == 2 * 2 * 6
    assert {row["n"] for row in tests} == {"12", "4"}
    markdown = (out / "agreement.md").read_text()
    assert markdown.count("| metric |") == 4
    assert "&lt;b&gt;\\|x" in markdown
    svg = (out / "agreement.svg").read_text()
    assert "shame" in svg
    assert "&lt;b&gt;|x" in svg
    assert (out / "agreement.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_there_are_the_tables_and_a_word_on_the_plot(
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    command = ["metrics", "agreement", file, "--resamples", "5", "--out", str(tmp_path / "out")]
    assert cli.main(command) == 0
    assert capsys.readouterr().err == f"{plots.MISSING}\n"
    assert not list((tmp_path / "out").glob("*.svg"))
    assert (tmp_path / "out" / "agreement.md").is_file()


def test_a_folder_that_cannot_be_written_is_named(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["metrics", "agreement", file, "--resamples", "5", "--out", file]
    assert cli.main(command) == 2
    assert capsys.readouterr().err.startswith(f"error: {file}/agreement.md: cannot be written")


@pytest.mark.parametrize("option", [["--resamples", "0"], ["--seed", "-1"]])
def test_a_number_that_cannot_be_is_refused(
    file: str, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["metrics", "agreement", file, *option])
    assert f"argument {option[0]}" in capsys.readouterr().err


def test_equal_files_are_equal_bytes(file: str, tmp_path: Path) -> None:
    found = agreement.agreements(read_judged([Path(file)]), resamples=10)
    for name in ("one", "other"):
        agreement_text.write(found, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()
