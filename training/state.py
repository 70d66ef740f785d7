"""The state of a run: what changes while an adapter is trained."""

import logging
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from accelerate import PartialState

from spor_tasks.metrics.base import score_info
from training.batches import Model
from training.config import OptimizationConfig
from training.memory import enough_memory
from training.optimizers import optimizer, rate_at
from training.selection import Judge, Scores
from training.unfinished import RunState

_log = logging.getLogger(__name__)

_KEPT = ("losses", "scores", "best", "seconds", "judging_seconds")


@dataclass(slots=True)
class Run:
    """The state of a run.

    ``losses`` has a loss for each step, ``scores`` the scores of each epoch, and ``best`` the
    weights after the epoch that is best by ``metric``. ``counts`` is what an objective counts.
    """

    model: Model
    settings: OptimizationConfig
    metric: str = "parent"
    optimizer: torch.optim.Optimizer = field(init=False)
    scaler: torch.amp.GradScaler = field(init=False)
    losses: list[float] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)
    best: Mapping[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0
    judging_seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.optimizer = optimizer(self.weights, self.settings)
        half = self.settings.precision == "float16"  # else the scaler does nothing
        self.scaler = torch.amp.GradScaler(self.model.device.type, enabled=half)

    @property
    def weights(self) -> dict[str, torch.nn.Parameter]:
        """The trained weights, by name."""
        return {
            name: weight for name, weight in self.model.named_parameters() if weight.requires_grad
        }

    @property
    def rate(self) -> float:
        """The rate of the step that is being taken."""
        return float(self.optimizer.param_groups[0]["lr"])

    def set_rate(self, number: int, steps: int) -> None:
        """Set the rate of a step, counted from 1, of so many."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(number, steps, self.settings)

    def clip(self) -> None:
        """Shorten the gradient to the norm that the settings allow."""
        if self.settings.clip_norm is not None:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.weights.values(), self.settings.clip_norm)

    @property
    def best_epoch(self) -> int:
        """The judged epoch with the best score, from 0; the first of equals."""
        sign = 1 if score_info(self.metric).higher_is_better else -1
        scores = [sign * of_epoch.get(self.metric, -sign * math.inf) for of_epoch in self.scores]
        return scores.index(max(scores))

    def judge(self, judge: Judge, team: PartialState) -> Scores:
        """Score the model after an epoch, and remember its weights if they are the best so far."""
        start = time.perf_counter()
        with enough_memory("generating", "Lower selection.batch_size."):
            scores = judge(team)
        self.scores.append(scores)
        self.judging_seconds += time.perf_counter() - start
        label, value = score_info(self.metric).label, scores.get(self.metric, math.nan)
        _log.info("judged epoch %d: %s %.2f", len(self.scores), label, value)
        if self.best_epoch == len(self.scores) - 1:
            self.best = {
                name: weight.detach().cpu().clone() for name, weight in self.weights.items()
            }
        return scores

    def take_best(self) -> None:
        """Go back to the weights after the best epoch."""
        self._set(self.best)

    def state(self) -> RunState:
        """Return what another process needs to continue."""
        return {
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "counts": dict(self.counts),
            **{name: getattr(self, name) for name in _KEPT},
        }

    def restore(self, state: RunState) -> None:
        """Continue from a state that :meth:`state` returned."""
        self._set(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.counts = dict(state.get("counts", {}))
        for name in _KEPT:
            setattr(self, name, state[name])

    def _set(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(values[name])


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch within the block, and leave its random state as it was."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        torch.manual_seed(seed)
        yield
