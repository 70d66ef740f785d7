"""The command `python -m training`."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from spor_tasks.errors import SporError
from training.config import known_keys, load

_BAD_INPUT = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 2 for bad input, or 130 after an interrupt from the keyboard."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO if _first() else logging.ERROR, format="%(message)s")
    try:
        options.run(options)
    except SporError as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from what was kept", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _first() -> bool:
    """Say whether this is the first, or only, of the processes that were launched together."""
    return os.environ.get("RANK", "0") == "0"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser(
        "train",
        help="tune an adapter on one arm of one split",
        description="Tune a LoRA adapter on one arm of one split, as a configuration file says.",
        epilog=f"The keys are {', '.join(known_keys())}.",
    )
    train.add_argument(
        "config", type=Path, metavar="CONFIG", help="such as configs/models/mini.yaml"
    )
    train.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="settings that go before the file's, such as data.arm=combination lora.rank=16",
    )
    train.set_defaults(run=_train)

    pack = commands.add_parser(
        "pack",
        help="pack an experiment for a machine without a network",
        description="Pack an experiment, with what it needs, for a machine that has Python, torch "
        "and transformers, and no network. `unpack.py`, in the pack, runs it there.",
    )
    pack.add_argument("experiment", type=Path, metavar="EXPERIMENT")
    pack.add_argument("--out", type=Path, required=True, metavar="DIR")
    pack.add_argument(
        "--include",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="what git does not hold, such as the folder of a model to start from",
    )
    pack.add_argument("--python", default="3.12", metavar="3.N", help="that machine's")
    pack.add_argument("--present", nargs="+", default=[], metavar="NAME", help="packages there")
    pack.add_argument(
        "--wheels", type=Path, default=Path("runs/wheels"), metavar="DIR", help="keep them here"
    )
    pack.add_argument("--piece-mb", type=float, default=60, metavar="N", help="of each piece")
    pack.set_defaults(run=_pack)

    demo = commands.add_parser("demo", help="the whole way on an embedded corpus, in minutes")
    demo.set_defaults(run=_demo)
    return parser


def _train(options: argparse.Namespace) -> None:
    config = load(options.config, options.overrides)
    # Imported once the settings are known to be good: torch takes seconds.
    from training.lora import train  # noqa: PLC0415

    result = train(config)
    speed = result.pairs_seen / result.seconds
    if _first():
        print(f"{result.adapter}: loss {result.losses[-1]:.3f}, {speed:.1f} pairs/s")


def _pack(options: argparse.Namespace) -> None:
    from training.pack import Target, pack  # noqa: PLC0415

    target = Target(python=options.python, present=frozenset(options.present))
    pieces = pack(
        options.experiment,
        options.out,
        options.include,
        target=target,
        wheels=options.wheels,
        piece_mb=options.piece_mb,
    )
    print(f"{options.out}: {len(pieces)} pieces, {sum(p.size for p in pieces) / 10**6:.0f} MB")


def _demo(_: argparse.Namespace) -> None:
    from training.demo import run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    sys.exit(main())
