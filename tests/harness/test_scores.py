"""Scores of tasks are those of the metrics, and no sample loses one of its outputs."""

import math
from typing import Any

import pytest

from spor_tasks.core import codec
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.order import Cwio, OrderInvariance
from spor_tasks.metrics.parent import Parent
from tests.support.scores import scores_of
from tests.support.scripted import ScriptedLM, evaluate, half_right

PAIRED = "spor_order_invariance_mini_main"


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return evaluate(ScriptedLM(half_right), "spor_mini")


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("systematicity_mini", (Parent(), Parent(full_table=True))),
        ("order_invariance_mini_performance", (Parent(), Parent(full_table=True))),
        ("order_invariance_mini_main", (OrderInvariance(),)),
        ("order_invariance_mini_cwio", (Cwio(),)),
        ("rule_learnability_mini", (CopyRule(),)),
    ],
)
def test_scores_are_those_of_the_metrics(
    result: dict[str, Any], name: str, metrics: tuple[Metric, ...]
) -> None:
    rows = result["samples"][f"spor_{name}"]
    reported = {
        key.removesuffix(",none"): value
        for key, value in result["results"][f"spor_{name}"].items()
        if key.endswith(",none") and "_stderr" not in key and not math.isnan(value)
    }
    samples = [codec.sample_of(row["doc"]) for row in rows]
    outputs = [tuple(row["filtered_resps"]) for row in rows]
    expected = {
        score.name: score.value
        for metric in metrics
        for score in scores_of(metric, metric.judge(samples, outputs))
    }
    for score in expected.keys() & reported.keys():
        assert reported[score] == pytest.approx(expected[score])
    assert {metric.scores[0].name for metric in metrics} <= reported.keys()
    assert 10 < reported["empty"] < 60
    assert any(5 < abs(value) < 95 for value in expected.values())


def test_a_limit_parts_no_outputs_of_a_sample_and_both_follow_the_same_demonstrations() -> None:
    model = ScriptedLM(half_right)
    rows = evaluate(model, PAIRED, limit=3, num_fewshot=2)["samples"][PAIRED]
    assert [request.doc_id for request in model.requests] == [0, 0, 1, 1, 2, 2]
    assert [len(row["resps"]) for row in rows] == [2, 2, 2]
    contexts = [request.args[0].rsplit("\n\n", maxsplit=1) for request in model.requests]
    shown = [demonstrations for demonstrations, _ in contexts]
    assert shown[0::2] == shown[1::2]
    assert len(set(shown)) == 3
    assert [prompt for _, prompt in contexts] == [
        row["doc"][key] for row in rows for key in ("prompt", "prompt_2")
    ]
