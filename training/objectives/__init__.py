"""What training minimizes: an objective is a module here and an entry below."""

from spor_tasks.core.registry import Entry, Registry

OBJECTIVES = Registry(
    [Entry("objective", "likelihood", "training.objectives.likelihood:LIKELIHOOD")]
)
