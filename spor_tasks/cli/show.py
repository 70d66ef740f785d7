"""`spor show`: one sample of a run, with its outputs marked."""

import argparse
import shutil

from spor_tasks.cli.following import then


def run(options: argparse.Namespace) -> None:
    """Print the sample and each run's outputs for it."""
    from spor_tasks.report.exhibit import exhibit, terminal

    sample = exhibit(options.results, options.sample, against=options.against, task=options.task)
    width = shutil.get_terminal_size((100, 24)).columns
    print(terminal(sample, width=max(40, min(width, 100))))
    is_samples = options.results.suffix == ".jsonl"  # whose result lies beside it
    results = options.results.parent if is_samples else options.results
    then("spor", "report", results, "--out", "report")
