"""The strict sets that a search found, shipped as lists of samples so that all have the same ones.

A list names samples by their place in the pool, which is the whole corpus, as the bits of one
number. The files also say by which settings and seed version 0.2 searched them. ``algorithm_1`` of
E2E is the best that the paper's own construction finds.
"""

import base64
from collections.abc import Sequence
from pathlib import Path

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import INSTALL_AGAIN, read_packaged
from spor_tasks.core.sample import Sample, SetFacts, Sets
from spor_tasks.core.words import joined

FOLDER = Path(__file__).parent / "strict_ids"
"""The folder of the lists, one JSON file for each corpus and part."""


def load(facts: SetFacts, samples: Sequence[Sample]) -> Sets:
    """Return shipped sets of systematicity, made of all samples of the corpus in their order.

    Raises:
        CorpusError: the file of the list is missing or damaged.
        SplitError: the listed samples are not those that the search found.
    """
    name = joined("_", facts.aspect, facts.corpus, facts.part)
    content = read_packaged(FOLDER / f"{name}.json")
    sets = {}
    for title, packed in content["splits"].items():
        bits = int.from_bytes(base64.b64decode(packed["members"]), "little")
        members = tuple(sample for i, sample in enumerate(samples) if bits >> i & 1)
        if digest(members) != packed["sha256"]:
            raise SplitError(
                "is damaged, or was made of other samples than these",
                where=f"{name}: {title}",
                remedy=INSTALL_AGAIN,
            )
        sets[title] = members
    test = sets.pop("test")
    return Sets(facts, sets, test)
