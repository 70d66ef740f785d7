"""`spor push`: publish results, their samples and a report on the Hub."""

import argparse
import os
from pathlib import Path

from spor_tasks.cli.arguments import Commands
from spor_tasks.core.visible import visible


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "push", help="publish results, their samples and a report on the Hub"
    )
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="result files, or folders of them"
    )
    parser.add_argument(
        "--to", required=True, metavar="OWNER/NAME", help="the repository on the Hub"
    )
    parser.add_argument(
        "--type",
        choices=("dataset", "space"),
        default="dataset",
        help="its type (default: dataset); a static Space shows the page",
    )
    parser.add_argument(
        "--create",
        choices=("private", "public"),
        help="create the repository if it does not exist: for yourself, or for everybody to see",
    )
    parser.add_argument(
        "--pr", action="store_true", help="open a pull request, for a repository of others"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be sent, and send nothing"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Check the results, print what is sent, and send it."""
    from spor_tasks.report import publish

    with publish.packed(options.results, options.type, jobs=os.cpu_count() or 1) as package:
        for path in sorted(package.folder.rglob("*")):
            if path.is_file():
                place = path.relative_to(package.folder).as_posix()
                print(f"{path.stat().st_size:>14,}  {visible(place)}")
        for corpus, licence in package.licences.items():
            terms = f"{licence.name}, {licence.attribution}" if licence else "no licence is stated"
            print(f"The samples have references of {visible(corpus)}: {terms}.")
        if not options.dry_run:
            settings = {"create": options.create, "pull_request": options.pr}
            print(publish.push(package, options.to, options.type, **settings))
