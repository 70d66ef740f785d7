"""Training, evaluation and report on an embedded corpus, in minutes: what `make demo` runs.

It runs an experiment such as `configs/experiments/mini.yaml` in two processes of one thread each,
so that the digits of the result do not depend on how busy the machine is. The base of `mini` is
shipped, and those of other corpora are trained first. It does not repeat what an earlier run
finished.
"""

import logging
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import read_manifest
from training import tiny_base
from training.experiments import experiment, run
from training.tiny_base import SETTINGS, BaseSettings

_EXPERIMENTS = Path(__file__).parent.parent / "configs" / "experiments"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The size of a demo; ``overrides`` override the experiment's, ``limit`` is lm-eval's.

    ``base`` has the settings of the base that is trained first, None for the shipped one, and
    ``workers`` is the number of processes that share the trainings.
    """

    corpus: str = "mini"
    experiment: Path = _EXPERIMENTS / "mini.yaml"
    base: BaseSettings | None = None
    seeds: tuple[int, ...] = (0, 1, 2)
    overrides: tuple[str, ...] = ()
    limit: int | None = None
    workers: int = 2


DEMOS = {"mini": DemoSettings(seeds=(0, 1))} | {
    corpus: DemoSettings(corpus, _EXPERIMENTS / f"{corpus.replace('_', '-')}.yaml", base)
    for corpus, base in SETTINGS.items()
    if corpus != "mini"
}
"""The demos by the names of their corpora."""


def demonstrate(settings: DemoSettings, *, progress: bool = True) -> bool:
    """Do what is not done yet, print the comparison, and say whether every cell is done.

    Raises:
        SporError: the folder of the base holds something else, or the results cannot be compared.
    """
    started = time.perf_counter()
    loaded = experiment.load_experiment(settings.experiment)
    base = tiny_base.SHIPPED
    if settings.base is not None:
        base = loaded.folder / "base"
        _build(base, settings.corpus, settings.base, progress=progress)
    loaded = replace(
        loaded,
        seeds=settings.seeds,
        overrides=(f"model.path={os.path.relpath(base)}", *settings.overrides),
        evaluation=replace(loaded.evaluation, limit=settings.limit),
    )
    # All adapters here are the demo's own, so those of another base may be replaced.
    done = run.run(loaded, workers=settings.workers, overwrite=True, progress=progress)
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
