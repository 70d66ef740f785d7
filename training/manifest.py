"""What a run saves: the weights, their manifest and card; and the facts that identify a run."""

import statistics
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from safetensors import SafetensorError

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import write_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.evaluation.coded import CodedModel
from training import card
from training.bases import KINDS, Base, git_commit, versions
from training.batches import Model
from training.config import (
    TrainingConfig,
    learned_settings,
    settings_sha256,
    shared_settings,
)
from training.data import corpus_sha256
from training.encoding import Rows, Step, padding
from training.memory import peak_memory
from training.selection import TrainingSet, unseen
from training.settings import dump_settings, to_dict
from training.state import Run

RESOLVED_CONFIG = "training.yaml"


def run_facts(
    config: TrainingConfig, data: TrainingSet, base: Base, team: PartialState
) -> dict[str, Any]:
    """Return the facts that a run must share with the one that it continues."""
    return {
        "settings": learned_settings(config),
        "arm_sha256": digest(data.arm.samples),
        "judged_sha256": digest(data.judged),
        "base_sha256": base.sha256,
        "versions": versions(config.model),
        "processes": team.num_processes,
        "device": team.device.type,
    }


def save_weights(model: Model, base: Base, config: TrainingConfig, folder: Path) -> None:
    """Write the adapter or the whole model, its tokenizer and the settings.

    Raises:
        ConfigError: the files cannot be written, for example because the disk is full.
    """
    try:
        _write(model, base, config, folder)
    except (OSError, SafetensorError) as error:
        raise ConfigError(
            f"cannot be written: {error}",
            where=config.output,
            remedy="Check that the disk has room, then run the same command: it continues from its "
            "last saved step.",
        ) from error


def _write(model: Model, base: Base, config: TrainingConfig, folder: Path) -> None:
    if isinstance(model, CodedModel):
        model.save(folder, config.model.path, base.revision)
    elif config.method == "full":
        model.save_pretrained(folder)
    else:
        adapter = model.peft_config["default"]
        # peft keeps a set, and would write it in the order of hashes
        adapter.target_modules = sorted(adapter.target_modules)
        model.save_pretrained(folder, save_embedding_layers=False)
    base.tokenizer.save_pretrained(folder)
    (folder / RESOLVED_CONFIG).write_text(dump_settings(config), encoding="utf-8")


def describe(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the card and the manifest of a saved folder, which is then finished."""
    (folder / card.CARD).write_text(card.render_card(manifest), encoding="utf-8")
    write_manifest(folder, manifest)


def manifest_of(
    config: TrainingConfig,
    data: TrainingSet,
    base: Base,
    rows: Rows,
    steps: Sequence[Step],
    *,
    run: Run,
    team: PartialState,
    folder: Path,
    resumed_from: int,
    started: float,
) -> dict[str, Any]:
    """Return all facts that are needed to trust and to repeat a run.

    ``folder`` holds the saved adapter, ``resumed_from`` is the step after which the run continued,
    and ``started`` is the :func:`time.perf_counter` at which it began.
    """
    own_corpus = corpus_sha256(config.data)
    settings = shared_settings(config)
    return {
        "kind": KINDS[config.method],
        "aspect": data.pair.aspect,
        "corpus": data.pair.corpus,
        **({} if own_corpus is None else {"corpus_sha256": own_corpus}),
        "protocol": data.pair.protocol,
        "part": data.pair.part,
        "arm": data.arm.name,
        "arm_sha256": digest(data.arm.samples),
        "test_sha256": digest(data.pair.test.samples),
        "violations": data.violations,
        "prompt_style": base.style,
        **({"added_tokens": list(tokens)} if (tokens := config.added_tokens) else {}),
        "seed": config.optimization.seed,
        "settings": settings,
        "settings_sha256": settings_sha256(settings),
        "pairs": len(rows.rows),
        "pairs_too_long": rows.too_long,
        **({} if config.optimization.cut == "none" else {"pairs_cut": rows.cut}),
        "pairs_split_apart": rows.split_apart,
        "padding": round(padding(rows.rows, steps, config.optimization), 4),
        "steps": len(run.losses),
        **({"counts": run.counts} if run.counts else {}),
        "resumed_from": resumed_from,
        "losses": _epoch_means(run.losses, steps),
        "selection": {
            "policy": config.selection.policy,
            "metric": config.selection.metric,
            "samples": len(data.judged),
            "samples_sha256": digest(data.judged),
            "with_unseen_units": unseen(data.judged, data.trained),
            "held_out": len(data.arm.samples) - len(data.trained.samples),
            "scores": run.scores,
            "epoch": 1
            + steps[-1].epoch
            - (len(run.scores) - 1 - run.best_epoch if run.scores else 0),
            "seconds": round(run.judging_seconds, 1),
        },
        "base_model": {"path": config.model.path, "revision": base.revision, "sha256": base.sha256},
        "adapter_sha256": digest_weights(folder),
        "config": to_dict(config),
        "versions": versions(config.model),
        "git_commit": git_commit(),
        "device": torch.cuda.get_device_name(team.device) if team.device.type == "cuda" else "cpu",
        "processes": team.num_processes,
        "peak_memory_bytes": peak_memory(team.device),
        "fitting_seconds": round(run.seconds, 1),
        "wall_seconds": round(time.perf_counter() - started, 1),
    }


def _epoch_means(losses: Sequence[float], steps: Sequence[Step]) -> list[float]:
    by_epoch = groupby(zip(losses, steps, strict=True), key=lambda entry: entry[1].epoch)
    return [statistics.fmean(loss for loss, _ in entries) for _, entries in by_epoch]
