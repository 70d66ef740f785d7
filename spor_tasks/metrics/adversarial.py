"""Adv-Acc: is a true statement likelier than a false one that differs little (LogicNLG)?

The published score compares means over tokens. The lengths of the two sides differ, so how
likelihoods are normalized matters: the mean over bytes stands beside it. Ties lose, and some pairs
of the test set are identical, so that 100 cannot be reached; ``adv_acc_distinct`` leaves those
pairs out and counts a tie as half.
"""

from spor_tasks import __version__
from spor_tasks.core.sample import Contrast, Sample, challenge_of
from spor_tasks.metrics.base import Judgement, ScoreInfo
from spor_tasks.metrics.likelihood import Likelihood, LikelihoodMetric
from spor_tasks.metrics.totals import RATIO, Value


class _AdversarialAccuracy(LikelihoodMetric):
    scores = (
        ScoreInfo("adv_acc", "Adv-Acc", is_share=True),
        ScoreInfo("adv_acc_distinct", "Adv-Acc, distinct pairs", corrects="adv_acc", totals=RATIO),
        ScoreInfo("adv_acc_byte", "Adv-Acc by byte", is_share=True),
        ScoreInfo("adv_identical", "identical pairs", higher_is_better=None, is_share=True),
    )
    challenge = Contrast

    signature = f"adversarial|mean:tokens|end:counted|ties:lose|v:{__version__}"

    def judge_one(self, sample: Sample, true: Likelihood, false: Likelihood) -> Judgement:
        """Return 100 where the true side wins, else 0, and both likelihoods."""
        contrast = challenge_of(sample, Contrast)
        # A model gives the same text after the same columns equal likelihoods.
        identical = (
            sample.target == contrast.text
            and sample.units == contrast.units
            and (sample.about("template") or "") == contrast.template
        )
        values: dict[str, Value] = {
            "adv_acc_byte": 100.0 * (true.per_byte > false.per_byte),
            "adv_identical": 100.0 * identical,
        }
        by_token, false_by_token = true.per_token, false.per_token
        if by_token is not None and false_by_token is not None:
            wins, ties = by_token > false_by_token, by_token == false_by_token
            values["adv_acc"] = 100.0 * wins
            if not identical:
                values["adv_acc_distinct"] = (50.0 if ties else 100.0 * wins, 1)
        return Judgement(values, {"true": true._asdict(), "false": false._asdict(), **values})


ADVERSARIAL = _AdversarialAccuracy()
