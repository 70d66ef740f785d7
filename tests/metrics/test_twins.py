"""A metric of samples and their twins says of each side what it says of that alone."""

from dataclasses import replace

import pytest

from spor_tasks.core.contracts import Gap, of_twin
from spor_tasks.core.sample import Hidden, Orders, Sample, Triple, sides
from spor_tasks.harness import adapt
from spor_tasks.metrics.base import judge_all, metric, score_info, with_groups
from spor_tasks.metrics.totals import Value
from tests.support.twinning import backward

TOLD = Sample(
    "a",
    "webnlg",
    (Triple("Ann_Moss", "leader of", "Grey_Harbour"), Triple("Ann_Moss", "birth place", "Selby")),
    ("Ann Moss leads Grey Harbour and was born in Selby.",),
)
ORDERED = replace(TOLD, challenge=Orders(((0, 1), (1, 0)), ((0, 1),)))
HIDING = Sample(
    "b",
    "webnlg",
    (Triple("Entity 1", "leader of", "Grey_Harbour"),),
    (),
    challenge=Hidden((("Ann Moss", "Entity 1"),)),
)
BOTH = {
    "parent": (TOLD, ["Ann Moss leads Grey Harbour.", "Nna Ssom leads Ruobrahx."]),
    "parent_full_table": (TOLD, ["Ann Moss leads Grey Harbour.", ""]),
    "chrf": (TOLD, ["Ann Moss leads.", "Ann Moss leads."]),
    "coverage": (TOLD, ["Ann Moss leads Grey Harbour, Selby.", "Nothing."]),
    "empty": (TOLD, ["", "Words."]),
    "cwio": (TOLD, [TOLD.references[0], "Selby."]),
    "order": (
        ORDERED,
        ["Ann Moss, Grey Harbour, Selby.", "Selby.", *backward(TOLD).references * 2],
    ),
    "copy_rule": (HIDING, ["Entity 1 leads Grey Harbour.", "Ann Moss leads."]),
}


@pytest.mark.parametrize("name", BOTH)
def test_each_side_scores_as_it_would_alone(name: str) -> None:
    alone, (sample, outputs) = metric(name), BOTH[name]
    asked = replace(sample, twin=backward(sample))
    assert sides(asked) == (sample, backward(sample))
    (of_both,) = judge_all(alone, [asked], [outputs], ())
    half = len(outputs) // 2
    halves = (outputs[:half], outputs[half:])
    expected: dict[str, Value] = {}
    for side, texts, end in zip(sides(asked), halves, ("", "_twin"), strict=True):
        (of_side,) = alone.judge([side], [texts])
        expected |= {f"{score}{end}": value for score, value in of_side.values.items()}
        details = {f"{key}{end}": value for key, value in of_side.details.items()}
        assert details.items() <= of_both.details.items()
    assert of_both.values == expected
    ((listed, _),) = adapt.measured(adapt.metrics_for(expected), [*expected], [asked], [outputs])
    assert {score: listed.get(score) for score in expected} == expected


def test_what_is_known_of_a_twins_score_follows_from_the_metrics_own() -> None:
    own, twin = score_info("parent_full_table"), score_info("parent_full_table_twin")
    assert twin in with_groups(metric("parent_full_table").scores, has_twins=True)
    assert (twin.low, twin.high, twin.higher_is_better) == (own.low, own.high, own.higher_is_better)
    assert twin.corrects == of_twin(own.corrects or "")
    gap = score_info(Gap("parent", "parent_twin").name)
    assert gap.label == "PARENT, original − twin"
    assert (gap.low, gap.high) == (-100, 100)

    assert adapt.metrics_for(["parent_twin"]) == adapt.metrics_for(["parent"])
