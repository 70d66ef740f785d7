"""The sets of CompMCTG: requests, scores, and the splits that answers are read under.

A task asks for texts of all combinations. A split says which combinations training shows; its arm
is the labelled texts of these. Without a split, answers are read under all splits of the protocol.
The test sets need no file, the arms do.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, overload

from spor_tasks.benchmarks.compmctg import discrimination, splits
from spor_tasks.benchmarks.compmctg.protocols import Partition
from spor_tasks.core.contracts import Gap, SetName, SetSpec
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Deferred, Sample, Split, SplitPair
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.linearize import PREFIXES
from spor_tasks.corpora.compmctg.spaces import PUBLISHED as SPACES
from spor_tasks.corpora.compmctg.spaces import Combination, Space, read_request
from spor_tasks.corpora.embedded import COMPMCTG_MINI, attributes
from spor_tasks.corpora.sources import COMPMCTG
from spor_tasks.metrics.groups import HALVES

BENCHMARK = "compmctg"
TITLE = "CompMCTG"
MINI = COMPMCTG_MINI.name

PUBLISHED = "_published"
"""What follows the name of a protocol if the splits are those of an ``unseen.jsonl``."""

REPEATS = 10
"""How often each beginning and combination is asked for, as published."""

_MODES = {ours: mode for mode, ours in reader.MODES.items()}


@dataclass(frozen=True, eq=False)
class Design:
    """The requests of a corpus: beginnings of texts of its space, and how often each is repeated.

    ``folder`` has the files of a space of one's own.
    """

    space: Space
    prefixes: Sequence[str] = PREFIXES
    repeats: int = REPEATS
    folder: Path | None = None


_DESIGNS = {space.name: Design(space) for space in SPACES} | {
    MINI: Design(attributes.SPACE, attributes.PREFIXES, attributes.REPEATS)
}


@cache
def specs() -> tuple[SetSpec, ...]:
    """Return the sets of the shipped tasks: those that ask for texts, then the others."""
    written = tuple(
        find(SetName(BENCHMARK, corpus, protocol))
        for corpus, design in _DESIGNS.items()
        for protocol in splits.PROTOCOLS
        if splits.shipped(design.space, protocol)
    )
    texts = (find(SetName(BENCHMARK, corpus, discrimination.PROTOCOL)) for corpus in _DESIGNS)
    return (*written, *texts)


def find(name: SetName) -> SetSpec:
    """Return the declaration of the sets of a task, or of a split of it; no file is read.

    Raises:
        SplitError: there are no such sets.
    """
    if name.aspect == BENCHMARK and _is_known(name):
        task = name._replace(protocol=name.protocol.removesuffix(PUBLISHED), part=None)
        if name != task:
            return replace(_spec(name), split_of=task)
        return replace(_spec(name), splits=_split_names(name))
    raise SplitError(f"there is no split {str(name)!r}", remedy=_remedy(name))


def _is_known(name: SetName) -> bool:
    protocol = name.protocol.removesuffix(PUBLISHED)
    if protocol == name.protocol and name.corpus in _DESIGNS:
        is_shipped = protocol == discrimination.PROTOCOL or bool(_split_names(name))
        is_whole = name.part is None and (is_shipped or protocol == "original")
        return is_whole or name.part in _split_names(name)
    can_have = name.corpus != MINI and protocol in splits.PROTOCOLS  # which a file must tell
    return can_have and (name.part is None or name.part.isdecimal())


@cache
def _split_names(name: SetName) -> tuple[str, ...]:
    """Return the names of the shipped splits that answers to a task may be read under."""
    if name.corpus not in _DESIGNS or name.protocol == "original":
        return ()
    space = _DESIGNS[name.corpus].space
    if name.protocol != discrimination.PROTOCOL:
        return tuple(map(str, range(len(splits.shipped(space, name.protocol)))))
    return tuple(
        f"{protocol}_{number}"
        for protocol in splits.PROTOCOLS
        for number in _split_names(name._replace(protocol=protocol))
    )


def _remedy(name: SetName) -> str:
    if names := _split_names(name._replace(part=None)):
        return f"Its splits are {', '.join(names)}."
    tasks = (f"{spec.name.corpus} {spec.name.protocol}" for spec in specs())
    return f"There are {', '.join(tasks)}."


def read_under(name: SetName, split: str) -> SetName:
    """Return the sets of a task's split: ``3``, or ``published_3`` of an ``unseen.jsonl``.

    ``published`` are all splits of that file.

    Raises:
        SplitError: the split does not exist.
    """
    source, _, number = split.rpartition("_")
    if name.protocol != discrimination.PROTOCOL and "published" in {source, split}:
        part = None if split == "published" else number
        sets_of_split = name._replace(protocol=f"{name.protocol}{PUBLISHED}", part=part)
    else:
        sets_of_split = name._replace(part=split)
    return find(sets_of_split).name


def split_of(name: SetName, trained: SetName) -> str | None:
    """Return the name of the task's split that a model was trained on; None if it is not of it."""
    if trained.part is None or trained[:2] != name[:2]:
        return None
    if name.protocol == discrimination.PROTOCOL:
        return f"{trained.protocol}_{trained.part}"
    if trained.protocol == f"{name.protocol}{PUBLISHED}":
        return f"published_{trained.part}"
    return trained.part if trained.protocol == name.protocol else None


