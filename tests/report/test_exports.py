"""Results in the forms of two public leaderboards, and results that may not go there."""

import json
import re

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from jsonschema import Draft7Validator, Draft202012Validator

from spor_tasks import report
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import MANIFEST
from spor_tasks.core.named import benchmark
from spor_tasks.corpora.embedded import LOGICNLG_MINI
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.perplexity import PERPLEXITY
from spor_tasks.metrics.scores import score_info
from spor_tasks.report import ExportSettings
from tests.conftest import REPOSITORY
from tests.support import table_runs
from tests.support.report_runs import TASKS
from tests.support.result_files import distinct, edited
from tests.support.whole_runs import DATE, HARMS, harm, texts_in, write_whole

TASK = "spor_productivity_mini_n4"
DATA = REPOSITORY / "tests" / "data"
ENTRIES = Draft202012Validator(json.loads((DATA / "hub_eval_results.schema.json").read_text()))
RECORD = Draft7Validator(json.loads((DATA / "every_eval_ever" / "eval.schema.json").read_text()))
PLACE = re.compile(r"data/\w+/[\w.-]+/[\w.+-]+/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json")


def exported(folder, out, **settings):
    """Write the files, and return why some scores are in none of them."""
    board = report.write_leaderboard([folder], out, settings=ExportSettings(**settings))
    return tuple(problem for problem in board.problems if problem.kind == "export")


def entries(out):
    """Return the content of each file of a model, after a check of its form."""
    found = {}
    for name, text in texts_in(out / "hub").items():
        if name.endswith(".yaml"):
            content = yaml.safe_load(text)
            ENTRIES.validate(content)
            assert len(parse_eval_result_entries(content)) == 1
            (found[name],) = content
    return found


def records(out):
    """Return all records of Every Eval Ever, after a check of their form."""
    found = []
    for name, text in texts_in(out / "every_eval_ever").items():
        if name != "spor.json":
            assert PLACE.fullmatch(name)
            found.append(json.loads(text, parse_constant=pytest.fail))
            RECORD.validate(found[-1])
    return found


def test_an_entry_is_a_mean_over_seeds_and_each_adapter_has_a_record(tmp_path):
    write_whole(tmp_path / "runs", "base")
    for seed, value in enumerate((40.0, 50.0, 60.0)):
        run = {"arm": "invisible", "seed": seed, "scores": lambda _, value=value: {"parent": value}}
        with edited(write_whole(tmp_path / "runs", str(seed), **run)) as content:
            facts = content["configs"][TASK]["metadata"]["spor"]
            facts["adapter"]["adapter_sha256"] = str(seed) * 64
            content["config"]["adapter_merged"] = True
    source = "https://huggingface.co/datasets/me/runs"
    assert exported(tmp_path / "runs", tmp_path, dataset="me/spor", source=source) == ()
    found = entries(tmp_path)
    files = [f"owner/model/.eval_results/{TASK}_{arm}.yaml" for arm in ("as_is", "invisible")]
    assert list(found) == files
    entry = found[files[1]]
    assert (entry["value"], entry["dataset"]) == (50, {"id": "me/spor", "task_id": TASK})
    assert (entry["date"], entry["source"]["url"]) == ("2026-11-22", source)
    for fact in ("PARENT", "arm invisible", "2, merged;", "seeds 0, 1, 2", "n = 33", "version 2.0"):
        assert fact in entry["notes"]
    adapters = {f"owner/model+invisible-{str(seed) * 8}" for seed in range(3)}
    names = {record["model_info"]["id"] for record in records(tmp_path)}
    assert names == {"owner/model", *adapters}


def test_every_aspect_has_its_headline_and_a_record(tmp_path):
    for number, (aspect, part) in enumerate(TASKS):
        write_whole(tmp_path / "runs", str(number), aspect=aspect, part=part)
    assert exported(tmp_path / "runs", tmp_path) == ()
    titles = {entry["dataset"]["task_id"]: entry["notes"] for entry in entries(tmp_path).values()}
    assert titles["spor_order_invariance_mini_main"].startswith("Faithful ordering PBH of")
    assert titles["spor_rule_learnability_mini"].startswith("Copy rule (1, 0) of")
    assert not any("cwio" in task for task in titles)  # neither more nor less of it is better
    scores = {
        (result["evaluation_name"], result["metric_config"]["metric_id"]): result
        for record in records(tmp_path)
        for result in record["evaluation_results"]
    }
    for row in report.collect([tmp_path / "runs"]).measured:
        found, interval = scores[row.task, f"spor.{row.metric}"], row.as_is.interval
        assert found["score_details"]["score"] == row.as_is.mean
        assert interval
        ends = found["score_details"]["uncertainty"]["confidence_interval"]
        assert (ends["lower"], ends["upper"]) == (interval.low, interval.high)
        lower = found["metric_config"]["lower_is_better"]
        assert lower is (score_info(row.metric).higher_is_better is False)


