"""What `spor eval` checks before it loads a model, which may take minutes."""

import difflib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from huggingface_hub import constants
from lm_eval.config.evaluate_config import EvaluatorConfig

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.weights import find_folder
from spor_tasks.evaluation.command import LIST, mapping
from spor_tasks.harness import checkpoints, plan, task_files
from spor_tasks.harness.backends import BEAM_MODELS


def check(settings: Mapping[str, Any], names: Sequence[str], model_args: dict[str, Any]) -> None:
    """Check the settings, the tasks and a checkpoint before it is loaded.

    Raises:
        ConfigError: a task is unknown, the checkpoint is not a checkpoint or does not fit the task,
            or the model cannot do what the task needs.
        CorpusError: the data of a task is missing.
    """
    _check_names(names, others="include_path" in settings)
    _check_limit(settings)
    _check_shots(settings, names)
    _check_beams(settings, names)
    _check_model(settings, names, model_args)
    _check_trust(settings)
    _check_trust(model_args)
    given = model_args | mapping(settings, "metadata")
    for task in task_files.expand(names):
        planned = plan.resolve(task.content["metadata"] | given)
        plan.check_shots(planned, settings.get("num_fewshot"))
    if settings.get("apply_chat_template") and checkpoints.has_chat_template(given) is False:
        raise ConfigError(
            "the tokenizer has no chat template",
            where="--apply_chat_template",
            remedy="Leave the option out: a model that was not tuned on chats takes plain prompts.",
        )


def _check_names(names: Sequence[str], *, others: bool) -> None:
    """Refuse a misspelt name of our tasks at once; lm-eval would take seconds to find it."""
    ours = task_files.names()
    for name in names:
        close = difflib.get_close_matches(name, ours, cutoff=0.75)
        is_pattern = any(char in name for char in "*?[") or name.endswith(".yaml")
        if name not in ours and close and not is_pattern and not others:
            raise ConfigError(
                f"there is no task {name!r}",
                where="--tasks",
                remedy=f"Did you mean {' or '.join(close)}? {LIST}",
            )


def _check_limit(settings: Mapping[str, Any]) -> None:
    if settings.get("limit") == 0:
        raise ConfigError(
            "lm-eval takes a limit of 0 as no limit, and would evaluate everything",
            where="--limit",
            remedy="Use 1 or more, a share such as 0.1, or leave the option out.",
        )


def _check_shots(settings: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse zero demonstrations for tasks that need them."""
    shown = [
        task.name for task in task_files.expand(names) if "icl_arm" in task.content["metadata"]
    ]
    if shown and settings.get("num_fewshot") == 0:
        raise ConfigError(
            f"{shown[0]} shows demonstrations, so their number cannot be 0",
            where="--num_fewshot",
            remedy="Give the most that a prompt may show, such as 3, 5 or 8.",
        )


def _check_beams(settings: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse beam search with a model other than ours before it is loaded, as the task would."""
    asked = mapping(settings, "gen_kwargs").get("num_beams", 1) != 1
    searching = [task.name for task in task_files.expand(names) if asked or task.decoding]
    model = str(settings.get("model", EvaluatorConfig().model))
    if searching and model not in BEAM_MODELS:
        raise ConfigError(
            f"{model} does not support the beam search of {searching[0]}",
            where="--model",
            remedy="The beams of `hf` and `vllm` differ from those of transformers, and a server "
            f"may silently decode greedily. Use `--model {' or '.join(BEAM_MODELS)}`, or a task "
            "without beams.",
        )


# What each kind of model calls an adapter.
_ADAPTERS = {
    **dict.fromkeys(("hf", "spor-hf"), "peft"),
    **dict.fromkeys(("vllm", "spor-vllm"), "lora_local_path"),
}
_CHATS = ("local-chat-completions", "openai-chat-completions")


def _check_model(
    settings: Mapping[str, Any], names: Sequence[str], model_args: dict[str, Any]
) -> None:
    """Refuse arguments at which lm-eval would fail only after it has loaded much."""
    model = str(settings.get("model", EvaluatorConfig().model))
    own = _ADAPTERS.get(model)
    if own and (others := model_args.keys() & {*_ADAPTERS.values()} - {own}):
        raise ConfigError(
            f"{model} has no argument {min(others)}",
            where="--model_args",
            remedy=f"Name the adapter with {own}=.",
        )
    if own:
        checkpoints.check_reader(model_args, model)
    if model in _CHATS and not settings.get("apply_chat_template"):
        raise ConfigError(
            f"{model} takes only chats",
            where="--model",
            remedy="Add --apply_chat_template; the server has the template.",
        )
    _check_likelihoods(model, names, model_args)
    if model == "local-completions" and all(task_files.expand([name]) for name in names):
        _check_tokenizer(model_args)


def _check_likelihoods(model: str, names: Sequence[str], model_args: Mapping[str, Any]) -> None:
    """Refuse tasks of likelihoods for models that do not give them."""
    asking = [task.name for task in task_files.expand(names) if task.asks_likelihoods]
    if not asking:
        return
    if model in _CHATS or model.startswith("anthropic"):
        raise ConfigError(
            f"{model} does not give the log likelihoods that {asking[0]} asks for",
            where="--model",
            remedy="Use `--model hf`, `vllm`, or a server's `local-completions` with a tokenizer.",
        )
    if model == "local-completions" and str(model_args.get("tokenizer_backend")).lower() == "none":
        raise ConfigError(
            f"{asking[0]} asks for log likelihoods, for which lm-eval needs the tokenizer",
            where="--model_args",
            remedy="Leave out tokenizer_backend=None, and name the tokenizer with tokenizer=.",
        )


def _check_tokenizer(model_args: Mapping[str, Any]) -> None:
    """Refuse a server's model whose name lm-eval would take for that of a tokenizer."""
    if model_args.get("tokenizer_backend", "auto") != "auto":
        return
    name = next(filter(None, map(model_args.get, ("tokenizer", "model", "pretrained"))), None)
    with suppress(ConfigError):  # a name that only the server knows
        if find_folder(name, "tokenizer_config.json") is not None or _can_be_fetched(name):
            return
    raise ConfigError(
        f"the tokenizer of {name} is not on this machine",
        where="--model_args",
        remedy="Add tokenizer_backend=None, since our tasks send texts, or name a folder or an "
        "available name with tokenizer=.",
    )


def _can_be_fetched(name: object) -> bool:
    """Return whether a tokenizer may be on the Hub; it is not asked."""
    is_name = isinstance(name, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", name)
    return bool(is_name) and not constants.HF_HUB_OFFLINE


def _check_trust(given: Mapping[str, Any]) -> None:
    """Refuse a value with which transformers would ask on the terminal, or take "no" for a yes."""
    trust = given.get("trust_remote_code", False)
    if not isinstance(trust, bool):
        raise ConfigError(
            f"trust_remote_code={trust} is neither True nor False",
            remedy="Leave it out, or write trust_remote_code=True to run the checkpoint's code.",
        )
