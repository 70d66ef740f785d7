"""`spor data build`: write the sets of an aspect into a folder."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli.arguments import INTERRUPTED, add_building, positive
from spor_tasks.cli.following import then
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    pass


HELP = "write the sets of an aspect into a folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--corpus",
        required=True,
        help="webnlg, e2e, viggo, mini, or a file of your own, as `spor tasks make` takes it",
    )
    parser.add_argument("--aspect", choices=ARMS, required=True)
    parser.add_argument(
        "--part",
        help="n2, n3 and so on, or main, cwio, performance (default: the aspect's first part)",
    )
    parser.add_argument("--protocol", choices=("published", "strict"))
    add_building(parser)
    parser.add_argument(
        "--search",
        action="store_true",
        help="search strict sets of systematicity (minutes; Ctrl-C keeps the best found so far)",
    )
    parser.add_argument(
        "--seconds", type=positive, metavar="N", help="end the search then, with the best found"
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        metavar="N",
        help="end the search after so many rounds, as the manifest of other sets says",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="folder to write")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing data folder")
    parser.add_argument("--json", action="store_true", help="print the manifest as JSON")
    parser.set_defaults(run=run, sets=None)


def run(options: argparse.Namespace) -> int | None:
    """Build the sets, write them, and print how large they are."""
    from spor_tasks.aspects import check, folder, references, request, search
    from spor_tasks.cli.progress import working

    names = [field.name for field in dataclasses.fields(request.Request)]
    asked = request.Request(
        **{name: getattr(options, name) for name in names} | {"hide": tuple(options.hide)}
    )
    with folder.new(options.out, overwrite=options.overwrite) as staging:
        with working(f"building {options.aspect}") as progress:
            answer = request.answer(asked, progress)
        manifest = folder.write_sets(staging, answer.pair, answer.origin)
    if options.json:
        print(json.dumps(manifest, indent=2))  # ASCII only: harmless on a terminal
    else:
        keys = ("samples", "units", "references")
        sizes = [
            [f"  {name}", *(text for key in keys for text in (f"{counts[key]:,}", f" {key}"))]
            for name, counts in manifest["files"].items()
        ]
        more = [
            ("  not tested", f"{count:,}", f" samples: {reason}")
            for reason, count in answer.pair.untested
        ]
        if options.aspect == search.ASPECT:
            shown = check.shown_pairs(answer.pair)
            where = f" of {shown.pairs:,} pairs of test samples stand together in Combination"
            more.append(("  pairs", f"{shown.shown:,}", where))
        print(visible(f"{options.out}: {answer.pair.facts}"))
        print(columns(sizes, "<22", ">9", "<", ">9", "<", ">9"))
        if more:
            print(columns(more, "<22", ">9"))
    if options.corpus not in request.corpora():
        corpus = request.read_corpus(asked)
        for note in (*references.pooled(corpus), *references.of_corpus(corpus).notes):
            line = visible(f"{options.corpus}: {note}")
            print(line, file=sys.stderr if options.json else sys.stdout)
    for warning in answer.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    then("spor", "data", "check", options.out)
    if not answer.interrupted:
        return None
    message = visible(f"interrupted: {options.out} has the best sets found until then")
    print(message, file=sys.stderr)
    return INTERRUPTED
