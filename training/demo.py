"""The whole way on the embedded corpus, in minutes: what `make demo` runs.

Atom, Combination and their test set are made of the corpus; a tiny base is trained from scratch and
tuned on either arm; lm-eval evaluates the base and every adapter; the report compares. What an
earlier run finished is kept and not done again.
"""

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.loggers import EvaluationTracker
from transformers.utils import logging as transformers_logging

from spor_tasks import __version__, report, results, tasks
from spor_tasks.errors import ResultError
from spor_tasks.report import render
from spor_tasks.samples import SplitPair
from spor_tasks.splits import registry
from spor_tasks.store import digest, digest_weights, read_manifest
from training import base
from training.base import BaseSettings
from training.checkpoints import versions
from training.config import TrainingConfig, load, to_dict
from training.data import find_arm
from training.lora import train
from training.threads import cpu_threads

CONFIG = Path(__file__).parent.parent / "configs" / "models" / "mini.yaml"
_TASK = "spor_systematicity_mini"
_BATCH_SIZE = 32
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """How much is done; ``overrides`` go before mini.yaml, ``limit`` is that of lm-eval."""

    base: BaseSettings = field(default_factory=BaseSettings)
    seeds: tuple[int, ...] = (0, 1)
    overrides: tuple[str, ...] = ()
    limit: int | None = None


def run(
    folder: Path = Path("runs/demo"),
    settings: DemoSettings | None = None,
    *,
    progress: bool = True,
) -> None:
    """Do what is not done yet, print the comparison and save it to the folder.

    Raises:
        SporError: something else lies where base or adapters belong, or a result cannot be written.
    """
    started = time.perf_counter()
    settings = settings or DemoSettings()
    pair = registry.load("systematicity", "mini")
    for split in pair.splits:
        _log.info("%s: %d samples", split.name, len(split.samples))
    base_folder, results_folder = folder / "base", folder / "results"
    with _quiet():
        made = _base(base_folder, pair, settings.base, progress=progress)
        with cpu_threads(made["threads"]):
            files = [_result(results_folder, pair, settings.limit, base_folder)]
            for seed in settings.seeds:
                for arm in pair.arms:
                    config = _config(folder, arm.name, seed, made["threads"], settings.overrides)
                    _adapter(config, pair, made["sha256"], progress=progress)
                    files.append(
                        _result(results_folder, pair, settings.limit, base_folder, config.output)
                    )
    print(f"\n{render.terminal(report.write(files, folder))}\n\n{folder / 'report.md'}")
    _log.info("%.0f seconds", time.perf_counter() - started)


def _base(
    folder: Path, pair: SplitPair, settings: BaseSettings, *, progress: bool
) -> dict[str, Any]:
    """Return the manifest of the base, which may be there already."""
    wanted = base.facts(pair.test.samples, settings)
    if (manifest := _kept(folder, wanted)) is None:
        _log.info("base: %d steps from scratch", settings.steps)
        base.build(folder, pair.test.samples, settings, progress=progress)
        manifest = read_manifest(folder)
    return manifest


def _config(
    folder: Path, arm: str, seed: int, threads: int, overrides: tuple[str, ...]
) -> TrainingConfig:
    """Return the settings of mini.yaml for this arm, this seed and the demo's own base."""
    config = load(CONFIG, overrides)
    return replace(
        config,
        model=replace(config.model, path=str(folder / "base")),
        data=replace(config.data, arm=arm),
        optimization=replace(config.optimization, seed=seed, threads=threads),
        output=folder / "adapters" / f"{arm}-{seed}",
        overwrite=True,
    )


def _adapter(config: TrainingConfig, pair: SplitPair, base_sha256: str, *, progress: bool) -> None:
    """Train the adapter, unless it is there already."""
    wanted = {
        "config": to_dict(config),
        "versions": versions(),
        "arm_sha256": digest(find_arm(pair, config.data.arm).samples),
        "base_model": {"path": config.model.path, "revision": None, "sha256": base_sha256},
    }
    if _kept(config.output, wanted) is None:
        _log.info("%s, seed %d", config.data.arm, config.optimization.seed)
        train(config, pair, progress=progress)


def _kept(folder: Path, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the manifest of a folder that was finished, if it says all that is wanted."""
    try:
        manifest = read_manifest(folder)
    except ResultError:
        return None
    return manifest if manifest.items() >= wanted.items() else None


def _result(
    folder: Path,
    pair: SplitPair,
    limit: int | None,
    base_folder: Path,
    adapter: Path | None = None,
) -> Path:
    """Return lm-eval's result file of a checkpoint, which is evaluated unless it was before.

    Raises:
        ResultError: lm-eval could not write it.
    """
    weights = adapter or base_folder
    # A folder for each state of the weights, so that none gets the result of another.
    place = folder / f"{weights.name}-{digest_weights(weights)[:12]}"
    wanted = {
        "spor_tasks": __version__,
        "version": str(tasks.expand([_TASK])[0].content["metadata"]["version"]),
        "test_sha256": digest(pair.test.samples),
        "n": str(limit or len(pair.test.samples)),
    }
    if (file := _find_result(place, wanted)) is None:
        arguments = {"pretrained": str(base_folder)} | ({"peft": str(adapter)} if adapter else {})
        _evaluate(arguments, place, limit)
        file = _find_result(place, wanted)
    if file is None:
        raise ResultError("lm-eval left no result", where=place, remedy="Is the disk full?")
    return file


def _find_result(place: Path, wanted: Mapping[str, str]) -> Path | None:
    """Return the latest result in a folder whose signature says all that is wanted."""
    for file in sorted(place.rglob("results_*.json"), reverse=True):
        with suppress(ResultError):  # cut short
            if any(result.signature.items() >= wanted.items() for result in results.read(file)):
                return file
    return None


def _evaluate(arguments: dict[str, Any], place: Path, limit: int | None) -> None:
    """Do what `lm_eval --model hf --log_samples --output_path` does, without its start-up time."""
    tracker = EvaluationTracker(output_path=str(place))
    found = lm_eval.simple_evaluate(
        model="hf",
        model_args=arguments,
        tasks=[_TASK],
        task_manager=tasks.manager(arguments),
        evaluation_tracker=tracker,
        batch_size=_BATCH_SIZE,
        device="cpu",
        limit=limit,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    tracker.save_results_samples(task_name=_TASK, samples=samples[_TASK])


@contextmanager
def _quiet() -> Iterator[None]:
    """Let nobody but us and the progress bars tell of what goes well."""
    logger = logging.getLogger("lm_eval")
    level = logger.level
    logger.setLevel(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peft and transformers deprecate each other
            yield
    finally:
        logger.setLevel(level)
        transformers_logging.enable_progress_bar()
