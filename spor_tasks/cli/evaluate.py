"""`spor eval`: lm-eval's own command line, for one model or several."""

import argparse
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.cli.following import then
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import read_text
from spor_tasks.core.foreign import import_first, not_ended
from spor_tasks.core.terminal import Parser
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from lm_eval.config.evaluate_config import EvaluatorConfig

    from spor_tasks.evaluation.run import SimpleResults

HELP = "evaluate a model, or several with --models; takes all options of lm-eval"

_LM_EVAL_ONLY = (
    "use_cache",
    "cache_requests",
    "samples",
    "check_integrity",
    "show_config",
    "wandb_args",
    "wandb_config_args",
    "trackio_args",
    "hf_hub_log_args",
)
"""Options with which lm-eval's own command evaluates, a single model; 0.5 lacks some."""

_METRICS = re.compile(r"""(?<![^,=])metrics=([^='"\[]+?)(?=,\w+=|$)""")
"""The names of metrics in an argument, whatever other settings it has."""

_EXAMPLE = """\
Evaluate models on tasks of this package, which `spor tasks list` names, or of lm-eval, as in

  spor eval --tasks spor_systematicity_mini --model spor-hf \\
    --model_args pretrained=CHECKPOINT --output_path runs --log_samples"""

_OWN = """\
Its types of models, for --model: spor-hf (transformers; alone searches with beams) and spor-vllm.
Its settings, for --metadata: prompt_style, fewshot_arm, split, held_out_reference,
limit_evenly, allow_split_mismatch, metrics (such as metrics=bleu,chrf++,ter, to add to those of
each task), and facts_model, nli_model or bleurt_model with a classifier."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no argument: lm-eval's own parser reads them."""
    parser.set_defaults(run=run)


def run(arguments: Sequence[str]) -> int:
    """Evaluate as ``lm_eval run`` does with these arguments, or each of the ``--models``.

    Our tasks, their data and the folders of all checkpoints are checked before a model is loaded,
    which may take minutes. Tasks and options that only lm-eval has go to its own command.

    Raises:
        ConfigError: a task is unknown, a checkpoint is not a checkpoint or does not fit the task,
            the model cannot do what the task needs, or its server fails.
        CorpusError: the data of a task is missing.
        ResultError: some of several models failed; the others have results.
    """
    sources, options = _parse(arguments)
    with _logged(options.verbosity):
        return _run(arguments, sources, options)


def _run(arguments: Sequence[str], sources: Sequence[str], options: argparse.Namespace) -> int:
    import_first("spor_tasks.evaluation.checks", is_command=True)
    from lm_eval.utils import make_table

    from spor_tasks.evaluation.checks import check, lm_eval_errors, task_names
    from spor_tasks.evaluation.run import Evaluator, options_of, prepare, read_models
    from spor_tasks.harness import task_files

    config = _config(options)
    models = [*read_models(sources)] or [config.model_args]
    out = Path(config.output_path) if config.output_path else None

    def show(model: object, results: "SimpleResults") -> None:
        print(
            f"{config.model} ({visible(model)}), "
            f"gen_kwargs: ({visible(config.gen_kwargs)}), limit: {config.limit}, "
            f"num_fewshot: {config.num_fewshot}, batch_size: {config.batch_size}"
        )
        print(make_table(results))

    evaluator = Evaluator(
        config.model,
        batch_size=config.batch_size,
        max_batch_size=config.max_batch_size,
        device=config.device,
    )
    with lm_eval_errors(), _naming(evaluator.written):
        with not_ended():
            check(config, models)
            tasks = task_names(config)
        include = Path(config.include_path) if config.include_path else None
        foreign = [f"the task {name}" for name in tasks if not task_files.expand([name], include)]
        foreign += [f"--{option}" for option in _LM_EVAL_ONLY if getattr(config, option, None)]
        if sources and (foreign or config.model_args):
            raise ConfigError(
                f"cannot be used with {[*foreign, '--model_args'][0]}",
                where="--models",
                remedy="It takes the tasks of this package, which `spor tasks list` names.",
            )
        if out:
            prepare(out, tasks)
        if foreign:
            _run_lm_eval(options, config)
            return 0
        import_first("torch", is_command=True)
        with not_ended():
            evaluator.evaluate(
                models,
                [file.name for file in task_files.expand(tasks, include)],
                out,
                include=include,
                on_result=show,
                **options_of(config),
            )
    if out:
        # lm-eval writes the date into the name of a file
        written = evaluator.written if out.suffix == ".json" else [out]
        print(*map(visible, written), sep="\n")
        then("spor", "report", *written)
    else:
        then("spor", "eval", *arguments, "--output_path", "runs", "--log_samples")
    return 0


