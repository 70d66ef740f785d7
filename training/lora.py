"""The recipe: LoRA on one arm of one split, from top to bottom."""

import logging
import math
import statistics
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import peft
import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from accelerate.utils.memory import should_reduce_batch_size
from safetensors import SafetensorError
from tqdm import tqdm
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from spor_tasks.aspects import check
from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.digests import digest, digest_weights
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.sample import SplitPair
from spor_tasks.prompts.styles import PromptStyle
from training import card, processes, selection
from training.bases import KIND, Base, check_ids, git_commit, load_base, versions
from training.batches import Batch, check_packing, load_step, target_loss
from training.config import (
    LoraConfig,
    OptimizationConfig,
    TrainingConfig,
    dump,
    settings_sha256,
    shared_settings,
    to_dict,
)
from training.data import (
    IGNORED,
    Row,
    Rows,
    Step,
    encode,
    find_arm,
    make_pairs,
    padding,
    plan_steps,
)
from training.memory import forget_peak, peak_memory
from training.selection import Judge, Scores
from training.threads import cpu_threads, fastest_threads
from training.trackers import Tracker
from training.unfinished import State, Unfinished, learned_settings

RESOLVED_CONFIG = "training.yaml"
_LESS_MEMORY = (
    "Halve optimization.batch_size and double optimization.gradient_accumulation, which learns the "
    "same; or set optimization.gradient_checkpointing=true, or model.dtype=bfloat16. The first two "
    "go on from what is done."
)
_AUTOCAST = {"bfloat16": torch.bfloat16, "float16": torch.float16}
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
            split breaks what it promises, the loss stops being a number, or memory runs out; what
            was at the output is there still.
    """
    started = time.perf_counter()
    optimization, team = config.optimization, processes.join()
    if pair is None:
        data = config.data
        pair = registry.load(data.aspect, data.corpus, data.protocol, data.part)
    arm = find_arm(pair, config.data.arm)
    violations = _check_split(pair)
    judged = selection.judged_samples(config.selection, pair)
    trained = selection.trained_on(config.selection, arm, judged)

    with _output_folder(config, team) as folder:
        base = load_base(config.model)
        pairs = make_pairs(trained, base.style, limit=config.data.limit, seed=optimization.seed)
        limits = [limit for limit in (optimization.max_length, base.positions) if limit]
        encoded = encode(pairs, base.tokenizer, base.style, min(limits, default=None))
        check_ids(base, encoded.rows)
        steps = plan_steps([sum(map(len, row)) for row in encoded.rows], optimization)
        _report(encoded, steps, optimization)
        unfinished = Unfinished(
            config.output,
            {
                "settings": learned_settings(config),
                "arm_sha256": digest(arm.samples),
                "judged_sha256": digest(judged),
                "base_sha256": base.sha256,
                "versions": versions(config.model),
                "processes": team.num_processes,
                "device": team.device.type,
            },
            team,
        )

        with seeded(optimization.seed, team.device), cpu_threads(optimization.threads):
            model = prepare(base, config, team.device)
            _check_packing(model, encoded, base.pad_id, optimization)
            _advise_threads(model, encoded.rows, base.pad_id, optimization, asked=advise)
            run = Run(model, optimization, config.selection.metric)
            if team.process_index:  # the weights are those of the first, the dropout is not
                torch.manual_seed(optimization.seed + team.process_index)
            judge = (
                Judge(model, base, judged, config.selection, _autocast(optimization))
                if judged
                else None
            )
            if kept := unfinished.load(discard_others=config.overwrite):
                run.restore(kept)
                _log.info("going on after step %d of %d", len(run.losses), len(steps))
            resumed_from = len(run.losses)
            tracker = Tracker(config, team)
            with _bar(steps, resumed_from, progress, team) as bar:
                for number, step in fit(run, steps, encoded, base.pad_id, team):
                    bar.set_postfix(loss=f"{run.losses[-1]:.3f}", refresh=False)
                    bar.update(step.size)
                    tracker.log({"loss": run.losses[-1]}, number)
                    ends_epoch = number == len(steps) or steps[number].epoch > step.epoch
                    if ends_epoch and judge:
                        scores = run.judge(judge, team)
                        tracker.log(scores, number)
                    if ends_epoch or number % (optimization.save_steps or len(steps)) == 0:
                        unfinished.save(run.state())
            tracker.finish()

        if folder:  # in the first process
            if judge:
                run.take_best()
            _save(model, base, config, folder)
            _describe(
                folder,
                {
                    "kind": KIND,
                    "aspect": pair.aspect,
                    "corpus": pair.corpus,
                    "protocol": pair.protocol,
                    "part": pair.part,
                    "arm": arm.name,
                    "arm_sha256": digest(arm.samples),
                    "test_sha256": digest(pair.test.samples),
                    "violations": violations,
                    "prompt_style": base.style,
                    "seed": optimization.seed,
                    "settings": shared_settings(config),
                    "settings_sha256": settings_sha256(shared_settings(config)),
                    "pairs": len(encoded.rows),
                    "pairs_too_long": encoded.too_long,
                    "pairs_split_apart": encoded.split_apart,
                    "padding": round(padding(encoded.rows, steps, optimization), 4),
                    "steps": len(run.losses),
                    "resumed_from": resumed_from,
                    "losses": _epoch_means(run.losses, steps),
                    "selection": {
                        "policy": config.selection.policy,
                        "metric": config.selection.metric,
                        "samples": len(judged),
                        "samples_sha256": digest(judged),
                        "with_unseen_units": selection.unseen(judged, trained),
                        "held_out": len(arm.samples) - len(trained.samples),
                        "scores": run.scores,
                        "epoch": 1 + (run.best_epoch if judge else steps[-1].epoch),
                        "seconds": round(run.judging_seconds, 1),
                    },
                    "base_model": {
                        "path": config.model.path,
                        "revision": base.revision,
                        "sha256": base.sha256,
                    },
                    "adapter_sha256": digest_weights(folder),
                    "config": to_dict(config),
                    "versions": versions(config.model),
                    "git_commit": git_commit(),
                    "device": _device_name(team.device),
                    "processes": team.num_processes,
                    "peak_memory_bytes": peak_memory(team.device),
                    "fitting_seconds": round(run.seconds, 1),
                    "wall_seconds": round(time.perf_counter() - started, 1),
                },
            )
    unfinished.remove()
    team.wait_for_everyone()
    return TrainingResult(
        adapter=config.output,
        losses=tuple(run.losses),
        pairs=len(encoded.rows),
        pairs_seen=sum(step.size for step in steps),
        seconds=run.seconds,
    )


# --- The model ------------------------------------------------------------------------------------


def prepare(base: Base, config: TrainingConfig, device: torch.device) -> peft.PeftModel:
    """Return the base with a fresh adapter on the device, ready to be trained.

    Raises:
        ConfigError: the adapter does not fit the model, or the model the device.
    """
    settings = config.optimization
    if settings.precision == "float16" and device.type == "cpu":
        raise ConfigError(
            "optimization.precision float16 needs a GPU",
            remedy="On a CPU, bfloat16 is the fast one.",
        )
    if config.model.quantization:
        peft.prepare_model_for_kbit_training(base.model, use_gradient_checkpointing=False)
    if settings.gradient_checkpointing:
        _recompute_activations(base.model)
    model = add_lora(base.model, config.lora, base.style)
    with _enough_memory(
        "when the model was put on the device",
        "Set model.dtype=bfloat16, or model.quantization=nf4.",
    ):
        model = model if config.model.quantization else model.to(device)
    forget_peak(device)
    if settings.compile:
        for blocks in (part for part in model.modules() if isinstance(part, torch.nn.ModuleList)):
            for block in blocks:
                block.compile(dynamic=True)
    return model.train()


def add_lora(model: PreTrainedModel, lora: LoraConfig, style: PromptStyle) -> peft.PeftModel:
    """Freeze the model and give it fresh adapter weights, from torch's random state.

    Raises:
        ConfigError: the target modules are not in the model, or peft knows none for it.
    """
    modules = lora.target_modules
    settings = peft.LoraConfig(
        task_type="CAUSAL_LM" if style == "causal" else "SEQ_2_SEQ_LM",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(modules) if isinstance(modules, tuple) else modules,
        use_dora=lora.dora,
        use_rslora=lora.rslora,
        # GPT-2 holds its weights transposed
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
    )
    try:
        with warnings.catch_warnings():
            # peft 0.21 asks transformers 5.23 for a property by its old name
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            return peft.get_peft_model(model, settings)
    except ValueError as error:
        raise ConfigError(f"lora.target_modules does not fit this model: {error}") from error


def _recompute_activations(model: PreTrainedModel) -> None:
    # its name before transformers 5.23, and since
    old, new = "gradient_checkpointing_enable", "activation_checkpointing_enable"
    getattr(model, new if hasattr(model, new) else old)({"use_reentrant": False})


# --- Fitting --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """All that changes while an adapter is fitted.

    ``losses`` are by step, ``scores`` by epoch, and ``best`` the weights after the best one by
    ``metric``.
    """

    model: peft.PeftModel
    settings: OptimizationConfig
    metric: str = "parent"
    optimizer: torch.optim.Optimizer = field(init=False)
    scaler: torch.amp.GradScaler = field(init=False)
    losses: list[float] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)
    best: Mapping[str, torch.Tensor] = field(default_factory=dict)
    seconds: float = 0.0
    judging_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.optimizer = torch.optim.Adam(self.weights.values(), lr=self.settings.learning_rate)
        # Without float16 it does nothing.
        half = self.settings.precision == "float16"
        self.scaler = torch.amp.GradScaler(self.model.device.type, enabled=half)

    @property
    def weights(self) -> dict[str, torch.nn.Parameter]:
        """What is fitted, by name."""
        return {
            name: weight for name, weight in self.model.named_parameters() if weight.requires_grad
        }

    @property
    def best_epoch(self) -> int:
        """The epoch with the highest score, from 0."""
        return selection.best_epoch(self.scores, self.metric)

    def judge(self, judge: Judge, team: PartialState) -> Scores:
        """Score the model as it is after an epoch, and remember its weights if they are best."""
        start = time.perf_counter()
        with _enough_memory("generating", "Lower selection.batch_size."):
            scores = judge(team)
        self.scores.append(scores)
        self.judging_seconds += time.perf_counter() - start
        name = selection.NAMES[self.metric]
        _log.info("epoch %d: %s %.2f", len(self.scores), name, scores[self.metric])
        if self.best_epoch == len(self.scores) - 1:
            self.best = {
                name: weight.detach().cpu().clone() for name, weight in self.weights.items()
            }
        return scores

    def take_best(self) -> None:
        """Go back to the weights after the best epoch."""
        self._set(self.best)

    def state(self) -> State:
        """Return what another process can go on from."""
        return {
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "losses": self.losses,
            "scores": self.scores,
            "best": self.best,
            "seconds": self.seconds,
            "judging_seconds": self.judging_seconds,
        }

    def restore(self, state: State) -> None:
        """Become the run that the state is of."""
        self._set(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        for name in ("losses", "scores", "best", "seconds", "judging_seconds"):
            setattr(self, name, state[name])

    def _set(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(values[name])


def fit(
    run: Run,
    steps: Sequence[Step],
    encoded: Rows,
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
        with _enough_memory(f"at step {number} of {len(steps)}", _LESS_MEMORY):
            own = processes.share(step, team)
            batches = load_step(own, encoded.rows, pad_id, run.model, packing=run.settings.packing)
            mean = backward(
                run.model, batches, run.settings, _targets(step, encoded.rows), run.scaler
            )
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


def _targets(step: Step, rows: Sequence[Row]) -> int:
    """Return how many tokens the step, of all processes, is to predict."""
    return sum(
        label != IGNORED
        for batch in step.batches
        for number in batch
        for label in rows[number].labels
    )


def backward(
    model: peft.PeftModel,
    batches: Sequence[Batch],
    settings: OptimizationConfig,
    targets: int,
    scaler: torch.amp.GradScaler | None = None,
) -> torch.Tensor:
    """Add the gradient of the batches' loss over ``targets`` tokens; return that loss.

    It is the mean where the batches have so many targets, and else the share of it that they bring.
    """
    dtype = _AUTOCAST.get(settings.precision)
    mean = torch.zeros((), device=model.device)
    for batch in batches:
        with torch.autocast(model.device.type, dtype, enabled=dtype is not None):
            loss = target_loss(model, batch) / targets
        (scaler.scale(loss) if scaler else loss).backward()
        mean += loss.detach()
    return mean


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch within the block, and leave its random state as it was."""
    with torch.random.fork_rng(devices=[] if device.type == "cpu" else [device]):
        torch.manual_seed(seed)
        yield


