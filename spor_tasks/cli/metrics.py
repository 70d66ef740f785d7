"""`spor metrics agreement`: how well metrics agree with human judgements."""

import argparse
import sys
from pathlib import Path

from spor_tasks.cli.arguments import Commands, add_classifier, add_json, judge, natural, positive


def add(commands: Commands) -> None:
    """Add the command and its verb."""
    parser = commands.add_parser(
        "metrics", help="measure how well metrics agree with human judgements"
    )
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    agreement = verbs.add_parser(
        "agreement", help="correlate metrics with human judgements, over texts and over systems"
    )
    agreement.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="JSON Lines: samples in the published field names, each with `input`, `system`, "
        "`output`, `judgements` and, optionally, `scores` of other metrics",
    )
    for name in ("judgement", "metric"):
        agreement.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"only this {name}; may be repeated",
        )
    agreement.add_argument(
        "--resamples", type=positive, default=1000, metavar="N", help="bootstrap resamples, 1,000"
    )
    agreement.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="seed of the resamples, 0"
    )
    agreement.add_argument(
        "--out", type=Path, metavar="DIR", help="also write Markdown, CSV, JSON and a plot here"
    )
    add_classifier(agreement)
    add_json(agreement, "print JSON, with the tests of all pairs of metrics")
    agreement.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure the outputs, correlate, and print the tables."""
    from spor_tasks.cli.progress import working
    from spor_tasks.evaluation import agreement
    from spor_tasks.evaluation.judged import MEASURES, measure_of, read_judged
    from spor_tasks.report import agreement_text, plots

    facts = judge(options, "facts")
    judges = () if facts is None else (measure_of(facts),)
    with working("measuring outputs") as progress:
        judged = read_judged(
            options.files,
            metrics=options.metric,
            measures=(*MEASURES, *judges),
            progress=progress,
        )
    with working("correlating") as progress:
        found = agreement.agreements(
            judged,
            judgements=options.judgement,
            resamples=options.resamples,
            seed=options.seed,
            progress=progress,
        )
    if options.out:
        agreement_text.write(found, options.out)
        if not plots.available():
            print(plots.MISSING, file=sys.stderr)
    if options.json:
        print(agreement_text.as_json(found), end="")
    else:
        print(agreement_text.terminal(found))
