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


# --- Prompts --------------------------------------------------------------------------------------


def test_a_prompt_is_the_demonstrations_of_its_arm_and_then_the_sample() -> None:
    prompted = choose(named.load("systematicity", "mini"), 8)
    for number, name in enumerate((ATOM, COMBINATION)):
        task = load(name)
        assert [doc["id"] for doc in task.eval_docs] == [shown.sample.id for shown in prompted]
        for doc, shown in zip(task.eval_docs, prompted, strict=True):
            assert [d["id"] for d in doc["demonstrations"]] == [d.id for d in shown.arms[number]]
        *before, last = task.fewshot_context(task.eval_docs[0], num_fewshot=8).split("\n\n")
        assert last == prompt(prompted[0].sample, "causal")
        assert before == [
            prompt(sample, "causal") + sample.references[0] for sample in prompted[0].arms[number]
        ]


def test_arms_of_order_invariance_differ_in_the_order_of_units_alone() -> None:
    original, match = (load(ORDER.replace("match", arm)) for arm in ("original", "match"))
    shown = [
        (one, other)
        for docs in zip(original.eval_docs, match.eval_docs, strict=True)
        for one, other in zip(*(doc["demonstrations"] for doc in docs), strict=True)
    ]
    assert all(one["target"] == other["target"] for one, other in shown)
    assert all(sorted(one["prompt"]) == sorted(other["prompt"]) for one, other in shown)
    assert any(one["prompt"] != other["prompt"] for one, other in shown)


def test_no_demonstrations_are_refused_and_the_arm_is_that_of_the_name() -> None:
    task = load(ATOM, fewshot_arm="combination")
    assert task.config.metadata["spor"]["fewshot_arm"] == "atom"
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        task.set_config("num_fewshot", 0)


# --- Chat templates -------------------------------------------------------------------------------


def turns(*, multiturn: bool, style: str) -> tuple[Messages, Mapping[str, Any]]:
    """Return what a chat template is given for the first document, and the document."""
    given: list[Messages] = []

    def template(messages: Messages, **_: object) -> str:
        given.append(messages)
        return ""

    task = load(ATOM, prompt_style=style)
    doc: Mapping[str, Any] = task.eval_docs[0]
    task.fewshot_context(
        doc,
        num_fewshot=8,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        chat_template=template,
    )
    (messages,) = given
    return messages, doc


@pytest.mark.parametrize("style", ["causal", "instruction"])
def test_each_demonstration_is_a_turn(style: str) -> None:
    messages, doc = turns(multiturn=True, style=style)
    shown = [
        {"role": role, "content": demonstration[part]}
        for demonstration in doc["demonstrations"]
        for role, part in (("user", "prompt"), ("assistant", "target"))
    ]
    assert messages == [*shown, {"role": "user", "content": doc["prompt"]}]
    assert len(shown) > 2


def test_all_demonstrations_fit_into_one_turn() -> None:
    (message,), doc = turns(multiturn=False, style="instruction")
    shown = "".join(f"{d['prompt']} {d['target']}\n\n" for d in doc["demonstrations"])
    assert message == {"role": "user", "content": shown + doc["prompt"]}


TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<no thoughts>{% endif %}"
)


@pytest.fixture
def chat_model(checkpoint: Callable[..., Path], tmp_path: Path) -> Path:
    transformers.AutoModelForCausalLM.from_pretrained(checkpoint()).save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint())
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("model", ["hf", "spor-hf"])
def test_a_chat_template_writes_the_turns_and_switches_off_reasoning(
    chat_model: Path, model: str
) -> None:
    register_models()

    def found(*, multiturn: bool = False, **arguments: object) -> tuple[list[str], bool]:
        result = evaluate(
            ATOM,
            chat_model,
            model=model,
            arguments=arguments,
            apply_chat_template=True,
            fewshot_as_multiturn=multiturn,
            metadata={"prompt_style": "instruction"},
        )
        contexts = []
        for row in result["samples"][ATOM]:
            contexts.append(row["arguments"][0][0])
            shown = len(row["doc"]["demonstrations"])
            assert contexts[-1].count("<user>") == (shown + 1 if multiturn else 1)
            assert contexts[-1].count("\n- ") >= shown + 1
        return contexts, facts(result, ATOM)["thinking"]

    for multiturn in (True, False):
        contexts, thinking = found(multiturn=multiturn)
        assert all(context.endswith("\nText:</user><no thoughts>") for context in contexts)
        assert thinking is False
    contexts, thinking = found(enable_thinking=True, think_end_token="</think>")  # noqa: S106
    assert all(context.endswith("\nText:</user>") for context in contexts)
    assert thinking is True
    assert facts(evaluate(ATOM, chat_model, model=model), ATOM)["thinking"] is None


# --- Results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "shots"), [(ATOM, None), (COMBINATION, None), (ATOM, 3)])
def test_a_result_counts_the_covered_samples(
    name: str, shots: int | None, checkpoint: Callable[..., Path]
) -> None:
    pair = named.load("systematicity", "mini")
    prompted = choose(pair, shots or 8)
    result = evaluate(name, checkpoint(), num_fewshot=shots)
    assert result["n-samples"][name]["original"] == len(prompted)
    assert result["n-shot"][name] == (shots or 8)
    written = json.loads(json.dumps(facts(result, name)))
    assert written["demonstrations_sha256"] == digest(prompted)
    assert (written["covered"], written["test_samples"]) == (len(prompted), len(pair.test.samples))
    assert written["fewshot_arm"] == name.rpartition("_")[2]
    for row, shown in zip(result["samples"][name], prompted, strict=False):
        ids = [demonstration["id"] for demonstration in row["doc"]["demonstrations"]]
        assert ids == [sample.id for sample in shown.arms[name == COMBINATION]]


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
        contexts = [arguments[0] for arguments in row["arguments"]]
        assert len({context.rpartition("\n\n")[0] for context in contexts}) == 1
        shown = len(row["doc"]["demonstrations"])
        expected = shown + 1 if kind == "llama" else shown
        assert contexts[0].count(" Output:") == expected > 0
