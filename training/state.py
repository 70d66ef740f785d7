"""The state of a training: weights, losses, the file to resume from, and the facts it leaves.

When one may continue: docs/decisions/resume.md.
"""

import io
import logging
import math
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import peft
import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import FileContent, atomic_write, open_file, shortened, writing
from spor_tasks.core.visible import visible
from spor_tasks.core.weights import digest_weights
from spor_tasks.metrics.scores import score_info
from spor_tasks.models.checkpoints import loading
from spor_tasks.results.facts import Adapter, BaseModel, DeviceFacts, TrainedOn, TrainingLog
from training import processes
from training.bases import Base, git_commit
from training.batches import Model
from training.config import OptimizationConfig, TrainingConfig
from training.data import corpus_sha256
from training.encoding import Rows, Step
from training.graphs import Graphs
from training.identity import differing_keys, identity, settings_sha256, shared_settings, versions
from training.memory import enough_memory
from training.optimizers import optimizer, rate_at
from training.selection import Judge, Scores, TrainingSet, unseen
from training.settings import to_dict

_log = logging.getLogger(__name__)

RunState: TypeAlias = dict[str, Any]
"""Tensors, numbers, texts, and lists and dictionaries of these."""

_SAVED = ("losses", "scores", "best", "seconds", "counts")


@dataclass
class Training:
    """The state of a training."""

    model: Model
    settings: OptimizationConfig
    metric: str = "parent"
    team: PartialState = field(default_factory=processes.join)
    """The processes that share a step."""
    weights: dict[str, torch.nn.Parameter] = field(init=False)
    """The trained weights, by name."""
    optimizer: torch.optim.Optimizer = field(init=False)
    graphs: Graphs | None = field(init=False)
    """None without the setting or a GPU."""
    losses: list[float] = field(default_factory=list)
    """The loss of each step."""
    scores: list[Scores] = field(default_factory=list)
    """The scores of each judged epoch."""
    best: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """The weights after the epoch that is best by ``metric``."""
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    """Counts of an objective, for the manifest."""

    def __post_init__(self) -> None:
        named = self.model.named_parameters()
        self.weights = {name: weight for name, weight in named if weight.requires_grad}
        adapts = isinstance(self.model, peft.PeftModel)
        self.optimizer = optimizer(self.weights, self.settings, foreach=adapts or None)
        on_gpu = self.team.device.type == "cuda"
        self.graphs = Graphs() if self.settings.cuda_graphs and on_gpu else None

    @cached_property
    def factors(self) -> dict[str, torch.nn.Parameter]:
        """An adapter's weights of linear modules, by name: autocast would cast each apart."""
        if not isinstance(self.model, peft.PeftModel):
            return {}
        linear = {id(m.weight) for m in self.model.modules() if isinstance(m, torch.nn.Linear)}
        return {name: weight for name, weight in self.weights.items() if id(weight) in linear}

    @property
    def rate(self) -> float:
        """The learning rate of the current step."""
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

    def judge(self, judge: Judge) -> None:
        """Score the model after an epoch, and remember its weights if they are the best so far."""
        with enough_memory("generating", "Lower selection.batch_size."):
            self.scores.append(judge(self.team))
        label, value = score_info(self.metric).label, self.scores[-1].get(self.metric, math.nan)
        _log.info("judged epoch %d: %s %.2f", len(self.scores), label, value)
        if self.best_epoch == len(self.scores) - 1:
            named = self.weights.items()
            self.best = {name: weight.detach().cpu().clone() for name, weight in named}

    def take_best(self) -> None:
        """Restore the weights of the best epoch."""
        self._set(self.best)

    def state(self) -> RunState:
        """Return the state that another process needs to continue."""
        return {
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "optimizer": self.optimizer.state_dict(),
            **{name: getattr(self, name) for name in _SAVED},
        }

    def restore(self, state: RunState) -> None:
        """Continue from a state that :meth:`state` returned."""
        self._set(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        for name in _SAVED:
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


# --- The file to resume from ---------------------------------------------------------------------


class Unfinished:
    """The file beside the output folder with the state of a run that is not finished.

    It has the facts that a run must share with the one that it continues.
    """

    def __init__(
        self, config: TrainingConfig, data: TrainingSet, base: Base, team: PartialState
    ) -> None:
        self.path = config.output.with_name(f"{shortened(config.output.name, 240)}.unfinished")
        self._team = team
        self._facts = identity(config, digest(data.arm), base.sha256) | {
            "judged_sha256": digest(data.dev),
            "processes": team.num_processes,
            "device": team.device.type,
        }

    def load(self, *, discard_others: bool) -> RunState | None:
        """Return the saved state and restore the random state; return None without a file.

        Raises:
            ConfigError: the file is damaged, or of another run and ``discard_others`` is off.
        """
        if not os.path.lexists(self.path):
            return None
        with loading(str(self.path), "Delete it; training then starts from step 1."):
            with open_file(self.path) as file:
                saved = torch.load(file, map_location="cpu", weights_only=True)
            differences = sorted(key for key, *_ in differing_keys(saved["facts"], self._facts))
            if not differences:
                random = saved["random"][self._team.process_index]
                torch.set_rng_state(random["cpu"])
                if "cuda" in random:
                    torch.cuda.set_rng_state(random["cuda"], self._team.device)
                return dict(saved["state"])
        if not discard_others:
            raise ConfigError(
                f"is of a run with other {', '.join(differences)}",
                where=self.path,
                remedy="Use the settings of that run, or delete the file, or set overwrite=true.",
            )
        _log.warning("%s is of another run and will be replaced", visible(self.path))
        return None

    def save(self, state: RunState) -> None:
        """Save the state and the random state; if this process is killed, the old file stays.

        Raises:
            ConfigError: the file cannot be written.
        """
        random = {"cpu": torch.get_rng_state()}
        if self._team.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self._team.device)
        every = gather_object([random])
        if not self._team.is_main_process:
            return
        content = io.BytesIO()  # for a full disk, torch's writer raises an error of its own
        torch.save({"facts": self._facts, "state": state, "random": every}, content)
        with writing(self.path), atomic_write(self.path) as file:
            file.write(content.getbuffer())

    def remove(self) -> None:
        """Delete the file of a finished run."""
        if self._team.is_main_process:
            self.path.unlink(missing_ok=True)


