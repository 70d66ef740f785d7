"""Tasks that show demonstrations: what reaches a model through lm-eval, and what is kept of it."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import transformers
from lm_eval import simple_evaluate
from lm_eval.api.task import Task

from spor_tasks.aspects import named
from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.run import register_models
from spor_tasks.harness import task_files
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.content import digest
from spor_tasks.prompts.styles import prompt
from tests.support.soak import soak

ATOM = "spor_systematicity_mini_icl_atom"
COMBINATION = "spor_systematicity_mini_icl_combination"
ORDER = "spor_order_invariance_mini_main_icl_match"

Messages = list[dict[str, str]]
choose = cache(demonstrations.choose)


def load(name: str, **metadata: object) -> Task:
    return task_files.manager(metadata).load(name)["tasks"][name]


def evaluate(name: str, folder: Path, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Evaluate three samples of a task and return what lm-eval would write to a file."""
    arguments = {"pretrained": str(folder), **settings.pop("arguments", {})}
    metadata, model = settings.pop("metadata", {}), settings.pop("model", "hf")
    return simple_evaluate(  # type: ignore[no-any-return]
        model=model,
        model_args=arguments,
        tasks=[name],
        task_manager=task_files.manager(arguments, model_type=model, **metadata),
        limit=3,
        device="cpu",
        gen_kwargs={"max_gen_toks": 8},
        **settings,
    )


def facts(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = result["configs"][name]["metadata"]["spor"]
    return found


# --- What a prompt shows --------------------------------------------------------------------------


def test_a_prompt_is_the_demonstrations_of_its_arm_and_then_the_sample() -> None:
    pair = named.load("systematicity", "mini")
    prompted = choose(pair, 8)
    for number, name in enumerate((ATOM, COMBINATION)):
        task = load(name)
        assert [doc["id"] for doc in task.eval_docs] == [shown.sample.id for shown in prompted]
        for doc, shown in zip(task.eval_docs, prompted, strict=True):
            assert [d["id"] for d in doc["demonstrations"]] == [d.id for d in shown.arms[number]]
        context = task.fewshot_context(task.eval_docs[0], num_fewshot=8)
        *before, last = context.split("\n\n")
        assert last == prompt(prompted[0].sample, "causal")
        assert before == [
            prompt(sample, "causal") + sample.references[0] for sample in prompted[0].arms[number]
        ]


def test_both_orders_of_a_sample_follow_the_same_demonstrations() -> None:
    task = load(ORDER)
    doc = task.eval_docs[0]
    first, second = (context.split("\n\n") for context in task.fewshot_context(doc, num_fewshot=8))
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]
    assert len(first) == len(doc["demonstrations"]) + 1 > 1


def test_original_and_match_differ_in_the_order_of_units_alone() -> None:
    original, match = (load(ORDER.replace("match", arm)) for arm in ("original", "match"))
    shown = [
        (one, other)
        for docs in zip(original.eval_docs, match.eval_docs, strict=True)
        for one, other in zip(*(doc["demonstrations"] for doc in docs), strict=True)
    ]
    assert all(one["target"] == other["target"] for one, other in shown)
    assert all(sorted(one["prompt"]) == sorted(other["prompt"]) for one, other in shown)
    assert any(one["prompt"] != other["prompt"] for one, other in shown)


def test_without_demonstrations_there_is_nothing_to_ask() -> None:
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        load(ATOM).set_config("num_fewshot", 0)


def test_the_arm_is_that_of_the_tasks_name() -> None:
    assert load(ATOM, fewshot_arm="combination").config.metadata["spor"]["fewshot_arm"] == "atom"


# --- Chat templates -------------------------------------------------------------------------------


def turns(*, multiturn: bool, style: str) -> tuple[Messages, Task]:
    """Return what a chat template is given for the first document."""
    given: list[Messages] = []

    def template(messages: Messages, **_: object) -> str:
        given.append(messages)
        return ""

    task = load(ATOM, prompt_style=style)
    task.fewshot_context(
        task.eval_docs[0],
        num_fewshot=8,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        chat_template=template,
    )
    (messages,) = given
    return messages, task


@pytest.mark.parametrize("style", ["causal", "instruction"])
def test_each_demonstration_is_a_turn_of_its_own(style: str) -> None:
    messages, task = turns(multiturn=True, style=style)
    doc = task.eval_docs[0]
    demonstrations = [
        {"role": role, "content": demonstration[part]}
        for demonstration in doc["demonstrations"]
        for role, part in (("user", "prompt"), ("assistant", "target"))
    ]
    assert messages == [*demonstrations, {"role": "user", "content": doc["prompt"]}]
    assert len(demonstrations) > 2


