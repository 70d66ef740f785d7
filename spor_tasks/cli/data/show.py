"""`spor data show`: a test sample beside the training samples that share its units."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spor_tasks.cli.arguments import Commands, add_json, positive
from spor_tasks.cli.data.common import add_request, fill, request_of, title
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Hidden, Orders, Sample
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.aspects.show import Arm, Exhibit


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "show", help="show a test sample and the training samples that share its units"
    )
    parser.add_argument("sample", metavar="ID | INDEX", help="the sample's id, or its index from 0")
    parser.add_argument(
        "--in", dest="folder", type=Path, metavar="DIR", help="a folder that `build` wrote"
    )
    add_request(parser, required=False)
    parser.add_argument(
        "--most", type=positive, default=5, metavar="N", help="training samples to show per arm, 5"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the sample and what each arm shows of it."""
    from spor_tasks.aspects import folder, request, show

    if options.folder:
        pair = folder.read_sets(options.folder).pair
    elif options.corpus and options.aspect:
        pair = request.answer(request_of(options)).pair
    else:
        raise ConfigError(
            "it is not clear which sets the test sample belongs to",
            remedy="Add `--in DIR`, or `--corpus` and `--aspect`.",
        )
    exhibit = show.show(pair, options.sample, most=options.most)
    if options.json:
        print(json.dumps(_row(exhibit), indent=2))
        return
    sample, count = exhibit.sample, len(pair.test.samples)
    print(visible(f"{title(pair)}: test sample {exhibit.index} of {count:,}, {sample.id}"))
    _print_sample(sample, {unit: i for i, unit in enumerate(sample.units)})
    _print_challenge(sample)
    for arm in exhibit.arms:
        _print_arm(arm, sample)


def _print_arm(arm: "Arm", sample: Sample) -> None:
    several = f"{arm.together:,} of them two or more" if arm.together else "none two or more"
    print(f"\n{arm.name}: {arm.holders:,} training samples share a unit with it, {several}")
    print("  " + "  ".join(f"[{i}] {count:,}" for i, count in enumerate(arm.per_unit)))
    for holder in arm.samples:
        print(f"  {visible(holder.sample.id)}{' together' if len(holder.held) > 1 else ''}")
        _print_sample(holder.sample, {sample.units[i]: i for i in holder.held})


def _print_challenge(sample: Sample) -> None:
    """Print what an aspect adds to a test sample."""
    match sample.challenge:
        case Orders(inputs, references):
            for name, orders in (("in", inputs), ("texts", references)):
                print(f"        {name}: {', '.join(' '.join(map(str, order)) for order in orders)}")
        case Hidden(phrases):
            for what, phrase in phrases:
                print(visible(f"        {phrase} hides {what}"))


def _print_sample(sample: Sample, marks: Mapping[DataUnit, int]) -> None:
    if name := sample.about("name"):
        print(f"{'':<8}{visible(name)}")
    for unit in sample.units:
        mark = f"[{marks[unit]}]" if unit in marks else ""
        print(f"    {mark:<4}{visible(' | '.join(unit))}")
    for text in sample.references:
        print(fill(text, indent=8))


def _row(exhibit: "Exhibit") -> dict[str, Any]:
    from spor_tasks.core.codec import to_row

    def row(sample: Sample) -> dict[str, Any]:
        return {"id": sample.id, **to_row(sample)}

    arms = {
        arm.name: {
            "holders": arm.holders,
            "together": arm.together,
            "per_unit": arm.per_unit,
            "samples": [{"held": holder.held, **row(holder.sample)} for holder in arm.samples],
        }
        for arm in exhibit.arms
    }
    return {"index": exhibit.index, **row(exhibit.sample), "arms": arms}
