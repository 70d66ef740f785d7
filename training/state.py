"""The state of a run, and the file that an interrupted run continues from, to the same losses."""

import io
import logging
import math
import os
import pickle
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import atomic_write, open_file, writing
from spor_tasks.core.visible import visible
from spor_tasks.metrics.base import score_info
from training.batches import Model
from training.config import OptimizationConfig, differing_keys
from training.memory import enough_memory
from training.optimizers import optimizer, rate_at
from training.selection import Judge, Scores

_log = logging.getLogger(__name__)

RunState = dict[str, Any]
"""Tensors, numbers, texts, and lists and dictionaries of these."""

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
    losses: list[float] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)
    best: Mapping[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0
    judging_seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.optimizer = optimizer(self.weights, self.settings)

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
            "counts": dict(self.counts),
            **{name: getattr(self, name) for name in _KEPT},
        }

    def restore(self, state: RunState) -> None:
        """Continue from a state that :meth:`state` returned."""
        self._set(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
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


class Unfinished:
    """The file beside the output folder with the state of a run that is not finished.

    ``facts`` identify the run: settings, data, base, versions, processes.
    """

    def __init__(self, output: Path, facts: Mapping[str, Any], processes: PartialState) -> None:
        self.path = output.with_name(f"{output.name}.unfinished")
        self._facts = facts
        self._processes = processes

    def load(self, *, discard_others: bool) -> RunState | None:
        """Return the saved state and restore the random state; return None if there is no file.

        Raises:
            ConfigError: the file is damaged, or of another run and ``discard_others`` is off.
        """
        if not os.path.lexists(self.path):
            return None
        with self._reading():
            with open_file(self.path) as file:
                kept = torch.load(file, map_location="cpu", weights_only=True)
            differences = sorted(key for key, *_ in differing_keys(kept["facts"], self._facts))
        if differences:
            if discard_others:
                _log.warning("%s is of another run and will be replaced", visible(self.path))
                return None
            raise ConfigError(
                f"is of a run with other {', '.join(differences)}",
                where=self.path,
                remedy="Use the settings of that run, or delete the file, or set overwrite=true.",
            )
        with self._reading():
            own, state = kept["random"][self._processes.process_index], dict(kept["state"])
            torch.set_rng_state(own["cpu"])
            if "cuda" in own:
                torch.cuda.set_rng_state(own["cuda"], self._processes.device)
        return state

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn whatever torch raises about a damaged file into an error that names the file.

        Raises:
            ConfigError: in place of that error.
        """
        try:
            yield
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            if isinstance(error, pickle.UnpicklingError):  # torch's text says how to load it still
                what = "training did not write it"
            raise ConfigError(
                f"cannot be read: {what}",
                where=self.path,
                remedy="Delete it; training then starts from step 1.",
            ) from error

    def save(self, state: RunState) -> None:
        """Save the state and the random state; if this process is killed, the old file stays.

        Raises:
            ConfigError: the file cannot be written.
        """
        random = {"cpu": torch.get_rng_state()}
        if self._processes.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self._processes.device)
        every = gather_object([random])
        if not self._processes.is_main_process:
            return
        content = io.BytesIO()  # for a full disk, torch's writer raises an error of its own
        torch.save({"facts": self._facts, "state": state, "random": every}, content)
        with writing(self.path), atomic_write(self.path) as file:
            file.write(content.getbuffer())

    def remove(self) -> None:
        """Delete the file of a finished run."""
        if self._processes.is_main_process:
            self.path.unlink(missing_ok=True)
