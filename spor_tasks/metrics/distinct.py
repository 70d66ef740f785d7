"""Dist-n: how many of the n-grams of all texts are different (Li et al., NAACL 2016).

CompMCTG reports Dist-3 and publishes neither its code nor its unit. Here the unit is a word between
white space, and n-grams are pooled: those of all texts together that are different, over all. A
larger pool repeats itself more, so only pools of equal size compare.
"""

import math
import zlib
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric
from spor_tasks.metrics.compmctg import HALVES, half_of, text_of
from spor_tasks.metrics.halves import with_half, with_halves
from spor_tasks.metrics.totals import RATIO, Numbers, Totals, Value

ORDERS = (1, 2, 3)


class _Pooled(Totals):
    """Different n-grams of all outputs over all n-grams.

    Each output adds the n-grams that no output before it has: how many that are depends on the
    order of the outputs, and their sum does not. A value from a log has no words, and counts as if
    no other output had its n-grams.
    """

    resampled = False
    is_logged = False

    def __init__(self, order: int) -> None:
        self._order = order

    def value_of(self, codes: Sequence[int]) -> "_Counts":
        """Return the value of an output with these words."""
        grams = self._grams(codes)
        found = _Counts((len(set(grams)), len(grams)))
        found.codes = codes
        return found

    def _grams(self, codes: Sequence[int]) -> list[tuple[int, ...]]:
        return [*zip(*(codes[start:] for start in range(self._order)), strict=False)]

    def statistics(self, values: Sequence[Value]) -> Numbers:
        statistics = np.full((len(values), 2), np.nan)
        known: set[tuple[int, ...]] = set()
        for number, value in enumerate(values):
            if isinstance(value, _Counts):
                grams = self._grams(value.codes)
                before = len(known)
                known.update(grams)
                statistics[number] = len(known) - before, len(grams)
            elif isinstance(value, tuple):
                statistics[number] = value
            elif value is not None:
                raise TypeError(f"{value!r} is not about the words of a text")
        return statistics

    def score(self, totals: Numbers) -> Numbers:
        return RATIO.score(totals)

    def stderr(self, _: Sequence[Value]) -> float:
        """Return NaN: n-grams of different outputs are not independent."""
        return math.nan


class _Counts(tuple[int, int]):  # noqa: SLOT001 - it has an attribute
    """How many different n-grams an output has, and how many at all.

    It also carries the codes of the output's words, which no log needs.
    """

    codes: Sequence[int]


_TOTALS = {order: _Pooled(order) for order in ORDERS}


class Words(NamedTuple):
    """The words of a text, each as a number, and the half of its sample."""

    codes: tuple[int, ...]
    half: str | None


class Distinct(SimpleMetric[Words]):
    """Dist-1, Dist-2 and Dist-3, from 0 to 1, of all texts and of each half.

    Neither more nor less is better: random words have 1. A word is kept as its CRC-32, of which two
    are equal for one in four billion pairs of words.
    """

    __slots__ = ()

    scores: ClassVar = with_halves(
        [
            ScoreInfo(
                f"dist_{order}", f"Dist-{order}", high=1, higher_is_better=None, totals=totals
            )
            for order, totals in _TOTALS.items()
        ],
        HALVES.values(),
    )
    signature = f"distinct|unit:words,whitespace|pooled:distinct/all|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> Words:
        """Return the words of an output, with the beginning that it was given."""
        words = text_of(sample, output).split()
        codes = (zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words)
        return Words(tuple(codes), half_of(sample))

    def values(self, evidence: Words) -> dict[str, Value]:
        """Return the words, for each score."""
        values: dict[str, Value] = {
            f"dist_{order}": totals.value_of(evidence.codes) for order, totals in _TOTALS.items()
        }
        return with_half(values, evidence.half)

    def describe(self, _: Sample, __: object, evidence: Words) -> dict[str, Any]:
        """Return for each score the different n-grams of this text, and all."""
        return {f"dist_{n}": [*of.value_of(evidence.codes)] for n, of in _TOTALS.items()}


DISTINCT = Distinct()
