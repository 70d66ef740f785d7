"""Baselines without a model: what copying, retrieval and human texts score by every metric.

Why: docs/decisions/floors.md.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.linearize import cells_of_columns
from spor_tasks.prompts.similar import Overlaps
from spor_tasks.text.normalize import display

_KNOWN_UNITS = 16384


def copy_input(sample: Sample) -> str:
    """Return the words of the units, in the order shown, and nothing else.

    A table's title comes first, and linked columns give their cells.
    """
    name = sample.about("title" if sample.table else "name")
    named = [] if name is None else [display(name)]
    facts = list(cells_of_columns(sample)) if isinstance(sample.table, Table) else sample.units
    return " ".join([*named, *(f"{' '.join(map(display, fact))}." for fact in facts)])


class TextsByUnits:
    """Samples with references, such as a training set, found by what their units share."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = [sample for sample in samples if sample.references]
        self._by_units = Overlaps([{*sample.units} for sample in self._samples])
        self._by_words = Overlaps([_words(sample.units) for sample in self._samples])
        self._unit_texts: dict[DataUnit, str] = {}

    def nearest_text(self, sample: Sample) -> str:
        """Return the first text of the sample whose units are most like those of another.

        Likeness is the share of what both have in what either has (Jaccard), by whole units, then
        by words; of equals the lowest id is taken.

        Raises:
            ValueError: there are no samples.
        """
        units = self._by_units.likeness({*sample.units})
        best = np.flatnonzero(units == units.max())
        if len(best) > 1:
            words = self._by_words.likeness(_words(sample.units))[best]
            best = best[words == words.max()]
        return min((self._samples[number] for number in best), key=lambda each: each.id).references[
            0
        ]

    def units_joined(self, sample: Sample) -> str:
        """Return the joined texts of the most similar single-unit samples, one for each unit.

        If there are none of a single unit, those of the fewest units take their place.
        """
        for unit in sample.units:
            if unit not in self._unit_texts:
                alone = Sample("", sample.corpus, (unit,), ())
                self._unit_texts[unit] = self._shortest.nearest_text(alone)
        return " ".join(self._unit_texts[unit] for unit in sample.units)

    @cached_property
    def _shortest(self) -> "TextsByUnits":
        fewest = min(len({*sample.units}) for sample in self._samples)
        return TextsByUnits(each for each in self._samples if len({*each.units}) == fewest)


def _words(units: Iterable[DataUnit]) -> frozenset[str]:
    return frozenset().union(*map(_words_of, units))


@lru_cache(maxsize=_KNOWN_UNITS)
def _words_of(unit: DataUnit) -> frozenset[str]:
    return frozenset(" ".join(map(display, unit)).lower().split())


class Baseline(NamedTuple):
    """A system, and what it uses besides the sample.

    ``write`` takes the sample, with its units in the order shown, and what else the baseline uses:
    the demonstrations before it, a training set, or a human text that is not among the references.
    """

    looks_at: Literal["input", "demonstrations", "training", "reference"]
    write: Callable[..., str]


BASELINES: Mapping[str, Baseline] = {
    "copy-input": Baseline("input", copy_input),
    "copy-demonstrations": Baseline(
        "demonstrations", lambda _, examples: " ".join(each.references[0] for each in examples)
    ),
    "nearest-demonstration": Baseline(
        "demonstrations", lambda sample, examples: TextsByUnits(examples).nearest_text(sample)
    ),
    "units-joined": Baseline("training", lambda sample, training: training.units_joined(sample)),
    "nearest-training-text": Baseline(
        "training", lambda sample, training: training.nearest_text(sample)
    ),
    "reference": Baseline("reference", lambda _, text: text),
}
"""All baselines by name."""


def find(name: str) -> Baseline:
    """Return the baseline with this name.

    Raises:
        ConfigError: the baseline is unknown.
    """
    if name not in BASELINES:
        raise ConfigError(f"there is no baseline {name!r}", remedy=advice(name, BASELINES))
    return BASELINES[name]
