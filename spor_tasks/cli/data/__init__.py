"""`spor data`: fetch the corpora; build, check and inspect the sets made from them."""

import argparse

from spor_tasks.cli.data import build, check, fetch, pairs, record

HELP = "fetch the corpora; build, check and inspect the sets made from them"

VERBS = {"fetch": fetch, "build": build, "check": check, "pairs": pairs, "record": record}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the command, with their arguments."""
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, verb in VERBS.items():
        verb.add_arguments(verbs.add_parser(name, help=verb.HELP))
