"""The sets of ToTTo and their scores, each declared once.

The paper's four inputs are four parts of the same samples, each with a training set of its own. The
development set is what is scored; the references of the test set are not public.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import overload

from spor_tasks.benchmarks import declared
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import Variant, in_variant

BENCHMARK = "totto"
TITLE = "ToTTo"
MINI = "totto_mini"

HALVES = ("overlap", "nonoverlap")
"""Whether the training set has a table with the same header."""

_PARTS: dict[str | None, tuple[Variant, str | None]] = {
    None: ("subtable_metadata", None),
    "subtable": ("subtable", "subtable without titles"),
    "fulltable": ("fulltable", "full table without titles"),
    "fulltable_metadata": ("fulltable_metadata", "full table"),
}
_TEST = SetName(BENCHMARK, BENCHMARK, "test")


@cache
def specs() -> tuple[SetSpec, ...]:
    """Return the shipped sets, the paper's main input first."""
    scored = (
        SetName(BENCHMARK, corpus, "published", part)
        for corpus in (BENCHMARK, MINI)
        for part in _PARTS
    )
    return (*map(_spec, scored), _spec(_TEST))


def find(name: SetName) -> SetSpec:
    """Return what is said of these sets.

    Raises:
        SplitError: there are no such sets.
    """
    return declared.find(specs(), name)


def _spec(name: SetName) -> SetSpec:
    is_scored = name.protocol == "published"
    # Demonstrations with whole tables would not fit into most models.
    whole = (name.part or "").startswith("fulltable")
    beams = ("beam4",) if name.corpus == BENCHMARK else ()
    return SetSpec(
        benchmark=BENCHMARK,
        name=name,
        task="_".join(filter(None, [name.corpus, name.part, None if is_scored else "test"])),
        title=f"{TITLE if name.corpus == BENCHMARK else name.corpus}, {name.protocol} sets",
        part_title=_PARTS[name.part][1],
        arms=("train",),
        shots=4,
        **declared.judging(BENCHMARK, "texts" if is_scored else "submitted"),
        decodings=beams if is_scored else (),
        in_context=is_scored and not whole,
        trained_on=SetName(BENCHMARK, name.corpus, "published", name.part),
        is_default=is_scored,
        tags=(f"{name.corpus}_all",) if is_scored else (),
        is_fixed=name.corpus == BENCHMARK,
        is_pinned=name.corpus != BENCHMARK,
    )


def load(name: SetName) -> SplitPair:
    """Return shipped sets, from ``TOTTO.data_dir()`` where they are made of files.

    Equal calls return the same object, which nobody can change.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or malformed.
    """
    return _load(find(name).name, TOTTO.data_dir())


@cache
def _load(name: SetName, folder: Path) -> SplitPair:
    variant, _ = _PARTS[name.part]
    if name.corpus == MINI:
        train = _varied(TOTTO_MINI.part("train"), variant)
        test = _varied(TOTTO_MINI.part("test"), variant)
    else:
        train = _Varied(reader.part("train", folder), variant)
        test = _varied(reader.part("test" if name == _TEST else "dev", folder), variant)
    return SplitPair(
        name.aspect,
        name.corpus,
        name.protocol,
        (Split("train", train),),
        Split("test", test),
        name.part,
    )


def _varied(samples: Iterable[Sample], variant: Variant) -> Sequence[Sample]:
    return tuple(in_variant(sample, variant) for sample in samples)


class _Varied(Sequence[Sample]):
    """Samples with another input, made when they are looked at: the tables may not fit in memory.

    ``sha256`` is their digest, None where the file is missing.
    """

    def __init__(self, samples: Sequence[Sample], variant: Variant) -> None:
        self._samples, self._variant = samples, variant

    @property
    def sha256(self) -> str | None:
        sha256: str | None = getattr(self._samples, "sha256", None)
        return sha256 and hashlib.sha256(f"{self._variant} {sha256}".encode()).hexdigest()

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return (in_variant(sample, self._variant) for sample in self._samples)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> "_Varied": ...
    def __getitem__(self, index: int | slice) -> "Sample | _Varied":
        if isinstance(index, slice):
            return _Varied(self._samples[index], self._variant)
        return in_variant(self._samples[index], self._variant)
