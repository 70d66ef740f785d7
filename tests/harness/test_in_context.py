"""Tasks that show demonstrations: what reaches a model through lm-eval, and what is kept of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import transformers

from spor_tasks.aspects import named
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import documents, task_files
from spor_tasks.prompts.content import digest
from tests.support.checkpoints import Checkpoint
from tests.support.soak import soak
from tests.support.tasks import evaluate, load

ATOM = "spor_systematicity_mini_icl_atom"
COMBINATION = "spor_systematicity_mini_icl_combination"
ORDER = "spor_order_invariance_mini_main_icl_match"

Messages = list[dict[str, str]]


def facts(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = result["configs"][name]["metadata"]["spor"]
    return found


# --- Prompts --------------------------------------------------------------------------------------


def test_no_demonstrations_are_refused_and_the_arm_is_that_of_the_name() -> None:
    task = load(ATOM, fewshot_arm="combination")
    assert task.config.metadata["spor"]["fewshot_arm"] == "atom"
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        task.set_config("num_fewshot", 0)


# --- Chat templates -------------------------------------------------------------------------------

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<no thoughts>{% endif %}"
)


@pytest.fixture
def chat_model(checkpoint: Checkpoint, tmp_path: Path) -> Path:
    transformers.AutoModelForCausalLM.from_pretrained(checkpoint()).save_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint())
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def in_turns(doc: Mapping[str, Any], *, multiturn: bool, between: str) -> str:
    """Return the turns of a document as the template writes them, without the last sign."""
    shown, prompt = doc["demonstrations"], doc["prompt"]
    if multiturn:
        pairs = (f"<user>{d['prompt']}</user><assistant>{d['target']}</assistant>" for d in shown)
        return f"{''.join(pairs)}<user>{prompt}</user>"
    examples = (f"{d['prompt']}{between}{d['target']}\n\n" for d in shown)
    return f"<user>{''.join(examples)}{prompt}</user>"


@pytest.mark.parametrize(
    ("model", "style", "multiturn", "reasoning"),
    [
        ("hf", "instruction", True, False),
        ("hf", "instruction", False, True),
        ("spor-hf", "causal", True, False),
        ("spor-hf", "instruction", False, False),
        ("spor-hf", "instruction", True, True),
    ],
)
def test_a_chat_template_has_all_turns_and_no_reasoning_by_default(
    chat_model: Path, model: str, style: str, *, multiturn: bool, reasoning: bool
) -> None:
    arguments = {"enable_thinking": True, "think_end_token": "</think>"} if reasoning else {}
    result = evaluate(
        chat_model,
        ATOM,
        model=model,
        model_args=arguments,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        metadata={"prompt_style": style},
    )
    for row in result["samples"][ATOM]:
        assert len(row["doc"]["demonstrations"]) > 1
        turns = in_turns(row["doc"], multiturn=multiturn, between=" ")
        assert row["arguments"][0][0] == turns + ("" if reasoning else "<no thoughts>")
    assert facts(result, ATOM)["thinking"] is reasoning


# --- Results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shots", "metric", "kind"),
    [
        (ATOM, None, "parent", "llama"),
        (COMBINATION, 3, "parent", "t5"),
        soak("spor_productivity_mini_n3_icl_visible", None, "parent", "llama"),
        (ORDER, None, "ordering_pbh", "t5"),
        soak("spor_order_invariance_mini_cwio_icl_original", None, "cwio", "llama"),
        ("spor_rule_learnability_mini_icl_original", None, "copy_rule", "llama"),
    ],
)
def test_a_result_counts_the_covered_samples(
    name: str, shots: int | None, metric: str, kind: str, checkpoint: Checkpoint
) -> None:
    (file,) = task_files.expand([name])
    sets = [file.content["metadata"].get(key) for key in ("aspect", "corpus", "part")]
    pair = named.load(sets[0], sets[1], part=sets[2])
    arm = [each.name for each in pair.arms].index(name.rpartition("_")[2])
    prompted = documents.chosen(pair, shots or 8)
    result = evaluate(checkpoint(kind), name, num_fewshot=shots)
    assert f"{metric},none" in result["results"][name]
    assert result["n-samples"][name]["original"] == len(prompted)
    assert result["n-shot"][name] == (shots or 8)
    written = json.loads(json.dumps(facts(result, name)))
    assert written["demonstrations_sha256"] == digest(prompted)
    assert (written["covered"], written["test_samples"]) == (len(prompted), len(pair.test.samples))
    assert (written["fewshot_arm"], written["thinking"]) == (pair.arms[arm].name, None)
    for row, shown in zip(result["samples"][name], prompted, strict=False):
        ids = [demonstration["id"] for demonstration in row["doc"]["demonstrations"]]
        assert ids == [sample.id for sample in shown.arms[arm]]
        contexts = [arguments[0] for arguments in row["arguments"]]
        assert len({context.rpartition("\n\n")[0] for context in contexts}) == 1
        expected = len(ids) + 1 if kind == "llama" else len(ids)
        assert contexts[0].count(" Output:") == expected > 0