def _spec(name: SetName) -> SetSpec:
    protocol = name.protocol.removesuffix(PUBLISHED)
    is_texts = protocol == discrimination.PROTOCOL
    stem = MINI if name.corpus == MINI else f"{BENCHMARK}_{name.corpus}"
    title = (
        MINI if name.corpus == MINI else f"{TITLE} {reader.FOLDERS.get(name.corpus, name.corpus)}"
    )
    is_published = protocol != name.protocol
    part_title = " ".join(filter(None, ["published" if is_published else "", "split", name.part]))
    is_divided = name.part is not None if is_texts else protocol != "original"
    is_shipped = name.corpus in _DESIGNS and protocol == name.protocol
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task=f"{stem}_{protocol}",
        title=f"{title}, {_MODES.get(protocol, protocol)}{' as published' if is_published else ''}",
        part_title=part_title if is_published or name.part else None,
        arms=("train",),
        **(discrimination.judged if is_texts else _scores_of)(name.corpus, is_divided=is_divided),
        trained_on=_generation(name) if is_texts else name,
        is_pooled=not is_texts,
        is_default=is_shipped,
        is_fixed=name.corpus in _DESIGNS and name.corpus != MINI,
        is_pinned=is_shipped and (not is_texts or name.corpus == MINI),
        template="../_likelihood" if is_texts else "_base",
        in_context=False,
        tags=_tags(name, protocol),
    )


def _generation(name: SetName) -> SetName:
    """Return the sets that ask for texts under the same split as given texts are read."""
    protocol, _, number = (name.part or "original_").rpartition("_")
    return name._replace(protocol=protocol, part=number or None)


def _tags(name: SetName, protocol: str) -> tuple[str, ...]:
    if name.corpus not in _DESIGNS:
        return (f"{BENCHMARK}_{name.corpus}",)
    of_protocol = f"{BENCHMARK}_{protocol}"
    return (of_protocol,) if protocol == discrimination.PROTOCOL else (BENCHMARK, of_protocol)


def _scores_of(corpus: str, *, is_divided: bool) -> dict[str, Any]:
    """Return the scores; without unseen combinations, none is about a half or the gap."""
    halves = HALVES if is_divided else ()
    aspects = tuple(_DESIGNS[corpus].space.aspects) if corpus in _DESIGNS else ()
    by_model = ("mctg_acc", *(("mctg_gap", "mctg_gap_real") if is_divided else ()), "mctg_ppl")
    by_oracle, more = tuple[str, ...](), tuple[str, ...]()
    if corpus == MINI:
        of_halves = ("mini_gap", "mini_gap_real") if is_divided else ()
        by_oracle = ("mini_acc", *of_halves, "mini_readable")
        more = (*_of_halves("mini_acc", halves), *(f"mini_acc_{aspect}" for aspect in aspects))
    gaps = tuple(Gap(f"{name}_comp", f"{name}_id") for name in ("mctg_acc", *by_oracle[:1]))
    return {
        "scores": (*by_oracle, *more, "dist_3", "empty"),
        "reported": (*by_oracle, *by_model, "dist_3"),
        "breakdown": (
            *more,
            *_of_halves("mctg_acc", halves),
            *(f"mctg_acc_{aspect}" for aspect in aspects if corpus != MINI),
            *_of_halves("mctg_ppl", halves),
        ),
        "gaps": gaps if is_divided else (),
        "headline": (*by_oracle, *by_model)[0],
    }


