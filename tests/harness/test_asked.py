"""Metrics that `--metadata` switches on, in tasks about tables."""

from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import task_files
from tests.support.classifiers import save_bert

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
    found = evaluate(sp_ranker="lexical", sp_variant="corrected", sp_seconds=5)
    scores = found["results"][TASK]
    assert scores["sp_acc,none"] == 0  # what the dummy writes means nothing
    signature = found["configs"][TASK]["metadata"]["spor"]["sp"]
    assert "ranker:lexical" in signature
    assert "corrected" in signature
    assert {"sp_program", "sp_verdict", "sp_search"} <= found["samples"][TASK][0]["doc"].keys()


def test_a_classifier_judges_tables(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "bert")
    scores = evaluate(nli_model=str(folder), nli_format="table_bert", nli_label=1)
    assert 0 <= scores["results"][TASK]["nli_acc,none"] <= 100
    assert "nli_probability,none" in scores["results"][TASK]
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
        {"nli_model": "no/such", "nli_format": "tapas"},
    ],
)
def test_settings_that_say_nothing_are_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        evaluate(**metadata)
    assert error.value.remedy


def test_a_task_that_does_not_report_a_metric_is_not_judged_by_it() -> None:
    manager = task_files.manager({}, sp_ranker="lexical")
    task = manager.load("logicnlg_mini_ppl")["tasks"]["logicnlg_mini_ppl"]
    assert "sp" not in task.config.metadata["spor"]
