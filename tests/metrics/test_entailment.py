"""NLI-Acc by tiny random models: against plain transformers, and what they cannot read."""

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import transformers

from spor_tasks import cli
from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import write_rows
from spor_tasks.core.weights import digest_weights
from spor_tasks.metrics import entailment
from spor_tasks.metrics.learned import Claim, NliAcc
from tests.metrics.test_nli import HEADER, ROWS, sample
from tests.support.classifiers import save_bert, save_tapas, save_tapex
from tests.support.scores import answers_of, scores_of

SAVED: dict[str, Callable[[Path], Path]] = {
    "tapas": save_tapas,
    "tapex": save_tapex,
}
TABLES = [
    (HEADER, ROWS),
    (["city", "city"], [["oslo", ""], ["bergen"], ["a b", "12 may 2001"]]),
    (["", "x"], [["", ""], ["", "9"]]),
    (["player", "score"], [[f"number {i}", str(i * 7 % 11)] for i in range(12)]),
]
TEXTS = ["Oslo has 7 people .", "no", "bergen is larger </s> [SEP] than oslo", "", "9 of 12 may"]
CLAIMS = [
    (sample(1, 0, header=header, rows=rows), text) for header, rows in TABLES for text in TEXTS
]
SAMPLES, OUTPUTS = [each for each, _ in CLAIMS], [(text,) for _, text in CLAIMS]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVED.items()}


def load(folder: Path, **settings: Any) -> NliAcc:  # noqa: ANN401
    return entailment.load(str(folder), **{"device": "cpu", **settings})


def likely(folder: Path, *claims: Claim) -> Sequence[Any]:
    return answers_of(load(folder), claims)


def plain(folder: Path, inputs: Any) -> float:  # noqa: ANN401 - of transformers
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        likely: float = torch.softmax(model(**inputs).logits[0], dim=0)[1].item()
    return likely


# --- Against plain transformers -------------------------------------------------------------------


@pytest.mark.parametrize("name", SAVED)
def test_batches_change_no_verdict(folders: dict[str, Path], name: str) -> None:
    claims = [claim for claim in CLAIMS if claim[1]]
    expected = answers_of(load(folders[name]), claims)
    assert max(expected) - min(expected) > 0.05, "a classifier that says one thing shows nothing"
    metric = load(folders[name], batch_size=7)
    assert answers_of(metric, claims) == pytest.approx(expected, abs=1e-5)
    assert [answers_of(metric, [claim])[0] for claim in claims[:7]] == pytest.approx(
        expected[:7], abs=1e-5
    )


def test_tapas_reads_a_frame_of_texts(folders: dict[str, Path]) -> None:
    folder, text = folders["tapas"], "oslo has 7 people"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    frame = pd.DataFrame({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)})
    expected = plain(folder, tokenizer(frame, text, return_tensors="pt"))
    assert likely(folder, (sample(), text))[0] == pytest.approx(expected, abs=1e-4)


def test_tapex_reads_one_text_in_lower_case_with_15_tokens_of_a_cell(
    folders: dict[str, Path],
) -> None:
    folder = folders["tapex"]
    tokenizer = transformers.BartTokenizer.from_pretrained(folder)
    text = "oslo ! col : city row 1 : 123456789 12345"
    long = sample(header=["City"], rows=[["123456789 123456789"]])
    (found,) = likely(folder, (long, "Oslo !"))
    assert found == pytest.approx(plain(folder, tokenizer(text, return_tensors="pt")), abs=1e-4)


# --- Too long -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAVED)
def test_of_a_long_table_the_end_is_not_read_and_this_is_said(
    folders: dict[str, Path], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [["oslo", str(i), "x"] for i in range(400)]
    long, longer = sample(rows=rows), sample(rows=[*rows, ["bergen", "7", "y"]])
    text = "oslo has 7 people"
    with caplog.at_level(logging.WARNING):
        assert likely(folders[name], (sample(), "oslo")) != [None]
        assert caplog.records == []
        found = likely(folders[name], (long, text), (longer, text), (sample(), text))
    assert found[0] == found[1]
    most = 1024 if name == "tapex" else 512
    (said,) = (record.args for record in caplog.records)
    assert isinstance(said, tuple)
    assert (said[0], said[1], said[3]) == (2, 3, most)


@pytest.mark.parametrize("name", SAVED)
def test_of_a_long_output_the_end_is_not_read(
    folders: dict[str, Path], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ("ab " * 700, "ab " * 700 + "oslo")
    with caplog.at_level(logging.WARNING):
        found = likely(folders[name], *((sample(), text) for text in texts))
    assert found[0] == found[1] is not None
    assert [record.args[0] for record in caplog.records if record.args] == [2]  # type: ignore[index]


@pytest.mark.parametrize("columns", [200, 300])
def test_tapas_has_no_verdict_on_a_table_that_is_too_wide(
    folders: dict[str, Path], columns: int, caplog: pytest.LogCaptureFixture
) -> None:
    wide = sample(header=["name of"] * columns, rows=[["x"] * columns])
    with caplog.at_level(logging.WARNING):
        found = likely(folders["tapas"], (wide, "oslo"), (sample(), "oslo"))
    assert found[0] is None
    assert found[1] is not None
    assert caplog.records


# --- Which classifier -----------------------------------------------------------------------------


def test_the_signature_names_class_and_format(folders: dict[str, Path]) -> None:
    folder = folders["tapex"]
    weights = digest_weights(folder)[:16]
    assert load(folder).signature.startswith(
        f"nli_acc|model:{folder.name}|weights:{weights}|label:Entailed|format:tapex|v:"
    )
    assert load(folder, label=0).signature.count("label:Refused")


@pytest.mark.parametrize("labels", [("REFUTED", "ENTAILED"), ("Refused", "Entailed")])
def test_the_class_is_known_by_its_name(tmp_path: Path, labels: Sequence[str]) -> None:
    assert f"|label:{labels[1]}|" in load(save_tapas(tmp_path, labels)).signature


def test_a_model_that_reads_no_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="type bert, which reads no tables") as caught:
        load(save_bert(tmp_path))
    assert "google/tapas" in str(caught.value.remedy)


def test_classes_that_nobody_knows_are_named(tmp_path: Path) -> None:
    save_tapas(tmp_path, ("yes", "no"))
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert "0 yes, 1 no" in caught.value.what
    assert "nli_label" in str(caught.value.remedy)
    assert load(tmp_path, label="yes").signature.count("label:yes")


# --- In `spor score` ------------------------------------------------------------------------------


def test_a_file_of_outputs_is_scored(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    write_rows(file, ({**to_row(of), "output": text} for of, text in CLAIMS))
    asked = ["score", str(file), "--metric", "nli_acc", "--corpus", "logicnlg", "--json"]
    assert cli.main([*asked, "--model", str(folders["tapas"]), "--device", "cpu"]) == 0
    found = json.loads(capsys.readouterr().out)["scores"]
    metric = load(folders["tapas"])
    for score, expected in zip(
        found, scores_of(metric, metric.judge(SAMPLES, OUTPUTS)), strict=True
    ):
        assert (score["name"], score["value"]) == (expected.name, pytest.approx(expected.value))
        assert score["signature"].startswith(metric.signature)
    assert cli.main(asked) == 2
    assert "--metric nli_acc --model" in capsys.readouterr().err


def test_texts_of_special_tokens_are_texts(folders: dict[str, Path]) -> None:
    for folder in folders.values():
        assert likely(folder, (sample(), "</s> </s> [SEP] <s>")) != [None]
