"""Scores of tasks are those of the metrics, also of those that the metadata switches on."""

import json

import pytest

from spor_tasks.core import named
from spor_tasks.core.codec import sample_of
from spor_tasks.core.contracts import Score
from spor_tasks.core.errors import SporError
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.harness import adapt, host, task_files
from spor_tasks.metrics import learned
from spor_tasks.metrics.scores import metrics_for
from tests.support.classifiers import save_bert, save_classifier, save_tapex
from tests.support.scores import judge, scores_of
from tests.support.scripted import ScriptedLM, evaluate, half_right, load

SPOR = "spor_systematicity_mini"
MAIN, CWIO, ORDERS = (
    f"spor_order_invariance_mini_{part}" for part in ("main", "cwio", "performance")
)
TABLES, CELLS, CODES = "logicnlg_mini", "totto_mini", "compmctg_mini_holdout"
SPECS = {spec.task: spec for spec in named.available()}


def classifiers(folder):
    for attribute, values in SPACE.aspects.items():
        save_bert(folder / attribute, values)
    return str(folder)


def check(found, task, *metrics):
    """Compare the scores of a task with those of its metrics, and of more; return them."""
    rows = found["samples"][task]
    samples = [sample_of(row["doc"]) for row in rows]
    outputs = [tuple(row["filtered_resps"]) for row in rows]
    reported, compared = found["results"][task], {}
    for metric in (*metrics_for(SPECS[task].judging.scores), *metrics):
        assert f"{metric.scores[0].name},none" in reported
        for score in scores_of(metric, metric.judge(samples, outputs), samples):
            if f"{score.name},none" in reported:
                compared[score.name] = reported[f"{score.name},none"]
                assert compared[score.name] == pytest.approx(score.value, nan_ok=True)
    return compared


@pytest.fixture(scope="module")
def result():
    return evaluate(ScriptedLM(half_right), "spor_mini")


@pytest.mark.parametrize("task", [SPOR, ORDERS, MAIN, CWIO, "spor_rule_learnability_mini"])
def test_scores_are_those_of_the_metrics(result, task):
    scores = check(result, task)
    assert 10 < scores.pop("empty") < 60
    assert any(5 < abs(value) < 95 for value in scores.values())


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        (SPOR, lambda folder: {"facts_model": str(save_classifier(folder)), "facts_batch_size": 7}),
        (ORDERS, lambda folder: {"facts_model": str(save_classifier(folder))}),
        (TABLES, lambda _: {"sp_ranker": "lexical"}),
        (TABLES, lambda folder: {"nli_model": str(save_tapex(folder)), "nli_label": 1}),
        (CELLS, lambda folder: {"bleurt_model": str(save_bert(folder, ["LABEL_0"]))}),
        (CODES, lambda folder: {"aspects_classifiers": classifiers(folder)}),
    ],
)
def test_a_metric_is_added_and_changes_no_other(task, settings, tmp_path):
    metadata = settings(tmp_path)
    limit = 2 if "sp_ranker" in metadata else 8  # a search for programs takes a second
    model, manager = ScriptedLM(half_right), task_files.manager
    found = evaluate(model, task, manager=manager(None, **metadata), limit=limit)
    without = evaluate(model, task, manager=manager(None), limit=limit)
    ((prefix, metric),) = learned.requested(metadata, SPECS[task]).items()
    check(found, task, metric)
    results, rows = found["results"][task], found["samples"][task]
    assert {f"{metric.scores[0].name}{end},none" for end in ("", "_stderr")} <= results.keys()
    assert found["configs"][task]["metadata"]["spor"]["judges"][prefix] == metric.signature
    assert prefix not in without["configs"][task]["metadata"]["spor"]["judges"]
    old = without["results"][task]
    assert {key: results[key] for key in old} == pytest.approx(old, nan_ok=True)
    for row, other in zip(rows, without["samples"][task], strict=True):
        assert host.IS_NEW or row["doc_hash"] == other["doc_hash"]  # 0.5 takes it after scoring
        assert {key: row["doc"].get(key) for key in other["doc"].keys() - {*metric.logged}} == {
            key: value for key, value in other["doc"].items() if key not in metric.logged
        }
        details = judge(metric, sample_of(row["doc"]), *row["filtered_resps"]).details
        for key in details.keys() & {*metric.logged}:
            assert json.dumps(details[key]) == json.dumps(row["doc"][key])


