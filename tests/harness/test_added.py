"""Metrics that a user adds to a task: their scores, their record, and reports of them."""

from dataclasses import replace

import pytest

from spor_tasks.cli.evaluate import _parse
from spor_tasks.core import named
from spor_tasks.core.contracts import Gap, Score
from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import added, host, task_files
from spor_tasks.harness.added import names_in, with_metrics
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.groups import TWINS
from spor_tasks.metrics.scores import metric
from spor_tasks.models.baselines import BASELINES
from spor_tasks.report.collect import collect
from spor_tasks.report.document import plain_text
from spor_tasks.report.floors import with_floors
from spor_tasks.report.tables import document
from tests.harness.test_metadata import CELLS, CODES, MAIN, SPOR, TABLES, check
from tests.harness.test_twins import twinned
from tests.support.classifiers import save_classifier
from tests.support.scripted import ScriptedLM, evaluate, half_right, load


@pytest.mark.parametrize(
    ("task", "names"),
    [
        (SPOR, ("bleu", "chrf++", "ter", "cwio")),
        (TABLES, ("ter", "sp_acc")),
        (CELLS, ("chrf++", "totto")),
        (CODES, ("distinct", "mini_attributes")),  # which it has
    ],
)
def test_a_task_has_the_scores_of_added_metrics_beside_its_own(task, names):
    def found_with(**metadata):
        manager = task_files.manager(metadata)
        return evaluate(ScriptedLM(half_right), task, manager=manager, limit=4)

    found, without = found_with(metrics=",".join(names)), found_with()
    check(found, task, *map(metric, names))
    results, old = found["results"][task], without["results"][task]
    assert {key: results[key] for key in old} == pytest.approx(old, nan_ok=True)
    declared = found["configs"][task]["metadata"]["spor"]["declared"]
    own = without["configs"][task]["metadata"]["spor"]["declared"]
    for name in names:
        for info in metric(name).scores:
            expected = None if info.name in own["scores"] else metric(name).signature
            assert declared["scores"][info.name]["added"] == expected
    assert all(each["added"] is None for each in own["scores"].values())


def test_a_metric_by_a_model_is_added_with_its_model(tmp_path):
    settings = {"metrics": ["facts"], "facts_model": str(save_classifier(tmp_path))}
    manager = task_files.manager(settings)
    found = evaluate(ScriptedLM(half_right), SPOR, manager=manager, limit=2)
    assert "facts,none" in found["results"][SPOR]


def test_twins_have_added_scores_too_and_a_gap():
    pair = twinned(named.load("systematicity", "mini"))
    spec = named.find("systematicity", "mini")
    spec = replace(spec, judging=replace(spec.judging, outputs=2))
    judging = with_metrics(spec, ["bleu", "chrf"], pair, {}).judging
    bleu, twin = Score("bleu"), Score("bleu", TWINS)
    assert {bleu, twin} <= {*judging.scores} & {*judging.reported}
    assert Gap(bleu, twin) in judging.gaps
    assert {bleu, twin} <= {*judging.added}
    assert Score("chrf") not in judging.added


@pytest.mark.parametrize(
    ("task", "names", "fault"),
    [
        (SPOR, "bleeu", "there is no metric 'bleeu'"),
        (SPOR, "facts", "facts needs a model"),
        (SPOR, "order", "reads 2 of 1 outputs"),
        (MAIN, "bleu", "reads 1 of 2 outputs"),
        (CODES, "chrf++", "has no reference"),
        (SPOR, "copy_rule", "lack what it looks at"),
        (SPOR, "slot_errors", "not known"),
        (CELLS, "parent", "is about facts, and the units are cells"),
        (TABLES, "perplexity", "judges likelihoods"),
        ("logicnlg_mini_ppl", "bleu", "judges texts"),
        ("spor_rule_learnability_mini", "bleu", "has no reference"),
        *(
            (SPOR, names, "does not name metrics")
            for names in ("", "bleu,,ter", ["bleu", 3], 3, [])
        ),
    ],
)
def test_a_metric_that_cannot_judge_a_task_is_refused_before_a_model_is_loaded(task, names, fault):
    with pytest.raises(ConfigError, match=fault) as caught:
        load(task, metrics=names)
    assert caught.value.where == "metadata"
    assert caught.value.remedy


