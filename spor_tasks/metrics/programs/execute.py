"""The verdict of a program about a table: true, false, or a failure with its reason."""

from functools import cached_property
from typing import Any

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs.operators import OPERATORS, Published
from spor_tasks.metrics.programs.outcome import Failure, ProgramError, Reason, Verdict
from spor_tasks.metrics.programs.parse import Call, Literal, parse

ALL_ROWS = "all_rows"

_KINDS: dict[type, str] = {tuple: "r", bool: "b", int: "v", float: "v", str: "v", Literal: "v"}


class Executor:
    """Runs programs on one table; a program can do nothing but call the operators.

    The published repository has no executor: its verdicts are those that its search prints. Where
    the published operators raise an error, the verdict is a :class:`Failure`.
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

    def verdict(self, program: str | Call) -> Verdict:
        """Return the verdict of a program, a text or what :func:`parse` made of it."""
        tree = parse(program) if isinstance(program, str) else program
        if isinstance(tree, Failure):
            return tree
        if self.table.ragged:
            return Failure(Reason.RAGGED)
        try:
            value = self.value(tree)
        except ProgramError as error:
            return error.failure
        return value if isinstance(value, bool) else Failure(Reason.NO_VERDICT, tree.operator)

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
            raise ProgramError(Reason.OPERATOR, name)
        takes, method, more = found
        if takes == "*":
            takes = "v" * len(trees)
        if len(takes) != len(trees):
            raise ProgramError(Reason.ARGUMENTS, name)
        arguments: list[Any] = []
        for kind, tree in zip(takes, trees, strict=True):
            if isinstance(tree, Call):
                value = self.value(tree)
                if kind != _KINDS[type(value)]:
                    raise ProgramError(Reason.TYPE, tree.operator)
                arguments.append(value)
            elif kind in "cv":
                arguments.append(tree)
            elif kind == "r" and tree == ALL_ROWS:
                arguments.append(self.table.rows)
            else:
                raise ProgramError(Reason.ARGUMENTS, tree)
        return method(*arguments, *more)


def verdict(program: str, table: TypedTable) -> Verdict:
    """Return the verdict of a program about a table; it never raises an error."""
    return Executor(table).verdict(program)
