"""`spor data record`: say that an adapter trained elsewhere is of an arm."""

import argparse
from pathlib import Path

from spor_tasks.cli.arguments import seed
from spor_tasks.cli.following import evaluate_next
from spor_tasks.core.visible import visible

HELP = "record that another program trained an adapter on pairs that `spor data pairs` wrote"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "folder", type=Path, metavar="ADAPTER", help="the folder of an adapter, or a whole model"
    )
    parser.add_argument("--pairs", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--seed",
        type=seed,
        required=True,
        metavar="N",
        help="the seed of the training; TRL's default is 42",
    )
    parser.add_argument(
        "--base", help="its base: a folder or a hub id (default: what an adapter of peft names)"
    )
    parser.add_argument(
        "--recipe",
        metavar="TEXT",
        help="your name for how it was trained: reports compare adapters with the same one",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the record into the folder, and say what it does not know."""
    from spor_tasks.evaluation import elsewhere

    found = elsewhere.adopt(
        options.folder,
        options.pairs,
        seed=options.seed,
        base=options.base,
        recipe=options.recipe,
    )
    adapter = found.adapter
    print(visible(f"{options.folder}: trained elsewhere on {adapter.arm} of {found.task}"))
    if options.recipe is None:
        print("Its recipe is unknown, so reports compare it with no other adapter; see --recipe.")
    is_own = adapter.sets is not None and adapter.sets.corpus_sha256 is not None
    more = ("--include_path", "TASKS") if is_own else ()
    evaluate_next(elsewhere.arguments_of(options.folder, adapter), found.task, "runs", *more)
