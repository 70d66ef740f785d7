"""The strict sets that a search found, shipped as lists of samples so that all have the same ones.

A list names samples by their place in the pool, which is the whole corpus, as the bits of one
number; the SHA-256 of all sample ids of the pool, in order, says which pool that is. The files also
say by which settings and seed version 0.2 searched them.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import read_packaged
from spor_tasks.core.sample import Sample, Split, SplitPair

SETS: tuple[tuple[str, str | None], ...] = (
    ("webnlg", None),
    ("e2e", None),
    ("e2e", "algorithm_1"),
    ("viggo", None),
)
"""Corpus and part of each. ``algorithm_1`` is the best that the paper's own construction finds."""

FOLDER = Path(__file__).parent / "strict_ids"
"""Where they lie: one JSON file for each, see :func:`name`."""


def name(corpus: str, part: str | None = None) -> str:
    """Return what the file of these sets is called, without its ending."""
    return "_".join(filter(None, ["systematicity", corpus, part]))


def load(corpus: str, samples: Iterable[Sample], part: str | None = None) -> SplitPair:
    """Return the sets of one of :data:`SETS`, made of all samples of the corpus.

    Raises:
        SplitError: there are no such sets, or these are not the samples that they were made of.
    """
    content = _read(corpus, part)
    samples = tuple(samples)
    if _digest_of_ids(samples) != content["pool"]["sha256"]:
        raise SplitError(
            f"was made of other samples than these {len(samples):,}",
            where=name(corpus, part),
            remedy=f"It needs the {content['pool']['samples']:,} samples of the published "
            f"{corpus}, training and test. Search sets of your own.",
        )
    *arms, test = (
        _unpack(f"{name(corpus, part)}: {split}", split, packed, samples)
        for split, packed in content["splits"].items()
    )
    return SplitPair(
        aspect="systematicity",
        corpus=corpus,
        protocol="strict",
        arms=tuple(arms),
        test=test,
        part=part,
    )


def _read(corpus: str, part: str | None) -> Mapping[str, Any]:
    if (corpus, part) not in SETS:
        raise SplitError(
            f"there are no shipped sets {name(corpus, part)!r}",
            remedy=f"There are {', '.join(name(*key) for key in SETS)}.",
        )
    content: Mapping[str, Any] = read_packaged(FOLDER / f"{name(corpus, part)}.json")
    return content


def _digest_of_ids(samples: Iterable[Sample]) -> str:
    return hashlib.sha256("\n".join(sample.id for sample in samples).encode()).hexdigest()


def _unpack(where: str, title: str, packed: Mapping[str, Any], samples: Sequence[Sample]) -> Split:
    bits = int.from_bytes(base64.b64decode(packed["members"]), "little")
    split = Split(title, tuple(sample for i, sample in enumerate(samples) if bits >> i & 1))
    if digest(split.samples) != packed["sha256"]:
        raise SplitError(
            "is damaged: its samples are not those of its SHA-256",
            where=where,
            remedy="Install spor-tasks again.",
        )
    return split
