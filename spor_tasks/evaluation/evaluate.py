"""`spor eval`: one model or several on our tasks; whatever else, by lm-eval's own command."""

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import requests
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import make_table, setup_logging

from spor_tasks.core.errors import ConfigError, ResultError, SporError
from spor_tasks.core.terminal import Parser
from spor_tasks.core.visible import visible
from spor_tasks.evaluation import command
from spor_tasks.evaluation.checks import check
from spor_tasks.evaluation.command import LIST
from spor_tasks.evaluation.evaluator import Evaluator, register_models
from spor_tasks.evaluation.models import MODELS, Model, read_models
from spor_tasks.harness import checkpoints, stubs, task_files

_log = logging.getLogger(__name__)

OF_LM_EVAL = (
    *("include_path", "use_cache", "cache_requests", "samples", "check_integrity"),
    *("wandb_args", "wandb_config_args", "trackio_args", "trust_remote_code", "show_config"),
)
"""Options that only lm-eval's own command has, for one model."""

_OPTIONS = (
    *("metadata", "log_samples", "num_fewshot", "limit", "write_out", "system_instruction"),
    *("apply_chat_template", "fewshot_as_multiturn", "gen_kwargs", "predict_only"),
)
"""Settings of a command that an evaluation takes by the same names."""

_LOGGING = ("hf_hub_log_args", "verbosity")  # which it treats in its own way


def run(arguments: Sequence[str]) -> None:
    """Evaluate as ``lm_eval run`` does with these arguments, or each of the ``--models``.

    Our tasks, their data and the folders of all checkpoints are checked before a model is loaded,
    which may take minutes. If one of several models fails later, the others are still evaluated.

    Raises:
        ConfigError: a task is unknown, a checkpoint is not a checkpoint or does not fit the task,
            the model cannot do what the task needs, or its server fails.
        CorpusError: the data of a task is missing.
        ResultError: some of several models failed; the others have results.
    """
    setup_logging()
    parser = Parser(prog="spor eval", allow_abbrev=False, add_help=False)
    parser.add_argument(MODELS, nargs="+")
    own, remaining = parser.parse_known_args(arguments)
    options = command.parse(remaining)
    settings = command.read_settings(options)
    names = command.task_names(settings)
    register_models()
    with _lm_eval_errors():
        if own.models is not None:
            models = tuple(read_models(own.models))
            _check_all(models, settings, names)
        else:
            check(settings, names, command.mapping(settings, "model_args"))
            ours = all(task_files.expand([name]) for name in names)
            if not ours or any(settings.get(option) for option in (*OF_LM_EVAL, *_LOGGING)):
                _run_lm_eval(options, settings)
                return
        config = command.config_of(options)
        if own.models is None:
            models = (Model(config.model_args, ""),)
        for model, results in evaluate(models, task_files.matching(names), config):
            _print(results, model, config)


def evaluate(
    models: Sequence[Model], tasks: Sequence[str], config: EvaluatorConfig
) -> Iterator[tuple[Model, dict[str, Any]]]:
    """Evaluate models one after another on our tasks; yield lm-eval's results of each.

    If several processes share the work, all but the first yield nothing.

    Raises:
        ResultError: some of several models failed, after the others were evaluated.
    """
    evaluator = Evaluator(
        config.model,
        batch_size=config.batch_size,
        max_batch_size=config.max_batch_size,
        device=config.device,
    )
    out, failed = Path(config.output_path) if config.output_path else None, []
    for number, model in enumerate(models, start=1):
        _log.info("%d of %d: %s", number, len(models), visible(model.arguments))
        try:
            results = evaluator.evaluate(model.arguments, tasks, out, **_options(config))
        except Exception as error:
            if len(models) == 1:
                raise
            _log.exception("%s failed", visible(model.where))
            evaluator.release()
            failed.append(f"{model.where}: {error}")
        else:
            if results is not None:
                yield model, results
    if failed:
        counts = f"{len(failed)} of {len(models)} models failed"
        raise ResultError(failed[0], each=failed[1:], where=counts)


def _options(config: EvaluatorConfig) -> dict[str, Any]:
    """Return the settings of a command that are about an evaluation, not about the model."""
    random_seed, numpy_seed, torch_seed, fewshot_seed = config.seed or [None] * 4
    return {
        **{name: getattr(config, name) for name in _OPTIONS},
        "hub": config.hf_hub_log_args,
        "random_seed": random_seed,
        "numpy_random_seed": numpy_seed,
        "torch_random_seed": torch_seed,
        "fewshot_random_seed": fewshot_seed,
    }


def _check_all(models: Sequence[Model], settings: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise one error that names every bad model."""
    if refused := [name for name in ("model_args", *OF_LM_EVAL) if settings.get(name)]:
        raise ConfigError(f"cannot be used with --{refused[0]}", where=MODELS)
    faults = []
    for number, model in enumerate(models):
        if any(model.arguments == earlier.arguments for earlier in models[:number]):
            faults.append(f"{model.where}: repeats an earlier entry")
            continue
        try:
            check(settings, names, model.arguments)
        except SporError as error:
            faults.append(f"{model.where}: {error}")
    if faults:
        raise ConfigError(faults[0], each=faults[1:], remedy="Nothing was evaluated.")
    if remaining := [name for name in names if not task_files.expand([name])]:
        raise ConfigError(
            f"--models evaluates only the tasks of this package, not {remaining[0]!r}",
            where="--tasks",
            remedy="`spor tasks list` names these tasks.",
        )


def _run_lm_eval(options: argparse.Namespace, settings: Mapping[str, Any]) -> None:
    """Run lm-eval's own command, which knows our tasks by stubs or by their folder."""
    if not stubs.registered(stubs.folder()):
        own = settings.get("include_path")
        options.include_path = [*([own] if own else []), str(task_files.FOLDER)]
    options.func(options)


def _print(results: dict[str, Any], model: Model, config: EvaluatorConfig) -> None:
    print(
        f"{config.model} ({visible(model.arguments)}), "
        f"gen_kwargs: ({visible(config.gen_kwargs)}), limit: {config.limit}, "
        f"num_fewshot: {config.num_fewshot}, batch_size: {config.batch_size}"
    )
    print(make_table(results))


@contextmanager
def _lm_eval_errors() -> Iterator[None]:
    """Turn errors of lm-eval and of a model's server in the block into ones with a remedy."""
    try:
        yield
    except ValueError as error:
        if checkpoints.is_about_code(error):
            raise ConfigError(
                checkpoints.OWN_CODE, where="--model_args", remedy=checkpoints.OWN_CODE_REMEDY
            ) from error
        if "Tasks not found" not in str(error):
            raise
        raise ConfigError(str(error), remedy=LIST) from error
    except (requests.RequestException, aiohttp.ClientError) as error:
        raise ConfigError(
            f"the server failed: {error}",
            where="--model_args base_url",
            remedy="No results were written. Check the server's log, and run the command again.",
        ) from error
