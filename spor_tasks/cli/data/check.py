"""`spor data check`: test sets against the requirements of their aspect."""

import argparse
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.cli.arguments import VIOLATED
from spor_tasks.cli.following import then
from spor_tasks.core.files import JsonObject
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.aspects.check import CheckResult
    from spor_tasks.aspects.references import ReferenceFacts

HELP = "check that sets meet the requirements of their aspect"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="DIR | PROTOCOL:ASPECT:CORPUS[:PART]",
        help="a folder that `build` wrote, or a name such as published:productivity:e2e:n4",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check each of the sets, and print what was counted and what is violated."""
    from spor_tasks.aspects import check, references, request

    rows: dict[str, JsonObject] = {}
    for target in options.targets:
        pair = request.find(target)
        result = check.check(pair)
        texts = references.of_sets(pair)
        result = result._replace(warnings=(*result.warnings, *texts.warnings))
        if not options.json:
            print("\n" if rows else "", end="")
            _print(f"{target}: {pair.facts}", result, texts)
        rows[target] = {
            "holds": result.holds,
            **result.counts,
            "violations": [violation._asdict() for violation in result.violations],
            "warnings": list(result.warnings),
            **texts._asdict(),
        }
    if options.json:
        print(json.dumps(rows, indent=2))
    corpus, target = pair.facts.corpus, options.targets[-1]
    if Path(target).is_dir() and not request.has_sets(corpus):
        made_of = corpus if corpus in request.corpora() else "CORPUS"
        then("spor", "tasks", "make", made_of, "--sets", target, "--out", "tasks")
    else:
        then("spor", "tasks", "list")
    return 0 if all(row["holds"] for row in rows.values()) else VIOLATED


def _print(heading: str, result: "CheckResult", texts: "ReferenceFacts") -> None:
    print(visible(heading))
    counts = ((f"  {name.replace('_', ' ')}", _number(n)) for name, n in result.counts.items())
    print(columns(counts, "<32", ">16"))
    for note in texts.notes:
        print(f"  {note}")
    if result.holds:
        print("  every requirement holds")
    for warning in result.warnings:
        print(f"  warning: {warning}")
    for violation in result.violations:
        print(f"  ≠ {visible(violation.words)}")
        for split, ids in violation.samples.items():
            line = visible(f"{len(ids):,} in {split}: {' '.join(ids)}")
            print(textwrap.fill(line, 100, initial_indent=" " * 6, subsequent_indent=" " * 8))


def _number(count: float | tuple[int, ...]) -> str:
    if isinstance(count, tuple):
        return " ".join(map(_number, count))
    return f"{count:.4f}" if isinstance(count, float) else f"{count:,}"
