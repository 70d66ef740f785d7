"""The sets of CompMCTG: tasks, and the splits that answers are read under.

A task asks for texts of all combinations. A split says which combinations training shows; its arm
is the labelled texts of these. Without a split, answers are read under all splits of the protocol.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.designs import MINI, SHIPPED, Design
from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.contracts import Score, TaskSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SetFacts
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

_NUMBERS = {*FILE_SPLITS.values()}

OF_FILES = {protocol: f"{protocol}_published" for protocol in splits.PROTOCOLS}
"""The names of protocols whose splits are those of an ``unseen.jsonl``."""

_BASES = {name: protocol for protocol, name in OF_FILES.items()}

_MODES = {ours: mode for mode, ours in reader.MODES.items()}


def tasks() -> Iterator[TaskSpec]:
    """Yield the shipped sets."""
    for corpus, protocol in product(SHIPPED, splits.PROTOCOLS):
        if is_known(corpus, protocol):
            yield spec_of(corpus, protocol)


@cache
def split_names(corpus: str, protocol: str) -> tuple[str, ...]:
    """Return the names of the shipped splits that answers to a task may be read under."""
    if corpus not in SHIPPED or protocol == "original":
        return ()
    return tuple(map(str, range(len(splits.shipped(SHIPPED[corpus].space, protocol)))))


def is_known(corpus: str, protocol: str, part: str | None = None) -> bool:
    """Return whether a task, or a split of one, has this name; a user's file may have the split."""
    if protocol in _BASES or corpus not in SHIPPED:  # a file has the splits
        return corpus != MINI and protocol in {*_BASES, *OF_FILES} and part in _NUMBERS
    names = split_names(corpus, protocol)
    return part in names or (part is None and (bool(names) or protocol == "original"))


def spec_of(corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
    """Return the declaration of known sets."""
    base = _BASES.get(protocol, protocol)
    source = "published" if base != protocol else None
    split = "_".join(filter(None, [source, part])) or None
    is_shipped, is_mini = corpus in SHIPPED, corpus == MINI
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
        part_title=" ".join(filter(None, [source, "split", part])) if split else None,
        split=split,
        facets={"protocol": base},
        is_pooled=True,
        is_default=is_shipped and not source,
        is_fixed=is_shipped and not is_mini,
        is_pinned=is_shipped and not source,
        tags=[BENCHMARK, *tags] if is_shipped else tags,
        splits=split_names(corpus, protocol) if not split else (),
    )
    aspects = SHIPPED[corpus].space.aspects if is_shipped else ()
    breakdown = tuple(_by_aspect(spec.judging.breakdown, aspects))
    return replace(spec, judging=replace(spec.judging, breakdown=breakdown))


def _by_aspect(scores: Sequence[Score], aspects: Iterable[str]) -> Iterator[Score]:
    """Yield the scores, and instead of one with ``{aspect}`` that of each aspect."""
    for score in scores:
        names = aspects if "{aspect}" in score.name else ("",)
        yield from (score._replace(name=score.name.format(aspect=each)) for each in names)


def partitions(sets: SetFacts, design: Design) -> Sequence[Partition]:
    """Return the split that is named, or all of the protocol: shipped ones, or those of a file.

    Raises:
        SplitError: there is no such split.
        CorpusError: the file is needed, and is missing or malformed.
    """
    base = sets.facets["protocol"]
    existing = splits.shipped(design.space, base) if base == sets.protocol else ()
    existing = existing or splits.read(design.file("unseen"), design.space, base)
    number = int(sets.part or 0)
    if number >= len(existing):
        raise SplitError(
            f"there is no split {str(sets)!r}",
            remedy=f"The file has {len(existing)} splits of this protocol, numbered from 0.",
        )
    return existing if sets.part is None else existing[number : number + 1]
