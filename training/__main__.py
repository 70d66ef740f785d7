"""The command `python -m training`."""

import argparse
import json
import logging
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spor_tasks.cli import refused
from spor_tasks.cli.arguments import positive
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import SporError, require
from spor_tasks.core.foreign import not_ended
from spor_tasks.core.registry import registry
from spor_tasks.core.terminal import Parser, guarded
from spor_tasks.core.visible import visible
from spor_tasks.corpora.compmctg.reader import FOLDERS
from training import shipped
from training.launched import is_first, is_shared

# In a list of arguments, lm-eval may read these as more than texts.
_READ = re.compile(
    r"[][(){},'\"]|^[+-]?(?:\.?\d|(?:true|false|none|nan|inf|infinity)$)", re.IGNORECASE
)

_NOT_DONE = 1
_BAD_INPUT = 2
_INTERRUPTED = 130
_TERMINATED = 143

_PACKAGES = ("torch", "transformers", "peft", "accelerate", "pydantic", "submitit")

_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_OVERRIDES: dict[str, Any] = {"nargs": "*", "metavar": "key=value"}
_EMBEDDED = ("mini", "logicnlg_mini", "totto_mini", "compmctg_mini")


@guarded()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    It is 0 on success, and 1 if cells of an experiment are not done. It is 2 for bad input or an
    error of the system, 130 after Ctrl-C, and 143 after SIGTERM. SIGTERM ends the command as Ctrl-C
    does, but a process that was launched with others ends at once: it cannot continue alone.
    """
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO if is_first() else logging.ERROR, format="%(message)s")
    # Its import warns of a kernel of four bits that no training on a CPU uses.
    logging.getLogger("bitsandbytes.backends").setLevel(logging.ERROR)

    def interrupt(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(number)

    if not is_shared() and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)
    try:
        require("training", "train", *_PACKAGES)
        with not_ended():
            status: int | None = options.run(options)
        print(end="", flush=True)  # so that an error of the output is raised here
    except SporError as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt as end:
        print("interrupted: the same command continues from what is saved", file=sys.stderr)
        return _TERMINATED if signal.SIGTERM in end.args else _INTERRUPTED
    except OSError as error:
        return refused(error)
    return status or 0


# --- Arguments -----------------------------------------------------------------------------------


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(prog="python -m training", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[..., object], purpose: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.set_defaults(run=run)
        return command

    train = add("train", _train, "train an adapter, or a whole model, on one arm of one split")
    train.add_argument("config", **_FILE, help="such as configs/models/mini.yaml")
    train.add_argument("overrides", **_OVERRIDES, help="such as data.arm=combination or lora.r=16")
    run = add("run", _run, "train and evaluate the cells of an experiment that are not done")
    run.add_argument("experiment", **_FILE, help="such as configs/experiments/mini.yaml")
    run.add_argument(
        "overrides",
        **_OVERRIDES,
        help="of the experiment, such as seeds=[0] or evaluation.limit=50, or of every training, "
        "such as model.path=FOLDER",
    )
    run.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="only cells whose name has one of these patterns; `*` stands for anything",
    )
    run.add_argument(
        "--dry-run", action="store_true", help="list the cells and their states, and do nothing"
    )
    run.add_argument(
        "--executor", choices=["local", "slurm"], default="local", help="where workers run (local)"
    )
    run.add_argument(
        "--workers", type=positive, default=1, metavar="N", help="processes or Slurm jobs (1)"
    )
    run.add_argument(
        "--overwrite", action="store_true", help="replace adapters that have other settings"
    )
    demo = add("demo", _demo, "train, evaluate and report on an embedded corpus, in minutes")
    demo.add_argument("--corpus", choices=_EMBEDDED, default="mini", help="the corpus (mini)")
    purpose = "train classifiers of attributes for CompMCTG's accuracy"
    classifier = add("classifier", _classifier, purpose)
    classifier.add_argument(
        "--corpus", required=True, help=f"{', '.join(FOLDERS)}, or your YAML file of aspects"
    )
    classifier.add_argument("--aspect", nargs="+", default=["all"], help="the aspects (all)")
    classifier.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="gets a folder for each aspect"
    )
    classifier.add_argument(
        "--config",
        **_FILE,
        help="such as configs/models/compmctg/classifier-yelp.yaml; by default a small classifier "
        "is trained from nothing",
    )
    classifier.add_argument("--data", **_FILE, help="labelled texts in place of cls.jsonl")
    classifier.add_argument("overrides", **_OVERRIDES, help="settings, such as epochs=2")
    return top


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments; overrides may stand anywhere, also after an option's words."""
    command = parser()
    options, rest = command.parse_known_args(arguments)
    found = vars(options)
    if rest and not ("overrides" in found and all(map(_is_override, rest))):
        command.unrecognized(rest, sys.argv[1:] if arguments is None else arguments)
    for name in {"only", "aspect"} & found.keys():  # they got every word after them
        rest += filter(_is_override, found[name])
        found[name] = [word for word in found[name] if not _is_override(word)]
    if rest:
        found["overrides"] = [*found["overrides"], *rest]
    return options


