"""`spor report`: compare the arms in lm-eval's result files."""

import argparse
import sys
from pathlib import Path

from spor_tasks.cli.arguments import VIOLATED, positive
from spor_tasks.cli.compare import show
from spor_tasks.cli.following import given, then
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible

HELP = "compare the arms in lm-eval's result files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "results", nargs="*", type=Path, metavar="RESULTS", help="result files, or folders of them"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="also write the report here: a page with samples, Markdown, LaTeX, CSV and JSON",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--leaderboard",
        action="store_true",
        help="instead rank the systems, and write files for the Hub and for Every Eval Ever",
    )
    instead.add_argument(
        "--diff",
        nargs="*",
        type=Path,
        metavar="RESULTS",
        help="instead compare systems, which is now `spor compare BEFORE AFTER`",
    )
    parser.add_argument(
        "--most",
        type=positive,
        default=10,
        metavar="N",
        help=argparse.SUPPRESS,  # of --diff
    )
    parser.add_argument(
        "--merge-by",
        type=lambda text: tuple(fact for fact in text.split(",") if fact),
        default=(),
        metavar="FACT,…",
        help="put results that differ only in these facts, such as dtype or backend, into one row "
        "that says so",
    )
    published = parser.add_argument_group("with --leaderboard and --out, for public leaderboards")
    published.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="MODEL=OWNER/NAME",
        help="what a model of the results is called on the Hub; may be repeated",
    )
    published.add_argument(
        "--dataset",
        metavar="OWNER/NAME",
        help="the benchmark's dataset on the Hub, spor-tasks/spor",
    )
    published.add_argument("--organization", metavar="NAME", help="who evaluated the models")
    published.add_argument("--source", metavar="URL", help="where the results can be looked up")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report or the leaderboard, or compare systems."""
    from spor_tasks import report
    from spor_tasks.report.document import plain_text

    results = [*options.results, *(options.diff or ())]
    if not results:
        remedy = "Name the folder that `--output_path` named."
        raise ConfigError("no results are named", remedy=remedy)
    if options.diff is not None:
        print("`spor report --diff` is now `spor compare`.", file=sys.stderr)
        return show(results, options)
    if options.leaderboard:
        names = dict(text.rpartition("=")[::2] for text in options.name)
        settings = report.ExportSettings(
            names, options.dataset, options.organization, options.source
        )
        document = report.write_leaderboard(
            options.results, options.out, merge_by=options.merge_by, settings=settings
        )
    else:
        document = report.write(options.results, options.out, merge_by=options.merge_by)
    print(plain_text(document))
    out = options.out
    if out:
        name = "leaderboard.md" if options.leaderboard else report.PAGE
        print(f"\n{visible(out / name)}")
    kind: list[object] = ["--leaderboard"] if options.leaderboard else []
    if options.merge_by:
        kind += ["--merge-by", ",".join(options.merge_by)]
    kind += given(options, "name", "dataset", "organization", "source")
    if not out:
        then("spor", "report", *results, *kind, "--out", "report")
    elif options.leaderboard:
        then("spor", "push", *results, "--to", "OWNER/NAME", "--dry-run")
    else:
        then("python", "-m", "webbrowser", out / report.PAGE)
    return 0 if document.whole else VIOLATED
