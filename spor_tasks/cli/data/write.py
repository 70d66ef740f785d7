"""`spor data write`: the embedded corpus and its sets as files."""

import argparse
from pathlib import Path

from spor_tasks.cli.arguments import Commands
from spor_tasks.core.visible import visible


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("write", help="write the embedded corpus and its sets as files")
    parser.add_argument("corpus", choices=["mini"])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the corpus as a release would have it, and print the folder."""
    from spor_tasks.aspects import named
    from spor_tasks.core.codec import to_row
    from spor_tasks.core.files import write_rows, writing
    from spor_tasks.corpora.mini import worlds
    from spor_tasks.corpora.sources import path_of_set

    spec = next(spec for spec in named.available() if spec.name.corpus == options.corpus)
    pair = named.load(*spec.name)
    names = [f"train_mini_{pair.aspect}_{arm.name}" for arm in pair.arms]
    with writing(options.folder):
        worlds.write(options.folder)
        for name, split in zip([*names, f"test_mini_{pair.aspect}"], pair.splits, strict=True):
            write_rows(options.folder / path_of_set(name), map(to_row, split.samples))
    print(visible(options.folder))
