"""The settings of a training run: what they are, and how they are read without guessing.

Defaults are the paper's (section 2.2 and Appendix A: LoRA r 8, α 32, dropout 0.1; Adam at a
constant 1e-4; batches of 6; 10 epochs). A file may leave out every key that has a default, may hold
no other key, and every value must have the type written here: nothing is taken for something else.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_text
from training import typed


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The base model.

    ``path`` is a checkpoint folder or a hub id, ``revision`` a branch, tag or commit of the latter.
    ``architecture`` may state what the checkpoint is; ``auto`` asks the checkpoint. ``dtype`` is
    that of the frozen weights, ``auto`` the one they were saved in; LoRA's own are float32.
    ``quantization`` ``nf4`` holds them in four bits (QLoRA), with bitsandbytes.
    """

    path: str
    revision: str | None = None
    architecture: Literal["auto", "causal", "seq2seq"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "float32"
    quantization: Literal["nf4"] | None = None

    def __post_init__(self) -> None:
        _require("model.path", self.path != "", "must not be empty")


@dataclass(frozen=True, slots=True)
class DataConfig:
    """The training set: one arm of one split, with one training pair for each reference.

    ``protocol`` None is the split's default, ``part`` None the first of an aspect that has several,
    such as n3 of productivity. ``limit`` keeps at most that many pairs, drawn with the seed.
    """

    aspect: str
    corpus: str
    arm: str
    protocol: Literal["published", "strict"] | None = None
    part: str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        _require("data.limit", _none_or_at_least(1, self.limit), "must be null or at least 1")


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """The adapter. ``target_modules`` None is peft's choice for the architecture.

    ``dora`` learns magnitude and direction apart (DoRA); ``rslora`` scales by α/√r, not α/r.
    """

    rank: int = 8
    alpha: float = 32.0
    dropout: float = 0.1
    target_modules: tuple[str, ...] | Literal["all-linear"] | None = None
    dora: bool = False
    rslora: bool = False

    def __post_init__(self) -> None:
        _require("lora.rank", self.rank >= 1, "must be at least 1")
        _require("lora.alpha", 0 < self.alpha < math.inf, "must be positive and finite")
        _require("lora.dropout", 0 <= self.dropout < 1, "must be at least 0 and below 1")
        _require("lora.target_modules", self.target_modules != (), "must name a module")


@dataclass(frozen=True, slots=True)
class OptimizationConfig:
    """How the adapter is fitted.

    Training ends after ``epochs`` or ``max_steps`` optimizer steps, whichever comes first; one of
    them may be None. ``batch_size`` counts sequences, and ``gradient_accumulation`` batches make
    one step; which pairs a step takes depends on their product alone, and several processes share
    them. Pairs of more than ``max_length`` tokens (None: more than the model has positions) are
    left out. Within a step, batches are of similarly long pairs. ``packing`` lays those of a batch
    end to end, each seeing itself alone: nothing is padded, and the same is learned. With
    ``group_by_length`` whole steps are of similarly long pairs, which is not the paper's plain
    shuffling. ``precision`` computes in a shorter type where that is safe;
    ``gradient_checkpointing`` needs less memory and a third more time, ``compile`` minutes at first
    and less time afterwards. ``threads`` are those of the CPU: sums, and so adapters, differ in
    their last digits with the number. What is done is kept after every ``save_steps`` steps, and
    after every epoch, for a run that was cut off to go on from.
    """

    learning_rate: float = 1e-4
    batch_size: int = 6
    gradient_accumulation: int = 1
    epochs: int | None = 10
    max_steps: int | None = None
    max_length: int | None = None
    packing: bool = False
    group_by_length: bool = False
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    gradient_checkpointing: bool = False
    compile: bool = False
    threads: int = 1
    save_steps: int | None = 100
    seed: int = 0

    def __post_init__(self) -> None:
        key = "optimization.{}".format
        rate = 0 < self.learning_rate < math.inf
        _require(key("learning_rate"), rate, "must be positive and finite")
        for name in ("batch_size", "gradient_accumulation", "threads"):
            _require(key(name), getattr(self, name) >= 1, "must be at least 1")
        for name in ("epochs", "max_steps", "max_length", "save_steps"):
            valid = _none_or_at_least(1, getattr(self, name))
            _require(key(name), valid, "must be null or at least 1")
        endless = self.epochs is None and self.max_steps is None
        _require(key("epochs"), not endless, "and optimization.max_steps must not both be null")
        _require(key("seed"), 0 <= self.seed < 2**32, "must be at least 0 and below 2**32")


@dataclass(frozen=True, slots=True)
class SelectionConfig:
    """Which epoch's adapter is kept.

    ``policy`` ``dev-best`` is the epoch whose outputs for a development set have the highest score
    of ``metric``. The set is ``samples`` of the corpus that neither arm holds and nothing tests,
    drawn with ``seed``: the same for every arm, model and training seed. ``dev-split`` holds as
    many out of the arms themselves, at most a fifth, and does not train on them; that is for order
    invariance and rule learnability, whose arms tell the same. ``test-best``, the paper's
    (Appendix A), takes the test set instead, that of performance in these two aspects. ``last``
    evaluates nothing. Outputs are made with ``beams`` beams, 1 being greedy, in batches of
    ``batch_size``.
    """

    policy: Literal["dev-best", "dev-split", "test-best", "last"] = "dev-best"
    metric: Literal["parent", "chrf"] = "parent"
    samples: int = 500
    seed: int = 0
    beams: int = 1
    batch_size: int = 32

    def __post_init__(self) -> None:
        for name in ("samples", "beams", "batch_size"):
            _require(f"selection.{name}", getattr(self, name) >= 1, "must be at least 1")


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """One run: which base, on what, how, and the folder that the adapter is saved in.

    A relative ``output`` starts at the working directory. ``overwrite`` allows replacing an adapter
    that is there. ``report_to`` names a service or program that is told losses and scores.
    """

    model: ModelConfig
    data: DataConfig
    output: Path
    lora: LoraConfig = field(default_factory=LoraConfig)
    optimization: OptimizationConfig = field(default_factory=OptimizationConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    report_to: Literal["tensorboard", "trackio", "wandb"] | None = None
    overwrite: bool = False


def load(path: Path, overrides: Iterable[str] = ()) -> TrainingConfig:
    """Read a YAML file, then ``key=value`` settings with dotted keys, such as ``lora.rank=4``.

    Raises:
        ConfigError: the file cannot be read, a key is unknown, missing or written twice, or a value
            has the wrong type or is out of range; the error names the key and where it stands.
    """
    return parse(read_text(path), overrides, where=str(path))


def parse(text: str, overrides: Iterable[str] = (), *, where: str = "config") -> TrainingConfig:
    """Do what :func:`load` does with the text of a file; ``where`` is what errors call it."""
    return typed.read(TrainingConfig, typed.read_yaml(text, where), where, overrides=overrides)


def to_dict(config: TrainingConfig) -> dict[str, Any]:
    """Return the settings as JSON and YAML can hold them, in the shape of a config file."""
    return typed.to_dict(config)


def shared_settings(config: TrainingConfig) -> dict[str, Any]:
    """Return the settings that runs must have in common to be runs of one system, with other seeds.

    That is everything that can change what is learned, but for the seed and the arm. The base and
    the training set are known by their digests rather than by their names.
    """
    settings = to_dict(config)
    for key in ("output", "overwrite", "report_to"):
        del settings[key]
    for key in ("path", "revision", "architecture"):
        del settings["model"][key]
    for key in ("seed", "save_steps"):
        del settings["optimization"][key]
    settings["data"] = {"limit": settings["data"]["limit"]}
    return settings


def settings_sha256(settings: Mapping[str, Any]) -> str:
    """Return a digest of settings, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def dump(config: TrainingConfig) -> str:
    """Return the settings as a config file that :func:`parse` reads back equal."""
    return typed.dump(config)


def known_keys() -> tuple[str, ...]:
    """Return every dotted key, in the order of the classes above."""
    return tuple(key for key, _ in typed.leaves(TrainingConfig))


def _require(key: str, valid: bool, rule: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not valid:
        raise ConfigError(f"{key} {rule}")


def _none_or_at_least(least: int, value: int | None) -> bool:
    return value is None or value >= least
