"""`spor push`: publish results, their samples and a report on the Hub."""

import argparse
from pathlib import Path

from spor_tasks.cli.following import given, then
from spor_tasks.core.terminal import columns

HELP = "publish results, their samples and a report on the Hub"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
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

    with publish.packed(options.results, options.type) as folder:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        print(
            columns(
                (
                    (f"{path.stat().st_size:,}", path.relative_to(folder).as_posix())
                    for path in files
                ),
                ">14",
                gap="  ",
            )
        )
        print((folder / "README.md").read_text("utf-8"))
        if not options.dry_run:
            settings = {"create": options.create, "pr": options.pr}
            print(publish.push(folder, options.to, options.type, **settings))
        else:
            same = [*given(options, "to", "type", "create"), *(["--pr"] if options.pr else [])]
            then("spor", "push", *options.results, *same)
