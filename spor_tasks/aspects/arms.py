"""What each aspect is: its training arms, and how demonstrations of them are to differ."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

ARMS: Mapping[str, tuple[str, ...]] = {
    "systematicity": ("atom", "combination"),
    "productivity": ("invisible", "visible"),
    "order_invariance": ("original", "match"),
    "rule_learnability": ("original",),
}
"""The training arms, in the order in which the sets have them."""

Rule: TypeAlias = Literal["units together", "length", "order", "none"]
"""What the demonstrations of two arms differ in (:mod:`spor_tasks.prompts.demonstrations`)."""

DEMONSTRATIONS: Mapping[str, Rule] = {
    "systematicity": "units together",
    "productivity": "length",
    "order_invariance": "order",
    "rule_learnability": "none",
}
