"""`facts` by a tiny random classifier: against plain transformers, in tasks, in `spor score`."""

import importlib
import json
import logging
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig

from spor_tasks import cli
from spor_tasks.aspects import named
from spor_tasks.core.codec import sample_of, to_row
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_rows, write_rows
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.weights import digest_weights
from spor_tasks.evaluation import checks
from spor_tasks.evaluation.models import Model
from spor_tasks.harness import host, task_files
from spor_tasks.metrics import readers
from spor_tasks.metrics.learned import FACTS, ClassifierInput, Facts
from spor_tasks.report import collect
from spor_tasks.results import runs
from tests.support import scripted
from tests.support.classifiers import save_classifier
from tests.support.scores import answers_of, judge, scores_of
from tests.support.scripted import ScriptedLM, half_right

SYSTEMATICITY = "spor_systematicity_mini"
PERFORMANCE = "spor_order_invariance_mini_performance"
OTHERS = ("spor_order_invariance_mini_main", "spor_rule_learnability_mini")
SAMPLES = named.load("systematicity", "mini").test.samples[:40]
OUTPUTS = [
    "" if number % 9 == 8 else " ".join(sample.references[0].split()[: 3 + number % 20])
    for number, sample in enumerate(SAMPLES)
]
TEXTS = [(output,) for output in OUTPUTS]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("classifier"))


def load(folder: Path, **settings: Any) -> Facts:  # noqa: ANN401
    return readers.facts(str(folder), **{"device": "cpu", **settings})


def plain(folder: Path, pair: ClassifierInput) -> torch.Tensor:
    """The logits of one pair alone, without padding."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits: torch.Tensor = model(**tokenizer(*pair, return_tensors="pt")).logits[0]
    return logits


def pairs() -> list[ClassifierInput]:
    return [
        pair
        for sample, output in zip(SAMPLES[:6], OUTPUTS, strict=False)
        for pair in FACTS.items(sample, output)
    ]


# --- The classifier -------------------------------------------------------------------------------


def test_a_probability_is_that_of_plain_transformers(folder: Path) -> None:
    asked = pairs()
    found = answers_of(load(folder, batch_size=5), asked)
    expected = [torch.softmax(plain(folder, pair), dim=0)[1].item() for pair in asked]
    assert max(expected) - min(expected) > 0.2, "a classifier that says one thing shows nothing"
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_batches_change_no_verdict(folder: Path, batch_size: int) -> None:
    expected = load(folder).judge(SAMPLES, TEXTS)
    told = [likely > 0.5 for each in expected for likely in each.details["told"]]
    assert 0.1 < sum(told) / len(told) < 0.9
    metric = load(folder, batch_size=batch_size)
    assert metric.judge(SAMPLES, TEXTS) == expected
    assert [judge(metric, *pair) for pair in zip(SAMPLES, OUTPUTS, strict=True)] == expected


@pytest.mark.parametrize(
    ("labels", "settings", "asked", "index"),
    [
        (("entailment", "neutral", "contradiction"), {}, {}, 0),
        (("LABEL_0", "LABEL_1", "LABEL_2"), {}, {"label": 2}, 2),
        (("no", "yes"), {}, {"label": "no"}, 0),
    ],
)
def test_a_class_is_judged_among_all(
    tmp_path: Path,
    labels: tuple[str, ...],
    settings: Mapping[str, Any],
    asked: Mapping[str, Any],
    index: int,
) -> None:
    save_classifier(tmp_path, labels, **settings)
    facts = load(tmp_path, **asked)
    (pair, *_) = pairs()
    expected = torch.softmax(plain(tmp_path, pair), dim=0)[index].item()
    assert answers_of(facts, [pair]) == pytest.approx([expected], abs=1e-5)
    assert f"|label:{labels[index]}|" in facts.signature


@pytest.mark.parametrize(
    ("labels", "settings", "index"),
    [
        (("score",), {}, 0),
        (("other", "entailment"), {"problem_type": "multi_label_classification"}, 1),
    ],
)
def test_a_class_by_itself_is_told_where_its_output_is_above_0(
    tmp_path: Path, labels: tuple[str, ...], settings: Mapping[str, Any], index: int
) -> None:
    save_classifier(tmp_path, labels, seed=9, **settings)
    facts = load(tmp_path)
    asked = pairs()
    logits = [plain(tmp_path, pair)[index] for pair in asked]
    assert min(logits) < 0 < max(logits)
    expected = [torch.sigmoid(logit).item() for logit in logits]
    assert answers_of(facts, asked) == pytest.approx(expected, abs=1e-5)


def test_weights_in_half_precision_are_judged_in_full(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    model.half().save_pretrained(tmp_path)
    asked = pairs()
    found = answers_of(load(tmp_path), asked)
    model.float().save_pretrained(tmp_path)
    expected = [torch.softmax(plain(tmp_path, pair), dim=0)[1].item() for pair in asked]
    assert found == pytest.approx(expected, abs=1e-6)
    assert found != answers_of(load(folder), asked)


def test_the_signature_tells_the_weights_wherever_they_lie(folder: Path, tmp_path: Path) -> None:
    copy, other = tmp_path / "here" / folder.name, tmp_path / "there" / folder.name
    shutil.copytree(folder, copy)
    save_classifier(other, seed=1)
    assert load(copy).signature == load(folder).signature != load(other).signature
    weights = digest_weights(folder)[:16]
    assert f"facts|model:{folder.name}|weights:{weights}|label:LABEL_1|" in load(folder).signature


# --- Too long -------------------------------------------------------------------------------------


def test_too_long_a_pair_loses_the_end_of_its_output_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save_classifier(tmp_path, positions=102)
    unit = "ab, cd, ef"
    facts = load(tmp_path)
    without_output = transformers.AutoTokenizer.from_pretrained(tmp_path)("", unit)
    room = 100 - len(without_output["input_ids"])
    fits, cut = (" ".join("x" * room), unit), ("x " * 300 + "y", unit)
    with caplog.at_level(logging.WARNING, logger="spor_tasks.metrics.readers"):
        whole = answers_of(facts, [fits])
        assert caplog.records == []
        assert answers_of(facts, [cut, ("x", unit)])[0] == pytest.approx(whole[0], abs=1e-5)
    assert [record.args for record in caplog.records] == [
        (1, 2, "outputs and units are longer than", 100)
    ]


def test_a_unit_that_is_too_long_by_itself_is_refused(tmp_path: Path) -> None:
    save_classifier(tmp_path, positions=22)
    sample = Sample("1", "mine", (AttributeValue("food", "x " * 30),), ())
    with pytest.raises(CorpusError, match=r"longer than the 20 tokens .*: food, x x x"):
        judge(load(tmp_path), sample, "An output.")


# --- What cannot be loaded ------------------------------------------------------------------------


def not_trained_to_classify(folder: Path) -> None:
    config = transformers.AutoConfig.from_pretrained(folder)
    transformers.ElectraForPreTraining(config).save_pretrained(folder)


def with_pickled_weights(folder: Path) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def with_half_its_weights(folder: Path) -> None:
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])


def unable_to_pad(folder: Path) -> None:
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"pad_token": None}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (not_trained_to_classify, r"lacks the weights classifier\."),
        (with_pickled_weights, "cannot be loaded"),
        (with_half_its_weights, "cannot be loaded"),
        (unable_to_pad, "has no padding or end token"),
    ],
)
def test_a_folder_without_a_sound_classifier_is_refused(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    spoil(tmp_path)
    with pytest.raises(ConfigError, match=message):
        load(tmp_path)


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "spor_tasks.metrics.readers")
    with pytest.raises(ConfigError, match="not installed: torch") as caught:
        importlib.import_module("spor_tasks.metrics.readers")
    assert caught.value.remedy == "Install it with `pip install 'spor-tasks[hf]'`."


# --- In tasks -------------------------------------------------------------------------------------


def run(*names: str, metadata: Mapping[str, Any], **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Evaluate tasks, and return the result as a file has it, with its samples."""
    manager = task_files.manager(None, **metadata)
    limit = {"limit": 30} | settings
    found = scripted.evaluate(ScriptedLM(half_right), *names, manager=manager, **limit)
    written: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return written


