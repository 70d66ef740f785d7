"""`spor data`: fetch the corpora; build, check and inspect the sets made from them."""

from spor_tasks.cli.arguments import Commands
from spor_tasks.cli.data import build, check, fetch

VERBS = (fetch, build, check)


def add(commands: Commands) -> None:
    """Add the command and its verbs."""
    parser = commands.add_parser(
        "data", help="fetch the corpora; build, check and inspect the sets made from them"
    )
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    for verb in VERBS:
        verb.add(verbs)
