"""One sample in the terminal, with the marks of the page."""

import re
from pathlib import Path

import pytest

from spor_tasks.cli import main
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.report.exhibit import exhibit, terminal
from tests.support import invented_runs
from tests.support.invented_runs import HOSTILE
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


def text_of(path: Path, which: str = "0", width: int = 100) -> str:
    return terminal(exhibit(path, which), width)


def test_a_sample_is_shown_with_its_units_references_scores_and_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path, "1", "Cold Sound.", "By the Cold Sound is an old basins.")
    assert main(["show", str(run), "1"]) == 0
    assert capsys.readouterr().out == (
        "spor_systematicity_mini strict: sample 1, town000000000001\n"
        "        Town\n"
        "    [0] Saltmere | sea | Cold_Sound\n"
        "    [1] Saltmere | harbour | Old_Basin\n"
        "    [2] Saltmere | known for | smoked_eel\n"
        "        Saltmere has the Cold Sound and the Old Basin and the smoked eel.\n"
        "\n"
        "base, atom, seed 0\n"
        "    parent 40.00\n"
        "        By the [0: Cold Sound] is an [1: old basins].\n"
        "        not located: [2]\n"
        "        → unit missing\n"
    )


def test_a_sample_is_named_by_its_id_and_a_run_by_its_result_samples_or_folder(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path, "1", "One.", "Two.")
    for path in (run, tmp_path, tmp_path / f"samples_{TASK}_1.jsonl"):
        found = exhibit(path, "town000000000001")
        assert (found.index, found.runs[0][0].outputs) == (1, ("Two.",))


def test_another_run_stands_below_with_the_same_sample(tmp_path: Path) -> None:
    one = write_run(tmp_path, "1", "One.", "Two.")
    other = write_run(tmp_path, "2", "Drei.", "Vier.", arm="combination", number=1)
    shown = exhibit(one, "1", against=other)
    assert [record.outputs for record, _ in shown.runs] == [("Two.",), ("Drei.",)]
    heads = [line for line in terminal(shown).splitlines() if line.startswith("base")]
    assert heads == ["base, atom, seed 0", "base, combination, seed 0"]


@pytest.mark.parametrize("which", ["2", "-1", "town", "town000000000009", "²"])
def test_a_sample_that_is_not_there_is_named(
    tmp_path: Path, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path, "1", "One.", "Two.")
    assert main(["show", "--", str(run), which]) == 2
    assert repr(which) in capsys.readouterr().err


def test_runs_that_cannot_be_chosen_are_named(tmp_path: Path) -> None:
    write_run(tmp_path / "two", "1", "One.")
    write_run(tmp_path / "two", "2", "Two.", arm="combination")
    with pytest.raises(ConfigError, match=r"several runs have a sample 0: .*_1\.json.*_2\.json"):
        exhibit(tmp_path / "two", "0")
    with pytest.raises(ResultError, match="no samples beside its results"):
        exhibit(write_result(tmp_path / "bare" / "results_1.json"), "0")
    with pytest.raises(ResultError, match="no samples of spor_other"):
        exhibit(tmp_path / "two", "0", task="spor_other")


def test_samples_of_other_aspects_show_their_orders_and_hidden_phrases(tmp_path: Path) -> None:
    invented_runs.write(tmp_path, count=3, models=["base"])
    (run,) = tmp_path.glob("results_03*")
    text = terminal(exhibit(run, "0", task="spor_order_invariance_mini_main"))
    assert "    input order 0 1:\n" in text
    assert "    input order 1 0:\n" in text
    (file,) = tmp_path.glob("samples_spor_rule*_07*")
    texts = [text_of(file, str(number)) for number in range(3)]
    assert all("Entity 1 hides" in text for text in texts)
    assert "not copied: Entity 1" in "".join(texts)


@pytest.mark.parametrize("output", HOSTILE)
def test_a_terminal_gets_no_control_character_of_a_model(tmp_path: Path, output: str) -> None:
    text = text_of(write_run(tmp_path, "1", output))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ud800-\udfff]", text)
    text.encode()


def test_outputs_without_words_or_with_more_than_is_scored_say_so(tmp_path: Path) -> None:
    run = write_run(tmp_path, "1", "  ", "The Cold Sound, calm  as ever, and\nmore below")
    assert "        no output\n" in text_of(run)
    assert text_of(run).endswith("→ empty, unit missing")
    marked = "The [0: Cold Sound], calm  as ever, and (not scored: more below)"
    assert marked in text_of(run, "1")


def test_long_outputs_are_wrapped_between_words(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    text = text_of(write_run(tmp_path, "1", words), width=60)
    lines = [line for line in text.splitlines() if "word" in line]
    assert len(lines) > 5
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()) == words