def task(**metadata: object) -> Task:
    return task_files.manager(metadata).load(SYSTEMATICITY)["tasks"][SYSTEMATICITY]


@pytest.fixture(scope="module")
def judged(folder: Path) -> dict[str, Any]:
    metadata = {"facts_model": str(folder), "facts_device": "cpu", "facts_batch_size": 7}
    return run(SYSTEMATICITY, PERFORMANCE, *OTHERS, metadata=metadata)


@pytest.fixture(scope="module")
def unjudged() -> dict[str, Any]:
    return run(SYSTEMATICITY, PERFORMANCE, *OTHERS, metadata={})


@pytest.mark.parametrize("name", [SYSTEMATICITY, PERFORMANCE])
def test_tasks_that_score_parent_give_facts_too(
    judged: Mapping[str, Any], folder: Path, name: str
) -> None:
    metric = load(folder)
    rows = judged["samples"][name]
    judgements = [
        judge(metric, sample_of(row["doc"]), row["filtered_resps"][0])  # one by one
        for row in rows
    ]
    assert [tuple(row["doc"]["told"]) for row in rows] == [
        each.details["told"] for each in judgements
    ]
    assert [row["facts"] for row in rows] == [each.values["facts"] for each in judgements]
    (score,) = scores_of(metric, judgements)
    assert judged["results"][name]["facts,none"] == pytest.approx(score.value)
    assert 10 < score.value < 90
    assert judged["results"][name]["facts_stderr,none"] > 0
    assert judged["higher_is_better"][name]["facts"] is True
    assert judged["configs"][name]["metadata"]["spor"]["facts"] == metric.signature


