"""PARENT on samples small enough to score by hand, and against the published evaluation."""

import math
from dataclasses import asdict
from pathlib import Path

import pytest

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics import parent
from spor_tasks.metrics.base import scores_of
from spor_tasks.metrics.parent import Parent, ParentEvidence


def sample(*references: str, units: tuple[DataUnit, ...] = ()) -> Sample:
    return Sample("0" * 16, "letters", units, references)


ANN = Triple("Ann", "friend", "Bob")


def test_the_reference_itself_with_a_table_it_covers_is_perfect() -> None:
    evidence = Parent().judge(
        sample("Ann is friends with Bob.", units=(ANN,)), "ann is friends with bob"
    )
    assert evidence == ParentEvidence(1.0, 1.0, 2 / (2 + 1e-8))


def test_precision_counts_what_the_reference_or_the_table_supports() -> None:
    # Unigrams: ann and bob by the table, "met" by the reference, "once" by neither. Bigrams:
    # "ann met" by the reference, "met bob" and "bob once" half by the table. Trigrams: 2/3, 1/3.
    evidence = Parent(max_order=3).judge(sample("Ann met Jo", units=(ANN,)), "Ann met Bob once")
    assert evidence.precision == pytest.approx((3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3))


def test_an_ngram_written_more_often_than_in_the_reference_is_right_in_proportion() -> None:
    evidence = Parent(max_order=1).judge(sample("so it went", units=(ANN,)), "so so so so")
    assert evidence.precision == pytest.approx(1 / 4)


def test_recall_weights_the_references_ngrams_by_the_table() -> None:
    # Of the entailed unigrams ann, bob and bob, ann and one bob are found; "met" weighs nothing.
    measured = Parent(weight=0, max_order=1).judge(
        sample("Ann met Bob, Bob!", units=(ANN,)), "Bob, Ann"
    )
    assert measured.recall == pytest.approx(2 / 3)


def test_table_recall_is_the_mean_share_of_each_value_in_its_order() -> None:
    units = (ANN, AttributeValue("area", "by the old mill"))
    measured = Parent(weight=1).judge(sample("x", units=units), "Bob by mill old")
    assert measured.recall == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_recall_is_a_geometric_mean_with_the_tables_share_as_exponent() -> None:
    pair = sample("Ann met Bob", units=(Triple("Ann", "friend", "Bob Jones III"),))
    by_reference = Parent(weight=0).judge(pair, "Bob met Jo").recall
    by_table = Parent(weight=1).judge(pair, "Bob met Jo").recall
    assert by_reference != by_table == 1 / 4
    assert Parent().judge(pair, "Bob met Jo").recall == pytest.approx(math.sqrt(by_reference / 4))
    assert Parent(weight=0.2).judge(pair, "Bob met Jo").recall == pytest.approx(
        by_reference**0.8 * by_table**0.2
    )


def test_an_order_without_a_hit_counts_a_hundred_thousandth() -> None:
    measured = Parent(weight=0).judge(sample("Ann met Bob", units=(ANN,)), "Bob Ann")
    # The output has no trigram, and the reference none of order 4 to ask for.
    assert measured.precision == pytest.approx((1 * 1 * 1e-5 * 1e-5) ** (1 / 4))
    assert measured.recall == pytest.approx((1 * 1e-5 * 1e-5 * 1) ** (1 / 4))


@pytest.mark.parametrize("output", ["", " ", "...?", "nothing right"])
def test_an_output_without_a_right_word_scores_zero(output: str) -> None:
    measured = Parent().judge(sample("Ann met Bob", units=(ANN,)), output)
    assert (measured.precision, measured.f) == (0, 0)
    assert measured.recall == pytest.approx(1e-5)


def test_a_reference_that_the_table_does_not_support_asks_for_nothing() -> None:
    measured = Parent().judge(sample("Jo left", units=(ANN,)), "")
    assert measured.recall == pytest.approx(math.sqrt(1 * 1e-5))


