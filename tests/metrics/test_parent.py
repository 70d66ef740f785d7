"""PARENT on samples small enough to score by hand, and against the published evaluation."""

import pytest

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics import parent
from spor_tasks.metrics.base import Judgement
from spor_tasks.metrics.parent import PARENT, Parent, ParentEvidence
from tests.support.scores import scores_of


def measure(of: Sample, output: str, metric: Parent = PARENT) -> ParentEvidence:
    details = metric.judge_one(of, output).details
    suffix = "_full_table" if metric.full_table else ""
    return ParentEvidence(*(details[f"{side}{suffix}"] for side in ParentEvidence._fields))


def sample(*references: str, units: tuple[DataUnit, ...] = ()) -> Sample:
    return Sample("0" * 16, "letters", units, references)


ANN = Triple("Ann", "friend", "Bob")


def test_the_reference_itself_with_a_table_it_covers_is_perfect() -> None:
    evidence = measure(sample("Ann is friends with Bob.", units=(ANN,)), "ann is friends with bob")
    assert evidence == ParentEvidence(1.0, 1.0, 2 / (2 + 1e-8))


def test_precision_counts_what_the_reference_or_the_table_supports() -> None:
    # Unigrams: ann and bob by the table, "met" by the reference, "once" by neither. Bigrams:
    # "ann met" by the reference, "met bob" and "bob once" half by the table. Trigrams: 2/3, 1/3.
    pair = sample("Ann met Jo", units=(ANN,))
    evidence = measure(pair, "Ann met Bob once", Parent(max_order=3))
    assert evidence.precision == pytest.approx((3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3))


@pytest.mark.parametrize("output", ["", " ", "...?", "nothing right"])
def test_an_output_without_a_right_word_scores_zero(output: str) -> None:
    measured = measure(sample("Ann met Bob", units=(ANN,)), output)
    assert (measured.precision, measured.f) == (0, 0)
    assert measured.recall == pytest.approx(1e-5)


DROPPED = (
    Triple("Ann", "birth date", "May"),
    Triple("Ann", "country", "Chile"),
    Triple("Ann", "nationality", "Chilean"),
    Triple("Ann", "house", "12345"),
)


@pytest.mark.parametrize("unit", DROPPED)
def test_the_published_table_leaves_out_dates_countries_and_years(unit: Triple) -> None:
    pair = sample("Ann met Bob", units=(ANN, unit))
    kept = sample("Ann met Bob", units=(ANN,))
    assert measure(pair, "Ann met Bob") == measure(kept, "Ann met Bob")
    assert measure(pair, "Ann met Bob", Parent(full_table=True)).recall < 1


@pytest.mark.parametrize(
    "unit", [Triple("2001", "founder", "123 456"), AttributeValue("date country", "2001")]
)
def test_the_published_table_keeps_other_units(unit: DataUnit) -> None:
    both = [
        measure(sample("Ann", units=(ANN, unit)), "Ann", Parent(full_table=full))
        for full in (True, False)
    ]
    assert both[0] == both[1] != measure(sample("Ann", units=(ANN,)), "Ann")


def test_the_table_is_in_display_form_and_the_texts_are_not() -> None:
    unit = Triple('"Ann_Lee"', "friend", "Bob")
    pair = sample("Ann Lee met Bob", units=(unit,))
    assert measure(pair, "Ann Lee, Bob", Parent(weight=1)).recall == 1
    assert measure(pair, "Ann_Lee, Bob", Parent(weight=1)).recall == pytest.approx(1 / 3)


def test_a_value_without_a_word_is_no_part_of_the_table() -> None:
    blank = AttributeValue("rating", "?!")
    assert measure(sample("Ann", units=(ANN, blank)), "Ann") == measure(
        sample("Ann", units=(ANN,)), "Ann"
    )


def test_references_are_counted_once_for_many_outputs() -> None:
    parent._prepare.cache_clear()
    for output in ("Ann", "Bob", "Ann"):
        measure(sample("Ann met Bob", units=(ANN,)), output)
    measure(sample("Ann met Bob", units=(ANN,)), "Ann", Parent(weight=0.1))
    assert parent._prepare.cache_info().misses == 1


def test_a_sample_without_references_is_refused() -> None:
    with pytest.raises(CorpusError, match="needs a reference"):
        measure(sample(units=(ANN,)), "Ann")


def test_the_score_is_the_mean_f_in_percent_with_both_its_sides() -> None:
    scores = scores_of(
        PARENT,
        [
            Judgement({"parent": 50, "parent_precision": 100, "parent_recall": 50}, {}),
            Judgement({"parent": 25, "parent_precision": 0, "parent_recall": 25}, {}),
        ],
    )
    assert [(score.name, score.value, score.n, score.unscored) for score in scores] == [
        ("parent", 37.5, 2, 0),
        ("parent_precision", 50, 2, 0),
        ("parent_recall", 37.5, 2, 0),
    ]
    assert {score.signature for score in scores} == {Parent().signature}
    assert tuple(info.name for info in Parent(full_table=True).scores) == (
        "parent_full_table",
        "parent_full_table_precision",
        "parent_full_table_recall",
    )


def test_the_signature_holds_every_setting() -> None:
    assert Parent().signature == (
        f"parent|lambda:0.5|order:4|tok:nltk3.9-punkt-en|table:published|v:{__version__}"
    )
    other = Parent(weight=0.25, max_order=2, full_table=True)
    assert other.signature == (
        f"parent_full_table|lambda:0.25|order:2|tok:nltk3.9-punkt-en|table:full|v:{__version__}"
    )
