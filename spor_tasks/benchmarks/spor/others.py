"""The strict sets of corpora that the paper does not have.

They are built whenever they are asked for, and each time the same, except those of systematicity
that a search found (:mod:`spor_tasks.benchmarks.spor.shipped`).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spor_tasks.aspects import atoms, build, order_invariance
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import CorpusSamples, SplitPair
from spor_tasks.corpora import base, sources

_ORDERS = (*(("order_invariance", part) for part in order_invariance.PARTS),)
_DECISIONS = _ORDERS[:2]  # `main` of true and false statements; there are few ways to be right


def _schema(*sets: tuple[str, str | None]) -> tuple[tuple[str, str | None], ...]:
    return tuple((aspect, "_".join(filter(None, [part, "schema"]))) for aspect, part in sets)


def _lengths(*thresholds: int) -> tuple[tuple[str, str], ...]:
    return tuple(("productivity", f"n{threshold}") for threshold in thresholds)


_SYSTEMATICITY = ("systematicity", None)
_COPIES = ("rule_learnability", None)

SETS: Mapping[str, tuple[tuple[str, str | None], ...]] = {
    "mini": (_SYSTEMATICITY, *_lengths(3, 4), *_ORDERS, _COPIES),  # samples have at most five units
    "viggo": (_SYSTEMATICITY, *_lengths(3, 4, 5), *_ORDERS, _COPIES),
    "logicnlg": _schema(_SYSTEMATICITY, *_lengths(2, 3, 4), *_DECISIONS, _COPIES),
    "logicnlg_mini": (
        ("systematicity", "operators"),
        *(("productivity", f"n{threshold}_operators") for threshold in (3, 4)),
        *_schema(*_DECISIONS, _COPIES),
    ),
    "totto": _schema(_SYSTEMATICITY, *_lengths(3, 4, 5), *_ORDERS, _COPIES),
    "totto_mini": _schema(_SYSTEMATICITY, *_lengths(2, 3), *_ORDERS, _COPIES),
    "compmctg_mini": (_SYSTEMATICITY, *_lengths(2), _ORDERS[0]),
}
"""Of each corpus the aspects that are asked, each with its parts; None where it has none."""

APART = frozenset(SETS) - {"mini"}
"""Those that the groups of aspects leave out, as they need other files or other metrics."""

REAL = frozenset({"viggo", "logicnlg", "totto"})
"""Those of published files; the others are embedded."""

NOT_IN_CONTEXT = frozenset(
    {
        ("systematicity", "compmctg_mini", None),
        ("productivity", "logicnlg_mini", "n4_operators"),
        ("productivity", "totto_mini", "n2_schema"),
    }
)
"""Sets of which no test sample can be covered with demonstrations that match in both arms: nearly
every training sample shares atoms with every other."""

UNPINNED = frozenset({"totto"})
"""Those of which no published digest says which files they are."""


def load(corpus: str, aspect: str, part: str | None = None) -> SplitPair:
    """Return the sets of one aspect, its part where it has several; each time the same.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    if (aspect, part) not in SETS.get(corpus, ()):
        raise SplitError(
            f"there are no sets of {' '.join(filter(None, [aspect, part]))!r} on {corpus!r}",
            remedy=f"There are {', '.join(map(_words, SETS[corpus]))}."
            if corpus in SETS
            else f"There are sets on {', '.join(SETS)}.",
        )
    samples = _pool(corpus, aspect, _folders())
    if aspect == "systematicity" and (corpus, part) in shipped.SETS:
        return shipped.load(corpus, samples.samples, part)
    bare, granularity = atoms.bare_part(corpus, part)
    return build.build(samples, aspect, bare, build.Settings(granularity=granularity))


def _words(name: tuple[str, str | None]) -> str:
    return " ".join(filter(None, name))


@cache
def _pool(corpus: str, aspect: str, _: tuple[Path, ...]) -> CorpusSamples:
    return base.pool(corpus, aspect)


def _folders() -> tuple[Path, ...]:
    """Return where the files of all corpora lie, which decides what is read."""
    return tuple(each.data_dir() for each in sources.SOURCES)
