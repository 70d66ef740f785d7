"""The whole way on the embedded corpus, in minutes: what `make demo` runs.

A tiny base is trained from scratch; then `configs/experiments/mini.yaml` runs as any experiment
does. What an earlier run finished is kept and not done again.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spor_tasks.errors import ResultError
from spor_tasks.splits import registry
from spor_tasks.store import read_manifest
from training import base, experiment, run
from training.base import BaseSettings
from training.threads import cpu_threads

EXPERIMENT = Path(__file__).parent.parent / "configs" / "experiments" / "mini.yaml"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """How much is done; ``overrides`` go before mini.yaml's, ``limit`` is that of lm-eval."""

    base: BaseSettings = field(default_factory=BaseSettings)
    seeds: tuple[int, ...] = (0, 1)
    overrides: tuple[str, ...] = ()
    limit: int | None = None


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
    made = _base(asked.folder / "base", settings.base, progress=progress)
    asked = replace(
        asked,
        seeds=settings.seeds,
        overrides=(f"optimization.threads={made['threads']}", *settings.overrides),
        evaluation=replace(asked.evaluation, limit=settings.limit),
    )
    with cpu_threads(made["threads"]):
        # Whatever adapters lie here are the demo's own, so those of another base may go.
        done = run.run(asked, overwrite=True, progress=progress)
    _log.info("%.0f seconds", time.perf_counter() - started)
    return done


def _base(folder: Path, settings: BaseSettings, *, progress: bool) -> Mapping[str, Any]:
    """Return the manifest of the base, which may be there already."""
    tested = registry.load("systematicity", "mini").test.samples
    try:
        manifest = read_manifest(folder)
    except ResultError:
        manifest = {}
    if not manifest.items() >= base.facts(tested, settings).items():
        _log.info("base: %d steps from scratch", settings.steps)
        base.build(folder, tested, settings, progress=progress)
        manifest = read_manifest(folder)
    return manifest