# --- Facts ---------------------------------------------------------------------------------------


def facts_of(
    config: TrainingConfig,
    data: TrainingSet,
    base: Base,
    run: Training,
    *,
    rows: Rows,
    steps: Sequence[Step],
    folder: Path,
    start: int,
) -> Adapter:
    """Return the facts that are needed to trust and to repeat a run whose weights are saved.

    It had taken ``start`` steps when it was last resumed, 0 of one that never was.
    """
    optimization, pair, settings = config.optimization, data.pair, shared_settings(config)
    by_epoch = groupby(zip(run.losses, steps, strict=True), key=lambda entry: entry[1].epoch)
    device, name, peak = run.team.device, "cpu", None
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        peak = int(torch.cuda.max_memory_allocated(device))
    names: list[str] = []
    if isinstance(run.model, peft.PeftModel):
        tuner = run.model.base_model
        names = [*tuner.targeted_module_names, *tuner.targeted_parameter_names]
    # What each module, or weight of experts, is called in its block.
    weights = {"tuned_modules": sorted({name.rpartition(".")[2] for name in names})}
    weights["added_tokens"] = [*config.added_tokens]
    return Adapter(
        sets=TrainedOn.of(pair, corpus_sha256(config.data)),
        arm=config.data.arm,
        arm_sha256=digest(data.arm),
        violations=[*data.violations],
        prompt_style=base.style,
        seed=optimization.seed,
        settings=settings,
        pairs=len(rows.rows),
        selection=_selection(config, data, run, epochs=1 + steps[-1].epoch),
        base_model=BaseModel(path=config.model.path, revision=base.revision, sha256=base.sha256),
        adapter_sha256=digest_weights(folder),
        log=TrainingLog(
            config=to_dict(config),
            versions=versions(config.model),
            device=DeviceFacts(
                name=name,
                processes=run.team.num_processes,
                fitting_seconds=round(run.seconds, 1),
                peak_memory_bytes=peak,
            ),
            settings_sha256=settings_sha256(settings),
            git_commit=git_commit(),
            steps=len(run.losses),
            losses=[statistics.fmean(loss for loss, _ in entries) for _, entries in by_epoch],
            pairs_too_long=rows.too_long,
            pairs_cut=None if optimization.cut == "none" else rows.cut,
            resumed_from=start,
            weights={name: names for name, names in weights.items() if names},
            counts=run.counts,
        ),
    )


def _selection(
    config: TrainingConfig, data: TrainingSet, run: Training, *, epochs: int
) -> FileContent:
    """Return the choice of the epoch; only the last epochs have scores."""
    after_best = len(run.scores) - 1 - run.best_epoch if run.scores else 0
    return {
        "policy": config.selection.policy,
        "metric": config.selection.metric,
        "samples": len(data.dev),
        "samples_sha256": digest(data.dev),
        "with_unseen_units": unseen(data.dev, data.trained),
        "held_out": len(data.arm) - len(data.trained),
        "scores": run.scores,
        "epoch": epochs - after_best,
    }
