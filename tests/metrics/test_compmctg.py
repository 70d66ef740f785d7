"""Accuracy by classifiers and perplexity are those of the published evaluation, by tiny models."""

import json
import math
from ast import literal_eval
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics import mctg_readers, readers
from spor_tasks.metrics.base import Column
from spor_tasks.metrics.learned import (
    Attributes,
    TextPerplexity,
)
from spor_tasks.metrics.totals import RELATIVE_GAP
from tests.support import golden
from tests.support.aspects import TextIn, save_gpt2, save_published
from tests.support.classifiers import save_bert
from tests.support.scores import judge, scores_of, values_of


def asked(*, unseen: bool | None = None, prefix: str = "", **values: str) -> Sample:
    context = {"prefix": prefix} | ({} if unseen is None else {"unseen": unseen})
    units = tuple(AttributeValue(*unit) for unit in values.items())
    return Sample("0", "yelp", units, (), context)


# --- What is published ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(golden_dir: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((golden_dir / "compmctg" / "eval_Yelp.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def rows(golden_dir: Path) -> list[dict[str, Any]]:
    return golden.read(golden_dir / "compmctg", "eval_Yelp", rows=48)


@pytest.fixture(scope="module")
def classifiers(printed: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classifiers")
    config, keys = printed["roberta_config"], printed["checkpoint_keys"]
    for name, seed in printed["classifier_seeds"].items():
        save_published(folder / name.partition("/")[2], config, keys, seed)
    return folder


def test_accuracies_are_published_once_they_are_rounded_as_published(
    classifiers: Path, printed: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    metric = mctg_readers.attributes(str(classifiers), device="cpu", batch_size=7)
    samples = [asked(**row["labels"]) for row in rows]
    found = metric.judge(samples, [(row["text"],) for row in rows])
    values = {aspect: ["Negative", "Positive"] for aspect in ("sentiment",)}
    values |= {"pronoun": ["plural", "singular"], "tense": ["Present", "Past"]}
    for row, said in zip(rows, found, strict=True):
        assert said.details["said"] == {a: values[a][row["clf"][a]["pred"]] for a in values}
    scores = {score.name: score.value for score in scores_of(metric, found)}
    rounded = {name: round(value / 100, 4) for name, value in scores.items()}
    published = {
        name: number
        for line in printed["acc_printed"]
        for name, number in literal_eval(line).items()
    }
    mean = published.pop("acc_avg")
    assert {f"mctg_{name}" for name in published} == rounded.keys() - {"mctg_acc"}
    assert all(rounded[f"mctg_{name}"] == number for name, number in published.items())
    assert round(fmean(published.values()), 4) == mean
    assert scores["mctg_acc"] == pytest.approx(100 * 66 / 144)  # 45.833; published are 45.84


def test_numbers_of_classes_are_published_whatever_the_batch(
    classifiers: Path, rows: list[dict[str, Any]]
) -> None:
    for size in (1, 16):
        asker = mctg_readers.aspects(classifiers, "cpu", size)
        for aspect, classifier in asker.items():
            found = classifier.numbers([row["text"] for row in rows])
            for numbers, row in zip(found, rows, strict=True):
                assert numbers == pytest.approx(row["clf"][aspect]["logits"], abs=1e-4)


def test_perplexities_are_published(
    tmp_path: Path, printed: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    metric = mctg_readers.perplexity(str(save_gpt2(tmp_path, 31)), device="cpu", batch_size=5)
    judgements = metric.judge([asked(tense="Past")] * len(rows), [(row["text"],) for row in rows])
    found = [each.values["mctg_ppl"] for each in judgements]
    expected = [row["ppl"] for row in rows]
    assert [each is None for each in found] == [ppl is None for ppl in expected]
    assert sum(ppl is None for ppl in expected) == 7
    for each, ppl in zip(found, expected, strict=True):
        assert ppl is None or each == pytest.approx(ppl, rel=1e-4)
    (score,) = scores_of(metric, judgements)
    assert score.value == pytest.approx(literal_eval(printed["ppl_printed"])["avg_ppl"], rel=1e-4)
    assert (score.n, score.unscored) == (41, 7)
    assert "weights:" in metric.signature


# --- Texts, halves and the gap --------------------------------------------------------------------

PREFIX = "The pizza"


def judged(*cases: tuple[bool | None, str]) -> dict[str, float]:
    """Return the scores of texts whose last word is `good` if they are positive, by half."""
    metric = Attributes(TextIn(frozenset({(f"{PREFIX} is good", "Positive")})))
    samples = [asked(unseen=unseen, prefix=PREFIX, sentiment="Positive") for unseen, _ in cases]
    found = metric.judge(samples, [(text,) for _, text in cases])
    return {score.name: score.value for score in scores_of(metric, found, samples)}


def test_the_gap_is_relative_to_what_was_seen() -> None:
    good, bad = " is good", " is bad"
    scores = judged((False, good), (False, good), (False, bad), (True, good), (True, bad))
    assert scores["mctg_acc"] == 60
    assert scores["mctg_acc_id"] == pytest.approx(200 / 3)
    assert scores["mctg_acc_comp"] == 50
    assert scores["mctg_acc_sentiment"] == 60
    assert scores["mctg_gap"] == pytest.approx(25)


def test_without_halves_there_is_no_gap_and_without_accuracy_no_number() -> None:
    assert judged((None, " is good")).keys() == {"mctg_acc", "mctg_acc_sentiment"}
    assert math.isnan(judged((False, " is bad"), (True, " is good"))["mctg_gap"])
    assert math.isnan(judged((False, " is good"))["mctg_gap"])


def test_the_error_of_a_gap_is_that_of_a_ratio_of_independent_means() -> None:
    seen, unseen = [100.0, 50.0, 100.0, 0.0], [50.0, 100.0, 0.0, 0.0, 50.0]
    values = [*((each, 1, 0, 0) for each in seen), *((0, 0, each, 1) for each in unseen)]
    assert Column.of(values, RELATIVE_GAP).value == pytest.approx(100 * (62.5 - 40) / 62.5)
    spread = [sum((x - fmean(of)) ** 2 for x in of) / len(of) ** 2 for of in (seen, unseen)]
    by_delta = 100 * math.sqrt(spread[1] / 62.5**2 + spread[0] * 40**2 / 62.5**4)
    ours = RELATIVE_GAP.stderr(values) * math.sqrt(8 / 9)  # of all texts one is not free
    assert ours == pytest.approx(by_delta, rel=1e-4)


def test_an_output_without_a_word_has_nothing_and_nobody_is_asked() -> None:
    assert judged((True, " …"))["mctg_acc"] == 0


def test_the_beginning_counts_among_the_words() -> None:
    class Length:
        signature = "model:length"

        def __call__(self, texts: Any) -> list[float | None]:  # noqa: ANN401
            return [float(len(text)) for text in texts]

    sample, metric = asked(unseen=True, prefix="a b c", tense="Past"), TextPerplexity(Length())
    nine, ten = (judge(metric, sample, " x" * number) for number in (6, 7))
    assert (nine.values["mctg_ppl"], ten.values["mctg_ppl"]) == (None, 19)
    assert values_of(metric, sample, ten) == {"mctg_ppl": 19, "mctg_ppl_comp": 19}


# --- Checkpoints ----------------------------------------------------------------------------------


def test_classes_are_found_by_name_or_in_the_published_order(tmp_path: Path) -> None:
    named = save_bert(tmp_path / "named" / "tense", labels=("PAST", "present"))
    unnamed = save_bert(tmp_path / "unnamed" / "tense")
    found = {
        folder.parent.name: mctg_readers.aspects(folder.parent, "cpu", 1)["tense"].values
        for folder in (named, unnamed)
    }
    assert found == {"named": ("Past", "Present"), "unnamed": ("Present", "Past")}


def test_an_aspect_or_value_that_nobody_knows_is_an_error(tmp_path: Path) -> None:
    save_bert(tmp_path / "tense", labels=("Past", "Present"))
    metric = mctg_readers.attributes(str(tmp_path), device="cpu")
    for sample in (asked(sentiment="Positive"), asked(tense="Future")):
        with pytest.raises(ConfigError) as caught:
            judge(metric, sample, "was")
        assert caught.value.remedy


def test_what_is_said_is_spelled_as_it_was_asked(tmp_path: Path) -> None:
    save_bert(tmp_path / "tense", labels=("Past", "Present"))
    metric = mctg_readers.attributes(str(tmp_path), device="cpu")
    said = judge(metric, asked(tense="past"), "was").details["said"]["tense"]
    assert said in {"past", "Present"}


def test_folders_that_are_not_classifiers_are_refused(tmp_path: Path) -> None:
    save_bert(tmp_path / "mood" / "mood", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    broken = tmp_path / "broken" / "tense"
    save_bert(broken)
    next(broken.glob("*.safetensors")).write_bytes(b"no")
    (tmp_path / "empty").mkdir()
    for name in ("mood", "broken", "empty", "none"):
        with pytest.raises(ConfigError) as caught:
            mctg_readers.attributes(str(tmp_path / name), device="cpu")
        assert caught.value.where


def test_a_published_classifier_that_lacks_a_layer_is_refused(
    tmp_path: Path, printed: dict[str, Any]
) -> None:
    keys = [key for key in printed["checkpoint_keys"] if "pooler" not in key]
    save_published(tmp_path / "tense", printed["roberta_config"], keys, 0)
    with pytest.raises(ConfigError) as caught:
        mctg_readers.attributes(str(tmp_path), device="cpu")
    assert "classifier.dense" in str(caught.value)


def test_an_impossible_token_is_no_verdict(tmp_path: Path) -> None:
    folder = save_gpt2(tmp_path, 31)
    metric = mctg_readers.perplexity(str(folder), device="cpu")
    assert isinstance(metric.model, readers.Reader)
    with torch.no_grad():
        metric.model.checkpoint.model.lm_head.weight.mul_(1e4)
    text = "It was a day like any other in the town"
    assert judge(metric, asked(tense="Past"), text).values == {"mctg_ppl": None}


def test_a_folder_without_a_language_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        mctg_readers.perplexity(str(tmp_path))
    assert caught.value.remedy
