"""The published search for the programs that a sentence may mean (LogicNLG, section on SP-Acc).

The search starts from what the sentence mentions: texts and numbers with the columns that they were
linked to, and names of columns. A state holds values, truth values and sets of rows; an operator
takes some of them and adds its result. A program is finished when its truth value is all that is
left, and every set of rows was used. Each step applies one more operator to each state; two states
made by the same operations are one.

An operator is only tried if the sentence contains a word that may mean it, or a tag of the Penn
Treebank (comparatives and superlatives).

The published search stops after a step if it has more than 100 programs, or 30 seconds have passed.
Here the limit that counts is a number of states: docs/decisions/sp-acc.md.
"""

import re
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from spor_tasks.corpora.logicnlg.columns import TypedTable
from spor_tasks.metrics.programs import WORDS
from spor_tasks.metrics.programs.execute import ALL_ROWS
from spor_tasks.metrics.programs.linking import DEGREES, Linked
from spor_tasks.metrics.programs.moves import MOVES
from spor_tasks.metrics.programs.states import (
    COUNTED,
    DEFAULT_LIMITS,
    Expansion,
    Finished,
    Item,
    LimitReached,
    Limits,
    RowSet,
    State,
    Stop,
)

_TRIGGERS: Mapping[str, Sequence[Sequence[str]]] = {
    name: groups for names, groups in WORDS["triggers"].items() for name in names.split()
}
"""Words and tags of operators, of which each group needs one; others are always tried."""

_ONLY = re.compile(r"only [^2-9]")


class SearchResult(NamedTuple):
    """The programs that a search found, in its order, and its end."""

    programs: tuple[Finished, ...]
    stop: Stop


def search(table: TypedTable, linked: Linked, limits: Limits = DEFAULT_LIMITS) -> SearchResult:
    """Return the programs that a linked sentence may mean."""
    expansion = Expansion(table, linked, limits)
    try:
        stop = _expand(expansion, monotonic() + limits.seconds)
    except LimitReached:
        stop = Stop.STATES
    return SearchResult(tuple(expansion.finished), stop)


def _expand(expansion: Expansion, until: float) -> Stop:
    linked, limits = expansion.linked, expansion.limits
    padded = f" {linked.sentence} "

    def means(group: Sequence[str]) -> bool:
        return any(
            word in linked.tags if word in DEGREES else f" {word} " in padded for word in group
        )

    def is_tried(name: str) -> bool:
        is_said = name == "only" and _ONLY.search(linked.sentence)
        return bool(is_said) or all(map(means, _TRIGGERS.get(name, ())))

    moves = [(move, name, operator) for name, (move, operator) in MOVES.items() if is_tried(name)]
    start = State(
        frozenset(),
        tuple(Item(column, value, value) for column, value in linked.texts),
        tuple(Item(column or COUNTED, value, str(value)) for column, value in linked.numbers),
        (),
        (RowSet(ALL_ROWS, expansion.table.rows, used=True),),
    )
    states = [start]
    for step in range(limits.steps):
        expansion.step, expansion.following = step, {}
        for state in states:
            if monotonic() > until:
                return Stop.SECONDS
            for move, name, operator in moves:
                move(expansion, state, name, operator)
        if len(expansion.finished) > limits.enough:
            return Stop.ENOUGH
        states = list(expansion.following.values())
        if not states:
            return Stop.EMPTY
    return Stop.STEPS
