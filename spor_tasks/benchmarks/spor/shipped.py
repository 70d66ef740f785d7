"""The strict sets that a search found, shipped as lists of samples so that all have the same ones.

A list names samples by their place in the pool, which is the whole corpus, as the bits of one
number. The files also say by which settings and seed version 0.2 searched them. ``algorithm_1`` of
E2E is the best that the paper's own construction finds.
"""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import INSTALL_AGAIN, read_packaged
from spor_tasks.core.sample import Sample, SetName, Split, SplitPair

FOLDER = Path(__file__).parent / "strict_ids"
"""The folder of the lists, one JSON file for each corpus and part."""


def load(corpus: str, samples: Sequence[Sample], part: str | None = None) -> SplitPair:
    """Return shipped sets of systematicity, made of all samples of the corpus in their order.

    Raises:
        CorpusError: the file of the list is missing or damaged.
        SplitError: the listed samples are not those that the search found.
    """
    name = "_".join(filter(None, ["systematicity", corpus, part]))
    content = read_packaged(FOLDER / f"{name}.json")
    *arms, test = (
        _unpack(f"{name}: {split}", split, packed, samples)
        for split, packed in content["splits"].items()
    )
    return SplitPair(SetName("systematicity", corpus, "strict", part), tuple(arms), test)


def _unpack(where: str, title: str, packed: Mapping[str, Any], samples: Sequence[Sample]) -> Split:
    bits = int.from_bytes(base64.b64decode(packed["members"]), "little")
    split = Split(title, tuple(sample for i, sample in enumerate(samples) if bits >> i & 1))
    if digest(split.samples) != packed["sha256"]:
        raise SplitError(
            "is damaged, or was made of other samples than these",
            where=where,
            remedy=INSTALL_AGAIN,
        )
    return split
