"""States of the search for programs: values, truth values and sets of rows that a program holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, TypeVar

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs.execute import apply
from spor_tasks.metrics.programs.linking import Linked
from spor_tasks.metrics.programs.operators import ProgramValue, RowNumbers
from spor_tasks.metrics.programs.parse import ProgramError

T = TypeVar("T")

COUNTED = "tmp_input"
"""In place of a column: the number is a count in the sentence, not a value of the table."""

COMPUTED = "tmp_"  # what the column of a computed value begins with
MOST_ROWS = 2  # sets of rows beside all rows
_ENDS = frozenset(["top", "bottom"])  # those of an empty table are kept, as published
_OF_ITEMS = frozenset(["exist", "none", "zero"])  # these keep a third truth value, as published
MOST_TRUTHS = 3  # from how many on a state is not tried for another one
KEPT_TRUTHS = 2  # beside which most moves keep another one


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends: after ``steps``, or a step with more than ``enough`` programs.

    It also ends, in the middle of a step, with so many ``states`` made, or after ``seconds``.
    """

    steps: int = 7
    enough: int = 100
    states: int = 100_000
    seconds: float = 30

    @property
    def signature(self) -> str:
        """The limits, as part of the signature of a score."""
        return f"steps:{self.steps}|enough:{self.enough}|states:{self.states}|sec:{self.seconds:g}"


DEFAULT_LIMITS = Limits()


class Stop(Enum):
    """Why a search ended."""

    STEPS = "steps"
    ENOUGH = "enough"
    EMPTY = "nothing left to try"
    STATES = "states"
    SECONDS = "seconds"


class Finished(NamedTuple):
    """A program, or a part of one, and its verdict."""

    program: str
    value: bool


class Item(NamedTuple):
    """A value, the column that it is of, and how a program says it."""

    column: str
    value: ProgramValue
    program: str

    @property
    def is_computed(self) -> bool:
        """True of the result of an operation, and of a count in the sentence, as published."""
        return COMPUTED in self.column

    @property
    def kind(self) -> str:
        """The column, without the marks of operations."""
        return self.column.replace(COMPUTED, "")


def without(items: tuple[T, ...], *places: int) -> tuple[T, ...]:
    """Return the items without those in these places."""
    return tuple(item for i, item in enumerate(items) if i not in places)


class RowSet(NamedTuple):
    """A set of rows, how a program says it, and whether anything used it."""

    program: str
    value: RowNumbers
    used: bool


Items: TypeAlias = tuple[Item, ...]
Operand: TypeAlias = Item | RowSet | Finished | str
"""What an operator takes; a text is the name of a column."""


class State(NamedTuple):
    """An unfinished program with the values that it holds; ``done`` are its operations."""

    done: frozenset[str]
    texts: Items
    numbers: Items
    truths: tuple[Finished, ...]
    sets: tuple[RowSet, ...]

    def using(self, *places: int) -> tuple[RowSet, ...]:
        """Return the sets, some of them used."""
        if all(self.sets[place].used for place in places):
            return self.sets
        return tuple(
            RowSet(program, rows, used or i in places)
            for i, (program, rows, used) in enumerate(self.sets)
        )

    @property
    def is_finished(self) -> bool:
        """True if no value remains, and every set of rows was used."""
        remaining = self.texts or self.numbers or self.truths
        return not remaining and all(row_set.used for row_set in self.sets)


class LimitReached(Exception):  # noqa: N818 - not an error
    """Ends a search in the middle of a step, at the limit of states."""


FAILED = object()
"""The result of an operation that has no answer for its values."""


class Expansion:
    """One step of a search: the states that moves make of those before, and finished programs."""

    def __init__(self, table: TypedTable, linked: Linked, limits: Limits) -> None:
        self.table = table
        self.linked = linked
        self.limits = limits
        self.counts_all = any(column is None for column, _ in linked.numbers)
        self.results: dict[str, object] = {}
        self.finished: list[Finished] = []
        self.states = 0
        self.step = 0
        self.following: dict[frozenset[str], State] = {}

    def result(self, program: str, operator: str, operands: Sequence[Operand]) -> Any:
        """Return the result of an operation, computed once, or FAILED."""
        if program not in self.results:
            arguments = [each if isinstance(each, str) else each.value for each in operands]
            try:
                self.results[program] = apply(self.table, operator, *arguments)
            except ProgramError:
                self.results[program] = FAILED
        return self.results[program]

    def attempt(
        self,
        state: State,
        operator: str,
        *operands: Operand,
        column: str = "count",
        used: tuple[int, ...] = (),
        field: str = "numbers",
        removed: tuple[int, ...] = (),
        repeats: bool = False,
    ) -> None:
        """Apply an operator: finish a program, or keep the state with the result.

        ``column`` is that of a computed value. The state has ``used`` these sets of rows, and loses
        the ``removed`` items of its ``field``. An operation is not done again unless it
        ``repeats``, and no filter keeps an empty set of rows.
        """
        texts = [each if isinstance(each, str) else each.program for each in operands]
        program = f"{operator}{{{'; '.join(texts)}}}"
        if program in state.done and not repeats:
            return
        value = self.result(program, operator, operands)
        is_truth = isinstance(value, bool)
        if value is FAILED or (not is_truth and state.done | {program} in self.following):
            return
        changes: dict[str, Any] = {"sets": state.using(*used)} if used else {}
        result: RowSet | Item
        if removed:
            changes[field] = without(getattr(state, field), *removed)
        if is_truth:
            most = MOST_TRUTHS if operator in _OF_ITEMS else KEPT_TRUTHS
            self.conclude(state._replace(**changes), program, truth=value, most=most)
            return
        if isinstance(value, tuple):
            if not value and operator not in _ENDS:
                return
            result, field = RowSet(program, value, used=False), "sets"
        else:
            result = Item(COMPUTED + column, value, program)
            field = "texts" if isinstance(value, str) else "numbers"
        changes[field] = (*changes.get(field, getattr(state, field)), result)
        self.keep(state, program, **changes)

    def keep(self, state: State, program: str, **changes: Any) -> None:
        """Keep the state that an operation leads to, if it is the first by these operations."""
        done = state.done | {program}
        if done in self.following:
            return
        self.following[done] = state._replace(done=done, **changes)
        self.states += 1
        if self.states >= self.limits.states:
            raise LimitReached

    def conclude(
        self,
        state: State,
        program: str,
        *,
        truth: bool,
        most: int = KEPT_TRUTHS,
    ) -> bool:
        """Finish a program with a truth value, or keep the value; return whether it finished."""
        if state.is_finished:
            self.finished.append(Finished(program, truth))
            return True
        if len(state.truths) < most:
            self.keep(state, program, truths=(*state.truths, Finished(program, truth)))
        return False