def _advise_threads(
    model: peft.PeftModel,
    rows: Sequence[Row],
    pad_id: int,
    settings: OptimizationConfig,
    *,
    asked: bool,
) -> None:
    """Say which number of threads is fastest, where it is asked and not the one that is set."""
    if not asked or model.device.type != "cpu":
        return
    fastest = fastest_number_of_threads(model, rows, pad_id, settings)
    if fastest != settings.threads:
        _log.info(
            "measured here and now, optimization.threads=%d is faster than the %d that are set; "
            "the last digits of results differ with it",
            fastest,
            settings.threads,
        )


def fastest_number_of_threads(
    model: peft.PeftModel,
    rows: Sequence[Row],
    pad_id: int,
    settings: OptimizationConfig,
) -> int:
    """Return how many CPU threads are fastest here and now; beside a GPU one is enough.

    One pair is enough to measure: with too many threads a whole step can take a minute.
    """
    if model.device.type != "cpu":
        return 1
    step = Step(epoch=0, batches=((0,),))
    batches = load_step(step, rows, pad_id, model)
    with seeded(settings.seed, model.device):
        threads = fastest_threads(lambda: backward(model, batches, settings, _targets(step, rows)))
    model.zero_grad()
    (agreed,) = broadcast_object_list([threads])
    return int(agreed)


