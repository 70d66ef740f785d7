"""How outputs are judged: by aspect and part."""

from collections.abc import Mapping
from typing import NamedTuple

from spor_tasks.core.contracts import SetName


class Judging(NamedTuple):
    """How outputs are judged; the fields are those of :class:`SetSpec`."""

    scores: tuple[str, ...]
    reported: tuple[str, ...]
    headline: str
    outputs: int = 1


TEXTS = Judging(
    scores=(
        "parent",
        "parent_precision",
        "parent_recall",
        "parent_full_table",
        "chrf",
        "coverage",
        "empty",
    ),
    reported=("parent", "parent_full_table", "chrf", "coverage", "facts"),
    headline="parent",
)
"""Outputs are compared with references and data (sections 3.1, 3.2 and 3.3, performance)."""

TWO_ORDERS = Judging(
    scores=(
        "fidelity_pbh",
        "fidelity_poh",
        "ordering_pbh",
        "ordering_poh",
        "ordering_em_pbh",
        "ordering_em_poh",
        "faithful_ordering_pbh",
        "faithful_ordering_poh",
        "empty",
    ),
    reported=(
        "fidelity_pbh",
        "fidelity_poh",
        "ordering_pbh",
        "ordering_poh",
        "faithful_ordering_pbh",
        "faithful_ordering_poh",
    ),
    headline="faithful_ordering_pbh",
    outputs=2,
)
"""The same units in two orders: have both outputs a property, or one of them (section 3.3)?"""

CORRELATION = Judging(
    scores=(
        "cwio",
        "cwio_located",
        "cwio_located_share",
        "empty",
    ),
    reported=("cwio", "cwio_located", "cwio_located_share"),
    headline="cwio",
)
"""How far outputs follow the order of the input, which is neither good nor bad (section 3.3)."""

COPIES = Judging(
    scores=(
        "copy_rule",
        "copy_rule_whole_word",
        "copy_rule_00",
        "copy_rule_01",
        "copy_rule_11",
        "empty",
    ),
    reported=(
        "copy_rule_00",
        "copy_rule_01",
        "copy_rule",
        "copy_rule_11",
        "copy_rule_whole_word",
    ),
    headline="copy_rule",
)
"""Is a hidden phrase copied, and does what it hides appear (section 3.4)?"""

_JUDGINGS: Mapping[tuple[str, str | None], Judging] = {
    ("order_invariance", "main"): TWO_ORDERS,
    ("order_invariance", "cwio"): CORRELATION,
    ("rule_learnability", None): COPIES,
}


def of(name: SetName) -> Judging:
    """Return how outputs for these sets are judged."""
    return _JUDGINGS.get((name.aspect, name.part), TEXTS)
