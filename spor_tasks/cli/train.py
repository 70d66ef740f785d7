"""`spor train`: train an adapter, or a whole model, on one arm of one split."""

import argparse
import shlex

from spor_tasks.cli.following import evaluate_next, given
from spor_tasks.cli.training import FILE, add_overrides, shipped, trains
from spor_tasks.core.visible import visible

HELP = "train an adapter, or a whole model, on one arm of one split"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("config", **FILE, help="such as configs/models/mini.yaml")
    add_overrides(parser, "such as data.arm=combination or lora.r=16")
    parser.set_defaults(run=run)


@trains
def run(options: argparse.Namespace) -> None:
    """Train, and print the loss and the speed."""
    # Nothing for the other commands.
    from training.config import check_path, load_config
    from training.data import find_spec, is_own, sets_of
    from training.launched import is_first

    config = load_config(shipped(options.config), options.overrides)
    check_path(config.model)
    task = find_spec(**sets_of(config.data).facts.named).task
    # Imported once the settings are known to be good: torch takes seconds.
    from training.lora import train

    result = train(config)
    speed = result.pairs_seen / result.seconds
    if is_first():
        print(f"{visible(result.folder)}: loss {result.losses[-1]:.3f}, {speed:.1f} pairs/s")
        more = []
        if is_own(config.data):
            same = given(config.data, "seed", "restarts", "hide", "sets", "lang")
            words = shlex.join(map(str, (config.data.corpus, *same)))
            print(visible(f"`spor tasks make {words} --out TASKS` writes its tasks"))
            more = ["--include_path", "TASKS"]
        evaluate_next(config.arguments, task, "results", *more)
