"""`spor data pairs`: write an arm as pairs of prompt and completion, to train on elsewhere."""

import argparse
from pathlib import Path

from spor_tasks.cli.arguments import add_include_path
from spor_tasks.cli.following import then
from spor_tasks.core.manual import page
from spor_tasks.core.visible import visible

HELP = "write an arm as pairs of prompt and completion, to train on with another program"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("task", metavar="TASK", help="the task that adapters are to be tested on")
    parser.add_argument("--arm", required=True, help="such as atom; `spor tasks show` names them")
    parser.add_argument("--split", help="of CompMCTG: the split whose training set it is")
    parser.add_argument(
        "--prompt_style",
        choices=("causal", "seq2seq"),
        default="causal",
        help="seq2seq for encoder-decoders (causal)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the JSON Lines file to write"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace existing pairs and their record"
    )
    add_include_path(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the pairs and their record, and say how they are to be trained on."""
    from spor_tasks.evaluation import elsewhere

    settings = {key: getattr(options, key) for key in ("split", "prompt_style")}
    written = elsewhere.write(
        options.out,
        options.task,
        options.arm,
        {key: value for key, value in settings.items() if value is not None},
        overwrite=options.overwrite,
        include=options.include_path,
    )
    print(visible(f"{options.out}: {written.adapter.pairs:,} pairs of {options.arm}"))
    print(visible(f"{elsewhere.record_of(options.out)}: the record of an adapter of them"))
    print("Prompts have no chat template: train without one, and on completions alone.")
    print("The tokenizer's end token is not in a completion: TRL adds it, other programs may not.")
    print(f"{page('train')} has an example.")
    trained = ("ADAPTER", "--base", "MODEL", "--seed", "SEED")
    then("spor", "data", "record", *trained, "--pairs", options.out)
