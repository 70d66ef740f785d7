"""`spor data stats`: count the corpora and the released sets."""

import argparse
import json

from spor_tasks.cli.arguments import Commands, add_json
from spor_tasks.cli.data.common import number


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "stats", help="count the corpora and released sets, beside the paper's numbers"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the tables, or all of them as JSON."""
    from spor_tasks.aspects import named

    tables = (table for benchmark in named.benchmarks() for table in benchmark.statistics())
    if options.json:
        counted = {
            table.title: {
                figure.label: {"ours": figure.ours, "paper": figure.paper}
                for figure in table.figures
            }
            for table in tables
        }
        print(json.dumps(counted, indent=2))
        return
    for table in tables:
        print(f"\n{table.title:<46}{'here':>36}{'paper':>36}")
        for label, ours, paper in table.figures:
            mark = "  ≠" if paper is not None and paper != ours else ""
            print(f"  {label:<44}{number(ours):>36}{number(paper):>36}{mark}")
    print(
        "\n≠ differs from the paper: we count over the whole set, the paper within clusters of"
        "\n  WebNLG samples that share a main entity."
    )
