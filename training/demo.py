"""Training, evaluation and report on the embedded corpus, in minutes: what `make demo` runs.

It trains a tiny base from scratch and then runs `configs/experiments/mini.yaml` in two processes of
one thread each, so that the digits of the result do not depend on how busy the machine is. It does
not repeat what an earlier run finished.
"""

import logging
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from spor_tasks.aspects import named
from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import read_manifest
from training import tiny_base
from training.experiments import experiment, run
from training.tiny_base import BaseSettings

EXPERIMENT = Path(__file__).parent.parent / "configs" / "experiments" / "mini.yaml"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The size of the demo; ``overrides`` override mini.yaml's, ``limit`` is lm-eval's.

    ``workers`` is the number of processes that share the trainings.
    """

    base: BaseSettings = field(default_factory=BaseSettings)
    seeds: tuple[int, ...] = (0, 1)
    overrides: tuple[str, ...] = ()
    limit: int | None = None
    workers: int = 2


def demonstrate(settings: DemoSettings | None = None, *, progress: bool = True) -> bool:
    """Do what is not done yet, print the comparison, and say whether every cell is done.

    Raises:
        SporError: the folder of the base holds something else, or the results cannot be compared.
    """
    started = time.perf_counter()
    settings = settings or DemoSettings()
    asked = experiment.load_experiment(EXPERIMENT)
    (entry,) = asked.sets
    pair = named.load(entry.aspect, *entry.corpora)
    for split in pair.splits:
        _log.info("%s: %d samples", split.name, len(split.samples))
    base, tested = asked.folder / "base", pair.test.samples
    try:
        manifest = read_manifest(base)
    except ResultError:
        manifest = {}
    if not manifest.items() >= tiny_base.facts(tested, settings.base).items():
        _log.info("base: %d steps from scratch", settings.base.steps)
        tiny_base.build(base, tested, settings.base, progress=progress)
    asked = replace(
        asked,
        seeds=settings.seeds,
        overrides=settings.overrides,
        evaluation=replace(asked.evaluation, limit=settings.limit),
    )
    # All adapters here are the demo's own, so those of another base may be replaced.
    done = run.run(asked, workers=settings.workers, overwrite=True, progress=progress)
    _log.info("%.0f seconds", time.perf_counter() - started)
    return done