def test_scores_without_an_upper_end_have_a_record(tmp_path):
    sets = {"benchmark": "logicnlg", "corpus": table_runs.TASK, "protocol": "published"}
    spec = benchmark("logicnlg").find("logicnlg", table_runs.TASK, "published", "ppl")
    samples = LOGICNLG_MINI.part("test")
    values = PERPLEXITY.judge(samples[:1], [(Likelihood(-20.0, 10, 33),)])[0].values
    about = {"task": table_runs.PPL, "aspect": "logicnlg", "part": "ppl", "samples": samples}
    metadata = {**sets, "version": spec.release.version}
    write_whole(tmp_path, "ppl", scores=lambda _: values, metadata=metadata, **about)
    exported(tmp_path, tmp_path / "out")
    (record,) = records(tmp_path / "out")
    ends = [found["metric_config"] for found in record["evaluation_results"]]
    assert {(each["min_score"], each["max_score"]) for each in ends} == {
        (n, "Infinity") for n in (0, 1)
    }


@pytest.mark.parametrize(
    "model", ["..", "/home/me/model", "runs/demo/base", "gpt2", "a/b--c", "a/..", "a\u202eb/c"]
)
def test_a_model_needs_a_name_on_the_hub(tmp_path, spor, model):
    write_whole(tmp_path / "runs", "1", model=model)
    (problem,) = exported(tmp_path / "runs", tmp_path)
    assert "is not a name on the Hub" in problem.what
    assert (entries(tmp_path), records(tmp_path)) == ({}, [])
    assert {path.name for path in tmp_path.iterdir()} >= {"runs", "hub", "every_eval_ever"}
    named = f"--name {model}=Some-One/a.b_c --organization Me"
    spor(f"report {tmp_path}/runs --leaderboard --out {tmp_path} {named}")
    assert list(entries(tmp_path)) == [f"Some-One/a.b_c/.eval_results/{TASK}_as_is.yaml"]
    assert "/home" not in json.dumps([entries(tmp_path), records(tmp_path)])


@pytest.mark.parametrize("how", HARMS)
def test_only_sound_results_on_our_sets_are_exported(tmp_path, how):
    write_whole(tmp_path / "runs", "1", model="owner/good")
    write_whole(tmp_path / "runs", "2", model="baseline:copy-input")
    own = {"samples": [*map(distinct, range(4))], "metadata": {"corpus": "towns"}}
    write_whole(tmp_path / "runs", "3", task="spor_productivity_towns_n4", **own)
    names = {"baseline:copy-input": "owner/copied"}  # it is no model none the less
    assert len(exported(tmp_path / "runs", tmp_path, names=names)) == 2
    harm(write_whole(tmp_path / "runs", "bad", model="owner/bad"), how)
    board = report.write_leaderboard([tmp_path / "runs"], tmp_path)
    assert any("_bad" in str(problem) for problem in board.problems)
    assert list(entries(tmp_path)) == [f"owner/good/.eval_results/{TASK}_as_is.yaml"]
    assert [record["model_info"]["id"] for record in records(tmp_path)] == ["owner/good"]


@pytest.mark.parametrize("listed", [None, 5, ["../../kept", {}, "model", "/kept", "hub/kept"]])
def test_only_files_of_the_former_report_are_removed(tmp_path, listed):
    out = tmp_path / "out"
    for model in ("owner/old", "owner/new"):
        write_whole(tmp_path / model, "1", model=model)
        exported(tmp_path / model, out)
        foreign = {"kept", "hub/kept", "hub/owner/old/kept"}
        for name in foreign:
            (out / name).write_text("mine")
    assert list(entries(out)) == [f"owner/new/.eval_results/{TASK}_as_is.yaml"]
    assert [record["model_info"]["id"] for record in records(out)] == ["owner/new"]
    with edited(out / "hub" / MANIFEST) as manifest:
        manifest["files"] = listed
    exported(tmp_path / "owner/old", out)
    assert {name for name in foreign if (out / name).read_text() == "mine"} == foreign


def test_one_of_several_results_is_not_chosen(tmp_path):
    for name, dtype in (("1", "float16"), ("2", "float32")):
        with edited(write_whole(tmp_path / "runs", name)) as content:
            content["config"]["model_dtype"] = dtype
    (problem,) = exported(tmp_path / "runs", tmp_path)
    assert "several" in problem.what
    assert entries(tmp_path) == {}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_whole(tmp_path / "seeds", name, arm="invisible", seed=seed)
    (problem,) = exported(tmp_path / "seeds", tmp_path)
    assert "seed 0" in problem.what
    files = [write_whole(tmp_path / "some", str(n), arm="invisible", seed=n) for n in range(2)]
    harm(files[1], "no date")
    exported(tmp_path / "some", tmp_path)
    assert entries(tmp_path) == {}


def test_the_same_results_give_the_same_bytes_and_others_another_name(tmp_path):
    texts = []
    for out, date in (("one", DATE), ("two", DATE), ("three", DATE + 1)):
        write_whole(tmp_path / out / "runs", "1", date=date)
        exported(tmp_path / out / "runs", tmp_path / out / "files")
        texts.append(texts_in(tmp_path / out / "files"))
    one, two, three = ({name: text for name, text in each.items() if "/" in name} for each in texts)
    assert one == two
    assert len(one.keys() - three.keys()) == 1


def test_unknown_models_and_folders_of_another_kind_are_errors(tmp_path):
    write_whole(tmp_path / "runs", "1")
    with pytest.raises(ConfigError) as caught:
        exported(tmp_path / "runs", tmp_path / "out", names={"unknown": "a/b"})
    assert caught.value.where == "name"
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError) as caught:
        exported(tmp_path / "runs", tmp_path)
    assert caught.value.where == str(tmp_path / "hub")
    assert texts_in(tmp_path / "hub") == {"mine.txt": "mine"}
