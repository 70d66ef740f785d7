"""Has a text all attributes that it was asked for, in whatever order these are given?

Words decide, as in :mod:`spor_tasks.metrics.mini_attributes`.
"""

from typing import ClassVar, NamedTuple

from spor_tasks import __version__
from spor_tasks.core.sample import Orders, Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric
from spor_tasks.metrics.mini_attributes import MINI_ATTRIBUTES, Read


class InOrders(NamedTuple):
    """What the texts of the first and of the second order say."""

    first: Read
    second: Read


class _MiniOrders(SimpleMetric[InOrders]):
    """Share of samples with all attributes right under both orders (PBH), and under one (POH)."""

    scores: ClassVar = (
        ScoreInfo("mini_all_pbh", "All attributes PBH"),
        ScoreInfo("mini_all_poh", "All attributes POH", higher_is_better=False),
        ScoreInfo("mini_all_mean", "All attributes, mean of both orders"),
    )
    outputs = 2
    challenge = Orders

    @property
    def signature(self) -> str:
        return f"mini_orders|language:1|v:{__version__}"

    def judge(self, sample: Sample, first: str, second: str) -> InOrders:
        """Return what both texts say.

        Raises:
            CorpusError: the sample is of another corpus.
        """
        return InOrders(*(MINI_ATTRIBUTES.judge(sample, text) for text in (first, second)))

    def values(self, evidence: InOrders) -> dict[str, float]:
        """Return what one sample adds to each score: 100 where it counts, else 0."""
        first, second = (dict(read.wanted).items() <= dict(read.found).items() for read in evidence)
        return {
            "mini_all_pbh": 100.0 * (first and second),
            "mini_all_poh": 100.0 * (first != second),
            "mini_all_mean": 50.0 * (first + second),
        }


MINI_ORDERS = _MiniOrders()
