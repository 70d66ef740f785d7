"""The whole way on the embedded corpus, in minutes: what `make demo` runs.

A tiny base is trained from scratch; then `configs/experiments/mini.yaml` runs as any experiment
does, by two processes of one thread each, so that its digits are the same on a busy machine. What
an earlier run finished is kept and not done again.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spor_tasks.aspects import named
from spor_tasks.core.errors import ResultError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Sample
from training import tiny_base
from training.experiments import experiment, run
from training.tiny_base import BaseSettings

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
    asked = experiment.load_experiment(EXPERIMENT)
    (entry,) = asked.sets
    pair = named.load(entry.aspect, *entry.corpora)
    for split in pair.splits:
        _log.info("%s: %d samples", split.name, len(split.samples))
    _make_base(asked.folder / "base", pair.test.samples, settings.base, progress=progress)
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


def _make_base(
    folder: Path, tested: Sequence[Sample], settings: BaseSettings, *, progress: bool
) -> None:
    """Train the base, unless it is there already."""
    try:
        manifest = read_manifest(folder)
    except ResultError:
        manifest = {}
    if not manifest.items() >= tiny_base.facts(tested, settings).items():
        _log.info("base: %d steps from scratch", settings.steps)
        tiny_base.build(folder, tested, settings, progress=progress)
