"""The moves of the search: each tries one operator of the published list on a state.

A move chooses the operands: values, truth values and sets of rows that the state holds.
"""

from collections.abc import Callable
from itertools import combinations, islice
from typing import Any, TypeAlias

from spor_tasks.metrics.programs.execute import ALL_ROWS
from spor_tasks.metrics.programs.states import (
    COUNTED,
    KEPT_TRUTHS,
    MOST_ROWS,
    MOST_TRUTHS,
    Expansion,
    Items,
    State,
    without,
)

# --- Sets of rows ---------------------------------------------------------------------------------


def _rows(search: Expansion, state: State, name: str, operator: str) -> None:
    for j, row_set in enumerate(state.sets):
        whole = row_set.program == ALL_ROWS
        if (not whole or search.counts_all) if name == "count" else whole:
            search.attempt(state, operator, row_set, used=(j,))


def _all_rows(search: Expansion, state: State, _: str, operator: str) -> None:
    if len(state.sets) <= MOST_ROWS:
        search.attempt(state, operator, state.sets[0])


def _two_sets(search: Expansion, state: State, name: str, operator: str) -> None:
    alone = 2 if name in {"after", "before"} else 1
    for (i, first), (j, second) in combinations(islice(enumerate(state.sets), alone - 1, None), 2):
        if (len(first.value) == 1) + (len(second.value) == 1) >= alone:
            search.attempt(state, operator, first, second, used=(i, j))


# --- A set of rows and a column -------------------------------------------------------------------


def _columns(search: Expansion, state: State, name: str, operator: str) -> None:
    """Try each set of rows with each column; a hop needs one row, all else another number."""
    if name.startswith("arg") and len(state.sets) > MOST_ROWS:
        return
    is_hop, linked = name.endswith("_hop"), search.linked
    is_text = name in {"str_hop", "uniq_str"}
    for j, row_set in enumerate(state.sets):
        if (len(row_set.value) == 1) is not is_hop:
            continue
        for column in linked.text_columns if is_text else linked.number_columns:
            if not is_hop or f"; {column};" not in row_set.program:
                of = "count" if name == "uniq_str" else column
                search.attempt(state, operator, row_set, column, column=of, used=(j,))


def _text_columns(search: Expansion, state: State, _: str, operator: str) -> None:
    for column in search.linked.text_columns:
        search.attempt(state, operator, state.sets[0], column, column=column)


# --- Values ---------------------------------------------------------------------------------------


def _all_texts(search: Expansion, state: State, _: str, operator: str) -> None:
    texts = state.texts
    same = len({item.column for item in texts}) == 1 and not any(item.is_computed for item in texts)
    if search.step == 0 and len(texts) > 1 and same:
        removed = tuple(range(len(texts)))
        search.attempt(state, operator, *texts, field="texts", removed=removed)


def _computed(search: Expansion, state: State, name: str, operator: str) -> None:
    field = "texts" if name == "none" else "numbers"
    for i, item in enumerate(getattr(state, field)):
        if item.is_computed and (name == "none" or "count" not in item.column):
            search.attempt(state, operator, item, field=field, removed=(i,))


def _two_numbers(search: Expansion, state: State, name: str, operator: str) -> None:
    for (i, first), (j, second) in combinations(enumerate(state.numbers), 2):
        items = (first, second)
        if not any(item.is_computed and item.column != COUNTED for item in items):
            continue  # both are of the sentence
        kinds = {item.kind for item in items}
        if len(kinds) > 1 and ("input" not in kinds or name in {"diff", "add"}):
            continue
        if kinds == {"count", "input"}:
            counts = [item.value for item in items if not isinstance(item.value, str)]
            if any(count > search.table.size for count in counts):
                continue
        for a, b in (items, items[::-1]):
            search.attempt(state, operator, a, b, column=a.column, removed=(i, j), repeats=True)


def _two_texts(search: Expansion, state: State, _: str, operator: str) -> None:
    for (i, first), (j, second) in combinations(enumerate(state.texts), 2):
        if (first.is_computed or second.is_computed) and first.kind == second.kind:
            search.attempt(state, operator, first, second, field="texts", removed=(i, j))


