"""Judges: models of transformers that predict for the inputs of :mod:`spor_tasks.metrics.learned`.

One batch loop (:class:`.judges.ModelJudge`) runs them all. A table (:data:`.encoders.ENCODERS`)
says how each kind reads its inputs, and what it predicts. Weights are loaded in float32, and no
code of a checkpoint is run.
"""

from importlib import import_module

from spor_tasks.core.errors import ConfigError

try:
    for _package in ("torch", "transformers"):
        import_module(_package)
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error
