"""The verdict of a program about a table."""

from typing import Any

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs.operators import OPERATORS
from spor_tasks.metrics.programs.parse import Call, Literal, ProgramError, parse

ALL_ROWS = "all_rows"

_KINDS: dict[type, str] = {tuple: "r", bool: "b", int: "v", float: "v", str: "v", Literal: "v"}


def apply(table: TypedTable, name: str, *arguments: object) -> Any:
    """Return what an operator makes of values.

    Raises:
        ProgramError: it has no answer for them.
    """
    _, function, more = OPERATORS[name]
    return function(table, *arguments, *more)


def value_of(table: TypedTable, call: Call) -> Any:
    """Return the value of a program or a part of one: a truth, a number, a text, or rows.

    A program can do nothing but call the operators.

    Raises:
        ProgramError: it has none.
    """
    name, trees = call
    if name not in OPERATORS:
        raise ProgramError("has an unknown operator", name)
    takes = OPERATORS[name].takes
    if takes == "*":
        takes = "v" * len(trees)
    if len(takes) != len(trees):
        raise ProgramError("has other arguments", name)
    arguments: list[object] = []
    for kind, tree in zip(takes, trees, strict=True):
        if isinstance(tree, Call):
            value = value_of(table, tree)
            if kind != _KINDS[type(value)]:
                raise ProgramError("is of another type", tree.operator)
            arguments.append(value)
        elif kind in "cv":
            arguments.append(tree)
        elif kind == "r" and tree == ALL_ROWS:
            arguments.append(table.rows)
        else:
            raise ProgramError("has other arguments", tree)
    return apply(table, name, *arguments)


def verdict(program: str, table: TypedTable) -> bool | None:
    """Return the verdict of a program about a table; None where it has none.

    The published repository has no executor: its verdicts are those that its search prints. Where
    the published operators raise an error, a program has no verdict.
    """
    if table.ragged:
        return None
    try:
        value = value_of(table, parse(program))
    except ProgramError:
        return None
    return value if isinstance(value, bool) else None
