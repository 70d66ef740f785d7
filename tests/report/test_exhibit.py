"""One sample in the terminal, with the marks of the page."""

import re
from pathlib import Path

import pytest

from spor_tasks.cli import main
from spor_tasks.report.exhibit import Exhibit, exhibit, terminal
from tests.support import (
    attribute_runs,
    cell_runs,
    golden,
    invented_runs,
    table_runs,
    twin_runs,
)
from tests.support.result_files import sample_row, write_result, write_samples

TASK = "spor_systematicity_mini"


def write_run(folder: Path, name: str, *outputs: str, arm: str = "atom", number: int = 0) -> Path:
    """Write a run with these outputs for samples from ``number`` on."""
    result = write_result(folder / f"results_{name}.json", arm=arm, n=len(outputs), parent=40.0)
    samples = map(invented_runs.town, range(number, number + len(outputs)))
    rows = [
        sample_row(sample, [output], {"parent": 40.0})
        for sample, output in zip(samples, outputs, strict=True)
    ]
    write_samples(result, TASK, rows)
    return result


def verdicts(shown: Exhibit) -> str:
    """What the page says of each unit, and the terminal does not."""
    ((_, view),) = shown.runs
    return "\n".join(f"verdicts: {', '.join(output.verdicts)}" for output in view.outputs)


def test_samples_of_every_kind_are_shown_as_in_the_golden_file(
    invented: Path, columns: Path, cells: Path, tmp_path: Path
) -> None:
    orders = twin_runs.spec_of("order_invariance", "main")
    twin_runs.write_run(tmp_path / "twins", orders, twin_runs.OUTPUTS, "original", 0.0)
    attribute_runs.write(tmp_path / "attributes")
    files = [*sorted(invented.glob("results_*"))[::2]]  # of the model with a harmless name
    files += (file for folder in (columns, cells) for file in sorted(folder.glob("results_*")))
    files += [tmp_path / "twins" / "results_original.json"]
    files += [tmp_path / "attributes" / "0" / f"results_{attribute_runs.TASK}.json"]
    signs = cell_runs.of_cells([["Anna", "–"]], [[0, 0], [0, 1]])
    cell_runs.write_run(tmp_path / "signs", [signs], ["Anna."])
    table_runs.write(tmp_path / "uncounted")
    (pairs,) = (tmp_path / "uncounted").glob(f"samples_{table_runs.PAIRS}_*")
    pairs.write_text(re.sub(r', ?"tokens": ?\[[^]]*\]', "", pairs.read_text("utf-8")), "utf-8")
    shown = [exhibit(file, str(number)) for file in files for number in range(4)]
    shown += [exhibit(tmp_path / "signs", "0"), exhibit(pairs, "0")]
    text = "\n".join(f"{terminal(each)}\n{verdicts(each)}\n" for each in shown)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ud800-\udfff]", text)
    assert max(map(len, text.splitlines())) <= 100
    golden.same("show.txt", text)


def test_a_sample_is_named_by_its_id_and_a_run_by_its_result_samples_or_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "one", "1", "One.", "Two.")
    other = write_run(tmp_path / "other", "2", "Drei.", "Vier.", arm="combination", number=1)
    for path in (run, run.parent, run.parent / f"samples_{TASK}_1.jsonl"):
        assert main(["show", str(path), "town000000000001", "--against", str(other)]) == 0
        lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert lines[0].endswith(": sample 1, town000000000001")
        shown = [line for line in lines if line.startswith("base,") or line in {"Two.", "Drei."}]
        assert shown == ["base, atom, seed 0", "Two.", "base, combination, seed 0", "Drei."]


@pytest.mark.parametrize(
    ("path", "which", "message"),
    [
        *(("one", which, repr(which)) for which in ("2", "-1", "town", "town000000000009", "²")),
        ("two", "0", r"several runs have a sample 0: .*_1\.json.*_2\.json"),
        ("bare", "0", "no samples beside its results"),
        ("--task=spor_other", "0", "no samples of spor_other"),
    ],
)
def test_samples_that_cannot_be_chosen_are_named(
    tmp_path: Path, path: str, which: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "one", "1", "One.", "Two.")
    write_run(tmp_path / "two", "1", "One.")
    write_run(tmp_path / "two", "2", "Two.", arm="combination")
    write_result(tmp_path / "bare" / "results_1.json")
    options, folder = ([path], "one") if path.startswith("-") else ([], path)
    assert main(["show", *options, "--", str(tmp_path / folder), which]) == 2
    assert re.search(message, capsys.readouterr().err)
