"""How a program comes to its verdict: the value of each of its parts."""

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from spor_tasks.metrics.programs.execute import Executor
from spor_tasks.metrics.programs.outcome import Failure, ProgramError
from spor_tasks.metrics.programs.parse import Call, Tree, parse

Shown: TypeAlias = bool | float | str | list[int]
"""A value as it is shown; rows are shown by their numbers from 1, as in the prompt."""


class Step(NamedTuple):
    """A part of a program, and its value or why it has none."""

    part: str
    value: Shown


def trace(program: str, executor: Executor) -> list[Step]:
    """Return the parts of a program in the order of their execution, the whole last.

    There are none if the text cannot be parsed, as where a cell of the table contains `{` or `;`.
    """
    tree = parse(program)
    if isinstance(tree, Failure) or executor.table.ragged:
        return []
    return [Step(written(call), _value(call, executor)) for call in dict.fromkeys(_calls(tree))]


def written(tree: Tree) -> str:
    """Return the text of a program or a part of one."""
    if not isinstance(tree, Call):
        return str(tree)
    return f"{tree.operator}{{{'; '.join(map(written, tree.arguments))}}}"


def operators(tree: Call) -> frozenset[str]:
    """Return the operators of a program."""
    return frozenset(call.operator for call in _calls(tree))


def _calls(call: Call) -> Iterator[Call]:
    for argument in call.arguments:
        if isinstance(argument, Call):
            yield from _calls(argument)
    yield call


def _value(call: Call, executor: Executor) -> Shown:
    try:
        value = executor.value(call)
    except ProgramError as error:
        return f"{error.failure.reason.value} {error.failure.detail}".rstrip()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such numbers
    return [row + 1 for row in value] if isinstance(value, tuple) else value
