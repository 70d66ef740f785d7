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
from training import tiny_base, tiny_logic, tiny_mctg, tiny_totto
from training.experiments import experiment, run
from training.tiny_base import BaseSettings, Lessons

_EXPERIMENTS = Path(__file__).parent.parent / "configs" / "experiments"
EXPERIMENT = _EXPERIMENTS / "mini.yaml"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """The size of the demo; ``overrides`` override the experiment's, ``limit`` is lm-eval's.

    ``lessons`` are those of the base, None being the corpus `mini`'s, and ``workers`` is the number
    of processes that share the trainings.
    """

    base: BaseSettings = field(default_factory=BaseSettings)
    seeds: tuple[int, ...] = (0, 1)
    overrides: tuple[str, ...] = ()
    limit: int | None = None
    workers: int = 2
    experiment: Path = EXPERIMENT
    lessons: Lessons | None = None


DEMOS = {
    "mini": DemoSettings(),
    "logicnlg_mini": DemoSettings(
        tiny_logic.SETTINGS,
        seeds=(0, 1, 2),
        experiment=_EXPERIMENTS / "logicnlg-mini.yaml",
        lessons=tiny_logic.LESSONS,
    ),
    "totto_mini": DemoSettings(
        tiny_totto.SETTINGS,
        seeds=(0, 1, 2),
        experiment=_EXPERIMENTS / "totto-mini.yaml",
        lessons=tiny_totto.LESSONS,
    ),
    "compmctg_mini": DemoSettings(
        tiny_mctg.SETTINGS,
        seeds=(0, 1, 2),
        experiment=_EXPERIMENTS / "compmctg-mini.yaml",
        lessons=tiny_mctg.LESSONS,
    ),
}
"""The demos by the names of their corpora."""


def demonstrate(settings: DemoSettings | None = None, *, progress: bool = True) -> bool:
    """Do what is not done yet, print the comparison, and say whether every cell is done.

    Raises:
        SporError: the folder of the base holds something else, or the results cannot be compared.
    """
    started = time.perf_counter()
    settings = settings or DemoSettings()
    asked = experiment.load_experiment(settings.experiment)
    entry = asked.sets[0]
    protocol, part = next(iter(entry.protocols), None), next(iter(entry.parts), None)
    pair = named.load(entry.aspect, entry.corpora[0], protocol, part)
    for split in pair.splits:
        _log.info("%s: %d samples", split.name, len(split.samples))
    base, tested = asked.folder / "base", pair.test.samples
    try:
        manifest = read_manifest(base)
    except ResultError:
        manifest = {}
    if not manifest.items() >= tiny_base.facts(tested, settings.base, settings.lessons).items():
        _log.info("base: %d steps from scratch", settings.base.steps)
        tiny_base.build(base, tested, settings.base, settings.lessons, progress=progress)
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
