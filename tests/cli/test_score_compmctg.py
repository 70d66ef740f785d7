"""`spor score` on texts in the form of CompMCTG's evaluation."""

import json
from pathlib import Path

import pytest

from spor_tasks import cli
from tests.support.aspects import save_gpt2
from tests.support.classifiers import save_bert

VALUES = {"sentiment": "Positive", "pronoun": "plural", "tense": "Past"}
TEXTS = ["The pizza was good, and we all ate it in the yard.\n\nIt was late.", "The pizza"]
OPTIONS = ["--metric", "compmctg", "--corpus", "yelp"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    rows = [{"text": text, **VALUES, "unseen": bool(i)} for i, text in enumerate(TEXTS)]
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_accuracy_dist_and_perplexity_stand_in_one_table(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for aspect in VALUES:
        save_bert(tmp_path / "classifiers" / aspect)
    models = ["--classifiers", str(tmp_path / "classifiers")]
    models += ["--ppl-model", str(save_gpt2(tmp_path / "gpt2", 0)), "--device", "cpu"]
    evidence = tmp_path / "evidence.jsonl"
    options = [*OPTIONS, *models, "--json", "--per-sample", str(evidence)]
    assert cli.main(["score", file, *options]) == 0
    found = json.loads(capsys.readouterr().out)
    scores = {score["name"]: score for score in found["scores"]}
    assert {"mctg_acc", "mctg_acc_comp", "mctg_gap", "mctg_acc_tense", "dist_3"} <= {*scores}
    assert (scores["mctg_ppl"]["n"], scores["mctg_ppl"]["unscored"]) == (1, 1)
    assert scores["dist_3"]["signature"].endswith("|filter:none")  # both lines count
    first = json.loads(evidence.read_text().splitlines()[0])
    assert first["said"].keys() == VALUES.keys()
    assert first["dist_3"][1] == len(TEXTS[0].split()) - 2


def test_without_classifiers_it_says_what_was_not_measured(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["score", file, *OPTIONS]) == 0
    printed = capsys.readouterr()
    assert "--classifiers" in printed.err
    assert "dist_3" in printed.out
    assert "acc" not in printed.out


@pytest.mark.parametrize(
    "options",
    [
        [*OPTIONS, "--model", "x"],
        ["--metric", "distinct", "--corpus", "yelp", "--classifiers", "x"],
        ["--metric", "mctg_ppl", "--corpus", "yelp", "--model", "x", "--label", "1"],
    ],
)
def test_options_of_other_metrics_are_refused(
    file: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["score", file, *options]) == 2
    assert capsys.readouterr().err.startswith("error: ")