# --- Around it ------------------------------------------------------------------------------------


def _check_split(pair: SplitPair) -> list[str]:
    """Return the requirements that the sets break, in words.

    Raises:
        SplitError: they are sets that promise to break none.
    """
    violations = [violation.words for violation in check.check(pair).violations]
    if violations and pair.protocol == "strict":
        raise SplitError(
            f"{pair.aspect} {pair.corpus} breaks what strict sets promise: {'; '.join(violations)}",
            remedy="Build the sets again; an adapter of these would measure something else.",
        )
    if violations:
        _log.warning(
            "the published sets break %d of their requirements: %s",
            len(violations),
            "; ".join(violations),
        )
    return violations


def _check_packing(
    model: peft.PeftModel, encoded: Rows, pad_id: int, settings: OptimizationConfig
) -> None:
    """Refuse packing where it would change what is learned."""
    if settings.packing:
        with _enough_memory("on the longest pair", _LESS_MEMORY):
            check_packing(model, encoded.rows, pad_id)


def _output_folder(
    config: TrainingConfig, team: PartialState
) -> AbstractContextManager[Path | None]:
    """Give the first process a new folder to write, which nobody else writes; the others none."""
    if team.is_main_process:
        return atomic_folder(config.output, kind=KIND, overwrite=config.overwrite)
    return nullcontext()


