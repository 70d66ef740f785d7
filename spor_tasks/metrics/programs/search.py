"""The published search for the programs that a sentence may mean (LogicNLG, section on SP-Acc).

The search starts from what the sentence mentions: texts and numbers with the columns that they were
linked to, and names of columns. A state holds values, truth values and sets of rows; an operator
takes some of them and adds its result. A program is finished when its truth value is all that is
left, and every set of rows was used. Each step applies one more operator to each state; two states
made by the same operations are one.

The published search stops after a step if it has more than 100 programs, or 30 seconds have passed.
Here the limit that counts is a number of states, the same on every machine; the time limit is for
what no count foresees, and a search that it stopped says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs.execute import ALL_ROWS, Executor
from spor_tasks.metrics.programs.operators import Rows
from spor_tasks.metrics.programs.outcome import ProgramError
from spor_tasks.metrics.programs.triggers import left_out

COUNTED = "tmp_input"
"""In place of a column: the number is a count in the sentence, not a value of the table."""

_COMPUTED = "tmp_"  # what the column of a computed value begins with
_MOST_ROWS = 2  # sets of rows beside all rows
_MOST_TRUTHS = 3  # from how many on a state is not tried for another one
_KEPT_TRUTHS = 2  # beside which most moves keep another one


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a sentence mentions of its table.

    ``sentence`` is lower-cased and lemmatized, with placeholders for what was linked; ``tags`` are
    the Penn Treebank tags of its other words. ``texts`` and ``numbers`` are pairs of a column (or
    :data:`COUNTED`) and a value, ``text_columns`` and ``number_columns`` all columns mentioned.
    """

    sentence: str
    tags: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, float | str], ...]
    text_columns: tuple[str, ...]
    number_columns: tuple[str, ...]


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


class Stop(Enum):
    """Why a search ended."""

    STEPS = "steps"
    ENOUGH = "enough"
    EMPTY = "nothing left to try"
    STATES = "states"
    SECONDS = "seconds"


class Finished(NamedTuple):
    """A program and its verdict."""

    program: str
    verdict: bool


class Found(NamedTuple):
    """The programs that a search found, in its order, how many states it made, and its end."""

    programs: tuple[Finished, ...]
    states: int
    stop: Stop


def search(
    table: TypedTable,
    mentions: Mentions,
    limits: Limits = Limits(),
) -> Found:
    """Return the programs that a sentence with these mentions may mean."""
    return _Search(Executor(table), mentions, limits).run()


class _Item(NamedTuple):
    """A value, the column that it is of, and how a program says it."""

    column: str
    value: Any
    said: str

    @property
    def is_computed(self) -> bool:
        return _COMPUTED in self.column

    @property
    def kind(self) -> str:
        return self.column.replace(_COMPUTED, "")


class _Set(NamedTuple):
    """A set of rows, how a program says it, and whether anything used it."""

    said: str
    rows: Rows
    used: bool


_Items: TypeAlias = tuple[_Item, ...]
_Truths: TypeAlias = tuple[tuple[str, bool], ...]


