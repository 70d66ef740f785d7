"""The sets of CompMCTG: tasks, and the splits that answers are read under.

A task asks for texts of all combinations. A split says which combinations training shows; its arm
is the labelled texts of these. Without a split, answers are read under all splits of the protocol.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product

from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.designs import MINI, SHIPPED
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.words import joined
from spor_tasks.corpora.compmctg import reader

BENCHMARK = "compmctg"
TITLE = "CompMCTG"

MOST_SPLITS = 1_000
"""The most splits of an ``unseen.jsonl`` that can be named."""

FILE_SPLITS: Mapping[str, str | None] = {
    "published": None,
    **{f"published_{number}": str(number) for number in range(MOST_SPLITS)},
}
"""The splits of an ``unseen.jsonl`` as people name them, and their parts; the first are all."""

OF_FILES = {protocol: f"{protocol}_published" for protocol in splits.PROTOCOLS}
"""The names of protocols whose splits are those of an ``unseen.jsonl``."""

_NUMBERS = {*FILE_SPLITS.values()}
_BASES = {name: protocol for protocol, name in OF_FILES.items()}
_MODES = {ours: mode for mode, ours in reader.MODES.items()}


def tasks() -> Iterator[TaskSpec]:
    """Yield the shipped sets."""
    for name in product(SHIPPED, splits.PROTOCOLS):
        if spec := find(*name):
            yield spec


@cache
def split_names(corpus: str, protocol: str) -> tuple[str, ...]:
    """Return the names of the shipped splits that answers to a task may be read under."""
    if corpus not in SHIPPED or protocol == "original":
        return ()
    return tuple(map(str, range(len(splits.shipped(SHIPPED[corpus].space, protocol)))))


def find(corpus: str, protocol: str, part: str | None = None) -> TaskSpec | None:
    """Return the declaration of a task, or of a split of one, which a user's file may have.

    None are sets that there cannot be.
    """
    base, is_shipped, is_mini = _BASES.get(protocol), corpus in SHIPPED, corpus == MINI
    source, base = "published" if base else None, base or protocol
    names = split_names(corpus, protocol)
    if source or not is_shipped:  # a file has the splits
        is_known = not is_mini and base in splits.PROTOCOLS and part in _NUMBERS
    else:
        is_known = part in names or (part is None and (bool(names) or base == "original"))
    if not is_known:
        return None
    split = joined("_", source, part) or None
    title = MINI if is_mini else f"{TITLE} {reader.FOLDERS.get(corpus, corpus)}"
    family = f"{'' if is_mini else f'{BENCHMARK}_'}{{corpus}}_{base}"
    tags = [f"{BENCHMARK}_{base if is_shipped else corpus}"]
    spec = declared.spec(
        BENCHMARK,
        BENCHMARK,
        corpus,
        protocol,
        part,
        judging="whole" if base == "original" else "divided",
        task=family.format(corpus=corpus),
        family=family,
        title=f"{title}, {_MODES.get(base, base)}{' as published' if source else ''}",
        part_title=joined(" ", source, "split", part) if split else None,
        split=split,
        facets={"protocol": base},
        is_pooled=True,
        is_default=is_shipped and not source,
        is_fixed=is_shipped and not is_mini,
        is_pinned=is_shipped and not source,
        tags=[BENCHMARK, *tags] if is_shipped else tags,
        splits=names if not split else (),
    )
    aspects = SHIPPED[corpus].space.aspects if is_shipped else ()
    breakdown = tuple(
        score._replace(name=score.name.format(aspect=aspect))
        for score in spec.judging.breakdown
        for aspect in (aspects if "{aspect}" in score.name else [""])
    )
    return replace(spec, judging=replace(spec.judging, breakdown=breakdown))
