"""A sample and its twin are judged as each would be alone."""

from dataclasses import replace

import pytest

from spor_tasks.core.contracts import Gap, of_twin
from spor_tasks.core.sample import Orders, Sample, Triple, sides
from spor_tasks.harness import adapt
from spor_tasks.metrics.base import judge_all, metric, score_info, with_groups
from spor_tasks.metrics.totals import Value
from tests.support.twinning import backward

SAMPLE = Sample(
    "a",
    "webnlg",
    (Triple("Ann_Moss", "leader of", "Grey_Harbour"), Triple("Ann_Moss", "birth place", "Selby")),
    ("Ann Moss leads Grey Harbour and was born in Selby.",),
    challenge=Orders(((0, 1), (1, 0)), ((0, 1),)),
)
OWN, TWIN = "Ann Moss leads Grey Harbour.", *backward(SAMPLE).references


@pytest.mark.parametrize(
    ("name", "outputs"),
    [("parent", [OWN, TWIN]), ("cwio", [OWN, "Selby."]), ("order", [OWN, "Selby.", TWIN, ""])],
)
def test_each_side_scores_as_it_would_alone(name: str, outputs: list[str]) -> None:
    alone, pair = metric(name), replace(SAMPLE, twin=backward(SAMPLE))
    assert sides(pair) == (SAMPLE, backward(SAMPLE))
    (judgement,) = judge_all(alone, [pair], [outputs], ())
    half = len(outputs) // 2
    expected: dict[str, Value] = {}
    for side, texts, end in zip(
        sides(pair), (outputs[:half], outputs[half:]), ("", "_twin"), strict=True
    ):
        (of_side,) = alone.judge([side], [texts])
        expected |= {f"{score}{end}": value for score, value in of_side.values.items()}
        details = {f"{key}{end}": value for key, value in of_side.details.items()}
        assert details.items() <= judgement.details.items()
    assert judgement.values == expected
    ((listed, _),) = adapt.measured(adapt.metrics_for(expected), [*expected], [pair], [outputs])
    assert {score: listed.get(score) for score in expected} == expected


def test_the_declaration_of_a_twins_score_follows_from_the_metrics_own() -> None:
    own, twin = score_info("parent_full_table"), score_info("parent_full_table_twin")
    assert twin in with_groups(metric("parent_full_table").scores, has_twins=True)
    assert (twin.low, twin.high, twin.higher_is_better) == (own.low, own.high, own.higher_is_better)
    assert twin.corrects == of_twin(own.corrects or "")
    gap = score_info(Gap("parent", "parent_twin").name)
    assert gap.label == "PARENT, original − twin"
    assert (gap.low, gap.high) == (-100, 100)
    assert adapt.metrics_for(["parent_twin"]) == adapt.metrics_for(["parent"])
