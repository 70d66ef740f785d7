"""What CompMCTG asks, and how it judges answers: every set, declared once.

A set is a split of the combinations. It asks for texts of all combinations, and its arm is the
labelled texts whose combination the split shows. The test sets need no file, the arms do.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, overload

from spor_tasks.benchmarks.compmctg import discrimination, splits
from spor_tasks.benchmarks.compmctg.protocols import Partition, partition
from spor_tasks.core.contracts import Gap, SetName, SetSpec
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.core.sample import Deferred, Sample, Split, SplitPair
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.linearize import PREFIXES
from spor_tasks.corpora.compmctg.spaces import Combination, Space
from spor_tasks.corpora.embedded import COMPMCTG_MINI, attributes
from spor_tasks.corpora.sources import COMPMCTG

BENCHMARK = "compmctg"
TITLE = "CompMCTG"
MINI = COMPMCTG_MINI.name

HALVES = ("id", "comp")
"""Whether the training set has texts of the combination."""

PUBLISHED = "_published"
"""What follows the name of a protocol if the splits are those of the user's ``unseen.jsonl``."""

_MODES = {ours: mode for mode, ours in reader.MODES.items()}
REPEATS = 10
"""How often each beginning and combination is asked for, as published."""

_DISTINCT = ("dist_1", "dist_2", "dist_3")


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a corpus: texts of its space that begin so, and each so many times."""

    space: Space
    title: str
    prefixes: Sequence[str] = PREFIXES
    repeats: int = REPEATS


_CORPORA = {
    space.name: Asked(space, f"{TITLE} {reader.FOLDERS[space.name]}")
    for space in splits.SPACES
    if space.name in reader.FOLDERS
} | {MINI: Asked(attributes.SPACE, MINI, attributes.PREFIXES, attributes.REPEATS)}


@cache
def specs() -> tuple[SetSpec, ...]:
    """Return the shipped sets, those of each corpus together, and then those of held-out texts."""
    written = tuple(
        _spec(SetName(BENCHMARK, corpus, protocol, None if protocol == "original" else str(number)))
        for corpus, asked in _CORPORA.items()
        for protocol in ("original", "holdout", *splits.NUMBERS[corpus])
        for number in range(len(splits.shipped(asked.space, protocol)))
    )
    return (*written, *map(_discriminating, written))


def find(name: SetName) -> SetSpec:
    """Return what is said of these sets: shipped, of published splits, or of a space of one's own.

    Raises:
        SplitError: there are no such sets.
    """
    for spec in specs():
        if spec.name == name:
            return spec
    if is_own(name):
        return replace(_spec(name), is_default=False, is_fixed=False)
    if discrimination.is_asked(name) and name.corpus in _CORPORA:
        return _discriminating(find(discrimination.generation_of(name)))
    if _is_published(name):
        _published(name)
        return replace(_spec(name), is_default=False, is_pinned=False)
    own = [spec.name for spec in specs() if spec.name.corpus == name.corpus]
    raise SplitError(
        f"there is no split {str(name)!r}",
        remedy=f"There are {', '.join(map(str, own or [spec.name for spec in specs()]))}.",
    )


def _is_published(name: SetName) -> bool:
    protocol = name.protocol.removesuffix(PUBLISHED)
    return (
        name.aspect == BENCHMARK
        and name.corpus in reader.FOLDERS
        and protocol != name.protocol
        and protocol in splits.PROTOCOLS
    )


def is_own(name: SetName) -> bool:
    """Return whether sets would be of a space of one's own, by the corpus and the protocol."""
    return (
        name.aspect == BENCHMARK
        and name.corpus not in _CORPORA
        and name.protocol.removesuffix(PUBLISHED) in splits.PROTOCOLS
    )