@pytest.mark.parametrize("name", ["logicnlg_mini_ppl", "spor_rule_learnability_mini"])
def test_a_metric_that_a_task_does_not_report_is_not_added(name):
    assert "sp" not in load(name, sp_ranker="lexical").dump_config()["metadata"]["spor"]["judges"]


@pytest.mark.parametrize(
    ("task", "metadata", "fault", "remedy"),
    [
        (SPOR, {"fewshot_arm": "atoms"}, "fewshot_arm=atoms", "Use atom or combination."),
        (f"{SPOR}_icl_atom", {"fewshot_arm": "atoms"}, "=atoms", "Use atom or combination."),
        (SPOR, {"test_sha256": "0" * 64}, "0" * 64, "spor-tasks"),
        (SPOR, {"benchmark": "sporr"}, "sporr", "spor"),
        (SPOR, {"split": 1}, "split=1", "Leave the setting out."),
        (SPOR, {"held_out_reference": "no"}, "held_out_reference=no", "=true or"),
        (TABLES, {"sp_variant": "corrected"}, "sp_ranker", "."),
        (TABLES, {"sp_ranker": "lexical", "sp_speed": 3}, "sp_speed", "."),
        (TABLES, {"sp_ranker": "lexical", "sp_variant": "better"}, "sp_variant", "."),
        (TABLES, {"nli_label": 1}, "nli_model", "."),
        (TABLES, {"nli_model": "no/such"}, "no/such", "."),
        (SPOR, {"facts_label": "entailment"}, "facts_model", "."),
        (SPOR, {"facts_model": "somewhere", "facts_lable": "entailment"}, "facts_lable", "."),
        (SPOR, {"facts_model": 3}, "facts_model", "."),
        (SPOR, {"version": "\ud800"}, "does not name sets", "."),
        (SPOR, {"own_corpus": {"path": "towns.jsonl"}}, "`file`", "."),
        (SPOR, {"own_corpus": {"file": 1, "version": ""}}, "file", "."),
    ],
)
def test_bad_metadata_fails(task, metadata, fault, remedy):
    with pytest.raises(SporError, match=fault) as caught:
        load(task, **metadata)
    assert remedy in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("limit", "evenly", "numbers"),
    [
        (4, True, (0, 67, 135, 203)),
        (3, True, (0, 90, 180)),
        (4, False, (0, 1, 2, 3)),
        (500, True, range(271)),
    ],
)
def test_a_limit_takes_the_first_samples_or_evenly_spaced_ones(limit, evenly, numbers):
    manager = task_files.manager({"limit_evenly": evenly})
    found = evaluate(ScriptedLM(half_right), MAIN, manager=manager, limit=limit)
    samples = named.load("order_invariance", "mini", part="main").test
    assert len(samples) == 271
    logged = [row["doc"]["id"] for row in found["samples"][MAIN]]
    assert logged == [samples[number].id for number in numbers]
    assert found["n-samples"][MAIN] == {"original": 271, "effective": len(numbers)}


def test_scores_without_resampling_have_no_standard_error():
    listed = [each["metric"] for each in adapt.metric_list([Score("dist_3"), Score("totto_bleu")])]
    assert listed == ["dist_3", "totto_bleu", "totto_bleu_stderr"]
    words = (1.0, 1.0, 7.0)
    assert adapt.as_listed({"dist_3": words}, [Score("dist_3")]) == {"dist_3": words}
