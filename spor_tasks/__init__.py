"""SPOR (Xu & Wang, ACL 2024) for the language model evaluation harness.

Compositional generalization in data-to-text generation: systematicity, productivity, order
invariance and rule learnability, on WebNLG and E2E, and on other corpora and tables.

The functions of :mod:`spor_tasks.api` are here too, and are imported when they are first named.
lm-eval knows the tasks and models as soon as this package is imported.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from spor_tasks.core import hosts

if TYPE_CHECKING:
    from spor_tasks.api import (
        Results,
        Scored,
        TaskDescription,
        baseline,
        compare,
        describe_task,
        evaluate,
        list_tasks,
        load,
        score,
    )

__all__ = [
    "Results",
    "Scored",
    "TaskDescription",
    "__version__",
    "baseline",
    "compare",
    "describe_task",
    "evaluate",
    "list_tasks",
    "load",
    "score",
]

__version__ = version("spor-tasks")

hosts.join()


def __getattr__(name: str) -> object:
    if name in __all__:
        from spor_tasks import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