@contextmanager
def _naming(written: Sequence[Path]) -> Iterator[None]:
    """Name the results that there are if the block is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        for file in written:
            print(f"these results are written: {visible(file)}", file=sys.stderr)
        raise


def _parse(arguments: Sequence[str]) -> tuple[Sequence[str], argparse.Namespace]:
    """Return the ``--models``, and the other arguments as lm-eval's own parser reads them.

    Raises:
        ConfigError: an argument has a brace but is not JSON, or is nested too deeply.
    """
    from lm_eval._cli.run import Run

    own = Parser(add_help=False)
    group = own.add_argument_group("this package", _OWN)
    group.add_argument(
        "--models",
        nargs="+",
        default=(),
        metavar="MODEL",
        help="several models in place of --model_args, one after another, each as "
        "pretrained=BASE,peft=ADAPTER or in a file with one a line",
    )
    theirs = Parser().add_subparsers()
    Run.create(theirs)
    verbosity = theirs.choices["run"]._option_string_actions["--verbosity"]  # noqa: SLF001
    verbosity.nargs, verbosity.const = "?", "INFO"
    verbosity.choices = ("DEBUG", "INFO", "WARNING", "ERROR")
    verbosity.help = "show the warnings of other packages, and lm-eval's log from a level (INFO)"
    parser = Parser(
        prog="spor eval",
        usage="spor eval --tasks TASK … --model MODEL --model_args KEY=VALUE … [options]",
        description=_EXAMPLE,
        parents=[own, theirs.choices["run"]],
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # lm-eval's parser takes a comma for the end of a value that has no quotes
    quoted = [_METRICS.sub(r'metrics="\1"', argument) for argument in arguments]
    try:
        options = parser.parse_args(quoted)
    except RecursionError as error:
        raise ConfigError("an argument is nested too deeply", where="command line") from error
    except ValueError as error:
        raise ConfigError(str(error), where="command line") from error
    return vars(options).pop("models"), options


_LEVELS = ("TRANSFORMERS_VERBOSITY", "DATASETS_VERBOSITY")
"""The settings of packages that print warnings by a way of their own, read as they start."""

_BARS = ("HF_HUB_DISABLE_PROGRESS_BARS", "HF_DATASETS_DISABLE_PROGRESS_BARS")
"""The settings that hide their progress bars, which a log would be full of."""


@contextmanager
def _logged(level: str | None) -> Iterator[None]:
    """Show what this package logs in the block, but only the errors of others.

    With a level of lm-eval's, or one in the environment, all of it is shown.
    """
    from lm_eval.utils import setup_logging

    handler, ours = logging.StreamHandler(), logging.getLogger("spor_tasks")
    before = ours.level
    ours.setLevel(logging.INFO)
    logging.getLogger().addHandler(handler)
    with warnings.catch_warnings():
        if level or "LMEVAL_LOG_LEVEL" in os.environ:
            setup_logging(level or logging.INFO)
        else:
            handler.addFilter(
                lambda record: record.name.startswith(ours.name) or record.levelno >= logging.ERROR
            )
            warnings.simplefilter("ignore")
            for name in _LEVELS:
                os.environ.setdefault(name, "error")
            for name in _BARS if not sys.stderr.isatty() else ():
                os.environ.setdefault(name, "1")
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            ours.setLevel(before)


_ALL_OPTIONS = "`spor eval --help` names all."


def _config(options: argparse.Namespace) -> "EvaluatorConfig":
    """Return the settings as lm-eval checks and completes them, with those of a ``--config`` file.

    Raises:
        ConfigError: a setting is wrong, or the file is not valid YAML.
    """
    from lm_eval.config.evaluate_config import EvaluatorConfig

    listed: object = None
    if options.config:  # lm-eval has no limit for what aliases stand for
        from spor_tasks.core import plain_yaml  # slow to import

        listed = plain_yaml.parse(read_text(Path(options.config)), options.config)
    in_file = listed if isinstance(listed, dict) else {}
    known = [field.name for field in fields(EvaluatorConfig)]
    for name in in_file.keys() - known:
        what, remedy = f"there is no setting {name!r}", advice(name, known, _ALL_OPTIONS)
        raise ConfigError(what, where=options.config, remedy=remedy)
    try:
        config = EvaluatorConfig.from_cli(options)
    except (OSError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(str(error), where=options.config) from error
    config.device = options.device or in_file.get("device")  # without lm-eval's default
    kinds = [("model", str), ("gen_kwargs", dict)]  # lm-eval tries the others
    kinds += [(key, str) for key in ("include_path", "device") if getattr(config, key) is not None]
    for key, kind in kinds:
        if not isinstance(getattr(config, key), kind):
            raise ConfigError(f"{key} must be a {kind.__name__}", where=options.config)
    return config


def _run_lm_eval(options: argparse.Namespace, config: "EvaluatorConfig") -> None:
    """Run lm-eval's own command, which knows our tasks by stubs or by their folder."""
    from lm_eval.api.registry import get_model

    from spor_tasks.core.hosts import CHECKED, MODEL_TYPE
    from spor_tasks.evaluation import asking
    from spor_tasks.evaluation.checks import task_names
    from spor_tasks.harness import host, stubs, task_files
    from spor_tasks.models import continued

    options.metadata = {**config.metadata, MODEL_TYPE: config.model, CHECKED: True}
    if not stubs.registered(stubs.folder()):
        own = [config.include_path] if config.include_path else []
        options.include_path = [*own, str(task_files.FOLDER)]
    host.keep_folder_names_short()
    host.describe_machine_once()
    model = get_model(config.model)
    for name in filter(partial(hasattr, model), asking.REQUESTS):
        setattr(model, name, asking.shown(getattr(model, name)))
    out = Path(config.output_path) if config.output_path else None
    kept = continued.keeping_for_lm_eval(
        config.model, config.model_args, task_names(config), asdict(config), out
    )
    with host.quietly(), nullcontext() if config.use_cache else kept:
        options.func(options)