class _State(NamedTuple):
    """What a program in the making holds; ``done`` are its operations so far."""

    done: frozenset[str]
    texts: _Items
    numbers: _Items
    truths: _Truths
    sets: tuple[_Set, ...]

    def using(self, *places: int) -> tuple[_Set, ...]:
        """Return the sets, some of them used."""
        if all(self.sets[place].used for place in places):
            return self.sets
        return tuple(
            _Set(one.said, one.rows, one.used or i in places) for i, one in enumerate(self.sets)
        )

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left, and nothing was for nothing."""
        left = self.texts or self.numbers or self.truths
        return not left and all(one.used for one in self.sets)


class _LimitReached(Exception):  # noqa: N818 - not an error
    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self.stop = stop


_FAILED = object()


class _Search:
    def __init__(self, executor: Executor, mentions: Mentions, limits: Limits) -> None:
        self.executor = executor
        self.mentions = mentions
        self.limits = limits
        self.counts_all = any(column == COUNTED for column, _ in mentions.numbers)
        out = left_out(mentions.sentence, mentions.tags)
        self.moves = [
            (move, name, says) for name, (move, says) in _MOVES.items() if name not in out
        ]
        self.results: dict[str, Any] = {}
        self.finished: list[Finished] = []
        self.states = 0
        self.step = 0
        self.following: dict[frozenset[str], _State] = {}
        self.until = monotonic() + limits.seconds

    def run(self) -> Found:
        try:
            stop = self._steps()
        except _LimitReached as reached:
            stop = reached.stop
        return Found(tuple(self.finished), self.states, stop)

    def _steps(self) -> Stop:
        states = [self._start()]
        for step in range(self.limits.steps):
            self.step, self.following = step, {}
            for state in states:
                if monotonic() > self.until:
                    raise _LimitReached(Stop.SECONDS)
                for move, name, says in self.moves:
                    move(self, state, name, says)
            if len(self.finished) > self.limits.enough:
                return Stop.ENOUGH
            states = list(self.following.values())
            if not states:
                return Stop.EMPTY
        return Stop.STEPS

    def _start(self) -> _State:
        return _State(
            frozenset(),
            tuple(_Item(column, value, value) for column, value in self.mentions.texts),
            tuple(_Item(column, value, str(value)) for column, value in self.mentions.numbers),
            (),
            (_Set(ALL_ROWS, self.executor.table.rows, used=True),),
        )

    # --- What moves do ----------------------------------------------------------------------------

    def is_new(self, state: _State, said: str) -> bool:
        """Return whether an operation leads to a state that this step has not made yet."""
        return said not in state.done and state.done | {said} not in self.following

    def result(self, said: str, operator: str, *arguments: Any) -> Any:  # noqa: ANN401 - any value
        """Return the result of an operation, computed once, or _FAILED."""
        found = self.results.get(said)
        if found is None:
            try:
                found = self.executor.apply(operator, *arguments)
            except ProgramError:
                found = _FAILED
            self.results[said] = found
        return found

    def keep(self, state: _State, said: str, **changes: Any) -> None:  # noqa: ANN401 - of any field
        """Keep the state that an operation leads to, if it is the first by these operations."""
        done = state.done | {said}
        if done in self.following:
            return
        self.following[done] = state._replace(done=done, **changes)
        self.states += 1
        if self.states >= self.limits.states:
            raise _LimitReached(Stop.STATES)

    def judge(
        self,
        state: _State,
        said: str,
        *,
        truth: bool,
        most: int = _KEPT_TRUTHS,
        **changes: Any,  # noqa: ANN401 - of any field
    ) -> bool:
        """Finish a program with a truth value, or keep the value; return whether it finished."""
        left = state._replace(**changes) if changes else state
        if left.is_finished:
            self.finished.append(Finished(said, truth))
            return True
        if len(left.truths) < most:
            self.keep(left, said, truths=(*left.truths, (said, truth)))
        return False


def _without(items: tuple[Any, ...], *places: int) -> tuple[Any, ...]:
    return tuple(item for i, item in enumerate(items) if i not in places)


# --- Moves: values of the sentence ----------------------------------------------------------------
#
# Each takes the search, a state, the name of the move and the operator of programs that it applies.


def _repeat_number(ours: _Search, state: _State, _: str, says: str) -> None:
    for item in state.numbers if ours.step == 0 else ():
        if "tmp" in item.column:
            more = (*state.numbers, item._replace(said=str(item.value)))
            ours.keep(state, f"{says}{{{item.said}}}", numbers=more)


def _repeat_text(ours: _Search, state: _State, _: str, says: str) -> None:
    for item in state.texts if ours.step == 0 else ():
        if not item.is_computed:
            more = (*state.texts, item._replace(said=item.value))
            ours.keep(state, f"{says}{{{item.said}}}", texts=more)


def _drop_number(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, item in enumerate(state.numbers if ours.step == 0 else ()):
        left = state._replace(numbers=_without(state.numbers, i))
        if "tmp" in item.column and not left.is_finished:
            ours.keep(left, f"{says}{{{item.said}}}")


def _drop_text(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, item in enumerate(state.texts if ours.step == 0 else ()):
        left = state._replace(texts=_without(state.texts, i))
        if not left.is_finished:
            ours.keep(left, f"{says}{{{item.said}}}")


def _all_exist(ours: _Search, state: _State, _: str, says: str) -> None:
    texts = state.texts
    same = len({item.column for item in texts}) == 1 and not any(one.is_computed for one in texts)
    if ours.step == 0 and len(texts) > 1 and same:
        said = f"{says}{{{'; '.join(item.said for item in texts)}}}"
        truth = ours.result(said, says, *[item.value for item in texts])
        if truth is not _FAILED:
            ours.judge(state, said, truth=truth, most=_MOST_TRUTHS, texts=())


def _is_nothing(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, item in enumerate(state.texts):
        said = f"{says}{{{item.said}}}"
        if item.is_computed and said not in state.done:
            truth = ours.result(said, says, item.value)
            if truth is not _FAILED:
                ours.judge(
                    state, said, truth=truth, most=_MOST_TRUTHS, texts=_without(state.texts, i)
                )


def _is_zero(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, item in enumerate(state.numbers):
        said = f"{says}{{{item.said}}}"
        if item.is_computed and "count" not in item.column and said not in state.done:
            truth = ours.result(said, says, item.value)
            if truth is not _FAILED:
                left = _without(state.numbers, i)
                ours.judge(state, said, truth=truth, most=_MOST_TRUTHS, numbers=left)


# --- Moves: sets of rows --------------------------------------------------------------------------


def _count(ours: _Search, state: _State, name: str, says: str) -> None:
    for j, one in enumerate(state.sets):
        whole = one.said == ALL_ROWS
        counted = (not whole or ours.counts_all) if name == "count" else whole
        said = f"{says}{{{one.said}}}"
        if counted and ours.is_new(state, said):
            item = _Item(f"{_COMPUTED}count", ours.result(said, says, one.rows), said)
            ours.keep(state, said, numbers=(*state.numbers, item), sets=state.using(j))


def _how_many(ours: _Search, state: _State, name: str, says: str) -> None:
    if len(state.truths) >= _MOST_TRUTHS:
        return
    for j, one in enumerate(state.sets):
        said = f"{says}{{{one.said}}}"
        asked = one.said.startswith("filter") if name == "only" else one.said == ALL_ROWS
        if asked and said not in state.done:
            truth, sets = ours.result(said, name, one.rows), state.using(j)
            if ours.judge(state, said, truth=truth, sets=sets) or len(state.truths) >= _KEPT_TRUTHS:
                ours.keep(state, said, sets=sets)


def _end(ours: _Search, state: _State, _: str, says: str) -> None:
    said = f"{says}{{{ALL_ROWS}}}"
    if len(state.sets) <= _MOST_ROWS and ours.is_new(state, said):
        rows = ours.result(said, says, state.sets[0].rows)
        if rows is not _FAILED:
            ours.keep(state, said, sets=(*state.using(0), _Set(said, rows, used=False)))


def _compare_rows(ours: _Search, state: _State, name: str, says: str) -> None:
    alone = 2 if name in {"after", "before"} else 1
    for i in range(alone - 1, len(state.sets) - 1):
        for j in range(i + 1, len(state.sets)):
            one, other = state.sets[i], state.sets[j]
            said = f"{says}{{{one.said}; {other.said}}}"
            if (len(one.rows) == 1) + (len(other.rows) == 1) >= alone and said not in state.done:
                truth = ours.result(said, says, one.rows, other.rows)
                if truth is not _FAILED:
                    ours.judge(state, said, truth=truth, sets=state.using(i, j))


# --- Moves: a set of rows and a column ------------------------------------------------------------


def _reduce(ours: _Search, state: _State, name: str, says: str) -> None:
    text = name == "uniq_str"
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1:
            continue
        for column in ours.mentions.text_columns if text else ours.mentions.number_columns:
            said = f"{says}{{{one.said}; {column}}}"
            if ours.is_new(state, said):
                value = ours.result(said, says, one.rows, column)
                if value is not _FAILED:
                    item = _Item(_COMPUTED + ("count" if text else column), value, said)
                    ours.keep(state, said, numbers=(*state.numbers, item), sets=state.using(j))


def _extreme(ours: _Search, state: _State, _: str, says: str) -> None:
    if len(state.sets) > _MOST_ROWS:
        return
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1:
            continue
        for column in ours.mentions.number_columns:
            said = f"{says}{{{one.said}; {column}}}"
            if ours.is_new(state, said):
                rows = ours.result(said, says, one.rows, column)
                if rows is not _FAILED and rows:
                    ours.keep(state, said, sets=(*state.using(j), _Set(said, rows, used=False)))


def _hop(ours: _Search, state: _State, name: str, says: str) -> None:
    columns = ours.mentions.number_columns if name == "num_hop" else ours.mentions.text_columns
    for j, one in enumerate(state.sets):
        if len(one.rows) != 1:
            continue
        for column in columns:
            said = f"{says}{{{one.said}; {column}}}"
            if f"; {column};" in one.said or not ours.is_new(state, said):
                continue
            value = ours.result(said, says, one.rows, column)
            if value is not _FAILED:
                item, sets = _Item(_COMPUTED + column, value, said), state.using(j)
                if isinstance(value, str):
                    ours.keep(state, said, texts=(*state.texts, item), sets=sets)
                else:
                    ours.keep(state, said, numbers=(*state.numbers, item), sets=sets)


def _most_frequent(ours: _Search, state: _State, _: str, says: str) -> None:
    for column in ours.mentions.text_columns:
        said = f"{says}{{{ALL_ROWS}; {column}}}"
        if ours.is_new(state, said):
            value = ours.result(said, says, state.sets[0].rows, column)
            if isinstance(value, str):
                item = _Item(_COMPUTED + column, value, said)
                ours.keep(state, said, texts=(*state.texts, item))


# --- Moves: two values ----------------------------------------------------------------------------


def _calculate(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, j in _comparable(state.numbers):
        if state.numbers[i].kind == state.numbers[j].kind:
            for one, other in ((i, j), (j, i)):
                a, b = state.numbers[one], state.numbers[other]
                said = f"{says}{{{a.said}; {b.said}}}"
                value = ours.result(said, says, a.value, b.value)
                if value is not _FAILED:
                    item = _Item(_COMPUTED + a.column, value, said)
                    ours.keep(state, said, numbers=(*_without(state.numbers, i, j), item))


def _compare_numbers(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, j in _comparable(state.numbers):
        kinds = {state.numbers[i].kind, state.numbers[j].kind}
        if len(kinds) > 1 and "input" not in kinds:
            continue
        if kinds == {"count", "input"}:
            values = (state.numbers[i].value, state.numbers[j].value)
            if any(not isinstance(one, str) and one > ours.executor.table.size for one in values):
                continue
        for one, other in ((i, j), (j, i)):
            a, b = state.numbers[one], state.numbers[other]
            said = f"{says}{{{a.said}; {b.said}}}"
            truth = ours.result(said, says, a.value, b.value)
            if truth is not _FAILED:
                ours.judge(state, said, truth=truth, numbers=_without(state.numbers, i, j))


def _comparable(items: _Items) -> Iterator[tuple[int, int]]:
    """Yield pairs of which one is computed, and not both are of the sentence."""
    for i, one in enumerate(items[:-1]):
        for j, other in enumerate(items[i + 1 :], i + 1):
            computed = [item.is_computed and item.column != COUNTED for item in (one, other)]
            if any(computed):
                yield i, j


def _compare_texts(ours: _Search, state: _State, _: str, says: str) -> None:
    for i, one in enumerate(state.texts[:-1]):
        for j, other in enumerate(state.texts[i + 1 :], i + 1):
            said = f"{says}{{{one.said}; {other.said}}}"
            if (one.is_computed or other.is_computed) and one.kind == other.kind:
                if said in state.done:
                    continue
                truth = ours.result(said, says, other.value, one.value)
                if truth is not _FAILED:
                    ours.judge(state, said, truth=truth, texts=_without(state.texts, i, j))


def _both(ours: _Search, state: _State, _: str, says: str) -> None:
    if len(state.truths) >= _MOST_TRUTHS:
        return
    for i, (one, is_one) in enumerate(state.truths[:-1]):
        for j, (other, is_other) in enumerate(state.truths[i + 1 :], i + 1):
            said = f"{says}{{{one}; {other}}}"
            if said not in state.done:
                truth = ours.result(said, says, is_one, is_other)
                ours.judge(state, said, truth=truth, truths=_without(state.truths, i, j))


# --- Moves: a set of rows, a column and a value ---------------------------------------------------


def _filter(ours: _Search, state: _State, name: str, says: str) -> None:
    if len(state.sets) > _MOST_ROWS:
        return
    for said, rows, changes in _of_values(ours, state, name, says):
        if rows and ours.is_new(state, said):
            sets = (*changes.pop("sets"), _Set(said, rows, used=False))
            ours.keep(state, said, sets=sets, **changes)


def _of_all(ours: _Search, state: _State, name: str, says: str) -> None:
    for said, truth, changes in _of_values(ours, state, name, says):
        ours.judge(state, said, truth=truth, **changes)


def _of_values(
    ours: _Search, state: _State, name: str, says: str
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what an operator makes of a set and a value, and what is left of the state."""
    text = "_str_" in name
    items = state.texts if text else state.numbers
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1 and not text:
            continue
        for item in items:
            said = f"{says}{{{one.said}; {item.column}; {item.said}}}"
            if item.is_computed or said in state.done:
                continue
            result = ours.result(said, says, one.rows, item.column, item.value)
            if result is not _FAILED:
                first = next(i for i, other in enumerate(items) if other[:2] == item[:2])
                left = _without(items, first)
                sets = state.using(j)
                yield said, result, {"sets": sets, "texts" if text else "numbers": left}


