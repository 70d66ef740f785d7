"""What training minimizes: an objective is a module here and an entry below."""

from typing import TYPE_CHECKING

from spor_tasks.core.registry import Entry, Registry

if TYPE_CHECKING:  # it needs torch, which takes seconds to import
    from training.objectives.base import Objective

OBJECTIVES = Registry(
    [Entry("objective", "likelihood", "training.objectives.likelihood:LIKELIHOOD")]
)


def find_objective(name: str) -> "Objective":
    """Return the objective of that name.

    Raises:
        ConfigError: there is none, or it lacks a part of the contract.
    """
    found: Objective = OBJECTIVES.get("objective", name)
    return found