def _spec(name: SetName) -> SetSpec:
    protocol = name.protocol.removesuffix(PUBLISHED)
    title = _CORPORA[name.corpus].title if name.corpus in _CORPORA else f"{TITLE} {name.corpus}"
    corpus = MINI if name.corpus == MINI else f"{BENCHMARK}_{name.corpus}"
    suffix = " as published" if protocol != name.protocol else ""
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task="_".join(filter(None, [corpus, *name[2:]])),
        title=f"{title}, {_MODES[protocol]}{suffix}",
        part_title=name.part and f"split {name.part}",
        arms=("train",),
        **_judged(name.corpus, is_divided=protocol != "original"),
        trained_on=name,
        is_fixed=name.corpus != MINI,
        decodings=(),
        group=f"{corpus if name.part else BENCHMARK}_{protocol}",
    )


def _discriminating(spec: SetSpec) -> SetSpec:
    aspects = _CORPORA[spec.name.corpus].space.aspects
    is_divided = spec.name.protocol.removesuffix(PUBLISHED) != "original"
    return discrimination.spec_of(spec, aspects, HALVES if is_divided else ())


def _judged(corpus: str, *, is_divided: bool) -> dict[str, Any]:
    """Return the scores; without unseen combinations, none is about a half or the gap."""
    halves = HALVES if is_divided else ()
    aspects = tuple(_CORPORA[corpus].space.aspects) if corpus in _CORPORA else ()
    by_model = ("mctg_acc", *(("mctg_gap", "mctg_gap_real") if is_divided else ()), "mctg_ppl")
    by_oracle, more = tuple[str, ...](), tuple[str, ...]()
    if corpus == MINI:
        of_halves = ("mini_gap", "mini_gap_real") if is_divided else ()
        by_oracle = ("mini_acc", *of_halves, "mini_readable")
        more = (*_of(("mini_acc",), halves), *(f"mini_acc_{aspect}" for aspect in aspects))
    gaps = tuple(Gap(f"{name}_comp", f"{name}_id") for name in ("mctg_acc", *by_oracle[:1]))
    return {
        "scores": (*by_oracle, *more, *_DISTINCT, *_of(_DISTINCT, halves), "empty"),
        "reported": (*by_oracle, *by_model, "dist_3"),
        "breakdown": (
            *more,
            *_of(("mctg_acc",), halves),
            *(f"mctg_acc_{aspect}" for aspect in aspects if corpus != MINI),
            *_of(("mctg_ppl", "dist_3"), halves),
            *("dist_1", "dist_2"),
        ),
        "gaps": gaps if is_divided else (),
        "headline": (*by_oracle, *by_model)[0],
    }


