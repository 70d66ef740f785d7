"""`spor run`: train and evaluate the cells of an experiment that are not done."""

import argparse

from spor_tasks.cli.arguments import positive
from spor_tasks.cli.training import FILE, add_overrides, shipped, trains

HELP = "train and evaluate the cells of an experiment that are not done"

NOT_DONE = 1
"""The exit status if cells of an experiment are not done."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("experiment", **FILE, help="such as configs/experiments/mini.yaml")
    add_overrides(
        parser,
        "of the experiment, such as seeds=[0] or evaluation.limit=50, or of every training, such "
        "as model.path=FOLDER",
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
        "--workers", type=positive, default=1, metavar="N", help="processes or Slurm jobs (1)"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace adapters that have other settings"
    )
    parser.set_defaults(run=run)


@trains
def run(options: argparse.Namespace) -> int:
    """Do what is not done and report it, or list the cells and their states."""
    from training.experiments import plan
    from training.experiments import run as experiments  # lm-eval, which takes seconds

    loaded = plan.load_experiment(shipped(options.experiment), options.overrides)
    if options.dry_run:
        print(experiments.plan(loaded, options.only))
        return 0
    done = experiments.run(
        loaded,
        options.only,
        executor=options.executor,
        workers=options.workers,
        overwrite=options.overwrite,
    )
    return 0 if done else NOT_DONE
