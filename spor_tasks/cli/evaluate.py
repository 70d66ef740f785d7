"""`spor eval`: lm-eval's own command line, for one model or several."""

from collections.abc import Sequence

from spor_tasks.cli.arguments import Commands

NAME = "eval"


def add(commands: Commands) -> None:
    """Add the command; its arguments are lm-eval's."""
    commands.add_parser(
        NAME,
        help="evaluate a model: lm-eval's own options, with the SPOR tasks and the model type "
        "spor-hf; `--models FILE` evaluates several checkpoints",
        add_help=False,
    )


def run(arguments: Sequence[str]) -> int:
    """Evaluate the model, or the several models, that the arguments name."""
    from spor_tasks.evaluation import evaluate

    evaluate.run(arguments)
    return 0
