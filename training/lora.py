"""The recipe: an adapter on one arm of one split, from top to bottom."""

import logging
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from tqdm import tqdm

from spor_tasks.core.folders import atomic_folder
from spor_tasks.core.sample import SplitPair
from training import processes
from training.adapters import prepare
from training.bases import KIND, check_ids, load_base
from training.batches import check_packing
from training.config import OptimizationConfig, TrainingConfig
from training.data import make_pairs
from training.encoding import Rows, Step, encode, padding, plan_steps
from training.fit import fit
from training.manifest import describe_adapter, manifest_of, run_facts, save_adapter
from training.memory import LESS_MEMORY, enough_memory
from training.objectives.base import find_objective
from training.selection import Judge, training_set
from training.state import Run, seeded
from training.threads import advise_threads, cpu_threads
from training.trackers import Tracker
from training.unfinished import Unfinished

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What a run came to.

    ``losses`` holds, for each optimizer step, the mean over its target tokens, in nats. ``pairs``
    counts the training set, ``pairs_seen`` every pass over one of them. ``seconds`` is fitting
    alone, without loading, judging and saving.
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
    advise: bool = False,
) -> TrainingResult:
    """Tune an adapter, and save it with its tokenizer, settings, card and manifest to the output.

    ``pair`` is trained on in place of the split that the settings name. Equal settings, data,
    versions and device give equal bytes, also where a run that was cut off is started again: it
    goes on from the file that it left beside the output. ``advise`` measures which number of CPU
    threads is fastest, and says so where it is not the one that is set.

    Raises:
        SporError: the split, the base model or the output folder cannot be had as asked for, the
            split breaks what it promises, the loss is not a finite number, or memory runs out; what
            was at the output is there still.
    """
    started = time.perf_counter()
    settings, team = config.optimization, processes.join()
    objective = find_objective(config.objective)
    data = training_set(config, pair)

    with _output_folder(config, team) as folder:
        base = load_base(config.model)
        pairs = make_pairs(
            data.trained, base.style, objective.rows, limit=config.data.limit, seed=settings.seed
        )
        limits = [limit for limit in (settings.max_length, base.positions) if limit]
        rows = encode(pairs, base.tokenizer, base.style, min(limits, default=None))
        check_ids(base, rows.rows)
        steps = plan_steps(rows.lengths, settings)
        _tell(rows, steps, settings)
        unfinished = Unfinished(config.output, run_facts(config, data, base, team), team)

        with seeded(settings.seed, team.device), cpu_threads(settings.threads):
            model = prepare(base, config, team.device)
            if settings.packing:
                with enough_memory("on the longest pair", LESS_MEMORY):
                    check_packing(model, rows.rows, base.pad_id)
            run = Run(model, settings, config.selection.metric)
            if advise:
                advise_threads(run, objective, rows.rows, base.pad_id)
            if team.process_index:  # the weights are those of the first, the dropout is not
                torch.manual_seed(settings.seed + team.process_index)
            judge = (
                Judge(model, base, data.judged, config.selection, settings.mixed_precision)
                if data.judged
                else None
            )
            if kept := unfinished.load(discard_others=config.overwrite):
                run.restore(kept)
                _log.info("going on after step %d of %d", len(run.losses), len(steps))
            resumed_from = len(run.losses)
            tracker = Tracker(config, team)
            with _bar(steps, resumed_from, progress, team) as bar:
                for number, step in fit(run, objective, steps, rows, pad_id=base.pad_id, team=team):
                    bar.set_postfix(loss=f"{run.losses[-1]:.3f}", refresh=False)
                    bar.update(step.size)
                    tracker.log({"loss": run.losses[-1]}, number)
                    ends_epoch = number == len(steps) or steps[number].epoch > step.epoch
                    if ends_epoch and judge:
                        tracker.log(run.judge(judge, team), number)
                    if ends_epoch or number % (settings.save_steps or len(steps)) == 0:
                        unfinished.save(run.state())
            tracker.finish()

        if folder:  # in the first process
            if judge:
                run.take_best()
            save_adapter(model, base, config, folder)
            manifest = manifest_of(
                *(config, data, base, rows, steps),
                run=run,
                team=team,
                folder=folder,
                resumed_from=resumed_from,
                started=started,
            )
            describe_adapter(folder, manifest)
    unfinished.remove()
    team.wait_for_everyone()
    return TrainingResult(
        adapter=config.output,
        losses=tuple(run.losses),
        pairs=len(rows.rows),
        pairs_seen=sum(step.size for step in steps),
        seconds=run.seconds,
    )


def _output_folder(
    config: TrainingConfig, team: PartialState
) -> AbstractContextManager[Path | None]:
    """Give the first process a new folder to write, which nobody else writes; the others none."""
    if team.is_main_process:
        return atomic_folder(config.output, kind=KIND, overwrite=config.overwrite)
    return nullcontext()


def _tell(rows: Rows, steps: Sequence[Step], settings: OptimizationConfig) -> None:
    _log.info(
        "%d training pairs, %d steps, %.0f %% of the input padding",
        len(rows.rows),
        len(steps),
        100 * padding(rows.rows, steps, settings),
    )
    if rows.too_long:
        _log.warning("%d more pairs are too long and are left out", rows.too_long)
    if rows.split_apart:
        _log.info(
            "tokenized apart, as a token would span prompt and text: %d pairs", rows.split_apart
        )


def _bar(steps: Sequence[Step], done: int, shown: bool, team: PartialState) -> Any:  # noqa: ANN401, FBT001 - tqdm is not generic at run time
    return tqdm(
        total=sum(step.size for step in steps),
        initial=sum(step.size for step in steps[:done]),
        unit=" pairs",
        disable=not (shown and team.is_main_process),
    )
