"""Training, evaluation and report on an embedded corpus, in minutes: what `make demo` runs.

It runs an experiment such as `configs/experiments/mini.yaml` in two processes of one thread each,
so that the digits of the result do not depend on how busy the machine is. The base of `mini` is
shipped, and those of other corpora are trained first. It does not repeat what an earlier run
finished.
"""

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import read_manifest
from training import tiny_base
from training.experiments import run
from training.experiments.experiment import load_experiment
from training.tiny_base import SETTINGS, BaseSettings

_EXPERIMENTS = Path(__file__).parent.parent / "configs" / "experiments"
_log = logging.getLogger(__name__)


def demonstrate(
    corpus: str = "mini",
    overrides: Sequence[str] = (),
    *,
    base: BaseSettings | None = None,
    workers: int = 2,
    progress: bool = True,
) -> bool:
    """Do what is not done yet, print the comparison, and say whether every cell is done.

    ``overrides`` are those of the experiment. ``base`` has the settings of the base that is trained
    first, by default the corpus's own; that of ``mini`` is shipped.

    Raises:
        SporError: the folder of the base holds something else, or the results cannot be compared.
    """
    started = time.perf_counter()
    file = _EXPERIMENTS / f"{corpus.replace('_', '-')}.yaml"
    folder = tiny_base.SHIPPED
    if base or corpus != "mini":
        folder = load_experiment(file).folder / "base"
        _build(folder, corpus, base or SETTINGS[corpus], progress=progress)
    loaded = load_experiment(file, (f"model.path={os.path.relpath(folder)}", *overrides))
    # All adapters here are the demo's own, so those of another base may be replaced.
    done = run.run(loaded, workers=workers, overwrite=True, progress=progress)
    _log.info("%.0f seconds", time.perf_counter() - started)
    return done


def _build(folder: Path, corpus: str, settings: BaseSettings, *, progress: bool) -> None:
    """Train the base if the folder does not have it."""
    try:
        manifest = read_manifest(folder)
    except ResultError:
        manifest = {}
    if not manifest.items() >= tiny_base.facts(corpus, settings).items():
        _log.info("base: %d steps from scratch", settings.steps)
        tiny_base.build(folder, corpus, settings, progress=progress)