_Move: TypeAlias = Callable[[_Search, _State, str, str], None]

# The order is that of the published list: of states with the same operations, the first is kept.
_MOVES: dict[str, tuple[_Move, str]] = {
    "count": (_count, "count"),
    "inc_num": (_repeat_number, "inc_num"),
    "dec_num": (_drop_number, "dec_num"),
    "dec_str": (_drop_text, "dec_str"),
    "inc_str": (_repeat_text, "inc_str"),
    "all_exist": (_all_exist, "exist"),
    "none": (_is_nothing, "none"),
    "only": (_how_many, "only"),
    "several": (_how_many, "only"),
    "zero": (_is_zero, "zero"),
    **{name: (_compare_rows, name) for name in ("after", "before")},
    **{name: (_end, name) for name in ("top", "bottom")},
    **{name: (_compare_rows, name) for name in ("first", "second", "third", "fourth", "fifth")},
    "last": (_compare_rows, "last"),
    "uniq_num": (_reduce, "uniq"),
    "uniq_str": (_reduce, "uniq"),
    **{name: (_reduce, name) for name in ("avg", "sum", "max", "min")},
    **{name: (_extreme, name) for name in ("argmax", "argmin")},
    "str_hop": (_hop, "hop"),
    "num_hop": (_hop, "hop"),
    "most_freq": (_most_frequent, "most_freq"),
    **{name: (_count, name) for name in ("half", "one_third")},
    **{name: (_calculate, name) for name in ("diff", "add")},
    **{name: (_compare_numbers, name) for name in ("greater", "eq")},
    "str_eq": (_compare_texts, "eq"),
    "not_eq": (_compare_numbers, "not_eq"),
    "not_str_eq": (_compare_texts, "not_eq"),
    "and": (_both, "and"),
    "filter_str_eq": (_filter, "filter_eq"),
    "filter_str_not_eq": (_filter, "filter_not_eq"),
    **{
        name: (_filter, name)
        for name in ["filter_eq", "filter_not_eq", "filter_less", "filter_greater"]
    },
    **{name: (_filter, name) for name in ("filter_greater_eq", "filter_less_eq")},
    "all_str_eq": (_of_all, "all_eq"),
    "all_str_not_eq": (_of_all, "all_not_eq"),
    **{name: (_of_all, name) for name in ["all_eq", "all_not_eq", "all_less", "all_less_eq"]},
    **{name: (_of_all, name) for name in ("all_greater", "all_greater_eq")},
}
