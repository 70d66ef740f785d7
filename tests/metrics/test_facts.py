"""What is asked of a classifier, and what its answers come to."""

from collections.abc import Sequence

import pytest

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics.learned import (
    ATTRIBUTES,
    BLEURT,
    FACTS,
    NLI_ACC,
    TEXT_PERPLEXITY,
    ClassifierInput,
    Facts,
    Learned,
)
from spor_tasks.metrics.readers import label_of
from tests.support.classifiers import WordClassifier
from tests.support.scores import judge

PORT = Triple("Old_Port", "built by", 'A "B" C')
FOOD = AttributeValue("food", "Basque")


def sample(*units: DataUnit, name: str | None = None) -> Sample:
    return Sample(
        id="1",
        corpus="invented",
        units=units,
        references=(),
        context={"name": name} if name else {},
    )


def asked(of: Sample, output: str) -> list[ClassifierInput]:
    classifier = WordClassifier()
    judge(Facts(classifier), of, output)
    return [pair for pairs in classifier.asked for pair in pairs]


# --- How a pair is written ------------------------------------------------------------------------


def test_the_output_comes_first_and_the_unit_second() -> None:
    assert asked(sample(PORT), "A B C built it.") == [
        ("A B C built it.", "Old Port, built by, A B C")
    ]


def test_an_attribute_is_said_of_the_name() -> None:
    named = sample(FOOD, name="The_Gull")
    assert asked(named, "It is.") == [("It is.", "The Gull, food, Basque")]


def test_without_a_name_the_attribute_stands_alone() -> None:
    assert asked(sample(FOOD), "It is.") == [("It is.", "food, Basque")]


# --- What the answers come to ---------------------------------------------------------------------


class Fixed:
    """Answers with the same numbers, in order."""

    signature = "model:fixed"

    def __init__(self, *numbers: float) -> None:
        self.numbers = numbers

    def __call__(self, pairs: Sequence[ClassifierInput]) -> Sequence[float]:
        return self.numbers[: len(pairs)]


def test_a_unit_that_is_likelier_told_than_not_is_told() -> None:
    metric = Facts(Fixed(0.500049, 0.50006, 0.2, 1.0))
    values, details = judge(metric, sample(*[PORT] * 4), "Something.")
    assert values == {"facts": 50.0}
    assert details == {**values, "told": (0.5, 0.5001, 0.2, 1.0), "untold": (0, 2)}


@pytest.mark.parametrize("output", ["", " ", "\n\t", "…!"])
def test_an_output_without_a_word_tells_nothing_and_nobody_is_asked(output: str) -> None:
    classifier = WordClassifier()
    details = judge(Facts(classifier), sample(PORT, PORT), output).details
    assert (details["facts"], details["told"], details["untold"]) == (0, (0.0, 0.0), (0, 1))
    assert classifier.asked == [[]]


def test_the_signature_names_classifier_and_format() -> None:
    assert Facts(WordClassifier()).signature.startswith("facts|model:words|format:nli|v:")


@pytest.mark.parametrize("metric", [FACTS, NLI_ACC, BLEURT, ATTRIBUTES, TEXT_PERPLEXITY])
def test_without_a_model_a_metric_says_what_to_type(metric: Learned) -> None:
    with pytest.raises(ConfigError) as caught:
        judge(metric, sample(PORT), "Something.")
    assert f"--metric {metric.name} --" in str(caught.value.remedy)


# --- Which class means "told" ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "asked", "index"),
    [
        (["entailment", "neutral", "contradiction"], None, 0),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], None, 2),
        (["entailment", "not_entailment"], None, 0),
        (["REFUTES", "SUPPORTS"], None, 1),
        (["LABEL_0", "LABEL_1"], None, 1),
        (["LABEL_0"], None, 0),
        (["score"], None, 0),
        (["entailment", "neutral"], "neutral", 1),
        (["entailment", "neutral"], "Neutral", 1),
        (["LABEL_0", "LABEL_1", "LABEL_2"], "0", 0),
        (["LABEL_0", "LABEL_1", "LABEL_2"], 2, 2),
        (["1", "0"], "0", 1),
    ],
)
def test_the_class_is_known_by_its_name(
    labels: list[str], asked: str | int | None, index: int
) -> None:
    assert label_of(labels, asked) == index


@pytest.mark.parametrize(
    "labels",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["true", "false"],
        ["entailment", "supported"],
        ["neutral", "contradiction", "not_entailment"],
    ],
)
def test_a_class_that_nothing_tells_is_asked_for(labels: list[str]) -> None:
    with pytest.raises(ConfigError, match=f"0 {labels[0]}, 1 {labels[1]}") as caught:
        label_of(labels)
    assert caught.value.remedy
    assert "--label 0" in caught.value.remedy
    assert "facts_label" in caught.value.remedy


@pytest.mark.parametrize("asked", ["maybe", "2", -1, ""])
def test_a_class_that_there_is_not_is_refused(asked: str | int) -> None:
    with pytest.raises(ConfigError, match="has no class") as caught:
        label_of(["no", "yes"], asked)
    assert caught.value.remedy == "Its classes are 0 no, 1 yes."
