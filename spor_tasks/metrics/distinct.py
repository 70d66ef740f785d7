"""Dist-3: how many of the 3-grams of all texts are different (Li et al., NAACL 2016).

CompMCTG reports Dist-3 and publishes neither its code nor its unit. Here the unit is a word between
white space, and n-grams are pooled: those of all texts together that are different, over all. A
larger pool repeats itself more, so only pools of equal size compare.
"""

import math
import zlib
from collections.abc import Sequence

import numpy as np

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.compmctg import text_of
from spor_tasks.metrics.totals import Numbers, Ratio, Value

_ORDER = 3


class _Pooled(Ratio):
    """Different n-grams of all outputs over all n-grams.

    Each output adds the n-grams that no output before it has: how many that are depends on the
    order of the outputs, and their sum does not. A value from a log has no words, and counts as if
    no other output had its n-grams.
    """

    resampled = False
    is_logged = False

    def statistics(self, values: Sequence[Value]) -> Numbers:
        statistics = np.full((len(values), 2), np.nan)
        earlier: set[tuple[int, ...]] = set()
        for number, value in enumerate(values):
            if isinstance(value, _GramCounts):
                grams = _grams(value.codes)
                before = len(earlier)
                earlier.update(grams)
                statistics[number] = len(earlier) - before, len(grams)
            elif isinstance(value, tuple):
                statistics[number] = value
            elif value is not None:
                raise TypeError(f"{value!r} is not about the words of a text")
        return statistics

    def stderr(self, _: Sequence[Value]) -> float:
        """Return NaN: n-grams of different outputs are not independent."""
        return math.nan


class _GramCounts(tuple[int, int]):  # noqa: SLOT001 - it has an attribute
    """How many different n-grams an output has, and how many at all.

    It also carries the codes of the output's words, which no log needs.
    """

    codes: Sequence[int]


def _grams(codes: Sequence[int]) -> list[tuple[int, ...]]:
    return [*zip(*(codes[start:] for start in range(_ORDER)), strict=False)]


class Distinct(Metric):
    """Dist-3, from 0 to 1.

    Neither more nor less is better: random words have 1. A word is kept as its CRC-32, of which two
    are equal for one in four billion pairs of words.
    """

    scores = (ScoreInfo("dist_3", "Dist-3", high=1, higher_is_better=None, totals=_Pooled()),)
    signature = f"distinct|unit:words,whitespace|pooled:distinct/all|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return how many 3-grams of an output are different, and all; and its words as numbers.

        The beginning that the output was given counts too.
        """
        words = text_of(sample, output).split()
        codes = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words]
        grams = _grams(codes)
        counts = _GramCounts((len(set(grams)), len(grams)))
        counts.codes = codes
        return Judgement({"dist_3": counts}, {"dist_3": list(counts)})


DISTINCT = Distinct()