@pytest.mark.parametrize("name", [SYSTEMATICITY, PERFORMANCE, *OTHERS])
def test_nothing_else_changes(
    judged: Mapping[str, Any], unjudged: Mapping[str, Any], name: str
) -> None:
    scores = {
        key: value for key, value in judged["results"][name].items() if not key.startswith("facts")
    }
    assert scores == unjudged["results"][name]
    assert not any("facts" in key for key in unjudged["results"][name])
    assert "facts" not in unjudged["configs"][name]["metadata"]["spor"]
    for one, other in zip(judged["samples"][name], unjudged["samples"][name], strict=True):
        assert host.IS_NEW or one["doc_hash"] == other["doc_hash"]  # 0.5 takes it after scoring
        assert {**other["doc"], "told": one["doc"].get("told")} == {
            "told": None,
            **one["doc"],
        }


def write(folder: Path, found: Mapping[str, Any], name: str) -> None:
    """Write a result with its samples as lm-eval does."""
    content = {key: value for key, value in found.items() if key != "samples"}
    content["config"] |= {"model": name, "model_args": {"pretrained": name}}
    (folder / f"results_{name}.json").write_text(json.dumps(content))
    for of, rows in found["samples"].items():
        logged = [
            row
            | {
                "arguments": {
                    f"gen_args_{number}": {"arg_0": prompt}
                    for number, (prompt, *_) in enumerate(row["arguments"])
                }
            }
            for row in rows
        ]
        write_rows(folder / f"samples_{of}_{name}.jsonl", logged)


def test_the_result_is_one_and_its_report_has_facts_and_tells_classifiers_apart(
    judged: Mapping[str, Any], unjudged: Mapping[str, Any], folder: Path, tmp_path: Path
) -> None:
    write(tmp_path, json.loads(json.dumps(judged)), "one")
    write(tmp_path, json.loads(json.dumps(unjudged)), "two")
    of = {
        (result.task, result.model): result.signature["facts"]
        for result in runs.collect([tmp_path]).runs
    }
    assert f"facts|{of[SYSTEMATICITY, 'one']}" == load(folder).signature
    assert of[SYSTEMATICITY, "two"] == of[OTHERS[0], "one"] == "None"
    report = collect([tmp_path])
    assert [problem for problem in report.problems if problem.lost] == []
    rows = [row for table in report.tables for row in table.rows if row.metric == "facts"]
    assert {(row.model, row.task) for row in rows} == {
        ("one", SYSTEMATICITY),
        ("one", PERFORMANCE),
    }
    for row in rows:
        assert row.as_is.mean == pytest.approx(judged["results"][row.task]["facts,none"])
        assert row.as_is.interval
        assert row.as_is.interval.source == "samples"


def test_a_bad_classifier_is_found_before_a_model_is_loaded(tmp_path: Path) -> None:
    settings = EvaluatorConfig(
        tasks=[SYSTEMATICITY], metadata={"facts_model": str(tmp_path / "nothing")}
    )
    with pytest.raises(ConfigError, match="cannot be loaded"):
        checks.check(settings, [Model({"pretrained": "nowhere"}, "")])


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({"facts_label": "entailment"}, "facts_model"),
        ({"facts_model": "somewhere", "facts_lable": "entailment"}, "facts_lable"),
        ({"facts_model": 3}, "facts_model"),
    ],
)
def test_settings_of_facts_that_mean_nothing_are_refused(
    metadata: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        task(**metadata)
    assert caught.value.remedy


# --- In `spor score` ------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    rows = ({**to_row(s), "output": text} for s, text in zip(SAMPLES, OUTPUTS, strict=True))
    write_rows(path, rows)
    return path


def test_a_file_of_outputs_is_scored(
    file: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "evidence.jsonl"
    arguments = ["score", str(file), "--metric", "facts", "--corpus", "webnlg"]
    own = ["--model", str(folder), "--device", "cpu", "--batch-size", "3", "--label", "0"]
    own += ["--per-sample", str(out), "--json"]
    assert cli.main([*arguments, *own]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    metric = load(folder, label=0)
    judgements = metric.judge(SAMPLES, TEXTS)
    assert score["value"] == pytest.approx(scores_of(metric, judgements)[0].value)
    assert score["signature"].startswith(metric.signature)
    found = [row for _, row in read_rows(out)]
    for key in ("told", "untold"):
        assert [tuple(row[key]) for row in found] == [each.details[key] for each in judgements]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--metric", "facts"], "--model"),
        (["--metric", "facts", "--label", "1"], "needs its model"),
        (["--metric", "facts", "--model", "./nothing"], "./nothing"),
    ],
)
def test_a_command_without_a_classifier_says_what_to_type(
    file: Path, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["score", str(file), "--corpus", "webnlg", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert named in said
