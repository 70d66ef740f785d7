"""Metrics that the metadata of an evaluation switches on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Json, Sample
from spor_tasks.harness import adapt, task_files
from spor_tasks.metrics import learned
from tests.support.aspects import save_gpt2
from tests.support.classifiers import save_bert, save_tapex
from tests.support.tasks import load

SPOR, TABLES, CELLS = "spor_systematicity_mini", "logicnlg_mini", "totto_mini"


@pytest.mark.parametrize(
    ("task", "settings", "score", "logged"),
    [
        (
            TABLES,
            lambda _: {"sp_ranker": "lexical"},
            "sp_acc",
            {"sp_program", "sp_verdict", "sp_search"},
        ),
        (
            TABLES,
            lambda folder: {"nli_model": str(save_tapex(folder / "tapex")), "nli_label": 1},
            "nli_acc",
            set(),
        ),
        (
            CELLS,
            lambda folder: {"bleurt_model": str(save_bert(folder / "bert", ["LABEL_0"]))},
            "bleurt",
            set(),
        ),
    ],
)
def test_a_metric_is_switched_on(
    task: str,
    settings: Callable[[Path], Mapping[str, Any]],
    score: str,
    logged: set[str],
    tmp_path: Path,
) -> None:
    found = simple_evaluate(
        model="dummy",
        tasks=[task],
        task_manager=task_files.manager({}, **settings(tmp_path)),
        limit=3,
        log_samples=True,
    )
    assert f"{score},none" in found["results"][task]
    (setting, *_) = settings(tmp_path)
    assert setting.partition("_")[0] in found["configs"][task]["metadata"]["spor"]
    assert logged <= found["samples"][task][0]["doc"].keys()


@pytest.mark.parametrize(
    ("task", "metadata", "named"),
    [
        (TABLES, {"sp_variant": "corrected"}, "sp_ranker"),
        (TABLES, {"sp_ranker": "lexical", "sp_speed": 3}, "sp_speed"),
        (TABLES, {"sp_ranker": "lexical", "sp_variant": "better"}, "sp_variant"),
        (TABLES, {"nli_label": 1}, "nli_model"),
        (TABLES, {"nli_model": "no/such"}, "no/such"),
        (SPOR, {"facts_label": "entailment"}, "facts_model"),
        (SPOR, {"facts_model": "somewhere", "facts_lable": "entailment"}, "facts_lable"),
        (SPOR, {"facts_model": 3}, "facts_model"),
    ],
)
def test_bad_settings_of_metrics_are_refused(
    task: str, metadata: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=named) as caught:
        load(task, **metadata)
    assert caught.value.remedy


def test_classifiers_and_a_language_model_judge_generated_texts(tmp_path: Path) -> None:
    spec = registry().get("benchmark", "compmctg").sets()[2]
    for aspect in ("sentiment", "tense"):
        save_bert(tmp_path / "classifiers" / aspect)
    models = {
        "aspects_classifiers": str(tmp_path / "classifiers"),
        "aspects_device": "cpu",
        "ppl_model": str(save_gpt2(tmp_path / "gpt2", 0)),
        "ppl_batch_size": 2,
    }
    found = learned.requested(models, spec)
    assert [*found] == ["aspects", "ppl"]
    units = (AttributeValue("sentiment", "Positive"), AttributeValue("tense", "Past"))
    context: dict[str, Json] = {"prefix": "The book", "unseen": True}
    samples = [Sample(str(number), "yelp", units, (), context) for number in range(3)]
    texts = [(" was one of the best that we had ever read",), (" was",), ("",)]
    accuracies, perplexities = (
        [values for values, _ in adapt.measured([each], scores, samples, texts)]
        for each in found.values()
        for scores in [adapt.scores_of(each, spec)]
    )
    assert accuracies[0].keys() >= {"mctg_acc", "mctg_acc_comp", "mctg_gap", "mctg_gap_stderr"}
    assert accuracies[2]["mctg_acc"] == 0
    assert [row["mctg_ppl_comp"] is not None for row in perplexities] == [True, False, False]


def test_scores_without_resampling_have_no_standard_error() -> None:
    listed = [each["metric"] for each in adapt.metric_list(["dist_3", "totto_bleu"])]
    assert listed == ["dist_3", "totto_bleu", "totto_bleu_stderr"]
    words = (1.0, 1.0, 7.0)
    assert adapt.as_listed({"dist_3": words}, ["dist_3"]) == {"dist_3": words}


def test_a_metric_that_a_task_does_not_report_is_not_switched_on() -> None:
    assert "sp" not in load("logicnlg_mini_ppl", sp_ranker="lexical").config.metadata["spor"]
