"""Reads CompMCTG's files: labelled texts, and which combinations are left out of training.

A dataset is a folder with ``gen.jsonl``, whose texts train a generator, ``cls.jsonl``, whose texts
train classifiers, and ``unseen.jsonl``, the published splits. A sample has the values of its
aspects as units, and its text as reference.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from spor_tasks.core.errors import CorpusError, MissingError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, SampleMaker
from spor_tasks.corpora.compmctg.spaces import Combination, Space
from spor_tasks.corpora.sources import COMPMCTG

TEXT = "review"
"""The field of a row with its text."""

FOLDERS = {"fyelp": "Fyelp", "amazon": "Amazon", "yelp": "Yelp", "mixture": "Mixture"}

MODES = {"Original": "original", "Hold-Out": "holdout", "ACD": "acd", "Few-Shot": "fewshot"}
"""Our names of the published protocols."""


def file_of(corpus: str, part: str, folder: Path | None = None) -> Path:
    """Return where a file of a published dataset is or would be, such as ``gen`` or ``unseen``.

    ``folder`` has the folders of the datasets; by default it is ``COMPMCTG.data_dir()``.
    """
    return COMPMCTG.find(f"{FOLDERS[corpus]}/{part}.jsonl", folder)


def read(path: Path, space: Space) -> Iterator[Sample]:
    """Yield the samples of a file of labelled texts, gzipped or not.

    Raises:
        CorpusError: the file cannot be read, or a row has no text, or a value that is not in the
            space; the error names file and line.
    """
    _require(path, space)
    make = SampleMaker(space.name)
    context = {} if space.name in FOLDERS else {"prefix": ""}  # which says how prompts are written
    for where, row in read_rows(path):
        text = row.get(TEXT)
        if not isinstance(text, str) or not text.strip():
            raise CorpusError(f"has no text in `{TEXT}`", where=where)
        yield make(units_of(space, space.combination(row, where)), [text], **context)


def units_of(space: Space, combination: Combination) -> tuple[DataUnit, ...]:
    """Return a combination as units."""
    return tuple(map(AttributeValue, space.aspects, combination))


def combination_in(sample: Sample) -> Combination:
    """Return the combination of a sample."""
    return tuple(unit[-1] for unit in sample.units)


class Unseen(NamedTuple):
    """The combinations that a published split leaves out, by values of some aspects or all."""

    protocol: str
    number: str
    combinations: tuple[Mapping[str, str], ...]

    def has(self, values: Mapping[str, str]) -> bool:
        """Return whether a row with these values is left out."""
        return any(each.items() <= values.items() for each in self.combinations)


def read_unseen(path: Path, space: Space) -> tuple[Unseen, ...]:
    """Return the published splits of a dataset, in the order of its ``unseen.jsonl``.

    Raises:
        CorpusError: the file cannot be read, or a row is malformed; the error names file and line.
    """
    _require(path, space)
    splits = []
    for where, row in read_rows(path):
        mode, listed = row.get("mode"), row.get("unseen_combs")
        if mode not in MODES:
            raise CorpusError(
                f"`mode` must be one of {', '.join(MODES)}, not {mode!r}", where=where
            )
        if not isinstance(listed, list):
            raise CorpusError("`unseen_combs` must be a list", where=where)
        for values in listed:
            if not isinstance(values, dict) or not values:
                raise CorpusError("`unseen_combs` must hold objects with values", where=where)
            for aspect, value in values.items():
                if value not in space.aspects.get(aspect, ()):
                    raise CorpusError(
                        f"there is no {aspect} {value!r} in {space.name}", where=where
                    )
        splits.append(Unseen(MODES[mode], str(row.get("idx", "")), tuple(listed)))
    return tuple(splits)


def _require(path: Path, space: Space) -> None:
    if not path.exists():
        own = f"Put it beside the YAML file of {space.name}."
        remedy = COMPMCTG.remedy if space.name in FOLDERS else own
        raise MissingError("is missing", where=path, remedy=remedy)
