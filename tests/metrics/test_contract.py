"""What holds of every metric alike, on perfect, empty, wrong, repeated and hostile outputs."""

import math
import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest

from spor_tasks import __version__
from spor_tasks.core.sample import AttributeValue, CopySample, OrderSample, Sample, Triple
from spor_tasks.metrics.base import Metric, Score
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.facts import Facts
from spor_tasks.metrics.order import Cwio, OrderInvariance
from spor_tasks.metrics.parent import Parent
from spor_tasks.prompts.styles import prompt
from tests.support.classifiers import WordClassifier


def _told(name: str | None, units: tuple[Any, ...], *references: str) -> OrderSample:
    """Return a sample of which every reference follows the order of the data."""
    given = tuple(range(len(units)))
    return OrderSample(
        id=references[0],
        corpus="invented",
        units=units,
        references=references,
        name=name,
        input_orders=(given, given[::-1]),
        reference_orders=(given,) * len(references),
    )


TOLD = (
    _told(
        None,
        (Triple("Greyport", "harbour", "Old_Basin"), Triple("Greyport", "sea", "Cold_Sound")),
        "Greyport has the Old Basin harbour on the Cold Sound.",
        "Old Basin is the harbour of Greyport, by the Cold Sound.",
    ),
    _told(
        None,
        (
            Triple("Ann_Moss", "birth place", "Northhaven"),
            Triple("Northhaven", "population", "120"),
            Triple("Northhaven", "founder", "Bo_Lind"),
        ),
        "Ann Moss was born in Northhaven, which has 120 people and was founded by Bo Lind.",
    ),
    _told(
        "The Gull",
        (AttributeValue("food", "Basque"), AttributeValue("area", "quayside")),
        "The Gull serves Basque food by the quayside.",
    ),
    _told(
        "The Mole",
        (
            AttributeValue("eat type", "tavern"),
            AttributeValue("family friendly", "yes"),
            AttributeValue("near", "Long Pier"),
        ),
        "The Mole is a tavern, family friendly (yes), near Long Pier.",
    ),
)
HIDING = (
    CopySample(
        id="1",
        corpus="invented",
        units=(Triple("Entity 1", "harbour", "Old_Basin"),),
        references=(),
        hidden=(("Greyport", "Entity 1"),),
    ),
    CopySample(
        id="2",
        corpus="invented",
        units=(AttributeValue("price range", "more than Value A"), AttributeValue("food", "Thai")),
        references=(),
        name="The Mole",
        hidden=(("price range", "more than Value A"),),
    ),
    CopySample(
        id="3",
        corpus="invented",
        units=(Triple("Entity 2", "twin", "Entity 1"),),
        references=(),
        hidden=(("Northhaven", "Entity 2"), ("Eastmoor", "Entity 1")),
    ),
)
COPIES = (
    "Entity 1 has the Old Basin.",
    "The Mole serves Thai food for more than Value A.",
    "Entity 2 is the twin of Entity 1.",
)


class Case(NamedTuple):
    """A metric, samples, their perfect texts, and the score that nothing but these makes full."""

    metric: Metric[Any, Any, Any]
    samples: tuple[Sample, ...]
    texts: tuple[str, ...]
    score: str
    full: float
    outputs: int = 1

    def output(self, text: str) -> Any:  # noqa: ANN401 - one text, or two where the metric is of two
        return (text,) * self.outputs if self.outputs > 1 else text

    def evidence(self, texts: Iterable[str]) -> Iterator[Any]:
        for sample, text in zip(self.samples, texts, strict=True):
            yield self.metric.measure(sample, self.output(text))

    def scores(self, texts: Iterable[str]) -> dict[str, Score]:
        return {score.name: score for score in self.metric.reduce(self.evidence(texts))}


REFERENCES = tuple(sample.references[0] for sample in TOLD)
CASES = {
    "parent": Case(Parent(), TOLD, REFERENCES, "parent", 100.0),
    "parent_full_table": Case(
        Parent(full_table=True), TOLD, REFERENCES, "parent_full_table", 100.0
    ),
    "facts": Case(Facts(WordClassifier()), TOLD, REFERENCES, "facts", 100.0),
    "order": Case(OrderInvariance(), TOLD, REFERENCES, "faithful_ordering_pbh", 100.0, outputs=2),
    "cwio": Case(Cwio(), TOLD, REFERENCES, "cwio_located_share", 100.0),
    "copy_rule": Case(CopyRule(), HIDING, COPIES, "copy_rule_whole_word", 100.0),
}

pytestmark = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def test_what_a_reference_says_scores_in_full(case: Case) -> None:
    score = case.scores(case.texts)[case.score]
    assert score.value == pytest.approx(case.full, abs=1e-5)
    assert (score.n, score.unscored) == (len(case.samples), 0)


