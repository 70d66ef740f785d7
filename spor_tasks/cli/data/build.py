"""`spor data build`: write the sets of an aspect into a folder."""

import argparse
import json
import sys
from pathlib import Path

from spor_tasks.cli.arguments import INTERRUPTED, Commands, add_json, positive
from spor_tasks.cli.data.common import add_request, request_of, title
from spor_tasks.cli.data.overlap import run as split
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("build", help="write the sets of an aspect into a folder")
    protocols = ("published", "strict", "overlap")
    add_request(parser, required=True, protocols=protocols)
    parser.add_argument(
        "--alpha",
        type=positive,
        metavar="N",
        help="with --protocol overlap: training keeps the headers of held-out tables that more "
        "than N of its samples have, 5",
    )
    parser.add_argument(
        "--search",
        action="store_true",
        help="search strict sets of systematicity (minutes; Ctrl-C keeps the best found so far)",
    )
    parser.add_argument("--jobs", type=positive, metavar="N", help="processes of the search")
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
    add_json(parser, "print the manifest as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int | None:
    """Build the sets, write them, and print how large they are."""
    from spor_tasks.aspects import folder, request
    from spor_tasks.cli.progress import working

    if options.protocol == "overlap":
        split(options)
        return None
    if not options.aspect or options.alpha:
        raise ConfigError(
            "sets are of an aspect, without --alpha, unless the protocol is overlap",
            remedy="Add --aspect, or --protocol overlap.",
        )
    with folder.new(options.out, overwrite=options.overwrite) as staging:
        with working(f"building {options.aspect}") as progress:
            answer = request.answer(request_of(options), progress)
        manifest = folder.write_sets(staging, answer.pair, answer.facts)
    if options.json:
        print(json.dumps(manifest, indent=2))  # ASCII only: harmless on a terminal
    else:
        print(visible(f"{options.out}: {title(answer.pair)}"))
        for name, facts in manifest["files"].items():
            counts = (f"{facts[key]:>9,} {key}" for key in ("samples", "units", "references"))
            print(f"  {name:<20}{''.join(counts)}")
        for reason, count in answer.pair.untested:
            print(f"  {'not tested':<20}{count:>9,} samples: {reason}")
    if not answer.interrupted:
        return None
    found = visible(f"interrupted: {options.out} has the best sets found until then")
    print(found, file=sys.stderr)
    return INTERRUPTED
