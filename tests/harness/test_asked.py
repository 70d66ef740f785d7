"""Metrics that `--metadata` switches on, in tasks about tables."""

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

TASK = "logicnlg_mini"


def evaluate(task: str = TASK, **metadata: Any) -> dict[str, Any]:  # noqa: ANN401
    return simple_evaluate(  # type: ignore[no-any-return]
        model="dummy",
        tasks=[task],
        task_manager=task_files.manager({}, **metadata),
        limit=3,
        log_samples=True,
    )


def test_programs_are_searched_for_and_logged() -> None:
    found = evaluate(sp_ranker="lexical")
    scores = found["results"][TASK]
    assert scores["sp_acc,none"] == 0  # what the dummy writes means nothing
    signature = found["configs"][TASK]["metadata"]["spor"]["sp"]
    assert "ranker:lexical" in signature
    assert {"sp_program", "sp_verdict", "sp_search"} <= found["samples"][TASK][0]["doc"].keys()


def test_a_classifier_judges_tables(tmp_path: Path) -> None:
    folder = save_tapex(tmp_path / "tapex")
    scores = evaluate(nli_model=str(folder), nli_label=1)
    assert 0 <= scores["results"][TASK]["nli_acc,none"] <= 100
    assert "nli" in scores["configs"][TASK]["metadata"]["spor"]


def test_a_checkpoint_rates_texts(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "bert", labels=("LABEL_0",))
    found = evaluate("totto_mini", bleurt_model=str(folder))
    scores = found["results"]["totto_mini"]
    assert {"bleurt,none", "totto_parent,none"} <= scores.keys()
    assert "bleurt" in found["configs"]["totto_mini"]["metadata"]["spor"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"sp_variant": "corrected"},
        {"sp_ranker": "lexical", "sp_speed": 3},
        {"sp_ranker": "lexical", "sp_variant": "better"},
        {"nli_label": 1},
        {"nli_model": "no/such"},
    ],
)
def test_settings_that_say_nothing_are_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        evaluate(**metadata)
    assert error.value.remedy


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


def test_what_cannot_be_resampled_has_no_standard_error() -> None:
    listed = [each["metric"] for each in adapt.metric_list(["dist_3", "totto_bleu"])]
    assert listed == ["dist_3", "totto_bleu", "totto_bleu_stderr"]
    words = (1.0, 1.0, 7.0)
    assert adapt.as_listed({"dist_3": words}, ["dist_3"]) == {"dist_3": words}


def test_a_task_that_does_not_report_a_metric_is_not_judged_by_it() -> None:
    manager = task_files.manager({}, sp_ranker="lexical")
    task = manager.load("logicnlg_mini_ppl")["tasks"]["logicnlg_mini_ppl"]
    assert "sp" not in task.config.metadata["spor"]
