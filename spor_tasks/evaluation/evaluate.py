"""`spor eval`: lm-eval's own command line, with our tasks and `spor-hf` registered."""

import argparse
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import aiohttp
import requests
from lm_eval._cli.run import Run
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import make_table, setup_logging, simple_parse_args_string

from spor_tasks.core import plain_yaml
from spor_tasks.core.contracts import BEAM5
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file, read_text
from spor_tasks.core.terminal import Parser
from spor_tasks.core.visible import visible
from spor_tasks.evaluation.evaluator import Evaluator, register_models
from spor_tasks.harness import checkpoints, plan, stubs, task_files

OF_LM_EVAL = (
    *("include_path", "use_cache", "cache_requests", "samples", "check_integrity"),
    *("wandb_args", "wandb_config_args", "trackio_args", "trust_remote_code", "show_config"),
)
"""Options that only lm-eval's own command has, for one model."""

_LOGGING = ("hf_hub_log_args", "verbosity")  # which it treats in its own way

_LIST = "`spor tasks list` names our tasks, `lm_eval ls tasks` those of lm-eval."


def run(arguments: Sequence[str]) -> None:
    """Evaluate as ``lm_eval run`` does with these arguments.

    Our tasks, their data and the folders of the checkpoint are checked before the model is loaded,
    which may take minutes.

    Raises:
        ConfigError: a task is unknown, the checkpoint is not a checkpoint or does not fit the task,
            the model cannot do what the task needs, or its server fails.
        CorpusError: the data of a task is missing.
    """
    setup_logging()
    options = parse(arguments)
    settings = read_settings(options)
    names = task_names(settings)
    check(settings, names, _mapping(settings, "model_args"))
    ours = all(task_files.expand([name]) for name in names)
    plain = ours and not any(settings.get(option) for option in (*OF_LM_EVAL, *_LOGGING))
    if not plain and not stubs.registered(stubs.folder()):  # else lm-eval has them already
        own = settings.get("include_path")
        options.include_path = [*([own] if own else []), str(task_files.FOLDER)]
    register_models()
    try:
        if plain:
            _run(names, config_of(options))
        else:
            options.func(options)
    except ValueError as error:
        if checkpoints.is_about_code(error):
            raise ConfigError(
                checkpoints.OWN_CODE, where="--model_args", remedy=checkpoints.OWN_CODE_REMEDY
            ) from error
        if "Tasks not found" not in str(error):
            raise
        raise ConfigError(str(error), remedy=_LIST) from error
    except (requests.RequestException, aiohttp.ClientError) as error:
        raise ConfigError(
            f"the server failed: {error}",
            where="--model_args base_url",
            remedy="No results were written. Check the server's log, and run the command again.",
        ) from error


def _run(names: Sequence[str], config: EvaluatorConfig) -> None:
    """Evaluate without lm-eval's index of all its tasks, which takes seconds to build."""
    matched = task_files.manager().match_tasks(list(names))
    found = evaluate(evaluator_of(config), config.model_args, matched, config)
    if found is not None:
        print(
            f"{config.model} ({visible(config.model_args)}), "
            f"gen_kwargs: ({visible(config.gen_kwargs)}), limit: {config.limit}, "
            f"num_fewshot: {config.num_fewshot}, batch_size: {config.batch_size}"
        )
        print(make_table(found))
        if found.get("groups"):
            print(make_table(found, "groups"))


def evaluator_of(config: EvaluatorConfig) -> Evaluator:
    """Return an evaluator with the model type and the settings of a command."""
    return Evaluator(
        config.model,
        batch_size=config.batch_size,
        max_batch_size=config.max_batch_size,
        device=config.device,
    )


def evaluate(
    evaluator: Evaluator,
    arguments: Mapping[str, Any],
    names: Sequence[str],
    config: EvaluatorConfig,
) -> dict[str, Any] | None:
    """Evaluate a checkpoint on our tasks with the settings of a command; return the results."""
    random_seed, numpy_seed, torch_seed, fewshot_seed = config.seed or [None] * 4
    return evaluator.evaluate(
        arguments,
        names,
        Path(config.output_path) if config.output_path else None,
        metadata=config.metadata,
        hub=config.hf_hub_log_args,
        log_samples=config.log_samples,
        num_fewshot=config.num_fewshot,
        limit=config.limit,
        write_out=config.write_out,
        system_instruction=config.system_instruction,
        apply_chat_template=config.apply_chat_template,
        fewshot_as_multiturn=config.fewshot_as_multiturn,
        gen_kwargs=config.gen_kwargs,
        predict_only=config.predict_only,
        random_seed=random_seed,
        numpy_random_seed=numpy_seed,
        torch_random_seed=torch_seed,
        fewshot_random_seed=fewshot_seed,
    )


