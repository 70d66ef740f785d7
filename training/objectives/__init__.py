"""The objectives of training: a class here, or of an installed package, for each."""

from spor_tasks.core.registry import Entry, Registry, installed

OBJECTIVES = Registry(
    [
        *(
            Entry("objective", name, f"training.objectives.{target}")
            for name, target in (
                ("likelihood", "likelihood:Likelihood"),
                ("coarse_to_fine", "coarse_to_fine:CoarseToFine"),
                ("adversarial", "adversarial:Adversarial"),
                ("reward", "reward:Rewarded"),
                ("dcg", "codes:DcgObjective"),
                ("contrastive_prefix", "codes:PrefixObjective"),
                ("meta", "meta:Meta"),
            )
        ),
        *installed("objective"),
    ]
)
