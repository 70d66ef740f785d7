"""The sets of CompMCTG: tasks, and the splits that answers are read under.

A task asks for texts of all combinations. A split says which combinations training shows; its arm
is the labelled texts of these. Without a split, answers are read under all splits of the protocol.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.compmctg import designs, discrimination, splits
from spor_tasks.benchmarks.compmctg.designs import MINI, SHIPPED, Design
from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import read_space
from spor_tasks.corpora.sources import COMPMCTG

BENCHMARK = "compmctg"
TITLE = "CompMCTG"

PUBLISHED = "_published"
"""What follows the name of a protocol if the splits are those of an ``unseen.jsonl``."""

_MODES = {ours: mode for mode, ours in reader.MODES.items()}


class _Sets(declared.DeclaredSets):
    files = COMPMCTG

    def __init__(self) -> None:
        self.specs = tuple(_tasks())

    def find(self, name: SetName) -> SetSpec:
        """Return the declaration of the sets of a task, or of a split of it; no file is read.

        Raises:
            SplitError: there are no such sets.
        """
        if name.aspect == BENCHMARK and _is_known(name):
            return _spec(name)
        if names := _split_names(name.corpus, name.protocol):
            raise SplitError(
                f"there is no split {str(name)!r}", remedy=f"Its splits are {', '.join(names)}."
            )
        return super().find(name)

    def read(self, name: SetName) -> SplitPair:
        """Return sets; a single split has an arm, which is read when it is needed."""
        if name.corpus not in SHIPPED:
            raise SplitError(
                f"{str(name)!r} is of a space of your own",
                remedy="Name its YAML file in place of the corpus.",
            )
        design = SHIPPED[name.corpus]
        if name.protocol != discrimination.PROTOCOL:
            return designs.pair(name, design, _splits(name, design))
        split = read_as(name)
        texts = discrimination.samples(design.space, frozenset(split.unseen))
        return replace(designs.pair(name, design, [split]), test=Split("test", texts))


def _tasks() -> Iterator[SetSpec]:
    """Yield the shipped sets: those that ask for texts, then those about given texts."""
    for protocol_of_texts in (splits.PROTOCOLS, (discrimination.PROTOCOL,)):
        for corpus in SHIPPED:
            names = (SetName(BENCHMARK, corpus, protocol) for protocol in protocol_of_texts)
            yield from map(_spec, filter(_is_known, names))


@cache
def _split_names(corpus: str, protocol: str) -> tuple[str, ...]:
    """Return the names of the shipped splits that answers to a task may be read under."""
    if corpus not in SHIPPED or protocol == "original":
        return ()
    if protocol != discrimination.PROTOCOL:
        return tuple(map(str, range(len(splits.shipped(SHIPPED[corpus].space, protocol)))))
    return tuple(
        f"{each}_{number}" for each in splits.PROTOCOLS for number in _split_names(corpus, each)
    )


def _is_known(name: SetName) -> bool:
    protocol = name.protocol.removesuffix(PUBLISHED)
    if protocol != name.protocol or name.corpus not in SHIPPED:  # a file has the splits
        is_number = name.part is None or name.part.isdecimal()
        return name.corpus != MINI and protocol in splits.PROTOCOLS and is_number
    names = _split_names(name.corpus, protocol)
    return name.part in names or (name.part is None and (bool(names) or protocol == "original"))


def _spec(name: SetName) -> SetSpec:
    protocol = name.protocol.removesuffix(PUBLISHED)
    source = "published" if protocol != name.protocol else None
    task = name._replace(protocol=protocol, part=None)
    is_texts = protocol == discrimination.PROTOCOL
    is_divided = name.part is not None if is_texts else protocol != "original"
    kind = ["divided" if is_divided else "whole", "likelihoods" if is_texts else None]
    is_shipped, is_mini = name.corpus in SHIPPED, name.corpus == MINI
    title = MINI if is_mini else f"{TITLE} {reader.FOLDERS.get(name.corpus, name.corpus)}"
    tags = [f"{BENCHMARK}_{protocol if is_shipped else name.corpus}"]
    spec = declared.spec(
        BENCHMARK,
        name,
        judging="_".join(filter(None, kind)),
        task=f"{MINI if is_mini else f'{BENCHMARK}_{name.corpus}'}_{protocol}",
        title=f"{title}, {_MODES.get(protocol, protocol)}{' as published' if source else ''}",
        part_title=" ".join(filter(None, [source, "split", name.part])) if name != task else None,
        trained_on=_generation(name)._asdict() if is_texts else {},
        is_pooled=not is_texts,
        is_default=is_shipped and not source,
        is_fixed=is_shipped and not is_mini,
        is_pinned=is_shipped and not source and (not is_texts or is_mini),
        tags=[BENCHMARK, *tags] if is_shipped and not is_texts else tags,
        splits=_split_names(name.corpus, protocol) if name == task else (),
        split_of=None if name == task else task,
    )
    aspects = SHIPPED[name.corpus].space.aspects if is_shipped else ()
    return replace(spec, breakdown=tuple(_by_aspect(spec.breakdown, aspects)))


def _by_aspect(scores: Sequence[str], aspects: Iterable[str]) -> Iterator[str]:
    """Yield the scores, and instead of one with ``{aspect}`` that of each aspect."""
    for score in scores:
        names = aspects if "{aspect}" in score else ("",)
        yield from (score.format(aspect=each) for each in names)


def _generation(name: SetName) -> SetName:
    """Return the sets that ask for texts under the same split as given texts are read."""
    protocol, _, number = (name.part or "original_").rpartition("_")
    return name._replace(protocol=protocol, part=number or None)


_SETS = _Sets()
specs, find, load = _SETS.sets, _SETS.find, _SETS.load


# --- Splits ---------------------------------------------------------------------------------------


def read_under(name: SetName, split: str) -> SetName:
    """Return the sets of a task's split: ``3``, or ``published_3`` of an ``unseen.jsonl``.

    ``published`` are all splits of that file.

    Raises:
        SplitError: the split does not exist.
    """
    is_published = re.fullmatch(r"published(?:_(\d+))?", split)
    if is_published and name.protocol != discrimination.PROTOCOL:
        protocol = f"{name.protocol}{PUBLISHED}"
        return find(name._replace(protocol=protocol, part=is_published[1])).name
    return find(name._replace(part=split)).name


def split_of(name: SetName, trained: SetName) -> str | None:
    """Return the name of the task's split that a model was trained on; None if it is not of it."""
    if trained.part is None or trained[:2] != name[:2]:
        return None
    if name.protocol == discrimination.PROTOCOL:
        return f"{trained.protocol}_{trained.part}"
    if trained.protocol == f"{name.protocol}{PUBLISHED}":
        return f"published_{trained.part}"
    return trained.part if trained.protocol == name.protocol else None


