"""Is a text likeliest under its own combination of attributes?

A sample's text is given after the prompt of every combination, its own first. The text and its end
are the same each time, so their log likelihoods are compared as they are, with no mean over tokens.
Nothing is generated, and no classifier judges.

By Bayes' rule, with all combinations equally likely before, the likelihoods are probabilities of
the combinations. Those of combinations with a value add up to the probability of the value.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from spor_tasks import __version__
from spor_tasks.core.sample import DataUnit, Rivals, Sample, challenge_of
from spor_tasks.metrics.base import Judgement, ScoreInfo
from spor_tasks.metrics.groups import difference_of_halves, marks_of
from spor_tasks.metrics.likelihood import Likelihood, LikelihoodMetric
from spor_tasks.metrics.totals import MEAN, Less, Value


class _Discrimination(LikelihoodMetric):
    scores = (
        ScoreInfo("disc_acc", "Accuracy"),
        ScoreInfo("disc_acc_within", "Accuracy within the half", of_some=True),
        ScoreInfo("disc_aspects", "Accuracy by aspect"),
        ScoreInfo(
            "disc_gap", "Gap in points", -100, 100, None, totals=Less(MEAN, MEAN), of_some=True
        ),
    )
    challenge = Rivals

    signature = f"discrimination|sum|end:counted|prior:uniform|ties:shared|v:{__version__}"

    def judge_one(self, sample: Sample, *likelihoods: Likelihood) -> Judgement:
        """Return 100 or 0 to each accuracy, and the likeliest combination.

        A text that is one of several likeliest has its share of 100. It has no verdict if a
        likelihood is not a number.
        """
        logs = [each.log for each in likelihoods]
        combinations = (sample.units, *challenge_of(sample, Rivals).units)
        likeliest = combinations[logs.index(max(logs))]
        values = _values(sample, logs)
        return Judgement(values, {**values, "likeliest": {unit[0]: unit[-1] for unit in likeliest}})


def _values(sample: Sample, logs: Sequence[float]) -> dict[str, Value]:
    if any(map(math.isnan, logs)):
        return dict.fromkeys(("disc_acc", "disc_aspects"))
    own, *rival_logs = logs
    rivals = challenge_of(sample, Rivals)
    by_aspect = list(_by_aspect((sample.units, *rivals.units), _posterior(logs)))
    values: dict[str, Value] = {"disc_aspects": math.fsum(by_aspect) / len(by_aspect)}
    values["disc_acc"] = accuracy = _won(own, rival_logs)
    if same_half := [log for log, alike in zip(rival_logs, rivals.alike, strict=True) if alike]:
        values["disc_acc_within"] = _won(own, same_half)
    if marks_of(sample):
        values["disc_gap"] = difference_of_halves(accuracy, sample)
    return values


def _won(own: float, rivals: Sequence[float]) -> float:
    """Return 100 if all rivals are lower, its share if some are as high, 0 if one is higher."""
    return 0.0 if max(rivals) > own else 100 / (1 + list(rivals).count(own))


def _posterior(logs: Sequence[float]) -> list[float]:
    """Return probabilities; equal ones if nothing is possible."""
    best = max(logs)
    weights = [1.0 if log == best else math.exp(log - best) for log in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _by_aspect(
    combinations: Sequence[Sequence[DataUnit]], posterior: Sequence[float]
) -> Iterator[float]:
    """Yield for each aspect whether the text's own value is the likeliest, as accuracy."""
    for number, own in enumerate(combinations[0]):
        shares = defaultdict[str, list[float]](list)
        for units, share in zip(combinations, posterior, strict=True):
            shares[units[number][-1]].append(share)
        sums = {value: math.fsum(of_value) for value, of_value in shares.items()}
        yield _won(sums.pop(own[-1]), list(sums.values()))


DISCRIMINATION = _Discrimination()
