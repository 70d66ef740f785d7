"""What SPOR asks, and how it judges answers: every set with its arms and scores, declared once."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.aspects import build
from spor_tasks.aspects.arms import ARMS
from spor_tasks.benchmarks.spor import embedded, released, shipped, strict
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SplitPair
from spor_tasks.corpora import sources

BENCHMARK = "spor"
TITLES: Mapping[str, str] = {
    "systematicity": "Systematicity",
    "productivity": "Productivity",
    "order_invariance": "Order invariance",
    "rule_learnability": "Rule learnability",
}
"""The aspects' names in titles, in the paper's order."""

_CORPORA = {"webnlg": "WebNLG", "e2e": "E2E"}


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
        *(f"cwio_{size}" for size in range(2, 8)),
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

_JUDGING = {
    ("order_invariance", "main"): TWO_ORDERS,
    ("order_invariance", "cwio"): CORRELATION,
    ("rule_learnability", None): COPIES,
}


@cache
def specs() -> tuple[SetSpec, ...]:
    """Return the shipped sets; the first of an aspect and corpus is the default."""
    names = (
        *(
            SetName(aspect, corpus, "published", part)
            for aspect, part in released.SETS
            for corpus in released.CORPORA
        ),
        *(SetName(aspect, corpus, "strict", part) for aspect, corpus, part in strict.SETS),
        *(SetName(aspect, embedded.CORPUS, "strict", part) for aspect, part in embedded.SETS),
    )
    first: dict[tuple[str, str], SetName] = {}
    for name in names:
        first.setdefault(name[:2], name)
    return tuple(_spec(name, first[name[:2]].protocol) for name in names)


def find(name: SetName) -> SetSpec:
    """Return what is said of these sets, shipped or of a corpus of one's own.

    Raises:
        SplitError: there is no such aspect or part.
    """
    for spec in specs():
        if spec.name == name:
            return spec
    build.require_known(name.aspect, name.part)
    return _spec(name, name.protocol)


def _spec(name: SetName, default: str) -> SetSpec:
    other = None if name.protocol == default else name.protocol
    judging = _JUDGING.get((name.aspect, name.part), TEXTS)
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task="_".join(filter(None, [BENCHMARK, name.aspect, name.corpus, name.part, other])),
        title=f"{TITLES[name.aspect]}: {_CORPORA.get(name.corpus, name.corpus)}, "
        f"{name.protocol} sets",
        part_title=_part_title(name),
        arms=ARMS[name.aspect],
        **judging._asdict(),
        trained_on=_trained_on(name, default),
        is_default=name.protocol == default,
        is_fixed=name.corpus in released.CORPORA,
        template="_base" if judging.outputs == 1 else "_pair",
        in_context=name.protocol == default,
        version=2.0,
    )


def _part_title(name: SetName) -> str | None:
    if name.part is not None and name.aspect == "productivity":
        return f"N = {name.part.removeprefix('n')}"
    return name.part


def _trained_on(name: SetName, default: str) -> SetName:
    """Return the sets whose arms these are, under the one name that they go by.

    The parts of order invariance share their arms, published and strict, and the paper asks rule
    learnability of models tuned on its Original.
    """
    if name.aspect not in {"order_invariance", "rule_learnability"}:
        return name
    return SetName("order_invariance", name.corpus, default)


def load(name: SetName) -> SplitPair:
    """Return shipped sets, from ``SPOR.data_dir()`` where they are made of files.

    Equal calls return the same object, which nobody can change.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    if all(spec.name != name for spec in specs()):
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=f"There are {', '.join(str(spec.name) for spec in specs())}.",
        )
    return _load(name, sources.SPOR.data_dir())


@cache
def _load(name: SetName, folder: Path) -> SplitPair:
    if name.corpus == embedded.CORPUS:
        return embedded.load(name.aspect, part=name.part)
    load_sets = strict.load if name.protocol == "strict" else released.load
    return load_sets(name.aspect, name.corpus, folder, part=name.part)


def recipe(name: SetName) -> Mapping[str, Any] | None:
    """Return settings and ``seed`` of the search that found shipped sets, None without one."""
    searched = (name.aspect, name.protocol) == ("systematicity", "strict")
    if not searched or (name.corpus, name.part) not in shipped.SETS:
        return None
    settings, seed = shipped.recipe(name.corpus, name.part)
    return {"seed": seed, **asdict(settings)}
