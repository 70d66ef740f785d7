"""The moves of the search: each applies one operator of the published list to a state."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from spor_tasks.metrics.programs.execute import ALL_ROWS
from spor_tasks.metrics.programs.states import (
    COMPUTED,
    COUNTED,
    FAILED,
    KEPT_TRUTHS,
    MOST_ROWS,
    MOST_TRUTHS,
    Expansion,
    Item,
    Items,
    RowSet,
    State,
)


def _without(items: tuple[Any, ...], *places: int) -> tuple[Any, ...]:
    return tuple(item for i, item in enumerate(items) if i not in places)


# --- Moves: values of the sentence ----------------------------------------------------------------
#
# Each takes the search, a state, the name of the move and the operator of programs that it applies.


def _repeat_number(search: Expansion, state: State, _: str, operator: str) -> None:
    for item in state.numbers if search.step == 0 else ():
        if "tmp" in item.column:
            more = (*state.numbers, item._replace(program=str(item.value)))
            search.keep(state, f"{operator}{{{item.program}}}", numbers=more)


def _repeat_text(search: Expansion, state: State, _: str, operator: str) -> None:
    for item in state.texts if search.step == 0 else ():
        if not item.is_computed:
            more = (*state.texts, item._replace(program=item.value))
            search.keep(state, f"{operator}{{{item.program}}}", texts=more)


def _drop_number(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, item in enumerate(state.numbers if search.step == 0 else ()):
        remaining = state._replace(numbers=_without(state.numbers, i))
        if "tmp" in item.column and not remaining.is_finished:
            search.keep(remaining, f"{operator}{{{item.program}}}")


def _drop_text(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, item in enumerate(state.texts if search.step == 0 else ()):
        remaining = state._replace(texts=_without(state.texts, i))
        if not remaining.is_finished:
            search.keep(remaining, f"{operator}{{{item.program}}}")


def _all_exist(search: Expansion, state: State, _: str, operator: str) -> None:
    texts = state.texts
    same = len({item.column for item in texts}) == 1 and not any(one.is_computed for one in texts)
    if search.step == 0 and len(texts) > 1 and same:
        program = f"{operator}{{{'; '.join(item.program for item in texts)}}}"
        search.judge(
            state, program, operator, *[item.value for item in texts], most=MOST_TRUTHS, texts=()
        )


def _is_nothing(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, item in enumerate(state.texts):
        program = f"{operator}{{{item.program}}}"
        if item.is_computed and program not in state.done:
            search.judge(
                state,
                program,
                operator,
                item.value,
                most=MOST_TRUTHS,
                texts=_without(state.texts, i),
            )


def _is_zero(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, item in enumerate(state.numbers):
        program = f"{operator}{{{item.program}}}"
        if item.is_computed and "count" not in item.column and program not in state.done:
            remaining = _without(state.numbers, i)
            search.judge(state, program, operator, item.value, most=MOST_TRUTHS, numbers=remaining)


# --- Moves: sets of rows --------------------------------------------------------------------------


def _count(search: Expansion, state: State, name: str, operator: str) -> None:
    for j, one in enumerate(state.sets):
        whole = one.program == ALL_ROWS
        applies = (not whole or search.counts_all) if name == "count" else whole
        program = f"{operator}{{{one.program}}}"
        if applies and search.is_new(state, program):
            item = Item(f"{COMPUTED}count", search.result(program, operator, one.rows), program)
            search.keep(state, program, numbers=(*state.numbers, item), sets=state.using(j))


def _how_many(search: Expansion, state: State, name: str, operator: str) -> None:
    if len(state.truths) >= MOST_TRUTHS:
        return
    for j, one in enumerate(state.sets):
        program = f"{operator}{{{one.program}}}"
        applies = one.program.startswith("filter") if name == "only" else one.program == ALL_ROWS
        if applies and program not in state.done:
            truth, sets = search.result(program, name, one.rows), state.using(j)
            if (
                search.conclude(state, program, truth=truth, sets=sets)
                or len(state.truths) >= KEPT_TRUTHS
            ):
                search.keep(state, program, sets=sets)


def _end(search: Expansion, state: State, _: str, operator: str) -> None:
    program = f"{operator}{{{ALL_ROWS}}}"
    if len(state.sets) <= MOST_ROWS and search.is_new(state, program):
        rows = search.result(program, operator, state.sets[0].rows)
        if rows is not FAILED:
            search.keep(state, program, sets=(*state.using(0), RowSet(program, rows, used=False)))


def _compare_rows(search: Expansion, state: State, name: str, operator: str) -> None:
    alone = 2 if name in {"after", "before"} else 1
    for i in range(alone - 1, len(state.sets) - 1):
        for j in range(i + 1, len(state.sets)):
            one, other = state.sets[i], state.sets[j]
            program = f"{operator}{{{one.program}; {other.program}}}"
            if (len(one.rows) == 1) + (len(other.rows) == 1) >= alone and program not in state.done:
                search.judge(state, program, operator, one.rows, other.rows, sets=state.using(i, j))


# --- Moves: a set of rows and a column ------------------------------------------------------------


def _reduce(search: Expansion, state: State, name: str, operator: str) -> None:
    text = name == "uniq_str"
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1:
            continue
        for column in search.mentions.text_columns if text else search.mentions.number_columns:
            program = f"{operator}{{{one.program}; {column}}}"
            if search.is_new(state, program):
                value = search.result(program, operator, one.rows, column)
                if value is not FAILED:
                    item = Item(COMPUTED + ("count" if text else column), value, program)
                    search.keep(state, program, numbers=(*state.numbers, item), sets=state.using(j))


def _extreme(search: Expansion, state: State, _: str, operator: str) -> None:
    if len(state.sets) > MOST_ROWS:
        return
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1:
            continue
        for column in search.mentions.number_columns:
            program = f"{operator}{{{one.program}; {column}}}"
            if search.is_new(state, program):
                rows = search.result(program, operator, one.rows, column)
                if rows is not FAILED and rows:
                    search.keep(
                        state, program, sets=(*state.using(j), RowSet(program, rows, used=False))
                    )


def _hop(search: Expansion, state: State, name: str, operator: str) -> None:
    columns = search.mentions.number_columns if name == "num_hop" else search.mentions.text_columns
    for j, one in enumerate(state.sets):
        if len(one.rows) != 1:
            continue
        for column in columns:
            program = f"{operator}{{{one.program}; {column}}}"
            if f"; {column};" in one.program or not search.is_new(state, program):
                continue
            value = search.result(program, operator, one.rows, column)
            if value is not FAILED:
                item, sets = Item(COMPUTED + column, value, program), state.using(j)
                if isinstance(value, str):
                    search.keep(state, program, texts=(*state.texts, item), sets=sets)
                else:
                    search.keep(state, program, numbers=(*state.numbers, item), sets=sets)


def _most_frequent(search: Expansion, state: State, _: str, operator: str) -> None:
    for column in search.mentions.text_columns:
        program = f"{operator}{{{ALL_ROWS}; {column}}}"
        if search.is_new(state, program):
            value = search.result(program, operator, state.sets[0].rows, column)
            if isinstance(value, str):
                item = Item(COMPUTED + column, value, program)
                search.keep(state, program, texts=(*state.texts, item))


# --- Moves: two values ----------------------------------------------------------------------------


def _calculate(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, j in _comparable(state.numbers):
        if state.numbers[i].kind == state.numbers[j].kind:
            for one, other in ((i, j), (j, i)):
                a, b = state.numbers[one], state.numbers[other]
                program = f"{operator}{{{a.program}; {b.program}}}"
                value = search.result(program, operator, a.value, b.value)
                if value is not FAILED:
                    item = Item(COMPUTED + a.column, value, program)
                    search.keep(state, program, numbers=(*_without(state.numbers, i, j), item))


def _compare_numbers(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, j in _comparable(state.numbers):
        kinds = {state.numbers[i].kind, state.numbers[j].kind}
        if len(kinds) > 1 and "input" not in kinds:
            continue
        if kinds == {"count", "input"}:
            values = (state.numbers[i].value, state.numbers[j].value)
            if any(not isinstance(one, str) and one > search.executor.table.size for one in values):
                continue
        for one, other in ((i, j), (j, i)):
            a, b = state.numbers[one], state.numbers[other]
            program = f"{operator}{{{a.program}; {b.program}}}"
            search.judge(
                state, program, operator, a.value, b.value, numbers=_without(state.numbers, i, j)
            )


def _comparable(items: Items) -> Iterator[tuple[int, int]]:
    """Yield pairs of which one is computed, and not both are of the sentence."""
    for i, one in enumerate(items[:-1]):
        for j, other in enumerate(items[i + 1 :], i + 1):
            computed = [item.is_computed and item.column != COUNTED for item in (one, other)]
            if any(computed):
                yield i, j


def _compare_texts(search: Expansion, state: State, _: str, operator: str) -> None:
    for i, one in enumerate(state.texts[:-1]):
        for j, other in enumerate(state.texts[i + 1 :], i + 1):
            program = f"{operator}{{{one.program}; {other.program}}}"
            if (one.is_computed or other.is_computed) and one.kind == other.kind:
                if program in state.done:
                    continue
                search.judge(
                    state,
                    program,
                    operator,
                    other.value,
                    one.value,
                    texts=_without(state.texts, i, j),
                )


def _both(search: Expansion, state: State, _: str, operator: str) -> None:
    if len(state.truths) >= MOST_TRUTHS:
        return
    for i, (one, is_one) in enumerate(state.truths[:-1]):
        for j, (other, is_other) in enumerate(state.truths[i + 1 :], i + 1):
            program = f"{operator}{{{one}; {other}}}"
            if program not in state.done:
                truth = search.result(program, operator, is_one, is_other)
                search.conclude(state, program, truth=truth, truths=_without(state.truths, i, j))


# --- Moves: a set of rows, a column and a value ---------------------------------------------------


def _filter(search: Expansion, state: State, name: str, operator: str) -> None:
    if len(state.sets) > MOST_ROWS:
        return
    for program, rows, changes in _of_values(search, state, name, operator):
        if rows and search.is_new(state, program):
            sets = (*changes.pop("sets"), RowSet(program, rows, used=False))
            search.keep(state, program, sets=sets, **changes)


def _of_all(search: Expansion, state: State, name: str, operator: str) -> None:
    for program, truth, changes in _of_values(search, state, name, operator):
        search.conclude(state, program, truth=truth, **changes)


def _of_values(
    search: Expansion, state: State, name: str, operator: str
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what an operator makes of a set and a value, and what is remaining of the state."""
    text = "_str_" in name
    items = state.texts if text else state.numbers
    for j, one in enumerate(state.sets):
        if len(one.rows) == 1 and not text:
            continue
        for item in items:
            program = f"{operator}{{{one.program}; {item.column}; {item.program}}}"
            if item.is_computed or program in state.done:
                continue
            result = search.result(program, operator, one.rows, item.column, item.value)
            if result is not FAILED:
                first = next(i for i, other in enumerate(items) if other[:2] == item[:2])
                remaining = _without(items, first)
                sets = state.using(j)
                yield program, result, {"sets": sets, "texts" if text else "numbers": remaining}


Move: TypeAlias = Callable[[Expansion, State, str, str], None]

# The order is that of the published list: of states with the same operations, the first is kept.
MOVES: dict[str, tuple[Move, str]] = {
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
