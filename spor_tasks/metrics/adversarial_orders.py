"""Is a true statement likelier than a false one, in whatever order its columns are shown?

Each pair is asked with its columns in two orders. A model that chooses a side by a fair coin is
right under both in 25 % of pairs, under one of them in 50 %. One that does not look at the columns
decides alike under both: its share of one is 0.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Contrast, Sample, contrast_of
from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.likelihood import Likelihood, LikelihoodMetric
from spor_tasks.metrics.totals import Value

Sides: TypeAlias = tuple[Likelihood, Likelihood]
"""The likelihoods of the true and of the false side under one order."""

_BY: Mapping[str, Callable[[Likelihood], float | None]] = {
    "": lambda of: of.per_token,
    "_byte": lambda of: of.per_byte,
}


class Decided(NamedTuple):
    """What was said of the two sides under the first and under the second order."""

    first: Sides
    second: Sides


class _AdversarialOrders(LikelihoodMetric):
    scores = tuple(
        ScoreInfo(
            f"adv_{name}{by}",
            f"Adv {label}{by.replace('_', ' by ')}",
            higher_is_better=name != "poh",
        )
        for by in _BY
        for name, label in (("pbh", "PBH"), ("poh", "POH"), ("mean", "Acc, mean of both orders"))
    )
    challenge = Contrast

    @property
    def signature(self) -> str:
        return f"adversarial_orders|mean:tokens|end:counted|ties:lose|v:{__version__}"

    def measure(
        self, samples: Sequence[Sample], outputs: Sequence[Sequence[Likelihood]]
    ) -> list[Decided]:
        """Pair the sides of each order.

        Raises:
            CorpusError: a sample has no false text, or not two orders.
        """
        for sample in samples:
            if len(contrast_of(sample).orders) != len(Decided._fields):
                raise CorpusError("is not asked in two orders", where=f"sample {sample.id}")
        return [
            Decided((true, false), (true_again, false_again))
            for true, false, true_again, false_again in outputs
        ]

    def values(self, evidence: Decided) -> dict[str, Value]:
        """Return 100 where both decisions, or one, or none of them counts, else 0."""
        values: dict[str, Value] = {}
        for by, measured in _BY.items():
            sides = [(measured(true), measured(false)) for true, false in evidence]
            if any(None in each for each in sides):
                continue
            first, second = (true > false for true, false in sides)  # type: ignore[operator]
            values[f"adv_pbh{by}"] = 100.0 * (first and second)
            values[f"adv_poh{by}"] = 100.0 * (first != second)
            values[f"adv_mean{by}"] = 50.0 * (first + second)
        return values

    def describe(self, _: Sample, __: object, evidence: Decided) -> dict[str, Any]:
        """Return the likelihoods of both sides under each order, and the values."""
        orders = [{"true": true._asdict(), "false": false._asdict()} for true, false in evidence]
        return {"orders": orders, **self.values(evidence)}


ADVERSARIAL_ORDERS = _AdversarialOrders()
