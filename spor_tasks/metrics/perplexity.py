"""Perplexity of the true statements, as LogicNLG reports it, and bits per byte.

The published number is the exponential of a mean over tables of the mean loss by token of their
statements, with the end of each [code]. It depends on the tokenizer: models with other tokens do
not compare. Bits per byte do.
"""

import hashlib
import math

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, ScoreInfo
from spor_tasks.metrics.likelihood import (
    GROUP_PERPLEXITY,
    Likelihood,
    LikelihoodMetric,
)
from spor_tasks.metrics.totals import RATIO

_DIGITS = 12  # of a table's number, in hexadecimal: few enough for a float


class _Perplexity(LikelihoodMetric):
    scores = (
        ScoreInfo(
            "ppl",
            "PPL",
            low=1,
            high=math.inf,
            higher_is_better=False,
            totals=GROUP_PERPLEXITY,
            own_title="Perplexity",
        ),
        ScoreInfo(
            "bpb",
            "bits/byte",
            high=math.inf,
            higher_is_better=False,
            corrects="ppl",
            totals=RATIO,
            own_title="Bits per byte",
        ),
    )

    signature = f"perplexity|mean:tables|end:counted|v:{__version__}"

    def judge_one(self, sample: Sample, likelihood: Likelihood) -> Judgement:
        """Return the loss of a text; without a known number of tokens it has no perplexity."""
        tokens, loss = likelihood.tokens, -likelihood.log
        # A number stands for the sample's table, or for the sample if it has none.
        name = sample.about("name") or sample.id
        number = int(hashlib.sha256(name.encode()).hexdigest()[:_DIGITS], 16)
        by_token = None if tokens is None else (number, loss, tokens)
        by_byte = (loss / math.log(2), likelihood.size)
        return Judgement({"ppl": by_token, "bpb": by_byte}, likelihood._asdict())


PERPLEXITY = _Perplexity()
