"""CompMCTG's task files: which there are, that they are current, and what they ask."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate

from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.evaluation.hf import SporHF
from spor_tasks.harness import generate, task_files
from spor_tasks.metrics.base import score_infos

SPLITS = {
    ("fyelp", "holdout"): 40,
    ("fyelp", "acd"): 10,
    ("fyelp", "fewshot"): 2,
    ("amazon", "holdout"): 12,
    ("amazon", "fewshot"): 10,
    ("yelp", "holdout"): 8,
    ("yelp", "acd"): 10,
    ("yelp", "fewshot"): 4,
    ("mixture", "holdout"): 8,
    ("mixture", "fewshot"): 8,
    ("mini", "holdout"): 12,
    ("mini", "acd"): 3,
    ("mini", "fewshot"): 3,
}


def test_these_are_the_tasks_and_groups() -> None:
    groups = {f"compmctg_{corpus}_{of}": number for (corpus, of), number in SPLITS.items()}
    splits = {f"{name}_{i}" for name, number in groups.items() for i in range(number)}
    originals = {f"compmctg_{corpus}_original" for corpus, _ in SPLITS}
    tasks = {*splits, *originals}
    found = {
        file.name: file.kind for file in task_files.files() if file.name.startswith("compmctg")
    }
    texts = {f"compmctg_{corpus}_discrimination" for corpus, _ in SPLITS}
    named = {*groups, "compmctg_original"}
    assert {name for name, kind in found.items() if kind == "group"} == {
        *named,
        *texts,
        *(f"{name}_discrimination" for name in named),
    }
    shown = {f"{name}_icl_train" for name in tasks}
    asked = {re.sub(r"(_\d+|)$", r"_discrimination\1", name, count=1) for name in tasks}
    assert {name for name, kind in found.items() if kind == "task"} == tasks | shown | asked


def test_files_are_current() -> None:
    some = {"compmctg_yelp_acd_3", "compmctg_fyelp_holdout_39", "compmctg_amazon_original"}
    some |= {"compmctg_yelp_acd_discrimination_3", "compmctg_mini_acd_discrimination_1"}
    specs = [
        spec
        for spec in COMPMCTG.sets()
        if re.match(r"compmctg_mini_[^_]+(_\d+)?$", spec.task) or spec.task in some
    ]
    for name, text in (*generate.contents(COMPMCTG, specs), *generate.group_files(COMPMCTG)):
        assert (task_files.FOLDER / name).read_text("utf-8") == text, name


def test_every_score_is_registered() -> None:
    for spec in COMPMCTG.sets():
        assert {*spec.scores, *spec.reported, *spec.breakdown, spec.headline} <= {*score_infos()}


def samples(model: object, name: str, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    manager = task_files.manager({"prompt_style": "causal"})
    result = simple_evaluate(
        model=model, tasks=[name], task_manager=manager, log_samples=True, **more
    )
    found: list[dict[str, Any]] = result["samples"][name]
    return sorted(found, key=lambda sample: sample["doc_id"])


def test_a_text_is_drawn_after_its_codes_and_beginning(checkpoint: Callable[..., Path]) -> None:
    def texts(size: int, **more: Any) -> list[str]:  # noqa: ANN401
        model = SporHF(pretrained=str(checkpoint("gpt2")), device="cpu", batch_size=size)
        found = samples(model, "compmctg_mini_acd_0", limit=6, **more)
        for each in found:
            prefix = json.loads(each["doc"]["context"])["prefix"]
            assert each["arguments"][0][0].endswith(prefix)
        return [each["filtered_resps"][0] for each in found]

    found = texts(1)
    assert found == texts(4)
    assert found != texts(4, gen_kwargs="sampling_seed=2")


def test_demonstrations_are_of_the_combination_or_of_others() -> None:
    found = samples("dummy", "compmctg_mini_acd_0_icl_train", limit=24)
    for each in found:
        prompt, doc = each["arguments"][0][0], each["doc"]
        codes = "".join(f" {value}" for _, value in json.loads(doc["units"]))
        is_unseen = json.loads(doc["context"])["unseen"]
        assert prompt.count(f"<|endoftext|>{codes}") == (1 if is_unseen else 6)
        assert doc["said"] == dict.fromkeys(doc["said"], "none")  # what the oracle finds
        assert [*doc["said"]] == ["sentiment", "tense", "topic"]
        assert len(each["dist_3"]) == 2  # counts, and no words


def test_instructions_say_the_task_once_before_demonstrations() -> None:
    manager = task_files.manager({"prompt_style": "instruction"})
    name = "compmctg_mini_acd_0_icl_train"
    result = simple_evaluate(
        model="dummy", tasks=[name], task_manager=manager, log_samples=True, limit=2
    )
    prompt = result["samples"][name][0]["arguments"][0][0]
    lines = prompt.splitlines()
    assert prompt.count("Task: ") == 1
    assert prompt.startswith("Task: ")
    assert lines[2:-2:2] == [line for line in lines if line.startswith("Input: sentiment-")][:-1]
    assert len(lines) == 2 + 2 * 6
    assert lines[-1].startswith("Output: ")


@pytest.mark.parametrize("split", ["compmctg_mini_holdout_0", "compmctg_mini_original"])
def test_scores_are_of_both_halves_where_there_are_two(split: str) -> None:
    manager = task_files.manager({})
    result = simple_evaluate(model="dummy", tasks=[split], task_manager=manager, limit=24)
    halves = {name for name in result["results"][split] if name.endswith("_comp,none")}
    assert bool(halves) == ("holdout" in split)