def config_of(options: argparse.Namespace) -> EvaluatorConfig:
    """Return the settings as lm-eval checks and completes them.

    Raises:
        ConfigError: a setting is wrong.
    """
    try:
        return EvaluatorConfig.from_cli(options)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the arguments as lm-eval's own parser reads them.

    Raises:
        ConfigError: an argument is JSON that is nested too deeply.
    """
    parser = Parser(prog="spor eval")
    Run.create(parser.add_subparsers(dest="command"))
    try:
        return parser.parse_args(["run", *arguments])
    except RecursionError as error:
        raise ConfigError("an argument is nested too deeply", where="command line") from error


def check(settings: Mapping[str, Any], names: Sequence[str], model_args: dict[str, Any]) -> None:
    """Check the settings, the tasks and a checkpoint before it is loaded.

    Raises:
        ConfigError, CorpusError: as :func:`run` does.
    """
    _check_names(names, others="include_path" in settings)
    _check_limit(settings)
    _check_shots(settings, names)
    _check_beams(settings, names)
    _check_trust(settings)
    _check_trust(model_args)
    given = model_args | _mapping(settings, "metadata")
    for task in task_files.expand(names):
        plan.resolve(task.content["metadata"] | given)
    if settings.get("apply_chat_template") and checkpoints.has_chat_template(given) is False:
        raise ConfigError(
            "the tokenizer has no chat template",
            where="--apply_chat_template",
            remedy="Leave the option out: a model that was not tuned on chats takes plain prompts.",
        )


def read_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings: those of the command line, then those of the file after ``--config``.

    Raises:
        ConfigError: the file cannot be read, is not valid YAML or has an unknown key.
    """
    file: dict[str, Any] = {}
    if options.config:
        path = Path(options.config)
        try:
            if is_file(path):
                plain_yaml.parse(
                    read_text(path), str(path)
                )  # first, since lm-eval does not refuse aliases
            file = EvaluatorConfig.load_yaml_config(path)
        except (
            OSError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # RuntimeError: a loop of links
            raise ConfigError(str(error), where="--config") from error
        if unknown := file.keys() - {field.name for field in fields(EvaluatorConfig)}:
            raise ConfigError(f"unknown key {min(map(str, unknown))!r}", where=path)
    return file | {key: value for key, value in vars(options).items() if value is not None}


def task_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of tasks and groups, and the patterns, that were given.

    Raises:
        ConfigError: none were given, or one is not a name.
    """
    given = settings.get("tasks") or []
    parts = given if isinstance(given, list) else [given]
    if not all(isinstance(part, str) for part in parts):
        raise ConfigError("must be a list of names", where="--tasks", remedy=_LIST)
    names = [name for part in parts for name in part.split(",")]
    if not names:
        raise ConfigError("no tasks were given", where="--tasks", remedy=_LIST)
    return names


def _mapping(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = settings.get(key) or {}
    found = simple_parse_args_string(value) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise ConfigError(
            "must be a mapping", where=f"--{key}", remedy="Write KEY=VALUE,KEY=VALUE, or JSON."
        )
    return dict(found)


def _check_names(names: Sequence[str], *, others: bool) -> None:
    """Refuse a misspelt name of our tasks at once; lm-eval would take seconds to find it."""
    ours = [file.name for file in task_files.files()]
    for name in names:
        close = difflib.get_close_matches(name, ours, cutoff=0.75)
        is_pattern = any(char in name for char in "*?[") or name.endswith(".yaml")
        if name not in ours and close and not is_pattern and not others:
            raise ConfigError(
                f"there is no task {name!r}",
                where="--tasks",
                remedy=f"Did you mean {' or '.join(close)}? {_LIST}",
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


def _check_trust(given: Mapping[str, Any]) -> None:
    """Refuse a value with which transformers would ask on the terminal, or take "no" for a yes."""
    trust = given.get("trust_remote_code", False)
    if not isinstance(trust, bool):
        raise ConfigError(
            f"trust_remote_code={trust} is neither True nor False",
            remedy="Leave it out, or write trust_remote_code=True to run the checkpoint's code.",
        )


def _check_beams(settings: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse beam search with a model other than ours before it is loaded, as the task would."""
    asked = _mapping(settings, "gen_kwargs").get("num_beams", 1) != 1
    searching = [task.name for task in task_files.expand(names) if asked or task.decoding == BEAM5]
    model = settings.get("model", EvaluatorConfig().model)
    if searching and model != "spor-hf":
        raise ConfigError(
            f"{model} does not support the beam search of {searching[0]}",
            where="--model",
            remedy="The beams of `hf` differ from those of transformers, and a server may silently "
            "decode greedily. Use `--model spor-hf`, or a task without beams.",
        )
