"""The command `python -m training`."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spor_tasks.cli import refused
from spor_tasks.core.errors import SporError
from spor_tasks.core.terminal import Parser, guarded
from spor_tasks.core.visible import visible
from spor_tasks.corpora.compmctg.reader import FOLDERS
from training.config import load_config

_NOT_DONE = 1
_BAD_INPUT = 2
_INTERRUPTED = 130
_TERMINATED = 143

_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_OVERRIDES: dict[str, Any] = {"nargs": "*", "metavar": "key=value"}
_EMBEDDED = ("mini", "logicnlg_mini", "totto_mini", "compmctg_mini")


@guarded()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    It is 0 on success, 1 if cells of an experiment are not done, 2 for bad input or an error of the
    system, 130 after Ctrl-C, and 143 after SIGTERM.
    """
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if _first() else logging.ERROR, format="%(message)s")
    try:
        with _terminable():
            status: int | None = options.run(options)
        print(end="", flush=True)  # so that an error of the output is raised here
    except SporError as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt as interrupt:
        print("interrupted: the same command continues from what is saved", file=sys.stderr)
        return _TERMINATED if signal.SIGTERM in interrupt.args else _INTERRUPTED
    except OSError as error:
        return refused(error)
    return status or 0


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM end the command as Ctrl-C does, which saves what is done and ends all workers.

    A process that was launched with others ends at once, as they do: it cannot continue alone.
    """
    if "RANK" in os.environ or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _first() -> bool:
    """Return whether this is the only process, or the first of several."""
    return os.environ.get("RANK", "0") == "0"


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_train(
        commands.add_parser(
            "train",
            help="train weights on one arm of one split",
            description="Train a LoRA adapter, or a whole model, on one arm of one split, with the "
            "settings of a file. docs/training.md lists the keys.",
        )
    )
    _add_run(
        commands.add_parser(
            "run",
            help="train and evaluate all cells of an experiment that are not done",
            description="Train and evaluate the cells of an experiment that are not done, and "
            "report the results of all.",
        )
    )
    demo = commands.add_parser(
        "demo", help="train, evaluate and report on an embedded corpus, in minutes"
    )
    demo.add_argument("--corpus", choices=_EMBEDDED, default="mini", help="the corpus (mini)")
    demo.set_defaults(run=_demo)
    base = commands.add_parser(
        "base",
        help="train the tiny base of an embedded corpus from scratch",
        description="Train the tiny base of an embedded corpus from scratch. That of mini is "
        "shipped in training/pretrained/mini.",
    )
    base.add_argument("corpus", choices=_EMBEDDED)
    base.add_argument("folder", type=Path, metavar="FOLDER", help="where the base is saved")
    base.set_defaults(run=_base)
    _add_classifier(
        commands.add_parser(
            "classifier",
            help="train the classifiers of attributes that measure CompMCTG's accuracy",
            description="Train a text classifier for each aspect of a corpus of CompMCTG. Without "
            "a config a small one is trained from nothing.",
        )
    )
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", **_FILE, help="such as configs/models/mini.yaml")
    parser.add_argument("overrides", **_OVERRIDES, help="such as data.arm=combination or lora.r=16")
    parser.add_argument(
        "--push-to-hub", metavar="REPOSITORY", help="upload the weights to a private repository"
    )
    parser.set_defaults(run=_train)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", **_FILE, help="such as configs/experiments/mini.yaml")
    parser.add_argument(
        "overrides",
        **_OVERRIDES,
        help="of the experiment, such as seeds=[0] or evaluation.limit=50, or of every training, "
        "such as model.path=FOLDER",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="only cells whose name has one of these patterns; `*` stands for anything",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="list the cells and their states, and do nothing"
    )
    parser.add_argument(
        "--executor", choices=["local", "slurm"], default="local", help="where workers run (local)"
    )
    parser.add_argument(
        "--workers", type=_positive, default=1, metavar="N", help="processes or Slurm jobs (1)"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace adapters that have other settings"
    )
    parser.add_argument(
        "--push-to-hub",
        metavar="NAMESPACE",
        help="upload finished adapters to private repositories",
    )
    parser.set_defaults(run=_run)


def _add_classifier(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus", required=True, help=f"{', '.join(FOLDERS)}, or your YAML file of aspects"
    )
    parser.add_argument("--aspect", nargs="+", default=["all"], help="the aspects (all)")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="gets a folder for each aspect"
    )
    parser.add_argument(
        "--config", **_FILE, help="such as configs/models/compmctg/classifier-yelp.yaml"
    )
    parser.add_argument("--data", **_FILE, help="labelled texts other than the corpus's cls.jsonl")
    parser.add_argument("overrides", **_OVERRIDES, help="settings, such as epochs=2")
    parser.set_defaults(run=_classifier)


def _train(options: argparse.Namespace) -> None:
    config = load_config(options.config, options.overrides)
    # Imported once the settings are known to be good: torch takes seconds.
    from training.lora import train  # noqa: PLC0415

    result = train(config)
    speed = result.pairs_seen / result.seconds
    if _first():
        print(f"{visible(result.folder)}: loss {result.losses[-1]:.3f}, {speed:.1f} pairs/s")
    if options.push_to_hub and _first():
        from training.upload import push_adapter  # noqa: PLC0415

        print(push_adapter(result.folder, options.push_to_hub))


def _run(options: argparse.Namespace) -> int:
    from training.experiments import experiment, run  # noqa: PLC0415 - lm-eval, which takes seconds

    only, overrides = _without_overrides(options.only, options.overrides)
    loaded = experiment.load_experiment(options.experiment, overrides)
    if options.dry_run:
        print(run.plan(loaded, only))
        return 0
    done = run.run(
        loaded,
        only,
        executor=options.executor,
        workers=options.workers,
        overwrite=options.overwrite,
        push_to=options.push_to_hub,
    )
    return 0 if done else _NOT_DONE


def _without_overrides(
    words: Sequence[str], overrides: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the words of an option, and all overrides: argparse gives it every word after it."""
    values = [word for word in words if "=" not in word]
    return values, [*overrides, *(word for word in words if "=" in word)]


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def _classifier(options: argparse.Namespace) -> None:
    from training import classifier  # noqa: PLC0415 - torch

    aspects, overrides = _without_overrides(options.aspect, options.overrides)
    config = classifier.load_config(options.config, overrides)
    if "all" in aspects or not aspects:
        aspects = list(classifier.space_of(options.corpus).aspects)
    samples = classifier.read_labelled(options.corpus, options.data)
    for trained in classifier.train(options.corpus, aspects, samples, options.out, config):
        earlier = "" if trained.is_new else ", trained before"
        accuracy = trained.accuracies[-1]
        print(f"{visible(trained.folder)}: dev accuracy {accuracy:.2f}{earlier}", flush=True)


def _demo(options: argparse.Namespace) -> int:
    from training.demo import DEMOS, demonstrate  # noqa: PLC0415

    return 0 if demonstrate(DEMOS[options.corpus]) else _NOT_DONE


def _base(options: argparse.Namespace) -> None:
    from training import tiny_base  # noqa: PLC0415 - torch

    tiny_base.build(options.folder, options.corpus, tiny_base.SETTINGS[options.corpus])
    print(visible(options.folder))


if __name__ == "__main__":
    sys.exit(main())
