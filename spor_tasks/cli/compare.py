"""`spor compare`: test systems against the first, on any task of lm-eval."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from spor_tasks.cli.arguments import VIOLATED, natural
from spor_tasks.cli.following import given, then
from spor_tasks.core.visible import visible

HELP = "test systems against the first, on any task of lm-eval"

_INTRODUCTION = """\
Compare systems on the documents that all of them have, as in

  spor compare runs/before runs/after

Each is a folder that `--output_path` named, a result file in it, or a file of samples, with one run
of each task; of our tasks also several training seeds. The tasks may be any of lm-eval, evaluated
with --log_samples: every score is tested whose total is the mean of its samples."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = _INTRODUCTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "systems",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        help="results of the first system, and of those to compare with it",
    )
    parser.add_argument(
        "--cluster",
        metavar="FIELD",
        help="a field of the documents, such as `passage_id` or `meta.source`: documents with the "
        "same value are no independent evidence (default: equal documents; our tasks have their "
        "own)",
    )
    parser.add_argument(
        "--score",
        action="append",
        default=[],
        metavar="NAME",
        help="compare this score alone, such as `acc`; may be repeated",
    )
    parser.add_argument(
        "--most",
        type=natural,
        default=10,
        metavar="N",
        help="changed documents to show of each task, 10",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="also write the comparison here: Markdown, LaTeX, CSV, JSON, and a page",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the comparison, and the command that writes it."""
    more = [*given(options, "cluster", "score")]
    return show(options.systems, options, *more, cluster=options.cluster, scores=options.score)


def show(
    systems: Sequence[Path],
    options: argparse.Namespace,
    *more: object,
    cluster: str | None = None,
    scores: Sequence[str] = (),
) -> int:
    """Print a comparison as ``out`` and ``most`` of the options say; return the exit status.

    ``more`` are words of the command that writes it.
    """
    from spor_tasks import report
    from spor_tasks.report.document import plain_text

    out = options.out
    document = report.write_compare(systems, out, cluster=cluster, scores=scores, most=options.most)
    print(plain_text(document))
    if not out:
        then("spor", "compare", *systems, *more, "--out", "comparison")
    else:
        print(f"\n{visible(out / report.PAGE)}")
        then("python", "-m", "webbrowser", out / report.PAGE)
    return 0 if document.whole else VIOLATED