@contextmanager
def _enough_memory(when: str, remedy: str) -> Iterator[None]:
    """Say what to do where the device or the machine has no memory left."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not (isinstance(error, MemoryError) or should_reduce_batch_size(error)):
            raise
        raise ConfigError(f"memory ran out {when}", remedy=remedy) from error


def _autocast(settings: OptimizationConfig) -> str | None:
    return settings.precision if settings.precision in _AUTOCAST else None


def _report(encoded: Rows, steps: Sequence[Step], settings: OptimizationConfig) -> None:
    _log.info(
        "%d training pairs, %d steps, %.0f %% of the input padding",
        len(encoded.rows),
        len(steps),
        100 * padding(encoded.rows, steps, settings),
    )
    if encoded.too_long:
        _log.warning("%d more pairs are too long and are left out", encoded.too_long)
    if encoded.split_apart:
        _log.info(
            "tokenized apart, as a token would span prompt and text: %d pairs", encoded.split_apart
        )


def _bar(steps: Sequence[Step], done: int, shown: bool, team: PartialState) -> Any:  # noqa: ANN401, FBT001 - tqdm is not generic at run time
    return tqdm(
        total=sum(step.size for step in steps),
        initial=sum(step.size for step in steps[:done]),
        unit=" pairs",
        disable=not (shown and team.is_main_process),
    )


def _save(model: peft.PeftModel, base: Base, config: TrainingConfig, folder: Path) -> None:
    """Write the adapter, its tokenizer and the settings.

    Raises:
        ConfigError: the disk is full.
    """
    try:
        _write(model, base, config, folder)
    except (OSError, SafetensorError) as error:
        raise ConfigError(
            f"cannot be written: {error}",
            where=config.output,
            remedy="Is the disk full? The same command goes on from what is done.",
        ) from error


def _write(model: peft.PeftModel, base: Base, config: TrainingConfig, folder: Path) -> None:
    adapter = model.peft_config["default"]
    # peft keeps a set, and would write it in the order of its hashes
    adapter.target_modules = sorted(adapter.target_modules)
    model.save_pretrained(folder, save_embedding_layers=False)
    base.tokenizer.save_pretrained(folder)
    (folder / RESOLVED_CONFIG).write_text(dump(config), encoding="utf-8")


def _describe(folder: Path, manifest: Mapping[str, Any]) -> None:
    (folder / card.CARD).write_text(card.render(manifest), encoding="utf-8")
    write_manifest(folder, manifest)


def _epoch_means(losses: Sequence[float], steps: Sequence[Step]) -> list[float]:
    by_epoch = groupby(zip(losses, steps, strict=True), key=lambda entry: entry[1].epoch)
    return [statistics.fmean(loss for loss, _ in entries) for _, entries in by_epoch]


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
