"""Adv-Acc: is a true statement likelier than a false one that differs little (LogicNLG)?

The published score compares means over tokens. The lengths of the two sides differ, so how
likelihoods are normalized matters: the mean over bytes stands beside it. Ties lose, and some pairs
of the test set are identical, so that 100 cannot be reached; ``adv_acc_distinct`` leaves those
pairs out and counts a tie as half.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.sample import Contrast, Sample, contrast_of
from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.likelihood import Likelihood, LikelihoodMetric
from spor_tasks.metrics.totals import RATIO, Value

_Pair: TypeAlias = tuple[Likelihood, Likelihood]


class Compared(NamedTuple):
    """The likelihoods of the true and of the false side.

    Sides are ``identical`` if a model cannot tell them apart: same text after the same columns.
    """

    true: Likelihood
    false: Likelihood
    identical: bool


class _Adversarial(LikelihoodMetric):
    scores = (
        ScoreInfo("adv_acc", "Adv-Acc"),
        ScoreInfo("adv_acc_distinct", "Adv-Acc, distinct pairs", corrects="adv_acc", totals=RATIO),
        ScoreInfo("adv_acc_byte", "Adv-Acc by byte"),
        ScoreInfo("adv_identical", "identical pairs", higher_is_better=None),
    )
    challenge = Contrast

    @property
    def signature(self) -> str:
        return f"adversarial|mean:tokens|end:counted|ties:lose|v:{__version__}"

    def measure(self, samples: Sequence[Sample], outputs: Sequence[_Pair]) -> list[Compared]:
        """Compare the two sides of each sample."""
        return [
            Compared(true, false, _are_identical(sample))
            for sample, (true, false) in zip(samples, outputs, strict=True)
        ]

    def values(self, evidence: Compared) -> Mapping[str, Value]:
        """Return 100 where the true side wins, and 0 otherwise."""
        return dict(_values(evidence))

    def describe(self, _: Sample, __: object, evidence: Compared) -> dict[str, Any]:
        """Return both likelihoods and the values."""
        sides = {"true": evidence.true._asdict(), "false": evidence.false._asdict()}
        return sides | dict(self.values(evidence))


def _values(found: Compared) -> Iterator[tuple[str, Value]]:
    yield "adv_acc_byte", 100.0 * (found.true.per_byte > found.false.per_byte)
    yield "adv_identical", 100.0 * found.identical
    true, false = found.true.per_token, found.false.per_token
    if true is None or false is None:
        return
    wins, ties = true > false, true == false
    yield "adv_acc", 100.0 * wins
    if not found.identical:
        yield "adv_acc_distinct", (50.0 if ties else 100.0 * wins, 1)


def _are_identical(sample: Sample) -> bool:
    other = contrast_of(sample)
    same_template = (sample.about("template") or "") == other.template
    return sample.target == other.text and sample.units == other.units and same_template


ADVERSARIAL = _Adversarial()
