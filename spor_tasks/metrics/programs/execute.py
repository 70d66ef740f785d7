"""The verdict of a program about a table."""

from functools import cached_property
from typing import Any

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs.operators import OPERATORS, Published
from spor_tasks.metrics.programs.parse import Call, Literal, ProgramError, parse

ALL_ROWS = "all_rows"

_KINDS: dict[type, str] = {tuple: "r", bool: "b", int: "v", float: "v", str: "v", Literal: "v"}


class Executor:
    """Runs programs on one table; a program can do nothing but call the operators.

    The published repository has no executor: its verdicts are those that its search prints. Where
    the published operators raise an error, there is no verdict.
    """

    def __init__(self, table: TypedTable) -> None:
        self.table = table
        self.operators = Published(table)

    @cached_property
    def _methods(self) -> dict[str, tuple[str, Any, tuple[Any, ...]]]:
        return {
            name: (takes, getattr(self.operators, method), more)
            for name, (takes, method, more) in OPERATORS.items()
        }

    def verdict(self, program: str) -> bool | None:
        """Return the verdict of a program; None where it has none."""
        if self.table.ragged:
            return None
        try:
            value = self.value(parse(program))
        except ProgramError:
            return None
        return value if isinstance(value, bool) else None

    def apply(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401 - any operator's
        """Return what an operator makes of values.

        Raises:
            ProgramError: it has no answer for them.
        """
        _, method, more = self._methods[name]
        return method(*arguments, *more)

    def value(self, call: Call) -> Any:  # noqa: ANN401 - any operator's
        """Return the value of a program or a part of one: a truth, a number, a text, or rows.

        Raises:
            ProgramError: it has none.
        """
        name, trees = call
        found = self._methods.get(name)
        if found is None:
            raise ProgramError("has an unknown operator", name)
        takes, method, more = found
        if takes == "*":
            takes = "v" * len(trees)
        if len(takes) != len(trees):
            raise ProgramError("has other arguments", name)
        arguments: list[Any] = []
        for kind, tree in zip(takes, trees, strict=True):
            if isinstance(tree, Call):
                value = self.value(tree)
                if kind != _KINDS[type(value)]:
                    raise ProgramError("is of another type", tree.operator)
                arguments.append(value)
            elif kind in "cv":
                arguments.append(tree)
            elif kind == "r" and tree == ALL_ROWS:
                arguments.append(self.table.rows)
            else:
                raise ProgramError("has other arguments", tree)
        return method(*arguments, *more)


def verdict(program: str, table: TypedTable) -> bool | None:
    """Return the verdict of a program about a table; None where it has none."""
    return Executor(table).verdict(program)
