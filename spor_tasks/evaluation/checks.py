"""Checks of `spor eval` before it loads a model, which may take minutes."""

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
from spor_tasks.harness.backends import MODEL_TYPE, Backend, backend
from spor_tasks.harness.task_files import TaskFile


def check(settings: Mapping[str, Any], names: Sequence[str], model_args: dict[str, Any]) -> None:
    """Check the settings, the tasks and a checkpoint before it is loaded.

    Raises:
        ConfigError: a task is unknown, the checkpoint is not a checkpoint or does not fit the task,
            or the model cannot do what the task needs.
        CorpusError: the data of a task is missing.
    """
    _check_names(names, has_others="include_path" in settings)
    tasks, model = task_files.expand(names), str(settings.get("model", EvaluatorConfig().model))
    _check_numbers(settings, tasks)
    _check_model(model, settings, tasks, model_args)
    if model == "local-completions":
        _check_server(tasks, model_args, only_ours=all(task_files.expand([n]) for n in names))
    for each in (settings, model_args):
        _check_trust(each)
    arguments = model_args | mapping(settings, "metadata") | {MODEL_TYPE: model}
    for task in tasks:
        planned = plan.resolve(task.content["metadata"] | arguments)
        plan.check_shots(planned, settings.get("num_fewshot"))
    if settings.get("apply_chat_template") and checkpoints.has_chat_template(arguments) is False:
        raise ConfigError(
            "the tokenizer has no chat template",
            where="--apply_chat_template",
            remedy="Leave the option out: a model that was not tuned on chats takes plain prompts.",
        )


def _check_names(names: Sequence[str], *, has_others: bool) -> None:
    """Refuse a misspelt name of our tasks at once; lm-eval would take seconds to find it."""
    ours = task_files.names()
    for name in names:
        close = difflib.get_close_matches(name, ours, cutoff=0.75)
        is_pattern = any(char in name for char in "*?[") or name.endswith(".yaml")
        if name not in ours and close and not is_pattern and not has_others:
            raise ConfigError(
                f"{name!r} is not a task",
                where="--tasks",
                remedy=f"Did you mean {' or '.join(close)}? {LIST}",
            )


def _check_numbers(settings: Mapping[str, Any], tasks: Sequence[TaskFile]) -> None:
    """Refuse a limit of zero or less, and demonstrations that are too few for the tasks."""
    limit, shots = settings.get("limit"), settings.get("num_fewshot")
    if isinstance(limit, int | float) and limit <= 0:
        raise ConfigError(
            f"{limit:g} is not above 0; lm-eval takes 0 as no limit, and would evaluate everything",
            where="--limit",
            remedy="Use 1 or more, a share such as 0.1, or leave the option out.",
        )
    if isinstance(shots, int) and shots < 0:
        raise ConfigError(f"{shots} is below 0", where="--num_fewshot")
    in_context = [task.name for task in tasks if "icl_arm" in task.content["metadata"]]
    if in_context and shots == 0:
        raise ConfigError(
            f"{in_context[0]} shows demonstrations, so their number cannot be 0",
            where="--num_fewshot",
            remedy="Give the most that a prompt may show, such as 3, 5 or 8.",
        )


def _check_model(
    model: str,
    settings: Mapping[str, Any],
    tasks: Sequence[TaskFile],
    model_args: Mapping[str, Any],
) -> None:
    """Refuse what the type of model cannot do, at which lm-eval would fail late or never."""
    limits: Backend = backend(model)
    has_beams = mapping(settings, "gen_kwargs").get("num_beams", 1) != 1
    searching = [task.name for task in tasks if has_beams or task.decoding]
    if searching and not limits.has_beams:
        raise ConfigError(
            f"{model} does not support the beam search of {searching[0]}",
            where="--model",
            remedy="The beams of `hf` and `vllm` differ from those of transformers, and a server "
            "may silently decode greedily. Use `--model spor-hf`, or a task without beams.",
        )
    wrong = model_args.keys() & {*checkpoints.ADAPTERS} - {limits.adapter}
    if limits.adapter and wrong:
        raise ConfigError(
            f"{model} has no argument {min(wrong)}",
            where="--model_args",
            remedy=f"Name the adapter with {limits.adapter}=.",
        )
    if not limits.takes_texts and not settings.get("apply_chat_template"):
        raise ConfigError(
            f"{model} takes only chats",
            where="--model",
            remedy="Add --apply_chat_template; the server has the template.",
        )
    asking = [task.name for task in tasks if task.asks_likelihoods]
    if asking and not limits.gives_likelihoods:
        raise ConfigError(
            f"{model} does not give the log likelihoods that {asking[0]} asks for",
            where="--model",
            remedy="Use `--model hf`, `vllm`, or a server's `local-completions` with a tokenizer.",
        )


def _check_server(
    tasks: Sequence[TaskFile], model_args: Mapping[str, Any], *, only_ours: bool
) -> None:
    """Refuse a server without the tokenizer that lm-eval needs, or takes its model's name for."""
    tokenizer = str(model_args.get("tokenizer_backend", "auto"))
    asking = [task.name for task in tasks if task.asks_likelihoods]
    if asking and tokenizer.lower() == "none":
        raise ConfigError(
            f"{asking[0]} asks for log likelihoods, for which lm-eval needs the tokenizer",
            where="--model_args",
            remedy="Leave out tokenizer_backend=None, and name the tokenizer with tokenizer=.",
        )
    if tokenizer != "auto" or not only_ours:
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


def _check_trust(settings: Mapping[str, Any]) -> None:
    """Refuse a value with which transformers would ask on the terminal, or take "no" for a yes."""
    trust = settings.get("trust_remote_code", False)
    if not isinstance(trust, bool):
        raise ConfigError(
            f"trust_remote_code={trust} is neither True nor False",
            remedy="Leave it out, or write trust_remote_code=True to run the checkpoint's code.",
        )
