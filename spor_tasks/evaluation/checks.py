"""Checks of an evaluation before it loads a model, which may take minutes."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from lm_eval.api.registry import model_registry
from lm_eval.config.evaluate_config import EvaluatorConfig
from rapidfuzz import fuzz, process

from spor_tasks.core.errors import ConfigError, SporError, advice, misspelt
from spor_tasks.core.hosts import MODEL_TYPE
from spor_tasks.core.removed import why_removed
from spor_tasks.core.visible import visible
from spor_tasks.evaluation.run import Arguments, name_of
from spor_tasks.harness import plan, task_files
from spor_tasks.harness.host import check_limit
from spor_tasks.harness.task_files import TaskFile
from spor_tasks.metrics import learned
from spor_tasks.models import checkpoints
from spor_tasks.models.backends import DECODING, backend
from spor_tasks.models.checkpoints import ADAPTER_CONFIG, Checkpoint

_log = logging.getLogger(__name__)


def check(settings: EvaluatorConfig, models: Sequence[Arguments]) -> None:
    """Check the settings, the tasks and every checkpoint before one is loaded.

    Raises:
        ConfigError: a setting is wrong, a task is unknown, a checkpoint is not a checkpoint or does
            not fit the task, or the model cannot do what the task needs. One error names all bad
            models of several.
        CorpusError: the data of a task is missing.
    """
    if settings.model not in model_registry:
        what, known = f"{settings.model!r} is not a type of model", [*model_registry]
        raise ConfigError(what, where="model", remedy=advice(settings.model, known))
    names = task_names(settings)
    include = Path(settings.include_path) if settings.include_path else None
    _check_names(names, has_others=include is not None)
    tasks = task_files.expand(names, include)
    if all(task_files.matching([name], include) for name in names):  # others' metadata is their own
        plan.check_names(settings.metadata.keys() - settings.model_args.keys(), are_ours=True)
    if name := misspelt(settings.gen_kwargs, DECODING):
        what, remedy = f"there is no setting {name!r}", advice(name, DECODING)
        raise ConfigError(what, where="gen_kwargs", remedy=remedy)
    check_limit(settings.limit)
    in_context = [task.name for task in tasks if task.sets.icl_arm]
    shots: object = settings.num_fewshot
    if isinstance(shots, int) and shots < bool(in_context):
        raise ConfigError(
            f"{shots} is too few" + (f" for {in_context[0]}" if in_context else ""),
            where="num_fewshot",
            remedy="Give the most demonstrations that a prompt may show, such as 3, 5 or 8.",
        )
    _check_trust(settings.trust_remote_code)
    _warn(settings)
    faults = []
    for model in models:
        try:
            check_model(settings, tasks, model)
        except SporError as error:
            if len(models) == 1:
                raise
            faults.append(f"{name_of(model)}: {error}")
    if faults:
        raise ConfigError(faults[0], each=faults[1:], remedy="Nothing was evaluated.")


def _warn(settings: EvaluatorConfig) -> None:
    """Say what a setting costs."""
    if settings.use_cache:
        _log.warning("use_cache: its file must be of one model, for lm-eval does not note which")
    if not (settings.log_samples or settings.predict_only):
        _log.warning(
            "without --log_samples only totals are written: reports of them test nothing and show "
            "no sample, and no output can be scored or compared again"
        )


def task_names(settings: EvaluatorConfig) -> list[str]:
    """Return the names of tasks and groups, and the patterns, that were given.

    Raises:
        ConfigError: none were given, or one is not a name.
    """
    listed: Any = settings.tasks if isinstance(settings.tasks, list) else [settings.tasks]
    if not listed or not all(isinstance(each, str) for each in listed):
        raise ConfigError("must be names of tasks", where="tasks", remedy=task_files.LIST)
    return [name for each in listed for name in each.split(",")]


def check_model(settings: EvaluatorConfig, tasks: Sequence[TaskFile], arguments: Arguments) -> None:
    """Check whether a model can do what the tasks ask, and fits them.

    Raises:
        ConfigError: it cannot, or its checkpoint does not fit.
        CorpusError: the data of a task is missing.
    """
    _check_abilities(settings, tasks, arguments)
    _check_trust(arguments.get("trust_remote_code", False))
    metadata = {**arguments, **settings.metadata, MODEL_TYPE: settings.model}
    checkpoint = Checkpoint.read(metadata)
    hints: list[str | None] = []
    notes: set[str] = set()
    for task in tasks:
        of_task = plan.read({**task.metadata, **metadata})
        planned = plan.resolve(of_task)
        learned.requested(of_task.settings.judges, planned.spec)
        plan.check_shots(planned, settings.num_fewshot)
        notes.update(planned.warnings)
        notes.update(plan.check_hf(checkpoint, writes=not task.asks_likelihoods))
        if not task.asks_likelihoods:
            hints.append(plan.hint(planned, of_task, settings.num_fewshot))
    if not misspelt(arguments, ["pretrained"]):  # which the model refuses with the right name
        _check_is_here(checkpoint, settings.model)
    for note in sorted(notes):
        _log.warning("%s: %s", name_of(arguments), note)
    if known := [hint for hint in hints if hint]:
        further = f"; likewise for {len(known) - 1} further tasks" if known[1:] else ""
        _log.warning("%s%s", known[0], further)
    if settings.apply_chat_template and checkpoints.has_chat_template(checkpoint) is False:
        raise ConfigError(
            "the tokenizer has no chat template",
            where="apply_chat_template",
            remedy="Leave the setting out: a model that was not tuned on chats takes plain "
            "prompts.",
        )
    batch_size = arguments.get("batch_size", settings.batch_size)
    is_right = re.fullmatch(r"0*[1-9]\d*|auto(:\d+(\.\d+)?)?|None", str(batch_size))
    if backend(settings.model).adapter and not is_right:  # others have their own meanings
        what = f"{batch_size} is neither a whole number from 1 nor auto"
        raise ConfigError(what, where="batch_size")
    device = arguments.get("device", settings.device)
    if device is not None and backend(settings.model).on_transformers:
        from spor_tasks.metrics.judges.checkpoints import device_of  # torch

        device_of(str(device), "model")  # lm-eval would take the CPU for one that is not here


def _check_is_here(model: Checkpoint, kind: str) -> None:
    """Refuse a missing base or adapter, which would be missed after minutes of loading."""
    if not backend(kind).adapter:
        return
    if not model.pretrained:
        raise ConfigError("name a model with pretrained=…", where="model_args")
    if not isinstance(model.adapter, str) or model.find(model.adapter, ADAPTER_CONFIG):
        return
    if "/" not in model.adapter:  # the hub has each adapter under the name of its owner
        raise ConfigError("there is no such folder", where=model.adapter)
    if constants.HF_HUB_OFFLINE:
        raise ConfigError(
            "is neither a folder nor in the hub's cache, and HF_HUB_OFFLINE forbids a download",
            where=model.adapter,
            remedy="Name the adapter's folder, or unset HF_HUB_OFFLINE with a network.",
        )
    _log.warning("%s is no folder: it is looked for on the hub", visible(model.adapter))


def _check_names(names: Sequence[str], *, has_others: bool) -> None:
    """Refuse a removed task, and a misspelt one that lm-eval would take seconds to find."""
    ours = task_files.names()
    for name in names:
        is_pattern = any(char in name for char in "*?[") or name.endswith(".yaml")
        is_close = process.extractOne(name, ours, scorer=fuzz.ratio, score_cutoff=75)
        is_misspelt = is_close and not is_pattern and not has_others
        if name not in ours and (is_misspelt or why_removed(name)):
            raise task_files.unknown(name)


def _check_abilities(
    settings: EvaluatorConfig, tasks: Sequence[TaskFile], arguments: Arguments
) -> None:
    """Refuse what the type of model cannot do, at which lm-eval would fail late or never."""
    abilities = backend(settings.model)
    has_beams = settings.gen_kwargs.get("num_beams") not in (None, 1)
    searching = next((task.name for task in tasks if has_beams or task.sets.decoding), None)
    asking = next((task.name for task in tasks if task.asks_likelihoods), None)
    has_tokenizer = str(arguments.get("tokenizer_backend", "")).lower() != "none"
    wrong = arguments.keys() & {*checkpoints.ADAPTERS} - {abilities.adapter}
    refusals = (
        (
            searching and not abilities.has_beams,
            f"does not support the beam search of {searching}",
            "Use `spor-hf`, which alone searches as transformers, or a task without beams.",
        ),
        (
            wrong and abilities.adapter,
            f"has no argument {min(wrong, default=None)}",
            f"Name the adapter with {abilities.adapter}=.",
        ),
        (
            "merge" in arguments and abilities.on_transformers and not abilities.has_beams,
            "does not merge adapters",
            "Use `spor-hf`, or leave merge= away.",
        ),
        (
            not (abilities.takes_texts or settings.apply_chat_template),
            "takes only chats",
            "Set apply_chat_template; the server has the template.",
        ),
        (
            asking and not (abilities.gives_likelihoods and has_tokenizer),
            f"does not give the log likelihoods that {asking} asks for",
            "Use `hf`, `vllm`, or a server's `local-completions` with a tokenizer.",
        ),
        (
            settings.use_cache and not abilities.continues,
            "continues nothing from use_cache",
            "Leave it out: the same command goes on after an interrupt anyway.",
        ),
    )
    for is_refused, fault, remedy in refusals:
        if is_refused:
            raise ConfigError(f"{settings.model} {fault}", where="model", remedy=remedy)


def _check_trust(value: object) -> None:
    """Refuse a value with which transformers would ask on the terminal, or take "no" for a yes."""
    if not isinstance(value, bool):
        raise ConfigError(
            f"trust_remote_code={value} is neither True nor False",
            remedy="Leave it out, or write trust_remote_code=True to run the checkpoint's code.",
        )


@contextmanager
def lm_eval_errors() -> Iterator[None]:
    """Turn errors of lm-eval and of a model's server in the block into ones with a remedy."""
    try:
        yield
    except Exception as error:
        import aiohttp  # these take a while
        import requests

        # the last two are of a body that is no JSON
        of_server = requests.RequestException, aiohttp.ClientError, JSONDecodeError
        if isinstance(error, (*of_server, UnicodeDecodeError)):
            raise ConfigError(
                f"the server failed: {error}",
                where="base_url",
                remedy="No results were written. Check the server's log, and run the command "
                "again.",
            ) from error
        if isinstance(error, ValueError) and checkpoints.is_about_code(error):
            raise ConfigError(checkpoints.OWN_CODE, remedy=checkpoints.OWN_CODE_REMEDY) from error
        if isinstance(error, ValueError) and "Tasks not found" in str(error):
            raise ConfigError(str(error), remedy=task_files.LIST) from error
        raise
