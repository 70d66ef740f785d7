"""How outputs are judged: by aspect, and by what a corpus is of."""

from collections.abc import Mapping
from typing import NamedTuple

from spor_tasks.aspects import atoms
from spor_tasks.core.contracts import BEAM5, SetName


class Judging(NamedTuple):
    """How outputs are judged; the fields are those of :class:`SetSpec`."""

    scores: tuple[str, ...]
    reported: tuple[str, ...]
    headline: str
    outputs: int = 1
    template: str = "_base"
    decodings: tuple[str, ...] = (BEAM5,)


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
    template="_pair",
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

CELLS = Judging(
    scores=(
        "totto_parent_real",
        "totto_chrf",
        "coverage",
        "empty",
    ),
    reported=("totto_parent_real", "totto_chrf", "coverage"),
    headline="totto_parent_real",
    template="_tables",
    decodings=(),
)
"""The same for cells of a table, by ToTTo's PARENT."""

STATEMENTS = Judging(
    scores=("chrf", "empty"),
    reported=("chrf", "sp_acc", "nli_acc"),
    headline="chrf",
    template="_tables",
    decodings=(),
)
"""A statement about a table may be true in many words, so a reference tells little."""

CHECKED_STATEMENTS = Judging(
    scores=("truth", "truth_readable", "chrf", "empty"),
    reported=("truth", "truth_readable", "chrf"),
    headline="truth",
    template="_tables",
    decodings=(),
)
"""Statements of the embedded corpus, whose truth is known."""

CODES = Judging(
    scores=("mini_acc", "mini_readable", "empty"),
    reported=("mini_acc", "mini_readable"),
    headline="mini_acc",
    decodings=(),
)
"""Has a text the attributes that it was asked for? Words decide, in the embedded corpus."""

CELLS_TWICE = TWO_ORDERS._replace(template="_tables_pair", decodings=())
"""The same cells in two orders; a cell is mentioned by what its corpus says tells it."""

DECISIONS = Judging(
    scores=(
        *("adv_pbh", "adv_poh", "adv_mean"),
        *("adv_pbh_byte", "adv_poh_byte", "adv_mean_byte"),
    ),
    reported=("adv_pbh", "adv_poh", "adv_mean", "adv_pbh_byte", "adv_poh_byte"),
    headline="adv_pbh",
    outputs=4,
    template="_adversarial",
    decodings=(),
)
"""Is a true statement likelier than a false one, with its columns in both of two orders?"""

CODES_TWICE = Judging(
    scores=("mini_all_pbh", "mini_all_poh", "mini_all_mean", "empty"),
    reported=("mini_all_pbh", "mini_all_poh", "mini_all_mean"),
    headline="mini_all_pbh",
    outputs=2,
    template="_pair",
    decodings=(),
)
"""Has a text all attributes that it was asked for, in both of two orders of these?"""

CELLS_COPIED = COPIES._replace(headline="copy_rule_whole_word", template="_tables", decodings=())
"""A table has many strings and numbers, so that only whole words tell what was copied."""

_TEXTS = {
    "totto": CELLS,
    "totto_mini": CELLS,
    "logicnlg": STATEMENTS,
    "logicnlg_mini": CHECKED_STATEMENTS,
    "compmctg_mini": CODES,
}
_OTHERS: Mapping[tuple[str, str | None], Judging] = {
    ("order_invariance", "main"): TWO_ORDERS,
    ("order_invariance", "cwio"): CORRELATION,
    ("rule_learnability", None): COPIES,
}
_OF_TABLES: Mapping[tuple[str, str | None], Judging] = {
    ("order_invariance", "main"): CELLS_TWICE,
    ("order_invariance", "cwio"): CORRELATION._replace(template="_tables", decodings=()),
    ("rule_learnability", None): CELLS_COPIED,
}
_OF_CORPUS: Mapping[tuple[str, str, str | None], Judging] = {
    ("logicnlg", "order_invariance", "main"): DECISIONS,
    ("logicnlg_mini", "order_invariance", "main"): DECISIONS,
    ("compmctg_mini", "order_invariance", "main"): CODES_TWICE,
}


def of(name: SetName) -> Judging:
    """Return how outputs for these sets are judged."""
    part, _ = atoms.bare_part(name.corpus, name.part)
    asked = _OF_TABLES if name.corpus in _TEXTS else _OTHERS
    return (
        _OF_CORPUS.get((name.corpus, name.aspect, part))
        or asked.get((name.aspect, part))
        or _TEXTS.get(name.corpus, TEXTS)
    )
