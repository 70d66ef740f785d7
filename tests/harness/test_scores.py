"""What is counted: documents that hold whole samples, and scores that are those of the metrics."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.instance import Instance

from spor_tasks.core import codec
from spor_tasks.core.contracts import SetName
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.harness import adapt
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.order import Cwio, OrderInvariance
from spor_tasks.metrics.parent import Parent
from spor_tasks.prompts.styles import prompted
from spor_tasks.results import runs
from spor_tasks.results.benchmarks import benchmark
from tests.support.scores import scores_of
from tests.support.scripted import ScriptedLM, evaluate, half_right

TOWN = Sample(
    id="1",
    corpus="mini",
    units=(Triple("Old_Mill", "builder", 'A "B" C'), Triple("Old_Mill", "town", "Ebb")),
    references=("Old Mill in Ebb was built by A B C.", "A B C built Old Mill in Ebb."),
    context={"category": "Building"},
)
INN = Sample(
    id="2",
    corpus="e2e",
    units=(AttributeValue("eat type", "pub"),),
    references=("The Gull is a pub.",),
    context={"name": "The Gull"},
)
MILL = replace(TOWN, challenge=Orders(((1, 0), (0, 1)), ((1, 0), (0, 1))))
HIDDEN = Sample(
    id="3",
    corpus="mini",
    units=(Triple("Entity 1", "town", "Ebb"),),
    references=(),
    challenge=Hidden((("Old Mill", "Entity 1"),)),
)


def document(sample: Sample) -> dict[str, Any]:
    """The sample as the harness logs it."""
    logged: dict[str, Any] = json.loads(json.dumps(prompted(sample, "causal")))
    return logged


# --- Documents ------------------------------------------------------------------------------------


def test_a_sample_in_two_orders_has_a_prompt_for_each() -> None:
    both = document(MILL)
    builder, town = (
        "<head> Old Mill <relation> builder <tail> A B C",
        "<head> Old Mill <relation> town <tail> Ebb",
    )
    assert both["prompt"] == f"translate from Triple to Text: {town} {builder} Output:"
    assert both["prompt_2"] == f"translate from Triple to Text: {builder} {town} Output:"


# --- One output -----------------------------------------------------------------------------------


def scored(part: str, sample: Sample, *texts: str) -> dict[str, Any]:
    """What lm-eval logs of the outputs for a sample of this part of order invariance, or aspect."""
    aspect, _, of = part.partition(" ")
    spec = benchmark("spor").find(SetName(aspect, "mini", "strict", of or None))
    metrics = adapt.metrics_for(spec.scores)
    ((values, _),) = adapt.measured(metrics, spec.scores, [sample], [texts])
    return dict(values)


@pytest.mark.parametrize("task", ["spor_systematicity_mini", "spor_order_invariance_mini_main"])
def test_blank_lines_before_a_text_and_more_after_it_change_no_score(task: str) -> None:
    def plain(request: Instance) -> str:
        return str(request.doc["references"][0])

    def wrapped(request: Instance) -> str:
        prefix = ("", "\n", "\n\n ")[request.doc_id % 3]
        return f"{prefix}{plain(request)}\nAnd on it goes."

    expected = evaluate(ScriptedLM(plain), task, limit=20)
    found = evaluate(ScriptedLM(wrapped), task, limit=20)
    assert found["results"] == expected["results"]
    assert found["results"][task]["empty,none"] == 0
    rows = found["samples"][task]
    assert {text.strip() for row in rows for text in row["filtered_resps"]} == {
        text for row in expected["samples"][task] for text in row["filtered_resps"]
    }
    assert all(text.endswith("on it goes.") for row in rows for [text] in row["resps"])


def test_empty_outputs_are_counted() -> None:
    def tell(request: Instance) -> str:
        return "" if int(request.doc["id"], 16) % 2 else "\n ."

    result = evaluate(ScriptedLM(tell), "spor_rule_learnability_mini", limit=20)
    assert result["results"]["spor_rule_learnability_mini"]["empty,none"] == 100
    half = scored("order_invariance main", MILL, TOWN.references[0], " ")
    assert half["empty"] == 50


# --- Many outputs, through lm-eval ----------------------------------------------------------------


def outputs(logged: list[dict[str, Any]]) -> list[tuple[Mapping[str, Any], list[str]]]:
    """Each logged document with its outputs, one or two."""
    return [(row["doc"], row["filtered_resps"]) for row in logged]


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return evaluate(ScriptedLM(half_right), "spor_mini")


def reported(result: dict[str, Any], task: str) -> dict[str, float]:
    return {
        key.removesuffix(",none"): value
        for key, value in result["results"][task].items()
        if key.endswith(",none") and "_stderr" not in key and not math.isnan(value)
    }


def test_all_tasks_of_a_corpus_run_together(result: dict[str, Any]) -> None:
    assert len(result["configs"]) == 7
    for task, samples in result["n-samples"].items():
        assert samples["original"] == samples["effective"] == len(result["samples"][task])


def test_the_result_file_says_all_that_it_takes_to_reproduce_a_number(
    result: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(result, default=str))
    assert len(runs.read(file)) == len(result["configs"])


def test_parent_is_that_of_the_metric(result: dict[str, Any]) -> None:
    for task in ("spor_systematicity_mini", "spor_order_invariance_mini_performance"):
        logged = outputs(result["samples"][task])
        scores = reported(result, task)
        for name, metric in (("parent", Parent()), ("parent_full_table", Parent(full_table=True))):
            samples = [codec.sample_of(doc) for doc, _ in logged]
            judgements = metric.judge(samples, [texts for _, texts in logged])
            expected = {score.name: score.value for score in scores_of(metric, judgements)}
            assert scores[name] == pytest.approx(expected[name])
            assert 5 < scores[name] < 95


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("order_invariance_mini_main", OrderInvariance()),
        ("order_invariance_mini_cwio", Cwio()),
        ("rule_learnability_mini", CopyRule()),
    ],
)
def test_scores_are_those_of_the_metric(result: dict[str, Any], name: str, metric: Metric) -> None:
    logged = outputs(result["samples"][f"spor_{name}"])
    samples = [codec.sample_of(doc) for doc, _ in logged]
    evidence = metric.judge(samples, [tuple(texts) for _, texts in logged])
    expected = {score.name: score.value for score in scores_of(metric, evidence)}
    scores = reported(result, f"spor_{name}")
    assert 10 < scores.pop("empty") < 60
    assert scores == pytest.approx(expected)
    assert any(5 < abs(value) < 95 for value in expected.values())


def test_a_limit_never_parts_the_outputs_of_a_sample() -> None:
    model = ScriptedLM(half_right)
    limited = evaluate(model, "spor_order_invariance_mini_main", limit=3)
    logged = limited["samples"]["spor_order_invariance_mini_main"]
    assert [request.doc_id for request in model.requests] == [0, 0, 1, 1, 2, 2]
    assert [len(row["resps"]) for row in logged] == [2, 2, 2]
    for row in logged:
        prompts = [row["doc"]["prompt"], row["doc"]["prompt_2"]]
        assert [arguments[0] for arguments in row["arguments"]] == prompts


def test_both_orders_are_shown_after_the_same_demonstrations() -> None:
    model = ScriptedLM(half_right)
    evaluate(model, "spor_order_invariance_mini_main", limit=3, num_fewshot=2)
    contexts = [request.args[0].rsplit("\n\n", maxsplit=1) for request in model.requests]
    shown = [demonstrations for demonstrations, _ in contexts]
    assert shown[0::2] == shown[1::2]
    assert len(set(shown)) == 3
    assert len({prompt for _, prompt in contexts}) == 6
