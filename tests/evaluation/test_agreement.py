"""Agreement with people: numbers that can be worked out by hand, and what rows must be like."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.evaluation import agreement
from spor_tasks.evaluation.agreement import Agreement, Correlation
from spor_tasks.evaluation.judged import MEASURES, Judged, Measure, measure_of, read_judged
from spor_tasks.metrics.base import Texts
from spor_tasks.metrics.correlation import williams
from spor_tasks.metrics.coverage import Coverage, Located
from spor_tasks.metrics.parent import PARENT, PARENT_FULL_TABLE

UNITS = [["Greyport", "harbour", "Old_Basin"], ["Greyport", "sea", "Cold_Sound"]]
TEXT = "Greyport, with the Old Basin, is on the Cold Sound."


def judged(**fields: object) -> dict[str, Any]:
    """A row; what the tests do not look at is filled in."""
    row = {"input": 0, "system": "a", "data": UNITS, "texts": [TEXT], "output": TEXT}
    return {**row, "judgements": {"good": 1}, **fields}


def theirs(
    scores: Sequence[float | None],
    good: Sequence[float | None],
    systems: str = "",
    inputs: str = "",
) -> list[dict[str, Any]]:
    """Rows that bring the scores of a metric; every row is of its own input if none are named."""
    return [
        judged(
            input=inputs[number] if inputs else number,
            system=systems[number] if systems else "a",
            scores={"theirs": score},
            judgements={"good": judgement},
        )
        for number, (score, judgement) in enumerate(zip(scores, good, strict=True))
    ]


def write(folder: Path, rows: Sequence[Mapping[str, Any]], name: str = "judged") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def agree(folder: Path, rows: Sequence[Mapping[str, Any]], metric: str = "theirs") -> Agreement:
    (found,) = agreement.agreements(
        read_judged([write(folder, rows)], metrics=[metric]), resamples=50
    )
    return found


def values(row: Correlation) -> tuple[float, float, float]:
    return row.pearson.value, row.spearman.value, row.kendall.value


# --- Correlations ---------------------------------------------------------------------------------


def test_correlations_over_texts_are_those_worked_out_by_hand(tmp_path: Path) -> None:
    found = agree(tmp_path, theirs([1, 2, 3, 4], [2, 1, 4, 3]))
    (row,) = found.correlations
    assert (row.over, row.metric) == ("texts", "theirs")
    assert values(row) == pytest.approx((0.6, 0.6, 1 / 3))
    assert (found.texts, found.inputs, found.systems, found.left_out) == (4, 4, 1, 0)


def test_over_systems_it_is_their_means_that_correlate(tmp_path: Path) -> None:
    scores, good = [0, 2, 1, 5, 4, 6], [3, 5, 0, 0, 7, 9]  # means 1, 3, 5 and 4, 0, 8
    rows = theirs(scores, good, systems="aabbcc", inputs="010101")
    texts, systems = agree(tmp_path, rows).correlations
    assert (texts.over, systems.over) == ("texts", "systems")
    assert values(systems) == pytest.approx((0.5, 0.5, 1 / 3))


def test_a_judgement_that_is_higher_for_worse_texts_has_its_sign(tmp_path: Path) -> None:
    (row,) = agree(tmp_path, theirs([1, 2, 3], [9, 8, 7])).correlations
    assert values(row) == pytest.approx((-1, -1, -1))


@pytest.mark.parametrize(
    ("scores", "good"), [([0.1, 0.1, 0.1], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1])]
)
def test_what_does_not_vary_correlates_with_nothing(
    tmp_path: Path, scores: list[float], good: list[float]
) -> None:
    (row,) = agree(tmp_path, theirs(scores, good)).correlations
    for estimate in (row.pearson, row.spearman, row.kendall):
        assert np.isnan(estimate).all()


def test_fewer_than_three_systems_have_no_correlation(tmp_path: Path) -> None:
    rows = theirs([1, 2, 3, 4], [1, 2, 3, 4], systems="aabb", inputs="0101")
    found = agree(tmp_path, rows)
    assert [row.over for row in found.correlations] == ["texts"]
    assert found.systems == 2


def test_fewer_than_three_texts_have_no_correlation(tmp_path: Path) -> None:
    found = agree(tmp_path, theirs([1, 2, None], [1, 2, 3]))
    assert (found.texts, found.left_out, found.correlations) == (2, 1, ())


# --- Intervals ------------------------------------------------------------------------------------


def test_outputs_for_one_input_are_drawn_together(tmp_path: Path) -> None:
    """So a second system that writes the same adds nothing to what is known."""
    scores, good = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    (alone,) = agree(tmp_path, theirs(scores, good, inputs="012345")).correlations
    both = theirs(scores * 2, good * 2, inputs="012345" * 2, systems="a" * 6 + "b" * 6)
    (twice,) = agree(tmp_path, both).correlations
    assert np.ravel(twice[2:]) == pytest.approx(np.ravel(alone[2:]))
    assert alone.pearson.low < alone.pearson.value < alone.pearson.high


def test_one_input_drawn_again_is_the_same_and_says_nothing(tmp_path: Path) -> None:
    rows = theirs([1, 2, 3, 4], [2, 1, 4, 3], inputs="0000", systems="abcd")
    for row in agree(tmp_path, rows).correlations:
        assert row.pearson.value == pytest.approx(0.6)
        assert math.isnan(row.pearson.low)


def test_the_seed_decides_the_resamples(tmp_path: Path) -> None:
    rows = theirs(range(9), [2, 1, 4, 3, 5, 8, 7, 9, 0])
    tables = read_judged([write(tmp_path, rows)], metrics=["theirs"])
    first, again, other = (
        agreement.agreements(tables, resamples=200, seed=seed)[0].correlations[0]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.pearson.value == other.pearson.value
    assert first.pearson != other.pearson


# --- Williams' test -------------------------------------------------------------------------------


def test_williams_test_is_that_of_textbooks() -> None:
    """Howell, Statistical Methods for Psychology, 6th edition, page 262; Steiger, 1980."""
    t, p = williams(0.80, 0.72, 0.89, 26)
    assert (round(t, 3), round(p, 3)) == (1.361, 0.187)
    t, p = williams(0.4, 0.5, 0.1, 103)
    assert (round(t, 2), round(p, 2)) == (-0.89, 0.37)


def test_williams_test_finds_nothing_where_there_is_nothing_at_the_rate_that_it_says() -> None:
    rng = np.random.default_rng(3)
    ps = []
    for _ in range(2000):
        judgement = rng.standard_normal(20)
        one, other = judgement + rng.standard_normal((2, 20)) + rng.standard_normal(20)
        r = np.corrcoef([judgement, one, other])
        ps.append(williams(r[0, 1], r[0, 2], r[1, 2], 20)[1])
    assert np.mean(np.array(ps) < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(ps) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    "given", [(0.5, 0.4, 0.1, 3), (0.5, 0.5, 1.0, 30), (math.nan, 0.5, 0.1, 30), (0.5, -0.5, -1, 9)]
)
def test_metrics_that_say_the_same_and_too_few_systems_are_not_tested(
    given: tuple[float, float, float, int],
) -> None:
    assert np.isnan(williams(*given)).all()


def test_every_pair_of_metrics_is_tested_on_both_levels(tmp_path: Path) -> None:
    columns = np.random.default_rng(0).integers(0, 9, (3, 20)) + np.arange(20) / 4
    rows = [
        judged(
            input=number % 5,
            system="abcd"[number // 5],
            scores={"x": x, "y": y, "minus x": -x},
            judgements={"good": good},
        )
        for number, (x, y, good) in enumerate(columns.T)
    ]
    tables = read_judged([write(tmp_path, rows)], metrics=["x", "y", "minus x"])
    (found,) = agreement.agreements(tables, resamples=50)
    tests = {(row.over, row.metric, row.other): row for row in found.differences}
    assert list(tests) == [
        (over, *pair)
        for over in ("texts", "systems")
        for pair in (("x", "y"), ("x", "minus x"), ("y", "minus x"))
    ]
    for over, numbers in (("texts", columns), ("systems", columns.reshape(3, 4, 5).mean(axis=2))):
        r = np.asarray(np.corrcoef(numbers))
        row = tests[over, "x", "y"]
        assert row.difference.value == pytest.approx(r[0, 2] - r[1, 2])
        assert row.difference.low < row.difference.value < row.difference.high
        expected = williams(r[0, 2], r[1, 2], r[0, 1], numbers.shape[1])
        assert (row.t, row.p) == pytest.approx(expected, rel=1e-5)
        assert math.isnan(tests[over, "x", "minus x"].p)


def test_the_strongest_metric_is_so_whatever_its_sign(tmp_path: Path) -> None:
    rows = theirs([4, 3, 2, 1], [1, 2, 3, 5])
    for number, row in zip((1, 0, 3, 2), rows, strict=True):
        row["scores"]["weaker"] = number
    (found,) = agreement.agreements(
        read_judged([write(tmp_path, rows)], metrics=["theirs", "weaker"]), resamples=1
    )
    assert (found.strongest("texts"), found.strongest("systems")) == ("theirs", None)


# --- What is measured -----------------------------------------------------------------------------


def test_every_metric_is_measured_of_first_lines_and_those_of_references_where_there_are_any(
    tmp_path: Path,
) -> None:
    rows = [
        judged(input=0, output=f"\n{TEXT}\nMore of it."),
        judged(input=1, output="Greyport is on the Cold Sound."),
    ]
    (table,) = read_judged([write(tmp_path, rows)])
    assert list(table.scores) == [
        *(info.name for info in (*PARENT.scores, *PARENT_FULL_TABLE.scores)),
        *("chrf", "bleu", "coverage", "fidelity"),
    ]
    for column in table.scores.values():
        assert column[0] == pytest.approx(100)
        assert column[1] < 100
    assert list(table.scores["coverage"]) == [100, 50]
    assert list(table.scores["fidelity"]) == [100, 0]


def test_without_references_the_metrics_that_need_none_are_left(tmp_path: Path) -> None:
    row = judged(name="The Gull", data=[["food", "Basque"], ["area", "quayside"]])
    del row["texts"]
    (table,) = read_judged([write(tmp_path, [{**row, "output": "Basque food."}])])
    assert {name: list(column) for name, column in table.scores.items()} == {
        "coverage": [50],
        "fidelity": [0],
    }


def test_values_of_pairs_are_located_strictly_for_fidelity_alone(tmp_path: Path) -> None:
    row = judged(name="The Gull", data=[["price range", "less than £20"]], output="£20 at least")
    (table,) = read_judged([write(tmp_path, [row])])
    assert (table.scores["coverage"][0], table.scores["fidelity"][0]) == (100, 0)


def test_only_the_metrics_that_are_asked_for_are_measured(tmp_path: Path) -> None:
    def fail(*_: object) -> list[dict[str, float]]:
        pytest.fail("was measured")

    measures = (Measure(("slow",), fail), *MEASURES)
    (table,) = read_judged([write(tmp_path, [judged()])], metrics=["coverage"], measures=measures)
    assert list(table.scores) == ["coverage"]


def test_a_metric_that_judges_many_outputs_at_once_is_asked_for_many(tmp_path: Path) -> None:
    asked = []

    class Halves(Coverage):
        def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Located]:
            asked.append(len(outputs))
            return [(number, None) for number, _ in enumerate(samples)]

    rows = [judged(input=number) for number in range(300)]
    measures = [measure_of(Halves())]
    (table,) = read_judged([write(tmp_path, rows)], measures=measures)
    assert asked == [256, 44]
    assert list(table.scores["coverage"]) == [50] * 300


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    rows = [judged(input=number, judgements={"a": 1, "b": 2}) for number in range(3)]
    tables = read_judged(
        [write(tmp_path, rows)],
        metrics=["coverage", "fidelity"],
        progress=lambda *step: steps.append(step),
    )
    assert steps == [(3, 6), (6, 6)]
    agreement.agreements(tables, resamples=1, progress=lambda *step: steps.append(step))
    assert steps[2:] == [(1, 2), (2, 2)]


# --- What rows lack, and what is wrong with them --------------------------------------------------


def test_rows_without_the_judgement_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = theirs([1, 2, 3, 4, 99], [2, 1, 4, 3, None])
    rows.append(judged(input="more", scores={"theirs": 50}, judgements={"other": 3}))
    path = write(tmp_path, rows)
    found = agreement.agreements(read_judged([path], metrics=["theirs"]), resamples=10)
    assert [(each.judgement, each.texts, each.left_out) for each in found] == [
        ("good", 4, 2),
        ("other", 1, 5),
    ]
    assert values(found[0].correlations[0]) == pytest.approx((0.6, 0.6, 1 / 3))


def test_metrics_are_compared_on_the_rows_that_all_have_a_score_of(tmp_path: Path) -> None:
    rows = theirs([1, 2, 3, 4, None], [2, 1, 4, 3, 9])
    for number, row in enumerate(rows):
        row["scores"]["more"] = number
    (found,) = agreement.agreements(
        read_judged([write(tmp_path, rows)], metrics=["theirs", "more"]), resamples=10
    )
    assert (found.texts, found.left_out) == (4, 1)
    assert [values(row) for row in found.correlations] == [pytest.approx((0.6, 0.6, 1 / 3))] * 2


def test_files_stand_apart_and_one_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    one = write(tmp_path, theirs([1, 2, 3], [1, 2, 3]), "one")
    other = write(tmp_path, theirs([1, 2, 3], [3, 2, 1]), "other")
    tables: Sequence[Judged] = read_judged([one, other, one], metrics=["theirs"])
    found = agreement.agreements(tables, resamples=10)
    assert [each.file for each in found] == [one, other]
    assert [each.correlations[0].pearson.value for each in found] == pytest.approx([1, -1])


def test_rows_that_come_twice_are_an_error_that_names_both(tmp_path: Path) -> None:
    path = write(tmp_path, [judged(), judged(system="b"), judged(output="Another text.")])
    with pytest.raises(CorpusError, match="second output of 'a' for input 0") as caught:
        read_judged([path])
    assert caught.value.where == f"{path}:3"
    assert f"{path}:1" in caught.value.what


def lacking(field: str) -> dict[str, Any]:
    return {name: value for name, value in judged().items() if name != field}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (lacking("input"), "`input` must be an integer or a string, not None"),
        (judged(input=True), "`input` must be an integer or a string, not True"),
        (judged(input=[1]), r"`input` must be an integer or a string, not \[1\]"),
        (lacking("system"), "has no `system`"),
        (judged(system=3), "`system` is int, not text"),
        (lacking("output"), "has no `output`"),
        (lacking("data"), "`data` must be a non-empty list"),
        (judged(data=[["food", "Basque"]]), "must have 3 strings, not 2"),
        (judged(texts=[]), "`texts` must be a non-empty list"),
        (lacking("judgements"), "`judgements` must be an object"),
        (judged(judgements=[1]), "`judgements` must be an object"),
        (judged(judgements={"good": "3"}), "`good` in `judgements` must be a number or null"),
        (judged(judgements={"good": True}), "`good` in `judgements` must be a number or null"),
        (judged(judgements={"good": math.nan}), "`good` in `judgements` must be a number or null"),
        (judged(judgements={"good": 10**400}), "`good` in `judgements` must be a number or null"),
        (judged(scores=None), "`scores` must be an object"),
        (judged(scores={"bleurt": math.inf}), "`bleurt` in `scores` must be a number or null"),
        (judged(scores={"bleu": 0.5}), "`scores` has 'bleu', which is measured here"),
    ],
)
def test_a_row_that_is_not_as_it_must_be_is_named_by_its_line(
    tmp_path: Path, row: dict[str, Any], fault: str
) -> None:
    path = write(tmp_path, [judged(input="before"), row])
    with pytest.raises(CorpusError, match=fault) as caught:
        read_judged([path])
    assert caught.value.where == f"{path}:2"


def test_a_file_without_a_row_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="has no rows"):
        read_judged([write(tmp_path, [])])


def test_a_file_without_a_judgement_is_an_error(tmp_path: Path) -> None:
    rows = [judged(input=number, judgements={"good": None}) for number in range(2)]
    with pytest.raises(CorpusError, match="has no judgements"):
        read_judged([write(tmp_path, rows)])


def test_what_there_is_not_is_said_with_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path, [judged(scores={"bleurt": 1})])
    with pytest.raises(ConfigError, match="there is no metric 'bert'") as caught:
        read_judged([path], metrics=["parent", "bert"])
    assert caught.value.remedy is not None
    assert "coverage, fidelity, bleurt" in caught.value.remedy
    with pytest.raises(ConfigError, match="there is no judgement 'bad'") as caught:
        agreement.agreements(read_judged([path]), judgements=["good", "bad"])
    assert caught.value.remedy == "Use one of good."
