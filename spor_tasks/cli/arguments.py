"""The arguments of commands, as options.toml declares them, and exit status that several return."""

import argparse
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import msgspec

from spor_tasks.core.registry import registry
from spor_tasks.core.terminal import Parser
from spor_tasks.text.filters import FILTERS

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it (128 + SIGINT), even if something was saved."""

VIOLATED = 1
"""The exit status of a check that found violations, or of a report that left something out."""


def positive(text: str) -> int:
    """Return a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


OF_LM_EVAL = "spor_tasks.cli.evaluate:run"
"""Runs the command whose arguments and help are those of lm-eval's own parser."""

_EXCLUSIVE = "exclusive"


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command: what runs it, as ``module:function``, and its arguments or its own commands."""

    help: str
    run: str | None = None
    description: str | None = None
    groups: dict[str, str] = {}
    options: dict[str, dict[str, Any]] = {}
    commands: dict[str, "Command"] = {}


class _Declared(msgspec.Struct, frozen=True):
    commands: dict[str, Command]
    shared: dict[str, dict[str, Any]]


@cache
def _declared() -> _Declared:
    text = resources.files("spor_tasks.cli").joinpath("options.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Declared)


_TYPES: Mapping[str, Callable[[str], object]] = {
    "path": Path,
    "int": int,
    "positive": positive,
    "names": lambda text: tuple(name for name in text.split(",") if name),
    "filters": lambda text: () if text == "none" else tuple(text.split(",")),
}


class _Command(Parser):
    """The parser of a command, which takes `--quiet` too: it may stand anywhere."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # without a default, which would undo `spor --quiet COMMAND`
        self.add_argument(
            "--quiet", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )


def add_commands(
    parser: argparse.ArgumentParser,
    words: Sequence[str] | None,
    commands: Mapping[str, Command] | None = None,
) -> None:
    """Add all commands to a parser; with words, with the arguments of those named alone."""
    verbs = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Command)
    for name, command in (commands or _declared().commands).items():
        child = verbs.add_parser(
            name,
            help=command.help,
            description=command.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=command.run != OF_LM_EVAL,
        )
        if words is not None and name not in words:
            continue
        if command.commands:
            add_commands(child, None, command.commands)
        else:
            child.set_defaults(run=command.run)
            _add_arguments(child, command)


def _add_arguments(parser: argparse.ArgumentParser, command: Command) -> None:
    places: dict[str | None, Any] = {None: parser}
    for title, about in command.groups.items():
        places[title] = parser.add_argument_group(title, about or None)
    if any(settings.get("group") == _EXCLUSIVE for settings in command.options.values()):
        places[_EXCLUSIVE] = parser.add_mutually_exclusive_group()
    for name, own in command.options.items():
        settings = dict(own or _declared().shared[name])
        place = places[settings.pop("group", None)]
        if "type" in settings:
            settings["type"] = _TYPES[settings["type"]]
        match settings.get("choices"):
            case "metric" | "corpus" as kind:
                settings["choices"] = registry().names(kind)
            case str(path):
                settings["choices"] = resolve_name(path)
        if "help" in settings:
            settings["help"] = settings["help"].replace("{filters}", ", ".join(FILTERS))
        place.add_argument(name, **settings)
