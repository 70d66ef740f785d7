"""The recipe, from top to bottom: train an adapter, or a whole model, on one arm of one split."""

import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate import PartialState
from tqdm import tqdm

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import atomic_folder
from spor_tasks.core.sample import SplitPair
from training import processes
from training.adapters import add_tokens, prepare
from training.bases import KINDS, Base, check_ids, load_base
from training.batches import check_packing, load_batches
from training.config import OptimizationConfig, TrainingConfig
from training.data import ById, make_pairs, places_to_cut
from training.encoding import Rows, Step, count_targets, encode, padding
from training.manifest import describe, manifest_of, run_facts, save_weights
from training.memory import LESS_MEMORY, enough_memory
from training.objectives.base import Material, Objective, find_objective
from training.selection import Judge, TrainingSet, training_set
from training.state import Run, Unfinished, seeded
from training.threads import cpu_threads

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The result of a run.

    ``losses`` holds, for each optimizer step, the mean over its target tokens, in nats. ``pairs``
    counts the training set, ``pairs_seen`` every pass over a pair. ``seconds`` is the time of the
    steps alone, without loading, judging and saving.
    """

    adapter: Path
    losses: tuple[float, ...]
    pairs: int
    pairs_seen: int
    seconds: float


def train(
    config: TrainingConfig,
    pair: SplitPair | None = None,
    *,
    progress: bool = True,
) -> TrainingResult:
    """Train, and save the weights with their tokenizer, settings, card and manifest to the output.

    ``pair`` replaces the split that the settings name. Equal settings, data, versions and device
    give equal bytes, even if a run is interrupted: started again, it continues from the file that
    it left beside the output.

    Raises:
        SporError: the split, the base model or the output folder is missing or cannot be used, a
            strict split breaks a requirement, the objective does not fit them, the loss is not a
            finite number, or memory runs out; a finished adapter at the output is still there.
    """
    started = time.perf_counter()
    settings, team = config.optimization, processes.join()
    objective = find_objective(config.objective)
    data = training_set(config, pair)

    alone = atomic_folder(config.output, kind=KINDS[config.method], overwrite=config.overwrite)
    with alone if team.is_main_process else nullcontext() as folder:
        base = load_base(config.model)
        new_tokens = add_tokens(base, objective.tokens)
        objective, rows, steps = plan(config, data, base, objective)
        unfinished = Unfinished(config.output, run_facts(config, data, base, team), team)

        with seeded(settings.seed, team.device), cpu_threads(settings.threads):
            model = prepare(base, config, team.device, new_tokens, objective.fitted(base))
            if settings.packing:
                with enough_memory("on the longest pair", LESS_MEMORY):
                    check_packing(model, rows.rows, base.pad_id)
            run = Run(model, settings, config.selection.metric)
            if team.process_index:  # same weights as in the first process, other dropout
                torch.manual_seed(settings.seed + team.process_index)
            judge = (
                Judge(model, base, data, config.selection, settings.mixed_precision)
                if data.judged
                else None
            )
            if kept := unfinished.load(discard_others=config.overwrite):
                run.restore(kept)
                _log.info("continuing after step %d of %d", len(run.losses), len(steps))
            resumed_from = len(run.losses)
            sizes = [step.size for step in steps]
            with tqdm(
                total=sum(sizes),
                initial=sum(sizes[:resumed_from]),
                unit=" pairs",
                disable=not (progress and team.is_main_process),
            ) as bar:
                for number, step in fit(run, objective, steps, rows, pad_id=base.pad_id, team=team):
                    bar.set_postfix(loss=f"{run.losses[-1]:.3f}", refresh=False)
                    bar.update(step.size)
                    ends_epoch = number == len(steps) or steps[number].epoch > step.epoch
                    if ends_epoch and judge and step.epoch >= sum(objective.stages):
                        run.judge(judge, team)
                    if ends_epoch or number % (settings.save_steps or len(steps)) == 0:
                        unfinished.save(run.state())

        if folder:  # in the first process
            if judge:
                run.take_best()
            save_weights(model, base, config, folder)
            manifest = manifest_of(
                *(config, data, base, rows, steps),
                run=run,
                team=team,
                folder=folder,
                resumed_from=resumed_from,
                started=started,
            )
            describe(folder, manifest)
    unfinished.remove()
    team.wait_for_everyone()
    return TrainingResult(
        adapter=config.output,
        losses=tuple(run.losses),
        pairs=len(rows.rows),
        pairs_seen=sum(sizes),
        seconds=run.seconds,
    )


def plan(
    config: TrainingConfig, data: TrainingSet, base: Base, objective: Objective
) -> tuple[Objective, Rows, list[Step]]:
    """Return the objective of a run, its pairs in token ids, and its steps; and tell of them.

    Raises:
        ConfigError: the base cannot read the pairs, or the objective does not fit them.
    """
    settings = config.optimization
    pairs = make_pairs(
        data.trained, base.style, objective.rows, limit=config.data.limit, seed=settings.seed
    )
    longest = min(filter(None, (settings.max_length, base.positions)), default=None)
    cut_before = places_to_cut(data.pair) if settings.cut == "right" else ()
    rows = encode(pairs, base.tokenizer, base.style, longest, cut_before)
    check_ids(base, rows.rows)
    samples = ById(data.trained.samples)
    bound = objective.bound(
        Material(
            *(config.objective_settings, samples, base, longest, settings.seed),
            rows=rows.rows,
            optimization=settings,
            processes=PartialState().num_processes,
        )
    )
    steps = bound.plan(rows.rows, settings)
    _tell(rows, steps, settings)
    return bound, rows, steps


def fit(
    run: Run,
    objective: Objective,
    steps: Sequence[Step],
    encoded: Rows,
    *,
    pad_id: int,
    team: PartialState,
) -> Iterator[tuple[int, Step]]:
    """Take the remaining steps; yield each step with its number.

    Raises:
        ConfigError: a loss is not a finite number, or memory runs out.
    """
    weights = list(run.weights.values())
    for number, step in enumerate(steps[len(run.losses) :], start=len(run.losses) + 1):
        start = time.perf_counter()
        run.set_rate(number, len(steps))
        with enough_memory(f"at step {number} of {len(steps)}", LESS_MEMORY):
            own = processes.share(step, team)
            batches = load_batches(
                own, encoded.rows, pad_id, run.model, packing=run.settings.packing
            )
            mean = objective.step(run, batches, count_targets(step, encoded.rows))
            loss = processes.add_up(mean, weights, team).item()
        if not math.isfinite(loss):
            samples = sorted({encoded.rows[row].sample for batch in step.batches for row in batch})
            raise ConfigError(
                f"the loss became {loss} at step {number} of {len(steps)}, on the samples "
                f"{', '.join(samples)}",
                remedy="Lower optimization.learning_rate, or use another model.dtype or "
                "optimization.precision.",
            )
        if not objective.clips:
            run.clip()
        run.optimizer.step()
        run.optimizer.zero_grad()
        run.losses.append(loss)
        run.seconds += time.perf_counter() - start
        yield number, step


def _tell(rows: Rows, steps: Sequence[Step], settings: OptimizationConfig) -> None:
    _log.info(
        "%d training pairs, %d steps, %.0f %% of the input is padding",
        len(rows.rows),
        len(steps),
        100 * padding(rows.rows, steps, settings),
    )
    if rows.cut:
        _log.warning("%d prompts are too long and lose the end of their table", rows.cut)
    if rows.too_long:
        _log.warning("%d more pairs are too long and are left out", rows.too_long)
    if rows.split_apart:
        _log.info(
            "%d pairs are tokenized apart, as a token would span prompt and text", rows.split_apart
        )
