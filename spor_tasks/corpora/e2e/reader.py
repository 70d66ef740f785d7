"""E2E (cleaned): its CSV, and the corpus as the paper filters it (section 2.1)."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora import jsonl
from spor_tasks.corpora.slots import references_by_mr, slots_of
from spor_tasks.corpora.sources import SPOR
from spor_tasks.text import align
from spor_tasks.text.normalize import words_of_identifier

TRAIN_FILTERED = "dataset_e2e/train/train_e2e_order-invariance_original/dataset.jsonl"
"""The original set of order invariance: the whole training set after the filter of the paper."""

MOST_UNITS = 7

_FILES = {
    "train": "e2e-clean/train-fixed.no-ol.csv",
    "devel": "e2e-clean/devel-fixed.no-ol.csv",
    "test": "e2e-clean/test-fixed.csv",
}


def read_train(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the training samples from :data:`TRAIN_FILTERED` or, if it is missing, from the CSV.

    The released file has what the filter keeps of the CSV, which takes two seconds to align.
    ``folder`` holds the published repository's tree; by default it is ``SPOR.data_dir()``.

    Raises:
        CorpusError: both files are missing, or one is not the published one.
    """
    folder = folder or SPOR.data_dir()
    if (folder / _FILES["train"]).is_file() and not (folder / TRAIN_FILTERED).is_file():
        return read_parts("train", folder=folder)
    return jsonl.parse_samples(
        SPOR.read_published(TRAIN_FILTERED, folder), "e2e", where=TRAIN_FILTERED
    )


def read_test(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the test samples, devel before test.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    return read_parts("devel", "test", folder=folder)


def read_parts(
    *parts: Literal["train", "devel", "test"], folder: Path | None = None
) -> tuple[Sample, ...]:
    """Return the samples that the CSV files of these parts keep, in this order.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    make = SampleMaker("e2e")
    contents = (SPOR.read_published(_FILES[part], folder) for part in parts)
    return tuple(sample for content in contents for sample in read_csv(content, make))


def read_csv(content: bytes, make: SampleMaker) -> Iterator[Sample]:
    """Yield the samples of one CSV file, each meaning representation (MR) with its references.

    MRs without a name, without a unit or with more than seven units are left out. A reference must
    have every unit located in it, and an MR must keep a reference [code]. ``make`` gives ids to the
    samples of all files of a corpus.
    """
    for _, mr, references in references_by_mr(io.BytesIO(content), "e2e"):
        pairs = [AttributeValue(words_of_identifier(slot), value) for slot, value in slots_of(mr)]
        name = next((value for attribute, value in pairs if attribute == "name"), None)
        units = [pair for pair in pairs if pair.attribute != "name"]
        if name is None or not 0 < len(units) <= MOST_UNITS:
            continue
        texts = (text.replace("family-friendly", "family friendly") for text in references)
        located = [text for text in texts if None not in align.locate(units, text, strict=True)]
        if located:
            yield make(units, located, name=name)
