"""What each aspect is: its training arms, and how demonstrations of them are to differ."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from spor_tasks.core.sample import Sample, Split, SplitPair

ARMS: Mapping[str, tuple[str, ...]] = {
    "systematicity": ("atom", "combination"),
    "productivity": ("invisible", "visible"),
    "order_invariance": ("original", "match"),
    "rule_learnability": ("original",),
}
"""The training arms, in the order in which the sets have them."""

Rule: TypeAlias = Literal[
    "units together", "length", "order", "none", "similar tables", "combinations"
]
"""What the demonstrations of two arms differ in (:mod:`spor_tasks.prompts.demonstrations`).

Those of a benchmark without aspects are about ``similar tables``, or of ``combinations``.
"""

DEMONSTRATIONS: Mapping[str, Rule] = {
    "systematicity": "units together",
    "productivity": "length",
    "order_invariance": "order",
    "rule_learnability": "none",
}


def strict_sets(
    aspect: str, *arms: Sequence[Sample], test: Sequence[Sample], part: str | None = None
) -> SplitPair:
    """Return strict sets of an aspect, given its arms in the order of :data:`ARMS`."""
    named = (Split(name, tuple(arm)) for name, arm in zip(ARMS[aspect], arms, strict=True))
    return SplitPair(
        aspect, arms[0][0].corpus, "strict", tuple(named), Split("test", tuple(test)), part
    )
