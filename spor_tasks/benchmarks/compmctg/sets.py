"""The sets of CompMCTG: tasks, and the splits that answers are read under.

A task asks for texts of all combinations. A split says which combinations training shows; its arm
is the labelled texts of these. Without a split, answers are read under all splits of the protocol.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.designs import MINI, SHIPPED, Design
from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.contracts import Score, TaskSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SetName
from spor_tasks.corpora.compmctg import reader

BENCHMARK = "compmctg"
TITLE = "CompMCTG"

PUBLISHED = "_published"
"""What follows the name of a protocol if the splits are those of an ``unseen.jsonl``."""

_MODES = {ours: mode for mode, ours in reader.MODES.items()}


def tasks() -> Iterator[TaskSpec]:
    """Yield the shipped sets."""
    for corpus, protocol in product(SHIPPED, splits.PROTOCOLS):
        name = SetName(BENCHMARK, corpus, protocol)
        if is_known(name):
            yield spec_of(name)


@cache
def split_names(corpus: str, protocol: str) -> tuple[str, ...]:
    """Return the names of the shipped splits that answers to a task may be read under."""
    if corpus not in SHIPPED or protocol == "original":
        return ()
    return tuple(map(str, range(len(splits.shipped(SHIPPED[corpus].space, protocol)))))


def is_known(name: SetName) -> bool:
    """Return whether a task, or a split of one, has this name; a user's file may have the split."""
    protocol = name.protocol.removesuffix(PUBLISHED)
    if protocol != name.protocol or name.corpus not in SHIPPED:  # a file has the splits
        is_number = name.part is None or name.part.isdecimal()
        return name.corpus != MINI and protocol in splits.PROTOCOLS and is_number
    names = split_names(name.corpus, protocol)
    return name.part in names or (name.part is None and (bool(names) or protocol == "original"))


def spec_of(name: SetName) -> TaskSpec:
    """Return the declaration of known sets."""
    protocol = name.protocol.removesuffix(PUBLISHED)
    source = "published" if protocol != name.protocol else None
    task = name._replace(protocol=protocol, part=None)
    is_shipped, is_mini = name.corpus in SHIPPED, name.corpus == MINI
    title = MINI if is_mini else f"{TITLE} {reader.FOLDERS.get(name.corpus, name.corpus)}"
    family = f"{'' if is_mini else f'{BENCHMARK}_'}{{corpus}}_{protocol}"
    tags = [f"{BENCHMARK}_{protocol if is_shipped else name.corpus}"]
    spec = declared.spec(
        BENCHMARK,
        name,
        judging="whole" if protocol == "original" else "divided",
        task=family.format(corpus=name.corpus),
        family=family,
        title=f"{title}, {_MODES.get(protocol, protocol)}{' as published' if source else ''}",
        part_title=" ".join(filter(None, [source, "split", name.part])) if name != task else None,
        is_pooled=True,
        is_default=is_shipped and not source,
        is_fixed=is_shipped and not is_mini,
        is_pinned=is_shipped and not source,
        tags=[BENCHMARK, *tags] if is_shipped else tags,
        names=split_names(name.corpus, protocol) if name == task else (),
        whole=None if name == task else task,
    )
    aspects = SHIPPED[name.corpus].space.aspects if is_shipped else ()
    breakdown = tuple(_by_aspect(spec.judging.breakdown, aspects))
    return replace(spec, judging=replace(spec.judging, breakdown=breakdown))


def _by_aspect(scores: Sequence[Score], aspects: Iterable[str]) -> Iterator[Score]:
    """Yield the scores, and instead of one with ``{aspect}`` that of each aspect."""
    for score in scores:
        names = aspects if "{aspect}" in score.name else ("",)
        yield from (score._replace(name=score.name.format(aspect=each)) for each in names)


def shipped(name: SetName) -> tuple[Partition, ...]:
    """Return all splits of a protocol, none where a file of the user's has them."""
    is_shipped = name.corpus in SHIPPED and name.protocol in splits.PROTOCOLS
    return splits.shipped(SHIPPED[name.corpus].space, name.protocol) if is_shipped else ()


def partitions(name: SetName, design: Design) -> Sequence[Partition]:
    """Return the split that is named, or all of the protocol: shipped ones, or those of a file.

    Raises:
        SplitError: there is no such split.
        CorpusError: the file is needed, and is missing or malformed.
    """
    protocol = name.protocol.removesuffix(PUBLISHED)
    existing = splits.shipped(design.space, protocol) if protocol == name.protocol else ()
    existing = existing or splits.read(design.file("unseen"), design.space, protocol)
    number = int(name.part or 0)
    if number >= len(existing):
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=f"The file has {len(existing)} splits of this protocol, numbered from 0.",
        )
    return existing if name.part is None else existing[number : number + 1]