def test_over_references_each_number_is_the_largest() -> None:
    references = ("Ann met Bob yesterday", "Bob")
    measured = Parent().judge(sample(*references, units=(ANN,)), "Ann met Jo yesterday")
    alone = [
        Parent().judge(sample(text, units=(ANN,)), "Ann met Jo yesterday") for text in references
    ]
    assert alone[0].precision > alone[1].precision
    assert asdict(measured) == {
        part: max(getattr(evidence, part) for evidence in alone)
        for part in ("precision", "recall", "f")
    }


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
    assert Parent().judge(pair, "Ann met Bob") == Parent().judge(kept, "Ann met Bob")
    assert Parent(full_table=True).judge(pair, "Ann met Bob").recall < 1


@pytest.mark.parametrize(
    "unit", [Triple("2001", "founder", "123 456"), AttributeValue("date country", "2001")]
)
def test_the_published_table_keeps_other_units(unit: DataUnit) -> None:
    both = [
        Parent(full_table=full).judge(sample("Ann", units=(ANN, unit)), "Ann")
        for full in (True, False)
    ]
    assert both[0] == both[1] != Parent().judge(sample("Ann", units=(ANN,)), "Ann")


def test_the_table_is_in_display_form_and_the_texts_are_not() -> None:
    unit = Triple('"Ann_Lee"', "friend", "Bob")
    pair = sample("Ann Lee met Bob", units=(unit,))
    assert Parent(weight=1).judge(pair, "Ann Lee, Bob").recall == 1
    assert Parent(weight=1).judge(pair, "Ann_Lee, Bob").recall == pytest.approx(1 / 3)


def test_a_value_without_a_word_is_no_part_of_the_table() -> None:
    blank = AttributeValue("rating", "?!")
    assert Parent().judge(sample("Ann", units=(ANN, blank)), "Ann") == Parent().judge(
        sample("Ann", units=(ANN,)), "Ann"
    )


def test_references_are_counted_once_for_many_outputs() -> None:
    parent._prepare.cache_clear()
    for output in ("Ann", "Bob", "Ann"):
        Parent().judge(sample("Ann met Bob", units=(ANN,)), output)
    Parent(weight=0.1).judge(sample("Ann met Bob", units=(ANN,)), "Ann")
    assert parent._prepare.cache_info().misses == 1


def test_a_sample_without_references_is_refused() -> None:
    with pytest.raises(CorpusError, match="needs a reference"):
        Parent().judge(sample(units=(ANN,)), "Ann")


@pytest.mark.parametrize("settings", [{"weight": -0.1}, {"weight": 1.1}, {"weight": math.nan}])
def test_a_weight_is_a_proportion(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="λ"):
        Parent(**settings)  # type: ignore[arg-type]


def test_there_is_no_ngram_of_order_zero() -> None:
    with pytest.raises(ConfigError, match="n-grams"):
        Parent(max_order=0)


def test_the_score_is_the_mean_f_in_percent_with_both_its_sides() -> None:
    scores = scores_of(Parent(), [ParentEvidence(1, 0.5, 0.5), ParentEvidence(0, 0.25, 0.25)])
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


@pytest.mark.real_data
@pytest.mark.parametrize(("corpus", "rows"), [("webnlg", 545), ("e2e", 205)])
def test_outputs_score_as_published(golden_dir: Path, corpus: str, rows: int) -> None:
    golden = [row for _, row in read_rows(golden_dir / f"parent_{corpus}.jsonl.gz")]
    assert len(golden) == rows
    unit = Triple if corpus == "webnlg" else AttributeValue
    for row in golden:
        pair = sample(*row["texts"], units=tuple(unit(*parts) for parts in row["data"]))
        expected = {part: row[part] for part in ("precision", "recall", "f")}
        measured = asdict(Parent().judge(pair, row["output"]))
        assert measured == pytest.approx(expected, rel=0, abs=1e-9)
