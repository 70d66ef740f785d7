"""The facts of a result that must be equal for its score to be compared or averaged."""

import json
from collections.abc import Mapping
from typing import Any

from spor_tasks.results.facts import Adapter
from spor_tasks.results.schema import Config, Model, flat

# Facts about chats that lm-eval writes outside of the tasks.
_CHAT = ("chat_template_sha", "system_instruction_sha")


def signature(
    config: Config,
    model: Model,
    content: Mapping[str, Any],
    shown_arm: str | None,
    *,
    is_tuned: bool,
) -> dict[str, str]:
    """Return the settings of a task that can change its scores."""
    facts, is_chosen = config.metadata.spor, bool(config.metadata.icl_arm)
    prompt, of_facts = facts.prompt, facts.judges.get("facts", "None").removeprefix("facts|")
    return {
        "version": str(config.metadata.version),
        "spor_tasks": facts.spor_tasks,
        "lm_eval": str(facts.packages["lm_eval"]),
        "test_sha256": config.metadata.test_sha256,
        "prompt_style": prompt.style,
        **({"instruction": prompt.instruction} if prompt.instruction else {}),
        "num_fewshot": str(config.num_fewshot),
        "held_out_reference": str(facts.test.held_out_reference),
        "facts": of_facts,
        **{name: judge for name, judge in facts.judges.items() if name != "facts"},
        "shown_arm": str(shown_arm if is_tuned else None),
        # Demonstrations are chosen for each sample and all arms at once, or drawn with a seed.
        "demonstrations_sha256": str(prompt.demonstrations_sha256 if is_chosen else None),
        "fewshot_seed": str(model.fewshot_seed if shown_arm and not is_chosen else None),
        **{fact: str(content.get(fact)) for fact in _CHAT},
        # Without a chat it has no effect, and is true or null as lm-eval was called.
        "fewshot_as_multiturn": str(
            content.get("fewshot_as_multiturn") if content.get("chat_template_sha") else None
        ),
        "generation": json.dumps(_generation(config), sort_keys=True),
        "thinking": str(prompt.thinking),
        "system_message": str(prompt.system_message),
        "backend": model.model,
        # The type of the weights as they were loaded, if the backend states it.
        "dtype": str(model.model_dtype or model.arguments.get("dtype")).removeprefix("torch."),
        "quantization": model.quantized,
    }


def _generation(config: Config) -> dict[str, Any]:
    """Return the settings of generation, with those of the checkpoint that acted.

    Each model has token ids of its own.
    """
    resolved = config.metadata.spor.generation.items()
    acted = {key: value for key, value in resolved if not key.endswith("_token_id")}
    return {**config.generation_kwargs, **acted}


def training(adapter: Adapter, arms: Mapping[str, str]) -> dict[str, str]:
    """Return how an adapter was trained, except for the seed and the arm."""
    digests = adapter.arm_sha256, arms.get(str(adapter.arm))
    return {
        **flat(adapter.settings or {}),
        "pairs": str(adapter.pairs),
        "violations": "; ".join(adapter.violations or ["none"]),
        "base_sha256": str(adapter.base_model and adapter.base_model.sha256),
        "training_set": "the task's" if digests[0] == digests[1] else str(digests[0]),
    }
