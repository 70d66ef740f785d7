"""The sets of SPOR with their arms and scores, each declared once."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spor_tasks.aspects import build, named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.spor import built, released, strict, twins
from spor_tasks.core.contracts import BEAM5, SetName, SetSpec
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

_JUDGING: Mapping[tuple[str, str | None], str] = {
    ("order_invariance", "main"): "two_orders",
    ("order_invariance", "cwio"): "correlation",
    ("rule_learnability", None): "copies",
}

_CORPORA = {
    "webnlg": "WebNLG",
    "e2e": "E2E",
    "viggo": "ViGGO",
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
        *(
            SetName(aspect, corpus, "strict", part)
            for corpus, sets in built.SETS.items()
            for aspect, part in sets
        ),
    )
    first: dict[tuple[str, str], SetName] = {}
    for name in names:
        first.setdefault(name[:2], name)
    originals = tuple(_spec(name, first[name[:2]].protocol) for name in names)
    return (*originals, *twins.specs(originals))


def find(name: SetName) -> SetSpec:
    """Return what is said of these sets, shipped or of a corpus of one's own.

    Raises:
        SplitError: the aspect or part does not exist, or the corpus has no units.
    """
    for spec in specs():
        if spec.name == name:
            return spec
    named.check_has_units(name.corpus)
    build.require_known(name.aspect, name.part)
    return _spec(name, name.protocol)


def _spec(name: SetName, default: str) -> SetSpec:
    protocol = None if name.protocol == default else name.protocol
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task="_".join(filter(None, [BENCHMARK, name.aspect, name.corpus, name.part, protocol])),
        title=f"{TITLES[name.aspect]}: {_CORPORA.get(name.corpus, name.corpus)}, "
        f"{name.protocol} sets",
        part_title=_part_title(name),
        arms=ARMS[name.aspect],
        **declared.judging(BENCHMARK, _JUDGING.get((name.aspect, name.part), "texts")),
        trained_on=_trained_on(name, default),
        is_default=name.protocol == default,
        is_fixed=name.corpus in {*released.CORPORA, "viggo"},
        decodings=(BEAM5,) if name.protocol == "published" else (),
        in_context=name.protocol == default,
        version=2.0,
        tags=_tags(name) if name.protocol == default else (),
    )


def _tags(name: SetName) -> tuple[str, ...]:
    """Return the names that stand for the task of default sets and others."""
    corpus = f"{BENCHMARK}_{name.corpus}"
    parts = [f"{BENCHMARK}_{name.aspect}_{name.corpus}"] if name.part else []
    paper = [BENCHMARK] if name.protocol == "published" else []
    wider = [f"{BENCHMARK}_{name.aspect}"] if name.corpus in (*released.CORPORA, "mini") else []
    return (*paper, corpus, *wider, *parts)


def _part_title(name: SetName) -> str | None:
    if name.part and name.aspect == "productivity":
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
    return _load(declared.find(specs(), name).name, sources.SPOR.data_dir())


@cache
def _load(name: SetName, folder: Path) -> SplitPair:
    if name.protocol == twins.PROTOCOL:
        return twins.load(_load(twins.original_of(name, specs()), folder))
    if name.corpus in built.SETS:
        return built.load(name.corpus, name.aspect, name.part)
    load_sets = strict.load if name.protocol == "strict" else released.load
    return load_sets(name.aspect, name.corpus, folder, part=name.part)
