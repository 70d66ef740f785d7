"""`spor tasks`: list the tasks, and make them known to lm-eval."""

import argparse
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli.arguments import Commands, add_building
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spor_tasks.core.contracts import SetSpec
    from spor_tasks.harness.task_files import TaskFile


def add(commands: Commands) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser("tasks", help="list the tasks, and make them known to lm-eval")
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    path = verbs.add_parser("path", help="print the folder to give as lm-eval's --include_path")
    path.set_defaults(run=print_path)
    listing = verbs.add_parser("list", help="list the tasks of each corpus, and their tags")
    listing.add_argument("--all", action="store_true", help="every task, with what it is")
    listing.set_defaults(run=print_list)
    register = verbs.add_parser(
        "register", help="register the tasks in the installed lm-eval; safe to repeat"
    )
    register.add_argument("--remove", action="store_true", help="remove the registered tasks")
    register.set_defaults(run=run_register)
    make = verbs.add_parser("make", help="write task files for a corpus of your own")
    make.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="your corpus, a JSON Lines file; or aspects and their values, a YAML file",
    )
    make.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    make.add_argument(
        "--aspect",
        action="append",
        choices=ARMS,
        default=[],
        help="only this aspect; may be repeated (default: every aspect that the corpus allows)",
    )
    add_building(make)
    make.add_argument(
        "--sets",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help="take these sets, which `spor data build` wrote from FILE; may be repeated",
    )
    make.add_argument(
        "--overwrite", action="store_true", help="replace an existing folder of tasks"
    )
    make.set_defaults(run=run_make)


def run_make(options: argparse.Namespace) -> None:
    """Write task files for the user's own corpus."""
    from spor_tasks.aspects.request import Request
    from spor_tasks.harness import own

    is_space = options.file.suffix in {".yaml", ".yml"}
    request = Request(
        corpus=str(options.file),
        aspect="compmctg" if is_space else "",
        seed=options.seed,
        restarts=options.restarts,
        hide=tuple(options.hide),
    )
    for setting in ("aspect", "sets") if is_space else ():
        if getattr(options, setting):
            why = "has no effect on combinations of aspects"
            raise ConfigError(why, where=setting, remedy="Leave it out.")
    task_set = own.write(
        options.out, request, options.aspect, options.sets, overwrite=options.overwrite
    )
    for name, samples in task_set.tasks.items():
        print(f"{visible(name):<56}{samples:>7,} test samples")
    for name, why in task_set.refused.items():
        print(f"{name:<56}not possible: {visible(why)}")
    for name, warning in task_set.warnings:
        print(f"warning: {visible(name)}: {warning}", file=sys.stderr)
    print(f"\nspor eval --include_path {visible(options.out)} --tasks {visible(task_set.tag)} …")


def print_path(_: argparse.Namespace) -> None:
    """Print the folder of the task files."""
    from spor_tasks.harness import task_files

    print(visible(task_files.FOLDER))


def print_list(options: argparse.Namespace) -> None:
    """Print which tasks each corpus has, or every task with what it is."""
    from spor_tasks.aspects import named
    from spor_tasks.harness import task_files

    files = task_files.files()
    if options.all:
        width = max(len(file.name) for file in files)
        for file in files:
            print(f"{file.name:<{width}}  {_describe(file)}")
        return
    for benchmark in named.benchmarks():
        rows = list(_table(benchmark.sets()))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
        print()
    tags = sorted({tag for file in files for tag in file.tags if "_icl_" not in tag})
    print(textwrap.fill(f"Tags, each for several tasks: {', '.join(tags)}.", 100))
    print("`spor tasks list --all` names every task.")


def _table(specs: "Sequence[SetSpec]") -> "Iterator[list[str]]":
    """Yield a header of corpora, then a row for each name of a task, with `…` for the corpus.

    Where the parts of an aspect differ in their names, the cells have them.
    """
    corpora = list(dict.fromkeys(spec.name.corpus for spec in specs))
    rows: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for spec in specs:
        name = spec.name
        has_parts = name.part is not None and name.aspect != spec.benchmark
        task = spec.task.replace(f"_{name.part}", "", 1) if has_parts else spec.task
        rows[task.replace(name.corpus, "…", 1)][name.corpus].append(
            str(name.part) if has_parts else "yes"
        )
    for spec in specs:
        for variant in (*spec.decodings, *(["icl_ARM"] if spec.in_context else [])):
            rows[f"…_{variant}"][spec.name.corpus] = ["yes"]
    yield [specs[0].benchmark, *corpora]
    for task, cells in rows.items():
        yield [task, *(" ".join(cells[corpus]) for corpus in corpora)]


def _describe(file: "TaskFile") -> str:
    metadata = file.content["metadata"]
    names = (metadata.get(key) for key in ("aspect", "corpus", "part", "protocol"))
    demonstrations = f"shown {metadata['icl_arm']}" if "icl_arm" in metadata else None
    decoding = file.decoding and f"{file.decoding.removeprefix('beam')} beams"
    return ", ".join(filter(None, dict.fromkeys([*names, demonstrations, decoding])))


def run_register(options: argparse.Namespace) -> None:
    """Register the tasks in the installed lm-eval, or remove them from it."""
    from spor_tasks.harness import stubs

    if options.remove:
        for folder in stubs.remove():
            print(f"{visible(folder)}: removed")
        return
    folder = stubs.folder()
    stubs.register(folder)
    print(f"{visible(folder)}: all tasks registered")
