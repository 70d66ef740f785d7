"""`spor data check`: test sets against the requirements of their aspect."""

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.arguments import VIOLATED, Commands, add_json
from spor_tasks.cli.data.common import fill, number, title
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.aspects.check import CheckResult

# A field that is a pair of numbers has one for each arm, in the arms' order.
LABELS = {
    "missing_atoms": "atoms that do not occur in the arm",
    "test_samples_shown": "samples of the arm with exactly a test sample's units",
    "pairs_in_atom": "test pairs that occur in Atom",
    "atom_samples_with_pairs": "samples of Atom with a test pair",
    "test_samples_touched": "test samples with a pair seen in Atom",
    "test_samples_given_away": "test samples with every pair seen in Atom",
    "occurrences": "occurrences of atoms in the arm",
    "divergence": "divergence of the arms",
    "limit": "largest divergence allowed",
    "pairs_in_combination": "occurrences of test pairs in Combination",
    "threshold": "N",
    "short_in_test": "test samples of at most N units",
    "long_in_invisible": "samples of Invisible with more than N units",
    "missing_units": "test units that do not occur in training samples",
    "short_not_in_invisible": "samples of Visible of at most N units, not in Invisible",
    "units": "units of the arm",
    "long_in_visible": "samples of Visible with more than N units",
    "units_in_long": "units of these samples",
    "references": "references of Original",
    "matches": "samples of Match",
    "foreign_matches": "samples of Match that are not references of Original",
    "matches_out_of_order": "samples of Match that are not in the order of the text",
    "single_units": "test samples with a single unit",
    "not_shown_twice": "test samples without two different input orders",
    "misread_references": "test samples with a reference in another order",
    "hidden": "hidden entities or values",
    "samples_without_phrase": "test samples without a phrase for each of them",
    "samples_that_tell": "test samples that reveal one of them",
}
_WIDTH = max(map(len, LABELS.values()))


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "check", help="check that sets meet the requirements of their aspect"
    )
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="DIR | PROTOCOL:ASPECT:CORPUS[:PART]",
        help="a folder that `build` wrote, or a name such as published:productivity:e2e:n4",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check each of the sets, and print what was counted and what is violated."""
    from spor_tasks.aspects import check, request
    from spor_tasks.cli.progress import working

    results: dict[str, CheckResult] = {}
    for target in options.targets:
        with working(f"checking {target}"):
            pair, limit = request.find(target)
            result = check.check(pair, limit=limit)
        if not options.json:
            print("\n" if results else "", end="")
            _print(f"{target}: {title(pair)}", result)
        results[target] = result
    if options.json:
        print(json.dumps({target: _row(results[target]) for target in results}, indent=2))
    return 0 if all(result.holds for result in results.values()) else VIOLATED


def _row(result: "CheckResult") -> dict[str, Any]:
    violations = [violation._asdict() for violation in result.violations]
    return {"holds": result.holds, **dataclasses.asdict(result), "violations": violations}


def _print(heading: str, result: "CheckResult") -> None:
    print(visible(heading))
    for field in dataclasses.fields(result):
        if field.name != "violations":
            value = number(getattr(result, field.name))
            print(f"  {LABELS[field.name]:<{_WIDTH}}{value:>16}")
    if result.holds:
        print("  every requirement holds")
    for violation in result.violations:
        print(f"  ≠ {visible(violation.words)}")
        for split, ids in violation.samples.items():
            print(fill(f"{len(ids):,} in {split}: {' '.join(ids)}", indent=6))
