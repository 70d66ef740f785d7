"""The recipe, from top to bottom: train an adapter, or a whole model, on one arm of one split."""

import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from tqdm import tqdm

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.sample import Sets
from spor_tasks.models.checkpoints import running
from training import card, graphs, processes
from training.adapters import add_tokens, prepare, save_weights
from training.bases import KINDS, load_base
from training.batches import check_packing, load_batches
from training.config import TrainingConfig
from training.data import places_to_cut
from training.encoding import Rows, Step, count_targets
from training.memory import LESS_MEMORY, enough_memory
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood, find_objective
from training.selection import Judge, training_set
from training.state import Training, Unfinished, facts_of, seeded

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The result of a run.

    ``folder`` holds the trained weights. ``losses`` has, for each optimizer step, the mean over its
    target tokens, in nats. ``pairs`` counts the training set, ``pairs_seen`` every pass over a
    pair. ``seconds`` is the time of the steps alone, without loading, judging and saving.
    """

    folder: Path
    losses: tuple[float, ...]
    pairs: int
    pairs_seen: int
    seconds: float


def train(
    config: TrainingConfig, pair: Sets | None = None, *, progress: bool = True
) -> TrainingResult:
    """Train, and save the weights with their tokenizer, settings, card and manifest to the output.

    ``pair`` replaces the split that the settings name. Equal settings, data, versions and device
    give equal bytes, without CUDA graphs even if a run is interrupted: started again, it continues
    from the file that it left beside the output.

    Raises:
        SporError: the split, the base or the output folder cannot be used, the objective does not
            fit them, a loss is not a finite number, or memory runs out. Finished weights at the
            output are still there.
    """
    settings, team = config.optimization, processes.join()
    data = training_set(config, pair)
    output = atomic_folder(config.output, kind=KINDS[config.method], overwrite=config.overwrite)
    with output if team.is_main_process else nullcontext() as folder:
        base = load_base(config.model)
        if settings.cuda_graphs:
            graphs.check(base, team)
        kind = find_objective(config.objective)
        with running(base.model):
            new_tokens = add_tokens(base, kind.tokens)
        cut_before = places_to_cut(data.spec) if settings.cut == "right" else ()
        limit, number = config.data.limit, team.num_processes
        material = Material(data.trained, base, settings, limit, cut_before, number)
        unfinished = Unfinished(config, data, base, team)
        with (
            seeded(settings.seed, team.device),
            processes.cpu_threads(settings.threads),
            running(base.model),
        ):
            objective = kind(kind.settings(**config.objective_settings), material)
            rows, steps = objective.rows, objective.steps()
            _log_plan(rows, steps)
            model = prepare(base, config, team.device, new_tokens, objective.model)
            if settings.packing:
                check_packing(model, rows.rows, base.pad_id)
            run = Training(model, settings, config.selection.metric, team)
            if team.process_index:  # same weights as in the first process, other dropout
                torch.manual_seed(settings.seed + team.process_index)
            judge = Judge(model, base, data, config) if data.dev else None
            if state := unfinished.load(discard_others=config.overwrite):
                run.restore(state)
                _log.info("continuing after step %d of %d", len(run.losses), len(steps))
            start, show = len(run.losses), progress and team.is_main_process
            take_steps(run, objective, steps, judge, unfinished, progress=show)
        if folder:  # in the first process
            if judge:
                run.take_best()
            with running(base.model):
                save_weights(model, base, config, folder)
            adapter = facts_of(
                config, data, base, run, rows=rows, steps=steps, folder=folder, start=start
            )
            (folder / card.CARD).write_text(card.render_card(adapter), encoding="utf-8")
            # Its last file, with which it is finished.
            write_manifest(folder, {"kind": KINDS[config.method], **msgspec.to_builtins(adapter)})
    unfinished.remove()
    team.wait_for_everyone()
    pairs_seen = sum(step.size for step in steps)
    return TrainingResult(config.output, tuple(run.losses), len(rows.rows), pairs_seen, run.seconds)


def take_steps(
    run: Training,
    objective: Likelihood,
    steps: Sequence[Step],
    judge: Judge | None,
    unfinished: Unfinished,
    *,
    progress: bool,
) -> None:
    """Take the remaining steps; judge the epochs, and save the state as the settings say.

    Raises:
        ConfigError: as :func:`fit`, or the state cannot be saved.
    """
    save_steps = run.settings.save_steps or len(steps)
    done = sum(step.size for step in steps[: len(run.losses)])
    total = sum(step.size for step in steps)
    with tqdm(total=total, initial=done, unit=" pairs", disable=not progress) as bar:
        for number, step in fit(run, objective, steps):
            bar.set_postfix(loss=f"{run.losses[-1]:.3f}", refresh=False)
            bar.update(step.size)
            ends_epoch = number == len(steps) or steps[number].epoch > step.epoch
            if ends_epoch and judge and step.epoch >= objective.judged_from:
                run.judge(judge)
            if ends_epoch or number % save_steps == 0:
                unfinished.save(run.state())


def fit(run: Training, objective: Likelihood, steps: Sequence[Step]) -> Iterator[tuple[int, Step]]:
    """Take the remaining steps; yield each step with its number, counted from 1.

    Raises:
        ConfigError: a loss is not a finite number, or memory runs out.
    """
    rows, pad_id = objective.rows.rows, objective.material.base.pad_id
    for number, step in enumerate(steps[len(run.losses) :], start=len(run.losses) + 1):
        start = time.perf_counter()
        run.set_rate(number, len(steps))
        with enough_memory(f"at step {number} of {len(steps)}", LESS_MEMORY):
            own = processes.share(step, run.team)
            batches = load_batches(own, rows, pad_id, run.model, packing=run.settings.packing)
            loss = objective.step(run, batches, count_targets(step, rows)).item()
        if not math.isfinite(loss):
            samples = sorted({rows[row].sample for batch in step.batches for row in batch})
            raise ConfigError(
                f"the loss became {loss} at step {number} of {len(steps)}, on the samples "
                f"{', '.join(samples)}",
                remedy="Lower optimization.learning_rate, or use another model.dtype or "
                "optimization.precision.",
            )
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=run.graphs is None)  # graphs write to the same tensors
        run.losses.append(loss)
        run.seconds += time.perf_counter() - start
        yield number, step


def _log_plan(rows: Rows, steps: Sequence[Step]) -> None:
    _log.info("%d training pairs, %d steps", len(rows.rows), len(steps))
    if rows.cut:
        _log.warning("%d prompts are too long and lose the end of their table", rows.cut)
    if rows.too_long:
        _log.warning("%d more pairs are too long and are left out", rows.too_long)