def shipped(name: SetName) -> tuple[Partition, ...]:
    """Return all splits of a protocol, none where a file of the user's has them."""
    is_shipped = name.corpus in SHIPPED and name.protocol in splits.PROTOCOLS
    return splits.shipped(SHIPPED[name.corpus].space, name.protocol) if is_shipped else ()


def read_as(name: SetName) -> Partition:
    """Return the split that given texts are read under; without one, no combination is unseen."""
    same = _generation(name)
    return shipped(same)[int(same.part or 0)]


def _splits(name: SetName, design: Design) -> Sequence[Partition]:
    """Return the split that is named, or all of the protocol: shipped ones, or those of a file.

    Raises:
        SplitError: there is no such split.
        CorpusError: the file is needed, and is missing or malformed.
    """
    protocol = name.protocol.removesuffix(PUBLISHED)
    partitions = splits.shipped(design.space, protocol) if protocol == name.protocol else ()
    partitions = partitions or splits.read(design.file("unseen"), design.space, protocol)
    number = int(name.part or 0)
    if number >= len(partitions):
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=f"The file has {len(partitions)} splits of this protocol, numbered from 0.",
        )
    return partitions if name.part is None else partitions[number : number + 1]


# --- Spaces of one's own --------------------------------------------------------------------------


def own_sets(file: str, protocol: str | None, part: str | None) -> SplitPair:
    """Return the sets of a space in a YAML file, which has the texts of training beside it.

    The splits of ACD and Few-Shot are those of the ``unseen.jsonl`` beside it.

    Raises:
        ConfigError: the YAML file is malformed.
        SplitError: the protocol is unknown, or has no such split.
        CorpusError: ``unseen.jsonl`` is needed, and is missing or malformed.
    """
    design = designs.own(Path(file).resolve(), sha256_of(Path(file)))
    name = find(SetName(BENCHMARK, design.space.name, protocol or "original", part)).name
    return designs.pair(name, design, _splits(name, design))


def own_texts(file: str) -> tuple[Sample, ...]:
    """Return all labelled texts beside a YAML file, those for classifiers last, if there are any.

    Raises:
        ConfigError: the YAML file is malformed.
        CorpusError: ``gen.jsonl`` is missing, or a row is malformed.
    """
    space, folder = read_space(Path(file)), Path(file).parent
    of_classifiers = folder / "cls.jsonl"
    paths = [folder / "gen.jsonl", *([of_classifiers] if of_classifiers.exists() else [])]
    return tuple(sample for path in paths for sample in reader.read(path, space))
