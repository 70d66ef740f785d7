"""What training minimizes: a module here, or of an installed package, for each objective."""

from spor_tasks.core.registry import Entry, Registry, installed

OBJECTIVES = Registry(
    [
        Entry("objective", "likelihood", "training.objectives.likelihood:LIKELIHOOD"),
        Entry("objective", "coarse_to_fine", "training.objectives.coarse_to_fine:COARSE_TO_FINE"),
        Entry("objective", "adversarial", "training.objectives.adversarial:ADVERSARIAL"),
        Entry("objective", "reward", "training.objectives.reward:REWARD"),
        Entry("objective", "dcg", "training.objectives.codes:DCG"),
        Entry("objective", "contrastive_prefix", "training.objectives.codes:CONTRASTIVE_PREFIX"),
        Entry("objective", "meta", "training.objectives.meta:META"),
        *installed("objective"),
    ]
)
