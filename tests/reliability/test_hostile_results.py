"""A file that no program wrote ends no command in a traceback, and hides no other result."""

import json

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import write_manifest
from tests.support import commands
from tests.support.result_files import adapter_manifest, edited, write_run
from training.card import write_card

TASK = "spor_systematicity_mini"
HUGE = 10**400


def _declare(content, **facts):
    content["configs"][TASK]["metadata"]["spor"]["declared"].update(facts)


def _score(content, **scores):
    content["results"][TASK] |= {f"{name},none": value for name, value in scores.items()}


RESULTS = {
    "a score of 401 digits": lambda content: _score(content, parent=HUGE),
    "an error of 401 digits": lambda content: _score(content, parent_stderr=HUGE),
    "a word of 401 digits": lambda content: content["results"][TASK].update(alias=HUGE),
    "a version of 401 digits": lambda content: content["configs"][TASK]["metadata"].update(
        version=HUGE
    ),
    "another benchmark": lambda content: _declare(content, benchmark="compmctg"),
    "an aspect of another benchmark": lambda content: _declare(
        content, benchmark="compmctg", name=["logicnlg", "mini", "strict", None]
    ),
}
GAPS = {
    "of no metric": [["foo", "bar"]],
    "of one metric": [["parent", "bar"]],
    "of groups": [["parent_overlap", "coverage_unseen"]],
    "of another benchmark": [["disc_gap", "coverage"]],
    "of gaps": [["parent - chrf", "parent"]],
}
SAMPLES = {
    "a value of 401 digits": lambda row: row.update(parent=HUGE),
    "a value of another form": lambda row: row.update(parent=[[1.0]]),
    "units of another form": lambda row: row["doc"].update(units="[[1, 2, 3]]"),
    "nested": lambda row: row["doc"].update(context=json.dumps([[]] * 9)),
}


@pytest.fixture
def results(tmp_path):
    write_run(tmp_path / "good", "1", [7.0, 9.0], arm="atom")
    write_run(tmp_path / "both", "1", [7.0, 9.0], arm="atom")
    return tmp_path, write_run(tmp_path / "both", "2", [17.0, 9.0], arm="combination")


def try_all(folder, file, capsys):
    """Run every command that reads results; return what `report` printed."""
    both, printed = folder / "both", []
    for command, statuses in (
        (f"report {both}", {1}),
        (f"report {both} --out {folder / 'out'}", {1}),
        (f"report {both} --leaderboard --out {folder / 'boards'}", {1}),
        (f"compare {folder / 'good'} {file}", {0, 1, 2}),
        (f"show {file} 0", {0, 2}),
        (f"push {both} --to me/runs --dry-run", {2}),
    ):
        assert commands.run(command.split()) in statuses, command
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        printed.append(captured.out)
    assert (folder / "out" / "page.html").exists()
    return printed[0]


@pytest.mark.parametrize("how", RESULTS)
def test_a_hostile_result_hides_no_other(how, results, capsys):
    folder, file = results
    with edited(file) as content:
        RESULTS[how](content)
    printed = try_all(folder, file, capsys)
    assert "8.00" in printed
    assert str(file) in printed.partition("Problems:")[2]


@pytest.mark.parametrize("benchmark", ["spor", "compmctg", "totto", "logicnlg"])
@pytest.mark.parametrize("how", GAPS)
def test_a_gap_that_no_table_has_hides_no_result(how, benchmark, results, capsys):
    folder, file = results
    names = {name for gap in GAPS[how] for name in gap}
    with edited(file) as content:
        gaps = [" - ".join(gap) for gap in GAPS[how]]
        sets = [benchmark if benchmark != "spor" else "systematicity", "mini", "strict", None]
        facts = {"benchmark": benchmark, "name": sets, "gaps": GAPS[how]}
        _declare(content, reported=["parent", *names, *gaps], **facts)
        _score(content, **dict.fromkeys([*names, *gaps], 1.0))
    for more in ("", f"--out {folder}/out", f"--leaderboard --out {folder}/boards"):
        assert commands.run(f"report {folder}/both {more}".split()) in {0, 1}
        assert "8.00" in capsys.readouterr().out


def test_a_title_of_a_part_that_is_none_hides_no_result(tmp_path, capsys):
    for seed, arm in enumerate(("combination", "atom")):
        file = write_run(tmp_path / arm, str(seed), [7.0, 9.0], arm=arm, seed=seed)
    with edited(file) as content:
        _declare(content, sets={"part_title": "spor"})
    assert commands.run(["report", str(tmp_path)]) in {0, 1}
    assert "8.00" in capsys.readouterr().out


@pytest.mark.parametrize("how", SAMPLES)
def test_hostile_samples_hide_no_result(how, results, capsys):
    folder, file = results
    samples = file.with_name(f"samples_{TASK}_2.jsonl")
    rows = list(map(json.loads, samples.read_text().splitlines()))
    SAMPLES[how](rows[0])
    samples.write_text("\n".join(map(json.dumps, rows)))
    printed = try_all(folder, file, capsys)
    assert "8.00" in printed
    assert "samples" in printed.partition("Problems:")[2]


def test_the_manifest_of_an_adapter_that_was_changed_is_one_error(tmp_path):
    (tmp_path / "model.safetensors").touch()
    write_manifest(tmp_path, adapter_manifest(tmp_path, tmp_path, losses=[HUGE]))
    with pytest.raises(ResultError, match="is not the manifest of an adapter"):
        write_card(tmp_path)
    assert not (tmp_path / "README.md").exists()