def _two_truths(search: Expansion, state: State, _: str, operator: str) -> None:
    if len(state.truths) < MOST_TRUTHS:
        for (i, first), (j, second) in combinations(enumerate(state.truths), 2):
            search.attempt(state, operator, first, second, field="truths", removed=(i, j))


def _values(search: Expansion, state: State, name: str, operator: str) -> None:
    """Try each set of rows with each value that the sentence mentions."""
    if name.startswith("filter") and len(state.sets) > MOST_ROWS:
        return
    is_text = "_str_" in name
    field, items = ("texts", state.texts) if is_text else ("numbers", state.numbers)
    for j, row_set in enumerate(state.sets):
        if len(row_set.value) == 1 and not is_text:
            continue
        for item in items:
            if not item.is_computed:
                first = next(i for i, same in enumerate(items) if same[:2] == item[:2])
                operands = (row_set, item.column, item)
                search.attempt(state, operator, *operands, used=(j,), field=field, removed=(first,))


# --- Moves that are more than an operator ---------------------------------------------------------


def _repeat_or_drop(search: Expansion, state: State, name: str, operator: str) -> None:
    """Let a value of the sentence be used twice, or not at all."""
    field = "texts" if name.endswith("_str") else "numbers"
    items: Items = getattr(state, field)
    for i, item in enumerate(items if search.step == 0 else ()):
        if field == "numbers" and "tmp" not in item.column:
            continue
        if name == "inc_str" and item.is_computed:
            continue
        twice = (*items, item._replace(program=str(item.value)))
        changes: dict[str, Any] = {field: twice if name.startswith("inc") else without(items, i)}
        changed = state._replace(**changes)
        if not changed.is_finished:
            search.keep(changed, f"{operator}{{{item.program}}}")


def _how_many(search: Expansion, state: State, name: str, operator: str) -> None:
    """Use the truth that one row or several are left, and also go on without it."""
    if len(state.truths) >= MOST_TRUTHS:
        return
    for j, row_set in enumerate(state.sets):
        rows, program = row_set.program, f"{operator}{{{row_set.program}}}"
        applies = rows.startswith("filter") if name == "only" else rows == ALL_ROWS
        if applies and program not in state.done:
            truth = search.result(program, name, [row_set])
            following = state._replace(sets=state.using(j))
            finished = search.conclude(following, program, truth=truth)
            if finished or len(state.truths) >= KEPT_TRUTHS:
                search.keep(following, program)


Move: TypeAlias = Callable[[Expansion, State, str, str], None]

# The order is that of the published list: of states with the same operations, the first is kept.
_ORDER: list[tuple[Move, str]] = [
    (_rows, "count"),
    (_repeat_or_drop, "inc_num dec_num dec_str inc_str"),
    (_all_texts, "all_exist"),
    (_computed, "none"),
    (_how_many, "only several"),
    (_computed, "zero"),
    (_two_sets, "after before"),
    (_all_rows, "top bottom"),
    (_two_sets, "first second third fourth fifth last"),
    (_columns, "uniq_num uniq_str avg sum max min argmax argmin str_hop num_hop"),
    (_text_columns, "most_freq"),
    (_rows, "half one_third"),
    (_two_numbers, "diff add greater eq"),
    (_two_texts, "str_eq"),
    (_two_numbers, "not_eq"),
    (_two_texts, "not_str_eq"),
    (_two_truths, "and"),
    (_values, "filter_str_eq filter_str_not_eq filter_eq filter_not_eq"),
    (_values, "filter_less filter_greater filter_greater_eq filter_less_eq"),
    (_values, "all_str_eq all_str_not_eq all_eq all_not_eq"),
    (_values, "all_less all_less_eq all_greater all_greater_eq"),
]
_OPERATORS = {
    **dict.fromkeys(("uniq_num", "uniq_str"), "uniq"),
    **dict.fromkeys(("str_hop", "num_hop"), "hop"),
    "all_exist": "exist",
    "several": "only",
    "str_eq": "eq",
    "not_str_eq": "not_eq",
}

MOVES: dict[str, tuple[Move, str]] = {
    name: (move, _OPERATORS.get(name, name.replace("_str_", "_")))
    for move, names in _ORDER
    for name in names.split()
}
"""The moves by name, each with the operator of programs that it applies."""