def test_all_demonstrations_fit_into_one_turn() -> None:
    ((message,), task) = turns(multiturn=False, style="instruction")
    doc = task.eval_docs[0]
    shown = "".join(f"{d['prompt']} {d['target']}\n\n" for d in doc["demonstrations"])
    assert message == {"role": "user", "content": shown + doc["prompt"]}


@pytest.mark.parametrize("multiturn", [True, False])
def test_a_chat_model_is_evaluated_by_its_template(
    checkpoint: Callable[..., Path], tmp_path: Path, *, multiturn: bool
) -> None:
    template = (
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    folder = chat_model(checkpoint, tmp_path / "chat", template)
    result = evaluate(
        ATOM,
        folder,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        metadata={"prompt_style": "instruction"},
    )
    for row in result["samples"][ATOM]:
        context = row["arguments"][0][0]
        shown = len(row["doc"]["demonstrations"])
        assert context.endswith("\nText:</user><assistant>")
        assert context.count("<user>") == (shown + 1 if multiturn else 1)
        assert context.count("\n- ") >= shown + 1


THINKING = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<no thoughts>{% endif %}"
)


def chat_model(checkpoint: Callable[..., Path], folder: Path, template: str) -> Path:
    transformers.AutoModelForCausalLM.from_pretrained(checkpoint()).save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint())
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("model", ["hf", "spor-hf"])
def test_a_chat_template_is_asked_for_no_reasoning_unless_the_user_wants_it(
    checkpoint: Callable[..., Path], tmp_path: Path, model: str
) -> None:
    register_models()
    folder = chat_model(checkpoint, tmp_path / "chat", THINKING)
    settings = {"apply_chat_template": True, "metadata": {"prompt_style": "instruction"}}
    result = evaluate(ATOM, folder, model=model, **settings)
    contexts = [row["arguments"][0][0] for row in result["samples"][ATOM]]
    assert all(context.endswith("<no thoughts>") for context in contexts)
    assert facts(result, ATOM)["thinking"] is False
    asked = {"enable_thinking": True, "think_end_token": "</think>"}
    result = evaluate(ATOM, folder, model=model, arguments=asked, **settings)
    contexts = [row["arguments"][0][0] for row in result["samples"][ATOM]]
    assert not any(context.endswith("<no thoughts>") for context in contexts)
    assert facts(result, ATOM)["thinking"] is True
    assert facts(evaluate(ATOM, folder, model=model), ATOM)["thinking"] is None


# --- What is counted and written down -------------------------------------------------------------


def test_both_arms_run_on_the_same_samples_and_say_how_many(
    checkpoint: Callable[..., Path],
) -> None:
    pair = named.load("systematicity", "mini")
    results = {name: evaluate(name, checkpoint()) for name in (ATOM, COMBINATION)}
    count = len(choose(pair, 8))
    for name, result in results.items():
        assert result["n-samples"][name]["original"] == count
        written = json.loads(json.dumps(facts(result, name)))
        assert written["demonstrations_sha256"] == digest(choose(pair, 8))
        assert (written["covered"], written["test_samples"]) == (count, len(pair.test.samples))
        assert written["fewshot_arm"] == name.rpartition("_")[2]
        assert result["n-shot"][name] == 8


def test_the_number_of_demonstrations_is_that_of_the_command_line(
    checkpoint: Callable[..., Path],
) -> None:
    result = evaluate(ATOM, checkpoint(), num_fewshot=3)
    prompted = choose(named.load("systematicity", "mini"), 3)
    assert result["n-samples"][ATOM]["original"] == len(prompted)
    assert facts(result, ATOM)["demonstrations_sha256"] == digest(prompted)
    for row, shown in zip(result["samples"][ATOM], prompted, strict=False):
        ids = [demonstration["id"] for demonstration in row["doc"]["demonstrations"]]
        assert ids == [sample.id for sample in shown.arms[0]]


@pytest.mark.parametrize(
    ("name", "metric", "kind"),
    [
        (COMBINATION, "parent", "llama"),
        soak(COMBINATION, "parent", "t5"),
        soak("spor_productivity_mini_n3_icl_visible", "parent", "llama"),
        (ORDER, "ordering_pbh", "t5"),
        soak("spor_order_invariance_mini_cwio_icl_original", "cwio", "llama"),
        ("spor_rule_learnability_mini_icl_original", "copy_rule", "llama"),
    ],
)
def test_every_aspect_runs_in_context(
    name: str, metric: str, kind: str, checkpoint: Callable[..., Path]
) -> None:
    result = evaluate(name, checkpoint(kind))
    assert f"{metric},none" in result["results"][name]
    rows = result["samples"][name]
    assert len(rows) == 3
    for row in rows:
        cues = row["arguments"][0][0].count(" Output:")
        shown = len(row["doc"]["demonstrations"])
        assert cues == (shown + 1 if kind == "llama" else shown) > 0