def test_saying_nothing_scores_nothing(case: Case) -> None:
    assert case.scores([""] * len(case.samples))[case.score].value == 0


def test_the_texts_of_other_samples_score_less(case: Case) -> None:
    shifted = (*case.texts[1:], case.texts[0])
    assert case.scores(shifted)[case.score].value < case.full / 2


def test_the_order_of_the_samples_changes_no_bit(case: Case) -> None:
    evidence = [*case.evidence(case.texts), *case.evidence([""] * len(case.texts))]
    shuffled = list(evidence)
    random.Random(1).shuffle(shuffled)
    assert shuffled != evidence
    assert repr(case.metric.reduce(shuffled)) == repr(case.metric.reduce(evidence))


def test_samples_that_come_twice_count_twice_and_change_no_mean(case: Case) -> None:
    evidence = [*case.evidence(case.texts), *case.evidence([""] * len(case.texts))]
    for once, twice in zip(
        case.metric.reduce(evidence), case.metric.reduce(evidence * 2), strict=True
    ):
        assert twice.value == pytest.approx(once.value)
        assert (twice.n, twice.unscored) == (2 * once.n, 2 * once.unscored)


def test_an_output_is_measured_alike_whatever_came_before(case: Case) -> None:
    first = list(case.evidence(case.texts))
    list(case.evidence(reversed(case.texts)))
    assert list(case.evidence(case.texts)) == first


def test_every_output_counts_in_every_score_that_there_always_is(case: Case) -> None:
    scores = case.scores(case.texts)
    assert set(case.metric.names) <= scores.keys()
    for name in case.metric.names:
        assert scores[name].n + scores[name].unscored == len(case.samples)


def test_no_outputs_are_no_number(case: Case) -> None:
    scores = case.metric.reduce([])
    assert tuple(score.name for score in scores) == case.metric.names
    assert all(math.isnan(score.value) and score.n == 0 for score in scores)


def test_every_score_is_signed_with_the_version(case: Case) -> None:
    scores = case.scores(case.texts).values()
    assert {score.signature for score in scores} == {case.metric.signature}
    assert case.metric.signature.endswith(f"|v:{__version__}")


LONG = 100_000
HOSTILE = {
    "a reference without end": f"{REFERENCES[1]} ",
    "a copied phrase without end": "Entity 1 more than Value A ",
    "one word": "harbour ",
    "no space": "x",
    "spaces": " ",
    "quotes": "\"'`",
    "sentences": "a. b? c! 1. (d.) ",
    "brackets": "([{<)]}>",
    "control characters": "\0\x01\x08\x1b\x7f\r\v\x85\u2028",
    "lone surrogates": "\ud800 \udfff",
    "right to left": "שלום עולם \u202eمرحبا\u202c ",
    "emoji": "😀👍🏽👨‍👩‍👧 ",
    "letters that grow in lower case": "İ ΑΣ ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hundred_kilobytes_of_anything_are_scored(case: Case, name: str) -> None:
    text = (HOSTILE[name] * (LONG // len(HOSTILE[name]) + 1))[:LONG]
    for score in case.scores([text] * len(case.samples)).values():
        assert score.n + score.unscored > 0
        assert math.isnan(score.value) or -1 <= score.value <= 100


def test_an_output_that_is_the_prompt_is_scored(case: Case) -> None:
    scores = case.scores(prompt(sample, "causal") for sample in case.samples)
    assert 0 < scores[case.score].value <= 100


def test_many_references_are_scored(case: Case) -> None:
    sample = case.samples[0]
    if not isinstance(sample, OrderSample):
        pytest.skip("its samples have no references")
    many = tuple(f"{text} {number}" for number in range(250) for text in sample.references)
    more = _told(None, sample.units, *many, *sample.references)
    alone = case.metric.values(case.metric.measure(sample, case.output(case.texts[0])))
    assert case.metric.values(case.metric.measure(more, case.output(case.texts[0]))) == alone


def test_units_of_empty_texts_are_scored(case: Case) -> None:
    for unit in (Triple("", "", ""), AttributeValue("", "")):
        empty: Sample = _told("", (unit, unit), "", "a text")
        if isinstance(case.samples[0], CopySample):
            attribute = "price range" if isinstance(unit, AttributeValue) else ""
            empty = CopySample.of(empty, [(attribute, "")])
        for text in ("", "a text", "no yes"):
            evidence = case.metric.measure(empty, case.output(text))
            for score in case.metric.reduce([evidence]):
                assert math.isnan(score.value) or -1 <= score.value <= 100
