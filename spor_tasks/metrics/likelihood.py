"""Log likelihoods of given texts, and the units to compare them by."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.totals import Numbers, Totals, Value, as_rows, no_verdict


class Likelihood(NamedTuple):
    """The log likelihood of a text after a prompt, in nats, with its end.

    ``tokens`` counts the model's tokens of the text and its end, None if its tokenizer is not
    known; ``size`` is the length of the text in bytes of UTF-8.
    """

    log: float
    tokens: int | None
    size: int

    @property
    def per_token(self) -> float | None:
        """The mean over tokens; None if their number is not known."""
        return self.log / self.tokens if self.tokens else None

    @property
    def per_byte(self) -> float:
        """The mean over the bytes of the text."""
        return self.log / max(1, self.size)


class LikelihoodMetric(Metric):
    """The base of metrics that judge log likelihoods instead of texts."""

    __slots__ = ()

    outputs: ClassVar[int | None] = None
    answers: ClassVar[str] = "likelihoods"
    needs_texts: ClassVar[bool] = True


class _GroupPerplexity(Totals):
    """The exponential of the mean over groups of their mean loss by token.

    A value is the number of its group, a loss in nats and its tokens. Each output adds its share of
    its group's mean loss, and its share of one group, so that whole groups can be drawn again.
    """

    def statistics(self, values: Sequence[Value]) -> Numbers:
        groups, losses, tokens = as_rows(values, 3).T
        present = ~np.isnan(losses)
        statistics = np.full((len(values), 2), np.nan)
        _, codes = np.unique(groups[present], return_inverse=True)
        sizes = np.bincount(codes, tokens[present])[codes]
        statistics[present, 0] = losses[present] / sizes
        statistics[present, 1] = tokens[present] / sizes
        return statistics

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:
        return np.exp(totals[..., 0] / totals[..., 1])

    def sizes(self, statistics: Numbers) -> Numbers:
        return statistics[:, 1]


GROUP_PERPLEXITY = _GroupPerplexity()