class _Broken(Metric):
    """A metric of another package, with a fault."""

    scores = (ScoreInfo("broken", "Broken"),)
    signature = "broken|v:1"

    def __init__(self, result):
        self.judge = lambda *_: result()


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (lambda: None, "TypeError"),
        (list, "StopIteration|ValueError"),
        (lambda: ["text"], "AttributeError"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: [Judgement({"broken": "high"}, {})], "another kind of score"),
        (lambda: [Judgement({"broken": (1, 2)}, {})], "another kind of score"),
    ],
)
def test_a_metric_with_a_fault_is_refused_before_a_model_is_loaded(result, fault, monkeypatch):
    monkeypatch.setattr(added, "metric", lambda _: _Broken(result))
    pair = named.load("systematicity", "mini")
    with pytest.raises(ConfigError, match=f"broken does not fit .*({fault})"):
        with_metrics(named.find("systematicity", "mini"), ["broken"], pair, {})


def test_several_names_are_one_setting_on_the_command_line():
    given = (
        ["metrics=bleu,chrf++,ter"],
        ["limit_evenly=true,metrics=bleu,chrf++,ter,split=0"],
        ["split=0", "metrics=bleu,chrf++,ter"],
        ['metrics="bleu,chrf++,ter"'],
        ["metrics=['bleu','chrf++','ter']"],
        ['{"metrics": ["bleu", "chrf++", "ter"]}'],
    )
    for written in given[-1:] if host.IS_NEW else given:  # 0.5 takes JSON alone
        _, options = _parse(["--tasks", SPOR, "--metadata", *written])
        assert names_in(options.metadata["metrics"]) == ("bleu", "chrf++", "ter")
    assert names_in("bleu, bleu ,ter") == ("bleu", "ter")


def test_results_with_and_without_an_added_score_are_of_one_system(tmp_path):
    name = next(name for name, each in BASELINES.items() if each.looks_at == "training")
    evaluator = Evaluator("spor-baseline")

    def evaluated(arm, folder, **metadata):
        model = {"model": f"baseline:{name}", "baseline_arm": arm}
        evaluator.evaluate([model], [SPOR], tmp_path / folder, metadata=metadata, limit=8)

    evaluated("atom", "both/1", metrics="bleu")
    evaluated("combination", "both/2", metrics="bleu")
    evaluated("combination", "one")
    both = collect([tmp_path / "both"])
    rows = {row.metric: row for row in both.rows}
    assert rows["bleu"].difference.interval
    assert not both.problems[1:]
    mixed = collect([tmp_path / "both" / "1", tmp_path / "one"])
    rows = {row.metric: row for row in mixed.rows}
    assert {row.model for row in rows.values()} == {f"baseline:{name}"}
    assert rows["chrf"].difference
    assert not rows["bleu"].difference
    assert "no bleu in results" in plain_text(document(mixed))


def test_a_whole_shipped_test_has_floors_of_an_added_score(tmp_path):
    model = {"model": "baseline:units-joined", "baseline_arm": "atom"}
    evaluator = Evaluator("spor-baseline")
    evaluator.evaluate([model], [SPOR], tmp_path / "own")
    evaluator.evaluate([model], [SPOR], tmp_path / "both", metadata={"metrics": "bleu"})

    def floors(folder):
        rows = with_floors(collect([folder])).floors
        return {(row.model, row.metric): row.as_is.mean for row in rows}

    own, both = floors(tmp_path / "own"), floors(tmp_path / "both")
    added = {key: value for key, value in both.items() if key[1] == "bleu"}
    assert both == own | added
    assert [*added] == [(model, "bleu") for model in dict.fromkeys(model for model, _ in own)]
    assert 0 < added["copy-input", "bleu"] < added["reference, held out", "bleu"] < 100


def test_an_added_score_of_two_versions_sets_results_apart(tmp_path):
    evaluator = Evaluator("spor-baseline")
    for folder in ("one", "two"):
        model = {"model": "baseline:copy-input"}
        metadata = {"metrics": "bleu"}
        evaluator.evaluate([model], [SPOR], tmp_path / folder, metadata=metadata, limit=8)
    newer = evaluator.written[1]
    newer.write_text(newer.read_text("utf-8").replace("smooth:exp", "smooth:floor"), "utf-8")
    found = collect([tmp_path])
    stated = {row.signature["scores"] for row in found.rows}
    assert sorted("smooth:floor" in each for each in stated) == [False, True]
