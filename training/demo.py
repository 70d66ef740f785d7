"""Training, evaluation and report on an embedded corpus, in minutes: what `make demo` runs.

It runs an experiment such as `configs/experiments/mini.yaml` in two processes of one thread each,
so that the digits of the result do not depend on how busy the machine is. It does not repeat what
an earlier run finished.
"""

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from training import shipped
from training.experiments import run
from training.experiments.plan import load_experiment

BASES = Path(__file__).parent / "pretrained"
"""The folder of the tiny bases, each with the name of its corpus."""

_log = logging.getLogger(__name__)


def demonstrate(corpus: str = "mini", overrides: Sequence[str] = ()) -> bool:
    """Do what is not done yet, print the comparison, and say whether every cell is done.

    ``overrides`` are those of the experiment.

    Raises:
        SporError: the results cannot be compared.
    """
    started = time.perf_counter()
    # Nothing here is compiled, but bitsandbytes, where it is installed, would load the compiler.
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    base = f"model.path={os.path.relpath(BASES / corpus)}"
    file = Path(shipped.find(f"configs/experiments/{corpus.replace('_', '-')}.yaml"))
    # All adapters here are the demo's own, so those of another base may be replaced.
    done = run.run(load_experiment(file, (base, *overrides)), workers=2, overwrite=True)
    _log.info("%.0f seconds", time.perf_counter() - started)
    return done
