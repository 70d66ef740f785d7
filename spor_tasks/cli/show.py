"""`spor show`: one sample of a run, with its outputs marked."""

import argparse
import shutil
from pathlib import Path

from spor_tasks.cli.following import then

HELP = "show one sample of a run, with its outputs marked"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="a result file, a sample file, or a folder of them",
    )
    parser.add_argument("sample", metavar="ID | INDEX", help="the sample's id, or its index from 0")
    parser.add_argument("--task", help="the task, if there are several")
    parser.add_argument(
        "--against", type=Path, metavar="RESULTS", help="also show this run's outputs for it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the sample and each run's outputs for it."""
    from spor_tasks.report.exhibit import exhibit, terminal

    sample = exhibit(options.results, options.sample, against=options.against, task=options.task)
    width = shutil.get_terminal_size((100, 24)).columns
    print(terminal(sample, width=max(40, min(width, 100))))
    is_samples = options.results.suffix == ".jsonl"  # whose result lies beside it
    results = options.results.parent if is_samples else options.results
    then("spor", "report", results, "--out", "report")
