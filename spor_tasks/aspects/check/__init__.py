"""Check sets against the requirements of their aspect, whoever made the sets."""

from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.check.composition import (
    Productivity,
    Systematicity,
    productivity,
    systematicity,
)
from spor_tasks.aspects.check.copy_rule import RuleLearnability, rule_learnability
from spor_tasks.aspects.check.order import OrderInvariance, order_invariance
from spor_tasks.aspects.check.result import CheckResult, Violation
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.productivity import threshold_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SplitPair

__all__ = [
    "CheckResult",
    "OrderInvariance",
    "Productivity",
    "RuleLearnability",
    "Systematicity",
    "Violation",
    "check",
    "order_invariance",
    "productivity",
    "rule_learnability",
    "systematicity",
]


def check(pair: SplitPair, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair`` against the requirements of their aspect.

    ``limit`` is the largest divergence allowed between the arms.

    Raises:
        SplitError: there is no such aspect or part, or an arm has nothing to count.
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
    raise SplitError(f"there is no aspect {pair.aspect!r}", remedy=f"Use one of {', '.join(ARMS)}.")
