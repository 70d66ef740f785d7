"""BLEURT is the mean rating over real references, by a tiny random model against transformers."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import transformers

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.metrics import readers
from spor_tasks.metrics.learned import Bleurt, Pair
from spor_tasks.metrics.parent_totto import prepared
from tests.support.classifiers import save_bert
from tests.support.scores import judge, scores_of
from tests.support.totto import sample

TEXTS = ["Ann has 7 wins .", "", "Ann lost ( again ) to Bo", "7 " * 200]
SAMPLES = [
    sample("Ann won 7 times .", "Ann has 7 wins .", overlap=True),
    sample("Nobody won .", overlap=False),
    sample("Ann lost , they say", "Bo won", "Bo beat Ann"),
    sample("8 " * 150, overlap=True),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bleurt"), labels=("LABEL_0",))


def test_ratings_are_those_of_transformers_whatever_the_batch(folder: Path) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = []
    for each, text in zip(SAMPLES, TEXTS, strict=True):
        ratings = []
        for reference in each.references:
            pair = [prepared(reference)], [prepared(text.strip())]
            inputs = tokenizer(*pair, truncation=True, max_length=128, return_tensors="pt")
            with torch.no_grad():
                ratings.append(model(**inputs).logits.item())
        expected.append(sum(ratings) / len(ratings))
    assert max(expected) - min(expected) > 0.05
    for size in (1, 32):
        metric = readers.bleurt(str(folder), device="cpu", batch_size=size)
        found = metric.judge(SAMPLES, [(text,) for text in TEXTS])
        assert [each.values["bleurt"] for each in found] == pytest.approx(expected, abs=1e-4)
    assert "weights:" in metric.signature
    scores = scores_of(metric, found, SAMPLES)
    assert [score.name for score in scores] == ["bleurt", "bleurt_overlap", "bleurt_nonoverlap"]
    assert [score.n for score in scores] == [4, 2, 1]


def test_references_are_not_padded_and_texts_are_prepared() -> None:
    asked: list[Pair] = []

    class Rater:
        signature = "model:asked"

        def __call__(self, pairs: Sequence[Pair]) -> list[float]:
            asked.extend(pairs)
            return [float(number) for number, _ in enumerate(pairs)]

    found = judge(Bleurt(Rater()), SAMPLES[0], "ANN 's win")
    assert asked == [("ann won 7 times.", "ann's win"), ("ann has 7 wins.", "ann's win")]
    assert found.values == {"bleurt": 0.5}


def test_a_sample_without_references_is_an_error(folder: Path) -> None:
    with pytest.raises(CorpusError):
        judge(readers.bleurt(str(folder), device="cpu"), sample(), "Ann .")


def test_a_classifier_of_two_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        readers.bleurt(str(save_bert(tmp_path / "bert")), device="cpu")
    assert caught.value.remedy