def _is_override(word: str) -> bool:
    return "=" in word and not word.startswith("-")


# --- Commands ------------------------------------------------------------------------------------


def _found(file: Path) -> Path:
    return Path(shipped.find(str(file)))


def _train(options: argparse.Namespace) -> None:
    # Nothing for the other commands.
    from training.config import check_path, load_config
    from training.data import find_spec, sets_of

    config = load_config(_found(options.config), options.overrides)
    check_path(config.model)
    task = find_spec(**sets_of(config.data).facts.named).task
    # Imported once the settings are known to be good: torch takes seconds.
    from training.lora import train

    result = train(config)
    speed = result.pairs_seen / result.seconds
    if is_first():
        print(f"{visible(result.folder)}: loss {result.losses[-1]:.3f}, {speed:.1f} pairs/s")
        model = ",".join(f"{key}={value}" for key, value in config.arguments.items())
        if any(map(_READ.search, config.arguments.values())):
            model = json.dumps(config.arguments)
        arguments = ("--model", "spor-hf", "--model_args", model, "--tasks", task)
        then("spor", "eval", *arguments, "--output_path", "results", "--log_samples")


def _run(options: argparse.Namespace) -> int:
    from training.experiments import plan, run  # lm-eval, which takes seconds

    loaded = plan.load_experiment(_found(options.experiment), options.overrides)
    if options.dry_run:
        print(run.plan(loaded, options.only))
        return 0
    done = run.run(
        loaded,
        options.only,
        executor=options.executor,
        workers=options.workers,
        overwrite=options.overwrite,
    )
    return 0 if done else _NOT_DONE


def _classifier(options: argparse.Namespace) -> None:
    from training import classifier  # torch

    config = classifier.load_config(options.config and _found(options.config), options.overrides)
    aspects, every = options.aspect, list(classifier.space_of(options.corpus).aspects)
    if "all" in aspects or not aspects:
        aspects = every
    samples = classifier.read_labelled(options.corpus, options.data)
    for trained in classifier.train(options.corpus, aspects, samples, options.out, config):
        earlier = "" if trained.is_new else ", trained before"
        accuracy = trained.accuracies[-1]
        print(f"{visible(trained.folder)}: dev accuracy {accuracy:.2f}{earlier}", flush=True)
    if not all((options.out / aspect).is_dir() for aspect in every):
        same = (*given(options, "corpus", "out", "config", "data"), *options.overrides)
        then("python", "-m", "training", "classifier", *same)
    elif options.corpus in registry().names("corpus"):
        folder = ("--classifiers", options.out)
        then("spor", "score", "FILE", "--metric", "compmctg", "--corpus", options.corpus, *folder)
    else:
        then("spor", "tasks", "make", options.corpus, "--out", "tasks")


def _demo(options: argparse.Namespace) -> int:
    from training.demo import demonstrate

    return 0 if demonstrate(options.corpus) else _NOT_DONE


if __name__ == "__main__":
    sys.exit(main())
