"""What training minimizes: a module here, or of an installed package, for each objective."""

from spor_tasks.core.registry import Entry, Registry, installed

OBJECTIVES = Registry(
    [
        Entry("objective", "likelihood", "training.objectives.likelihood:LIKELIHOOD"),
        *installed("objective"),
    ]
)
