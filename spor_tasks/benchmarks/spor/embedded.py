"""The sets of all four aspects on the embedded corpus, built whenever they are asked for."""

from functools import cache

from spor_tasks.aspects import build, order_invariance
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SplitPair
from spor_tasks.corpora.mini import worlds as mini

CORPUS = "mini"

SETS: tuple[tuple[str, str | None], ...] = (
    ("systematicity", None),
    *(("productivity", part) for part in ("n3", "n4")),  # no sample has more than five units
    *(("order_invariance", part) for part in order_invariance.PARTS),
    ("rule_learnability", None),
)
"""Every aspect with each of its parts; None where it has none."""


def load(aspect: str, *, part: str | None = None) -> SplitPair:
    """Return the sets of one aspect, its part where it has several; each time the same.

    Raises:
        SplitError: there are no such sets.
    """
    if (aspect, part) not in SETS:
        raise SplitError(
            f"there are no sets of {' '.join(filter(None, [aspect, part]))!r} on {CORPUS!r}",
            remedy=f"There are {', '.join(' '.join(filter(None, names)) for names in SETS)}.",
        )
    return build.build(_corpus(), aspect, part)


_corpus = cache(mini.corpus)
