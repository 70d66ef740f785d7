"""The whole way on the embedded corpus, in minutes: what `make demo` runs.

A tiny base is trained from scratch; then `configs/experiments/mini.yaml` runs as any experiment
does, by two processes of one thread each, so that its digits are the same on a busy machine. What
an earlier run finished is kept and not done again.
"""

import logging
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import read_manifest
from training import base
from training.base import BaseSettings
from training.experiments import experiment, run

EXPERIMENT = Path(__file__).parent.parent / "configs" / "experiments" / "mini.yaml"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """How much is done; ``overrides`` go before mini.yaml's, ``limit`` is that of lm-eval.

    ``workers`` are the processes that share the trainings.
    """

    base: BaseSettings = field(default_factory=BaseSettings)
    seeds: tuple[int, ...] = (0, 1)
    overrides: tuple[str, ...] = ()
    limit: int | None = None
    workers: int = 2


def demonstrate(settings: DemoSettings | None = None, *, progress: bool = True) -> bool:
    """Do what is not done yet, print the comparison, and say whether all went well.

    Raises:
        SporError: something else lies where the base belongs, or results do not stand together.
    """
    started = time.perf_counter()
    settings = settings or DemoSettings()
    asked = experiment.load(EXPERIMENT)
    pair = registry.load("systematicity", "mini")
    for split in pair.splits:
        _log.info("%s: %d samples", split.name, len(split.samples))
    _make_base(asked.folder / "base", settings.base, progress=progress)
    asked = replace(
        asked,
        seeds=settings.seeds,
        overrides=settings.overrides,
        evaluation=replace(asked.evaluation, limit=settings.limit),
    )
    # Whatever adapters lie here are the demo's own, so those of another base may go.
    done = run.run(asked, workers=settings.workers, overwrite=True, progress=progress)
    _log.info("%.0f seconds", time.perf_counter() - started)
    return done


def _make_base(folder: Path, settings: BaseSettings, *, progress: bool) -> None:
    """Train the base, unless it is there already."""
    tested = registry.load("systematicity", "mini").test.samples
    try:
        manifest = read_manifest(folder)
    except ResultError:
        manifest = {}
    if not manifest.items() >= base.facts(tested, settings).items():
        _log.info("base: %d steps from scratch", settings.steps)
        base.build(folder, tested, settings, progress=progress)
