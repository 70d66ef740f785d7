"""Baselines without a model: what copying, retrieval and human texts score by every metric.

If a baseline reaches a score, or has a gap between arms, the same score or gap of a model is not
evidence of its ability.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Generic, Literal, NamedTuple, TypeVar

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.linearize import cells_of_columns
from spor_tasks.prompts.content import copied_text
from spor_tasks.text.normalize import display

PREFIX = "baseline:"
"""The prefix of a baseline's name in place of a model's name."""

_KNOWN_UNITS = 16384

_Item = TypeVar("_Item")


def copy_input(sample: Sample) -> str:
    """Return the words of the units, in the order shown, and nothing else.

    A table's title comes first, and linked columns give their cells.
    """
    name = sample.about("title" if sample.table else "name")
    named = [] if name is None else [display(name)]
    facts = list(cells_of_columns(sample)) if isinstance(sample.table, Table) else sample.units
    return " ".join([*named, *(f"{' '.join(map(display, fact))}." for fact in facts)])


def nearest(sample: Sample, candidates: Iterable[Sample]) -> Sample:
    """Return the sample whose units are most like those of another, by whole units, then by words.

    Likeness is the share of what both have in what either has (Jaccard); of equals the lowest id is
    taken.

    Raises:
        ValueError: there are no others.
    """
    return min(candidates, key=lambda second: (*_unlikeness(sample.units, second.units), second.id))


def _unlikeness(first: Sequence[DataUnit], second: Sequence[DataUnit]) -> tuple[float, float]:
    return -_jaccard(set(first), set(second)), -_jaccard(_words(first), _words(second))


def _jaccard(first: set[DataUnit] | set[str], second: set[DataUnit] | set[str]) -> float:
    return len(first & second) / (len(first | second) or 1)


def _words(units: Iterable[DataUnit]) -> set[str]:
    return {word for unit in units for word in _words_of(unit)}


@lru_cache(maxsize=_KNOWN_UNITS)
def _words_of(unit: DataUnit) -> frozenset[str]:
    return frozenset(" ".join(map(display, unit)).lower().split())


class Training:
    """The texts of a training set, found by their units."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._all = [sample for sample in samples if sample.references]
        least = min((len(set(sample.units)) for sample in self._all), default=0)
        self._index = _Index(self._all)
        # Samples of a single unit; if there are none, those of the fewest units.
        self._single = _Index(s for s in self._all if len(set(s.units)) == least)
        self._texts: dict[DataUnit, str] = {}

    def nearest_text(self, sample: Sample) -> str:
        """Return the first text of the training sample with the most similar units."""
        return self._index.nearest(sample).references[0]

    def units_joined(self, sample: Sample) -> str:
        """Return the joined texts of the most similar single-unit samples, one for each unit."""
        for unit in sample.units:
            if unit not in self._texts:
                alone = Sample("", sample.corpus, (unit,), ())
                self._texts[unit] = self._single.nearest(alone).references[0]
        return " ".join(self._texts[unit] for unit in sample.units)


class _Index:
    """Samples by units and by words, to find the nearest without comparing with all of them."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = list(samples)
        self._by_units = _Overlaps([set(sample.units) for sample in self._samples])
        self._by_words = _Overlaps([_words(sample.units) for sample in self._samples])

    def nearest(self, sample: Sample) -> Sample:
        numbers = self._by_units.most_like(set(sample.units))
        if not numbers:
            numbers = self._by_words.most_like(_words(sample.units))
        return nearest(sample, (self._samples[n] for n in numbers or range(len(self._samples))))


class _Overlaps(Generic[_Item]):
    """Sets, found by what they share with another set."""

    def __init__(self, sets: Sequence[set[_Item]]) -> None:
        self._sizes = list(map(len, sets))
        self._having: dict[_Item, list[int]] = defaultdict(list)
        for number, items in enumerate(sets):
            for item in items:
                self._having[item].append(number)

    def most_like(self, items: set[_Item]) -> list[int]:
        """Return the indices of the sets with the highest Jaccard index; none if it is zero."""
        shared = Counter(chain.from_iterable(self._having.get(item, ()) for item in items))
        size = len(items)
        index = {
            number: common / (size + self._sizes[number] - common)
            for number, common in shared.items()
        }
        best = max(index.values(), default=None)
        return [number for number, value in index.items() if value == best]


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
        "demonstrations", lambda _, demonstrations: copied_text(demonstrations)
    ),
    "nearest-demonstration": Baseline(
        "demonstrations",
        lambda sample, demonstrations: nearest(sample, demonstrations).references[0],
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
        raise ConfigError(
            f"{name!r} is not a baseline", remedy=f"Use one of {', '.join(BASELINES)}."
        )
    return BASELINES[name]
