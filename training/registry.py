"""The names of objectives, each with its class, which is imported when it is asked for."""

from spor_tasks.core.registry import Entry, Registry, installed

_OWN = {
    "likelihood": "likelihood:Likelihood",
    "coarse_to_fine": "coarse_to_fine:CoarseToFine",
    "adversarial": "adversarial:Adversarial",
    "reward": "reward:Rewarded",
    "dcg": "codes:DcgObjective",
    "contrastive_prefix": "codes:PrefixObjective",
    "meta": "meta:Meta",
}

_ENTRIES = [Entry("objective", name, f"training.objectives.{_OWN[name]}") for name in _OWN]

OBJECTIVES = Registry([*_ENTRIES, *installed("objective")])
"""Those of this package, and those of installed ones."""
