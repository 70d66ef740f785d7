"""The requirements of an aspect, counted over whole sets, whoever made the sets."""

from spor_tasks.aspects.check.composition import (
    Productivity,
    Systematicity,
    productivity,
    systematicity,
)
from spor_tasks.aspects.check.copy_rule import RuleLearnability, rule_learnability
from spor_tasks.aspects.check.order import OrderInvariance, order_invariance
from spor_tasks.aspects.check.report import Report, Violation
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.productivity import threshold_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SplitPair

__all__ = [
    "OrderInvariance",
    "Productivity",
    "Report",
    "RuleLearnability",
    "Systematicity",
    "Violation",
    "check",
    "order_invariance",
    "productivity",
    "rule_learnability",
    "systematicity",
]


def check(pair: SplitPair, *, limit: float = LIMIT) -> Report:
    """Count what the sets of ``pair`` are required to be, whatever their aspect.

    Raises:
        SplitError: there is no such aspect or part, or an arm holds nothing that could be counted.
    """
    match pair.aspect:
        case "systematicity":
            return systematicity(pair, limit=limit)
        case "productivity":
            return productivity(pair, threshold_of(pair.part), limit=limit)
        case "order_invariance":
            return order_invariance(pair)
        case "rule_learnability":
            return rule_learnability(pair)
    raise SplitError(f"{pair.aspect!r} is no aspect")
