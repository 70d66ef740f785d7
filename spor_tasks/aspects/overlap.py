"""Splits of samples about tables by the headers of the tables, as ToTTo was split.

The header of a table is the set of its header values, as they are written. Where the data was
held out, some tables have a header that training shows too (*overlap*), and some do not: there a
model must combine what it never saw together (Parikh et al., EMNLP 2020).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path
from typing import Any, TypeAlias

from spor_tasks import __version__
from spor_tasks.aspects.folder import MANIFEST
from spor_tasks.aspects.request import read_own
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import Row, write_rows
from spor_tasks.core.folders import read_manifest, write_manifest
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.tables import header_values

ALPHA = 5
"""ToTTo's: training keeps the headers of held-out tables that it has more often than this."""

TRAIN = "train"

KIND = "overlap"
"""What the manifest of a split says that its folder is."""

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Which training samples are kept, and for each held-out part which samples overlap."""

    kept: tuple[bool, ...]
    flags: Mapping[str, tuple[bool, ...]]


def parts_of(name: str) -> tuple[str, Mapping[str, Sequence[Sample]]]:
    """Return a corpus's name and all its parts, ``train`` among them if it has training samples.

    A registered corpus may say itself which it has (``parts``); others have ``train`` and ``test``.

    Raises:
        ConfigError: there is no such corpus.
        CorpusError: a file is missing, damaged, or not what it claims to be.
    """
    known: Any = registry().get("corpus", name) if name in registry().names("corpus") else None
    if hasattr(known, "parts"):
        return name, known.parts()
    corpus: CorpusSamples = known.read() if known else read_own(name)
    return corpus.name, {TRAIN: corpus.train, "test": corpus.test}


def split(
    train: Sequence[Hashable], held_out: Mapping[str, Sequence[Hashable]], alpha: int = ALPHA
) -> Overlap:
    """Return the split of samples with these headers.

    A training sample is kept if no held-out table has its header, or if more than ``alpha``
    training samples have it. A held-out sample overlaps if a kept training sample has its header.
    So a split of the kept samples is the same split.
    """
    tested, count = set(chain.from_iterable(held_out.values())), Counter(train)
    known = {header for header in count if header not in tested or count[header] > alpha}
    return Overlap(
        tuple(header in known for header in train),
        {part: tuple(header in known for header in of) for part, of in held_out.items()},
    )


def header_key(sample: Sample) -> bytes:
    """Return a digest of the header of a sample's table; equal headers have equal digests.

    Raises:
        CorpusError: the sample has no table.
    """
    values = json.dumps(sorted(header_values(sample)))
    return hashlib.sha256(values.encode()).digest()[:16]


def write(
    folder: Path,
    corpus: str,
    parts: Mapping[str, Sequence[Sample]],
    alpha: int = ALPHA,
    progress: Progress = lambda _done, _all: None,
) -> Mapping[str, Any]:
    """Split the parts of a corpus, ``train`` among them; write each and return the manifest.

    Of held-out samples the context says whether they overlap. Each part is read twice, and no more
    than a digest of each sample is in memory.

    Raises:
        SplitError: there is no training sample, or none that is held out.
        CorpusError: a sample cannot be read, or has no table.
    """
    done, total = 0, 2 * sum(map(len, parts.values()))

    def counted(samples: Iterable[Sample]) -> Iterator[Sample]:
        nonlocal done
        for sample in samples:
            yield sample
            done += 1
            progress(done, total)

    keys = {part: list(map(header_key, counted(samples))) for part, samples in parts.items()}
    held_out = {part: of for part, of in keys.items() if part != TRAIN}
    if not keys.get(TRAIN) or not any(held_out.values()):
        raise SplitError(
            "needs training samples, and others that are held out",
            where=corpus,
            remedy='In a file of your own, give each row a "split": "train" or "test".',
        )
    result = split(keys[TRAIN], held_out, alpha)
    files = {}
    for part, samples in parts.items():
        path, told = folder / f"{part}.jsonl", Counter[str]()
        read: Iterator[Sample] = counted(samples)
        if part == TRAIN:
            told["of"] = len(samples)
            read = compress(read, result.kept)
        else:
            read = _flagged(read, result.flags[part], told)
        write_rows(path, _rows(read, told))
        files[path.name] = {"sha256": sha256_of(path), **told}
    facts = {"corpus": corpus, "protocol": KIND, "settings": {"alpha": alpha}, "files": files}
    write_manifest(folder, {"kind": KIND, **facts, "spor_tasks": __version__}, MANIFEST)
    return read_manifest(folder, MANIFEST)


def _flagged(
    samples: Iterable[Sample], flags: Iterable[bool], told: Counter[str]
) -> Iterator[Sample]:
    """Yield samples with their flags, and count how many the source has, and has alike."""
    for sample, flag in zip(samples, flags, strict=True):
        if isinstance(published := sample.context.get("overlap"), bool):
            told["published_flags"] += 1
            told["reproduced_flags"] += published == flag
        told["overlap"] += flag
        yield replace(sample, context={**sample.context, "overlap": flag})


def _rows(samples: Iterable[Sample], told: Counter[str]) -> Iterator[Row]:
    for sample in samples:
        told["samples"] += 1
        yield to_row(sample)
