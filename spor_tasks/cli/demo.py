"""`spor demo`: train, evaluate and report on an embedded corpus, in minutes."""

import argparse

from spor_tasks.cli.run import NOT_DONE
from spor_tasks.cli.training import trains

HELP = "train, evaluate and report on an embedded corpus, in minutes"

_EMBEDDED = ("mini", "logicnlg_mini", "totto_mini", "compmctg_mini")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--corpus", choices=_EMBEDDED, default="mini", help="the corpus (mini)")
    parser.set_defaults(run=run)


@trains
def run(options: argparse.Namespace) -> int:
    """Do what is not done yet, and print the comparison."""
    from training.demo import demonstrate

    return 0 if demonstrate(options.corpus) else NOT_DONE
