"""The loop over the steps that are left."""

import math
import time
from collections.abc import Iterator, Sequence

from accelerate import PartialState

from spor_tasks.core.errors import ConfigError
from training import processes
from training.batches import load_batches
from training.encoding import Rows, Step, count_targets
from training.memory import LESS_MEMORY, enough_memory
from training.objectives.base import Objective
from training.state import Run


def fit(
    run: Run,
    objective: Objective,
    steps: Sequence[Step],
    encoded: Rows,
    *,
    pad_id: int,
    team: PartialState,
) -> Iterator[tuple[int, Step]]:
    """Take the steps that are left with Adam at a constant rate, yielding each and its number.

    Raises:
        ConfigError: a loss is not a finite number, or memory runs out.
    """
    weights = list(run.weights.values())
    for number, step in enumerate(steps[len(run.losses) :], start=len(run.losses) + 1):
        start = time.perf_counter()
        with enough_memory(f"at step {number} of {len(steps)}", LESS_MEMORY):
            own = processes.share(step, team)
            batches = load_batches(
                own, encoded.rows, pad_id, run.model, packing=run.settings.packing
            )
            mean = objective.step(run, batches, count_targets(step, encoded.rows))
            loss = processes.add_up(mean, weights, team).item()
        if not math.isfinite(loss):
            samples = sorted({encoded.samples[row] for batch in step.batches for row in batch})
            raise ConfigError(
                f"the loss became {loss} at step {number} of {len(steps)}, on the samples "
                f"{', '.join(samples)}",
                remedy="Lower optimization.learning_rate, or use another model.dtype or "
                "optimization.precision.",
            )
        run.scaler.step(run.optimizer)
        run.scaler.update()
        run.optimizer.zero_grad()
        run.losses.append(loss)
        run.seconds += time.perf_counter() - start
        yield number, step
