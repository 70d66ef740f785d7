"""Models that read tables or rate texts, tiny and random, against plain transformers."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import transformers

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.weights import digest_weights
from spor_tasks.evaluation import scoring
from spor_tasks.metrics import entailment, readers
from spor_tasks.metrics.learned import Claim, NliAcc
from spor_tasks.metrics.parent_totto import prepared
from tests.metrics.test_learned import HEADER, ROWS, stated
from tests.support.classifiers import save_bert, save_tapas, save_tapex
from tests.support.scores import answers_of, scores_of
from tests.support.totto import sample

TABLES = [
    (HEADER, ROWS),
    (["city", "city"], [["oslo", ""], ["bergen"], ["a b", "12 may 2001"]]),
    (["", "x"], [["", ""], ["", "9"]]),
    (["player", "score"], [[f"number {i}", str(i * 7 % 11)] for i in range(12)]),
]
TEXTS = ["Oslo has 7 people .", "no", "bergen is larger </s> [SEP] than oslo", "", "9 of 12 may"]
CLAIMS = [(stated(*table), text) for table in TABLES for text in TEXTS]
SAVED: dict[str, Callable[[Path], Path]] = {"tapas": save_tapas, "tapex": save_tapex}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVED.items()}


def load(folder: Path, **settings: Any) -> NliAcc:  # noqa: ANN401
    return entailment.load(str(folder), **{"device": "cpu", **settings})


def likely(folder: Path, *claims: Claim) -> Sequence[Any]:
    return answers_of(load(folder), claims)


@cache
def plain_model(folder: Path) -> Any:  # noqa: ANN401 - of transformers
    return transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()


def plain(folder: Path, inputs: Any) -> torch.Tensor:  # noqa: ANN401 - of transformers
    """Return the logits of one input alone."""
    with torch.no_grad():
        logits: torch.Tensor = plain_model(folder)(**inputs).logits[0]
    return logits


@pytest.mark.parametrize("name", SAVED)
def test_batches_change_no_verdict(folders: dict[str, Path], name: str) -> None:
    claims = [claim for claim in CLAIMS if claim[1]]
    expected = likely(folders[name], *claims)
    assert None not in expected
    assert max(expected) - min(expected) > 0.05, "the answers must differ"
    metric = load(folders[name], batch_size=7)
    assert answers_of(metric, claims) == pytest.approx(expected, abs=1e-5)
    assert answers_of(metric, claims[:1]) == pytest.approx(expected[:1], abs=1e-5)


def test_tapas_reads_a_frame_of_texts(folders: dict[str, Path]) -> None:
    folder, text = folders["tapas"], "oslo has 7 people"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    frame = pd.DataFrame({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)})
    logits = plain(folder, tokenizer(frame, text, return_tensors="pt"))
    expected = torch.softmax(logits, dim=0)[1].item()
    assert likely(folder, (stated(), text))[0] == pytest.approx(expected, abs=1e-4)


def test_tapex_reads_lower_case_and_15_tokens_of_a_cell(folders: dict[str, Path]) -> None:
    folder = folders["tapex"]
    tokenizer = transformers.BartTokenizer.from_pretrained(folder)
    text = "oslo ! col : city row 1 : 123456789 12345"
    logits = plain(folder, tokenizer(text, return_tensors="pt"))
    claim = (stated(["City"], [["123456789 123456789"]]), "Oslo !")
    expected = torch.softmax(logits, dim=0)[1].item()
    assert likely(folder, claim)[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("name", "most"), [("tapas", 512), ("tapex", 1024)])
def test_the_ends_of_long_tables_and_outputs_are_cut_with_a_warning(
    folders: dict[str, Path], name: str, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    rows, text = [["oslo", str(i), "x"] for i in range(150)], "oslo has 7 people"
    long, longer = stated(rows=rows), stated(rows=[*rows, ["bergen", "7", "y"]])
    with caplog.at_level(logging.WARNING):
        assert likely(folders[name], (stated(), "oslo")) != [None]
        assert caplog.records == []
        of_tables = likely(folders[name], (long, text), (longer, text), (stated(), text))
        of_texts = likely(folders[name], (stated(), "ab " * 700), (stated(), "ab " * 700 + "oslo"))
    assert of_tables[0] == of_tables[1]
    assert of_texts[0] == of_texts[1] is not None
    cuts = [record.args for record in caplog.records if record.name == readers.__name__]
    expected = [(2, 3, most), (2, 2, most)]
    assert [(each[0], each[1], each[3]) for each in cuts if isinstance(each, tuple)] == expected


@pytest.mark.parametrize("columns", [200, 300])
def test_tables_too_wide_for_tapas(
    folders: dict[str, Path], columns: int, caplog: pytest.LogCaptureFixture
) -> None:
    wide = stated(["name of"] * columns, [["x"] * columns])
    with caplog.at_level(logging.WARNING):
        first, second = likely(folders["tapas"], (wide, "oslo"), (stated(), "oslo"))
    assert (first, second is None) == (None, False)
    assert caplog.records


def test_the_signature_names_class_and_format(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = folders["tapex"]
    weights = digest_weights(folder)[:16]
    assert load(folder).signature.startswith(
        f"nli_acc|model:{folder.name}|weights:{weights}|label:Entailed|format:tapex|v:"
    )
    assert "|label:Refused|" in load(folder, label=0).signature
    by_name = scoring.metric("nli_acc", model=str(folder), device="cpu")
    assert by_name.signature == load(folder).signature
    assert "|label:ENTAILED|" in load(save_tapas(tmp_path, ("REFUTED", "ENTAILED"))).signature


def test_a_model_of_another_type_or_with_unknown_classes_is_refused(tmp_path: Path) -> None:
    of_texts = ("contradiction", "neutral", "entailment")
    for saved in (save_bert(tmp_path / "bert"), save_tapex(tmp_path / "mnli", of_texts)):
        with pytest.raises(ConfigError, match="labels, which reads no tables") as error:
            load(saved)
        assert "google/tapas" in str(error.value.remedy)
    folder = save_tapas(tmp_path / "tapas", ("yes", "no"))
    with pytest.raises(ConfigError, match="0 yes, 1 no") as error:
        load(folder)
    assert "nli_label" in str(error.value.remedy)
    assert "|label:yes|" in load(folder, label="yes").signature


RATED = [
    (sample("Ann won 7 times .", "Ann has 7 wins .", overlap=True), "Ann has 7 wins ."),
    (sample("Nobody won .", overlap=False), ""),
    (sample("Ann lost , they say", "Bo won", "Bo beat Ann"), "Ann lost ( again ) to Bo"),
    (sample("8 " * 150, overlap=True), "7 " * 200),
]


def test_ratings_are_those_of_transformers_whatever_the_batch(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "bleurt", labels=("LABEL_0",))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = []
    for each, text in RATED:
        ratings = []
        for reference in each.references:
            pair = [prepared(reference)], [prepared(text.strip())]
            inputs = tokenizer(*pair, truncation=True, max_length=128, return_tensors="pt")
            ratings.append(plain(folder, inputs).item())
        expected.append(sum(ratings) / len(ratings))
    assert max(expected) - min(expected) > 0.05
    samples = [each for each, _ in RATED]
    for size in (1, 32):
        metric = readers.bleurt(str(folder), device="cpu", batch_size=size)
        judgements = metric.judge(samples, [(text,) for _, text in RATED])
        ratings = [each.details["bleurt"] for each in judgements]
        assert ratings == pytest.approx(expected, abs=1e-4)
    assert "weights:" in metric.signature
    scores = scores_of(metric, judgements, samples)
    assert [score.name for score in scores] == ["bleurt", "bleurt_overlap", "bleurt_nonoverlap"]
    assert [score.n for score in scores] == [4, 2, 1]
    with pytest.raises(ConfigError, match="2 numbers for a pair"):
        readers.bleurt(str(save_bert(tmp_path / "bert")), device="cpu")