def _of_halves(score: str, halves: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{score}_{half}" for half in halves)


# --- Samples --------------------------------------------------------------------------------------


def load(name: SetName) -> SplitPair:
    """Return sets; their arm is read from ``COMPMCTG.data_dir()`` when it is needed.

    Without a split there is no arm. Equal calls return the same object, which nobody can change.

    Raises:
        SplitError: there are no such sets.
        CorpusError: published splits are asked for, and their file is missing or malformed.
    """
    name = find(name).name
    if name.corpus not in _DESIGNS:
        raise SplitError(
            f"{str(name)!r} is of a space of your own",
            remedy="Name its YAML file in place of the corpus.",
        )
    return _load(name, COMPMCTG.data_dir())


@cache
def _load(name: SetName, folder: Path) -> SplitPair:
    design = _DESIGNS[name.corpus]
    if name.protocol != discrimination.PROTOCOL:
        return _pair(name, design, _of_part(name, _partitions(name)), folder)
    split = read_as(name)
    texts = discrimination.samples(design.space, frozenset(split.unseen), folder)
    return replace(_pair(name, design, (split,), folder), test=Split("test", texts))


def _partitions(name: SetName) -> tuple[Partition, ...]:
    """Return all splits of a protocol of a shipped corpus.

    Raises:
        CorpusError: the file of published splits is missing or malformed.
    """
    space, protocol = _DESIGNS[name.corpus].space, name.protocol.removesuffix(PUBLISHED)
    if protocol == name.protocol:
        return splits.shipped(space, protocol)
    return splits.read(reader.file_of(space.name, "unseen"), space, protocol)


def shipped(name: SetName) -> tuple[Partition, ...]:
    """Return all splits of a protocol, none where a file of the user's has them."""
    is_shipped = name.corpus in _DESIGNS and name.protocol in splits.PROTOCOLS
    return splits.shipped(_DESIGNS[name.corpus].space, name.protocol) if is_shipped else ()


def read_as(name: SetName) -> Partition:
    """Return the split that given texts are read under; without one, no combination is unseen."""
    same = _generation(name)
    return splits.shipped(_DESIGNS[name.corpus].space, same.protocol)[int(same.part or 0)]


def _of_part(name: SetName, partitions: Sequence[Partition]) -> Sequence[Partition]:
    """Return the split that is named, or all."""
    if not partitions or (name.part is not None and int(name.part) >= len(partitions)):
        raise SplitError(
            f"there is no split {str(name)!r}",
            remedy=f"The file has {len(partitions)} splits of this protocol, numbered from 0.",
        )
    return partitions if name.part is None else [partitions[int(name.part)]]


def _pair(
    name: SetName, design: Design, under: Sequence[Partition], folder: Path | None
) -> SplitPair:
    """Return the texts that are asked for, with their marks, and the arm of a single split."""
    unseen = [frozenset(split.unseen) for split in under]
    if name.corpus == MINI:
        arms = [Split("train", _of_seen(COMPMCTG_MINI.part("train"), each)) for each in unseen]
    else:
        path = (
            design.folder / "gen.jsonl"
            if design.folder
            else reader.file_of(name.corpus, "gen", folder)
        )
        arms = [Split("train", _training_texts(path, design.space, each)) for each in unseen]
    marks: dict[Combination, bool | str] = {
        combination: "".join(str(int(combination in each)) for each in unseen)
        if len(unseen) > 1
        else combination in unseen[0]
        for combination in design.space.combinations
    }
    test = Split("test", _Requests(_requests(design), marks))
    arm = tuple(arms) if len(arms) == 1 else ()
    return SplitPair(name.aspect, name.corpus, name.protocol, arm, test, name.part)


def _training_texts(path: Path, space: Space, unseen: frozenset[Combination]) -> Sequence[Sample]:
    """Return the labelled texts of seen combinations in a file, which is read when they are needed.

    Raises:
        CorpusError: when they are read, the file is missing or malformed, or has no text with a
            value that seen combinations have.
    """
    sha256 = _sha256(sorted(unseen), sha256_of(path)) if path.is_file() else None
    return Deferred(
        lambda: _complete(_of_seen(_texts(path, space), unseen), path, space, unseen), sha256
    )


def _of_seen(samples: Iterable[Sample], unseen: Container[Combination]) -> tuple[Sample, ...]:
    return tuple(sample for sample in samples if reader.combination_in(sample) not in unseen)


def _complete(
    texts: tuple[Sample, ...], path: Path, space: Space, unseen: Container[Combination]
) -> tuple[Sample, ...]:
    needed = (
        unit
        for combination in space.combinations
        if combination not in unseen
        for unit in reader.units_of(space, combination)
    )
    present = {unit for sample in texts for unit in sample.units}
    if lacking := [unit for unit in dict.fromkeys(needed) if unit not in present]:
        values = ", ".join(" ".join(unit) for unit in lacking)
        raise CorpusError(
            f"of the combinations that the split shows, no text has the {values}",
            where=path,
            remedy="Add texts with each value, or leave the value out of the space.",
        )
    return texts


@cache
def _texts(path: Path, space: Space) -> tuple[Sample, ...]:
    return tuple(reader.read(path, space))


@cache
def _requests(design: Design) -> tuple[Sample, ...]:
    """Return the texts that are asked for; the first ones have all combinations."""
    corpus = design.space.name
    return tuple(
        Sample(
            _sha256(corpus, combination, prefix, repeat)[:16],
            corpus,
            reader.units_of(design.space, combination),
            (),
            {"prefix": prefix, "repeat": repeat},
        )
        for repeat in range(design.repeats)
        for prefix in design.prefixes
        for combination in design.space.combinations
    )


def _sha256(*what: object) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


class _Requests(Sequence[Sample]):
    """The same requests for every split, with a mark for each combination: whether it is unseen.

    Under several splits the mark is a text, with a 0 or 1 for each.
    """

    def __init__(self, samples: Sequence[Sample], marks: Mapping[Combination, bool | str]) -> None:
        self._samples, self._marks = samples, marks

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> "_Requests": ...
    def __getitem__(self, index: int | slice) -> "Sample | _Requests":
        if isinstance(index, slice):
            return _Requests(self._samples[index], self._marks)
        sample = self._samples[index]
        mark = self._marks[reader.combination_in(sample)]
        return replace(sample, context={**sample.context, "unseen": mark})


# --- Spaces of one's own --------------------------------------------------------------------------


def own_sets(file: str, protocol: str | None, part: str | None) -> SplitPair:
    """Return the sets of a space in a YAML file, which has the texts of training beside it.

    The splits of ACD and Few-Shot are those of the ``unseen.jsonl`` beside it.

    Raises:
        ConfigError: the YAML file is malformed.
        SplitError: the protocol is unknown, or has no such split.
        CorpusError: ``unseen.jsonl`` is needed, and is missing or malformed.
    """
    design = _own_design(Path(file).resolve(), sha256_of(Path(file)))
    name = find(SetName(BENCHMARK, design.space.name, protocol or "original", part)).name
    partitions = splits.shipped(design.space, name.protocol)
    if not partitions and design.folder:
        partitions = splits.read(design.folder / "unseen.jsonl", design.space, name.protocol)
    return _pair(name, design, _of_part(name, partitions), None)


@cache
def _own_design(path: Path, _sha256: str) -> Design:
    request = read_request(path)
    if request.space.name in {*registry().names("corpus"), "mini"}:
        raise ConfigError(
            f"has the name of the corpus {request.space.name}",
            where=path,
            remedy="Rename the file.",
        )
    prefixes, repeats = request.beginnings or PREFIXES, request.repeats or REPEATS
    return Design(request.space, prefixes, repeats, path.parent)


def own_texts(file: str) -> tuple[Sample, ...]:
    """Return all labelled texts beside a YAML file, those for classifiers last, if there are any.

    Raises:
        ConfigError: the YAML file is malformed.
        CorpusError: ``gen.jsonl`` is missing, or a row is malformed.
    """
    space, folder = read_request(Path(file)).space, Path(file).parent
    of_classifiers = folder / "cls.jsonl"
    paths = [folder / "gen.jsonl", *([of_classifiers] if of_classifiers.exists() else [])]
    return tuple(sample for path in paths for sample in reader.read(path, space))
