"""The command worth typing after another, on standard error; `spor --quiet COMMAND` prints none."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path

from spor_tasks.core.visible import visible

QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether no such command is printed."""


def then(*words: object) -> None:
    """Print the words of the next command; words in capitals stand for what the user has."""
    if not QUIET.get():
        # a path that begins like an option is not one
        texts = (
            f"./{word}"
            if isinstance(word, Path) and str(word)[:1] == "-" < str(word)
            else str(word)
            for word in words
        )
        print(visible(f"next: {shlex.join(texts)}"), file=sys.stderr)


# In a list of arguments, lm-eval may read these as more than texts.
_READ = re.compile(
    r"[][(){},'\"]|^[+-]?(?:\.?\d|(?:true|false|none|nan|inf|infinity)$)", re.IGNORECASE
)


def evaluate_next(model: Mapping[str, str], task: str, folder: str, *more: object) -> None:
    """Print the command that evaluates what was trained, by the arguments of its model."""
    written = ",".join(f"{key}={value}" for key, value in model.items())
    if any(map(_READ.search, model.values())):
        written = json.dumps(model)
    arguments = ("--model", "spor-hf", "--model_args", written, "--tasks", task, *more)
    then("spor", "eval", *arguments, "--output_path", folder, "--log_samples")


def given(options: object, *names: str) -> Iterator[object]:
    """Yield the words of those of the options that were given."""
    for name in names:
        value = getattr(options, name)
        each = value if isinstance(value, list | tuple) else [] if value is None else [value]
        for one in each:
            yield from (f"--{name.replace('_', '-')}", one)