def _of(scores: Sequence[str], halves: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{score}_{half}" for score in scores for half in halves)


# --- Samples --------------------------------------------------------------------------------------


def load(name: SetName) -> SplitPair:
    """Return sets; their arm is read from ``COMPMCTG.data_dir()`` when it is needed.

    Equal calls return the same object, which nobody can change.

    Raises:
        SplitError: there are no such sets.
        CorpusError: published splits are asked for, and their file is missing or malformed.
    """
    name = find(name).name
    load_sets = _load_texts if discrimination.is_asked(name) else _load
    return load_sets(name, COMPMCTG.data_dir())


def division(name: SetName) -> Partition:
    """Return which combinations training shows, and which it does not.

    Raises:
        SplitError: there are no such sets.
        CorpusError: published splits are asked for, and their file is missing or malformed.
    """
    name = discrimination.generation_of(find(name).name)
    if _is_published(name):
        return _published(name)
    if is_own(name):
        raise SplitError(
            f"{str(name)!r} is of a space of your own",
            remedy="Name its YAML file in place of the corpus.",
        )
    return splits.shipped(_CORPORA[name.corpus].space, name.protocol)[int(name.part or 0)]


@cache
def _load(name: SetName, folder: Path) -> SplitPair:
    unseen = frozenset(division(name).unseen)
    asked = _CORPORA[name.corpus]
    if name.corpus == MINI:
        return pair_of(name, asked, unseen, _seen(COMPMCTG_MINI.part("train"), unseen))
    path = reader.file_of(name.corpus, "gen", folder)
    return pair_of(name, asked, unseen, shown(path, asked.space, unseen))


def pair_of(
    name: SetName, asked: Asked, unseen: frozenset[Combination], texts: Sequence[Sample]
) -> SplitPair:
    """Return the sets of a split, whose arm has these texts."""
    return SplitPair(
        name.aspect,
        name.corpus,
        name.protocol,
        (Split("train", texts),),
        Split("test", _Requests(_requests(asked), unseen)),
        name.part,
    )


@cache
def _load_texts(name: SetName, folder: Path) -> SplitPair:
    split = discrimination.generation_of(name)
    unseen = frozenset(division(split).unseen)
    texts = discrimination.samples(_CORPORA[name.corpus].space, unseen, folder)
    return replace(_load(split, folder), protocol=name.protocol, test=Split("test", texts))


def shown(path: Path, space: Space, unseen: frozenset[Combination]) -> Sequence[Sample]:
    """Return the labelled texts of seen combinations in a file, which is read when they are needed.

    Raises:
        CorpusError: when they are read, the file is missing or malformed, or has no text with a
            value that seen combinations have.
    """
    sha256 = _sha256(sorted(unseen), sha256_of(path)) if path.is_file() else None
    return Deferred(
        lambda: _complete(_seen(_texts(path, space), unseen), path, space, unseen), sha256
    )


def _seen(samples: Iterable[Sample], unseen: Container[Combination]) -> tuple[Sample, ...]:
    return tuple(sample for sample in samples if reader.combination_in(sample) not in unseen)


def _complete(
    texts: tuple[Sample, ...], path: Path, space: Space, unseen: Container[Combination]
) -> tuple[Sample, ...]:
    wanted = (
        unit
        for combination in space.combinations
        if combination not in unseen
        for unit in reader.units_of(space, combination)
    )
    told = {unit for sample in texts for unit in sample.units}
    if lacking := [unit for unit in dict.fromkeys(wanted) if unit not in told]:
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
def _requests(asked: Asked) -> tuple[Sample, ...]:
    """Return what is asked of every split; the first ones have all combinations."""
    corpus = asked.space.name
    return tuple(
        Sample(
            _sha256(corpus, combination, prefix, repeat)[:16],
            corpus,
            reader.units_of(asked.space, combination),
            (),
            {"prefix": prefix, "repeat": repeat},
        )
        for repeat in range(asked.repeats)
        for prefix in asked.prefixes
        for combination in asked.space.combinations
    )


def _sha256(*what: object) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


class _Requests(Sequence[Sample]):
    """The same requests for every split, which differ in what they say of their combination."""

    def __init__(self, samples: Sequence[Sample], unseen: frozenset[Combination]) -> None:
        self._samples, self._unseen = samples, unseen

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> "_Requests": ...
    def __getitem__(self, index: int | slice) -> "Sample | _Requests":
        if isinstance(index, slice):
            return _Requests(self._samples[index], self._unseen)
        sample = self._samples[index]
        is_unseen = reader.combination_in(sample) in self._unseen
        return replace(sample, context={**sample.context, "unseen": is_unseen})


# --- Published splits -----------------------------------------------------------------------------


def published(space: Space, protocol: str, path: Path | None = None) -> tuple[Partition, ...]:
    """Return the splits of a protocol in the user's ``unseen.jsonl``, in its order.

    Raises:
        CorpusError: the file is missing or malformed.
    """
    rows = reader.read_unseen(path or reader.file_of(space.name, "unseen"), space)
    return tuple(
        partition(space, [each for each in space.combinations if not row.has(space.as_row(each))])
        for row in rows
        if row.protocol == protocol
    )


def _published(name: SetName) -> Partition:
    found = published(_CORPORA[name.corpus].space, name.protocol.removesuffix(PUBLISHED))
    with suppress(ValueError, IndexError):
        number = int(name.part or 0)
        if number >= 0:
            return found[number]
    raise SplitError(
        f"there is no split {str(name)!r}",
        remedy=f"The published file has {len(found)} of them, numbered from 0.",
    )
