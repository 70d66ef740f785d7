"""The settings of a training run, and how they are read.

Defaults are the paper's (section 2.2 and Appendix A: LoRA r 8, α 32, dropout 0.1; Adam at a
constant 1e-4; batches of 6; 10 epochs). A file leaves out keys whose defaults it takes.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_folder, read_text
from spor_tasks.core.folders import recover
from training import shipped
from training.objectives import OBJECTIVES
from training.settings import (
    CLOSED,
    Count,
    NotEmpty,
    NotNegative,
    Positive,
    Threads,
    read_settings,
    read_yaml,
    to_dict,
)

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")

PAPER_LORA: Mapping[str, Any] = {
    "r": 8,
    "lora_alpha": 32,
    "lora_dropout": 0.1,
    "target_modules": None,
}


Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True, config=CLOSED)
class ModelConfig:
    """The base model.

    ``path`` is a checkpoint folder, also a shipped one, or a hub id, ``revision`` a branch, tag or
    commit of the latter. ``dtype`` is that of the frozen weights, ``auto`` the one they were saved
    in; LoRA's own are float32.
    ``quantization`` ``nf4`` holds them in four bits (QLoRA), with bitsandbytes.
    """

    path: Annotated[NotEmpty, AfterValidator(shipped.find)]
    revision: str | None = None
    dtype: Dtype = "float32"
    quantization: Literal["nf4"] | None = None

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of lm-eval's models that load it, except its type."""
        arguments = {
            "pretrained": self.path,
            "revision": self.revision,
            "quantization": self.quantization,
        }
        return {key: value for key, value in arguments.items() if value}


@dataclass(frozen=True, slots=True, config=CLOSED)
class DataConfig:
    """The training set: one arm of one split, with one training pair for each reference.

    ``corpus`` is the name of one, or a JSON Lines file of your own, from which the sets are built
    as ``spor data build`` builds them, with its ``seed``, ``restarts`` and ``hide``; or as it wrote
    them into the folder ``sets``. ``protocol``
    None is the split's default, ``part`` None the first of an aspect that has several, such as n3
    of productivity. ``limit`` keeps at most that many pairs, drawn with the training's seed.
    """

    aspect: str
    corpus: str
    arm: str
    protocol: str | None = None
    part: str | None = None
    limit: Count | None = None
    seed: int | None = None
    restarts: Count | None = None
    hide: tuple[str, ...] = ()
    sets: str | None = None


@dataclass(frozen=True, slots=True, config=CLOSED)
class OptimizationConfig:
    """How the adapter is fitted.

    Training ends after ``epochs`` or ``max_steps`` optimizer steps, whichever comes first; one of
    them may be None. ``batch_size`` counts sequences, and ``gradient_accumulation`` batches make
    one step; which pairs a step takes depends on their product alone, and several processes share
    them. Pairs of more than ``max_length`` tokens (None: more than the model has positions) are
    left out; with ``cut`` ``right`` their prompts first lose the end of the table, as they do in
    an evaluation. Within a step, batches are of similarly long
    pairs. ``packing`` lays those of a batch end to end, each seeing itself alone: nothing is
    padded, and the same is learned. With ``cuda_graphs`` a GPU repeats batches of a shape as a
    whole (:mod:`training.graphs`). With ``group_by_length`` whole steps are of similarly long
    pairs, which is not the paper's plain shuffling. ``precision`` computes in a shorter type where
    that is safe. ``threads`` are those of the CPU: sums, and so adapters, differ in their last
    digits with the number. The state of a run is saved after every ``save_steps`` steps and after
    every epoch, so that an interrupted run can continue.

    The rate rises linearly from 0 over the share ``warmup`` of the steps, and then stays, or falls
    linearly with ``schedule`` ``linear``, to be 0 after the last step. ``clip_norm`` is the largest
    norm of a step's gradient. ``weight_decay`` is AdamW's, of all weights but biases and norms, or
    of norms too with ``decay_norms``; ``optimizer`` says whose AdamW (:mod:`training.optimizers`).
    """

    learning_rate: Positive = 1e-4
    batch_size: Count = 6
    gradient_accumulation: Count = 1
    epochs: Count | None = 10
    max_steps: Count | None = None
    max_length: Count | None = None
    packing: bool = False
    cuda_graphs: bool = False
    group_by_length: bool = False
    precision: Literal["float32", "bfloat16"] = "float32"
    threads: Threads = 1
    save_steps: Count | None = 100
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    cut: Literal["none", "right"] = "none"
    schedule: Literal["constant", "linear"] = "constant"
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.0
    optimizer: Literal["torch", "transformers"] = "torch"
    weight_decay: NotNegative = 0.0
    decay_norms: bool = False
    clip_norm: Positive | None = None

    def __post_init__(self) -> None:
        if self.epochs is None and self.max_steps is None:
            raise ConfigError(
                "optimization.epochs or optimization.max_steps must not be null",
                remedy="Set one of them, such as optimization.epochs=10.",
            )

    @property
    def mixed_precision(self) -> str | None:
        """The shorter type for computing, None for float32."""
        return None if self.precision == "float32" else self.precision


@dataclass(frozen=True, slots=True, config=CLOSED)
class SelectionConfig:
    """The choice of the epoch whose weights are saved.

    ``policy`` ``dev-best`` is the epoch whose outputs for a development set have the best score of
    ``metric``, one of those that the sets report. The set is ``samples`` of the corpus that neither
    arm holds and nothing tests, drawn with ``seed``: the same for every arm, model and training
    seed. ``dev-split`` holds as many out of the arms themselves, at most a fifth, and does not
    train on them; order invariance and rule learnability need it, as their arms have equal content.
    ``test-best``, the paper's (Appendix A), takes the test set instead, that of performance in
    these two aspects. ``last`` evaluates nothing. Outputs are made with ``beams`` beams, 1 being
    greedy, in batches of ``batch_size``.
    """

    policy: Literal["dev-best", "dev-split", "test-best", "last"] = "dev-best"
    metric: str = "parent"
    samples: Count = 500
    seed: int = 0
    beams: Count = 1
    batch_size: Count = 32


@dataclass(frozen=True, slots=True, config=CLOSED)
class TrainingConfig:
    """One run: the base, the training set, the method, and the folder of the weights.

    A relative ``output`` starts at the working directory; by default it is a folder in ``runs``
    with the names of file, training set and seed. ``method`` ``lora`` trains an adapter,
    ``full`` all weights of the base, which are saved as a checkpoint, and ``codes`` what makes
    vectors of values, which the objectives ``dcg`` and ``contrastive_prefix`` have. ``lora`` holds
    arguments of :class:`peft.LoraConfig`; those left out are the paper's, then peft's.
    ``objective``, one of :mod:`training.objectives`, is minimized, with ``objective_settings`` of
    its own. ``overwrite`` allows replacing an existing adapter.
    """

    model: ModelConfig
    data: DataConfig
    output: Path = Path()
    method: Literal["lora", "full", "codes"] = "lora"
    lora: Mapping[str, Any] = field(default_factory=dict)
    objective: str = "likelihood"
    objective_settings: Mapping[str, Any] = field(default_factory=dict)
    optimization: OptimizationConfig = field(default_factory=OptimizationConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.method == "full" and self.model.quantization:
            raise ConfigError(
                f"model.quantization={self.model.quantization} cannot be used with method=full: "
                "weights of so few bits cannot be trained",
                remedy="Set model.quantization=null, or method=lora.",
            )
        graphable = {
            "method=lora": self.method == "lora",
            "objective=likelihood": self.objective == "likelihood",
            "model.quantization=null": self.model.quantization is None,
            "optimization.packing=false": not self.optimization.packing,
        }
        missing = [setting for setting, is_so in graphable.items() if not is_so]
        if self.optimization.cuda_graphs and missing:
            raise ConfigError(
                f"optimization.cuda_graphs needs {' and '.join(missing)}",
                remedy="Set these, or optimization.cuda_graphs=false.",
            )
        object.__setattr__(self, "lora", {**PAPER_LORA, **self.lora})
        if self.objective != "likelihood" or self.objective_settings:
            kind, own = self._objective.settings, dict(self.objective_settings)
            resolved = to_dict(read_settings(kind, own, "objective_settings"))
            object.__setattr__(self, "objective_settings", resolved)

    @property
    def _objective(self) -> Any:
        return OBJECTIVES.get("objective", self.objective)

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of lm-eval's models that load the trained weights, except their type."""
        folder = str(self.output)
        if self.method == "full":
            return {"pretrained": folder}
        tokenizer = {"tokenizer": folder} if self.added_tokens else {}
        return self.model.arguments | {"peft": folder} | tokenizer

    @property
    def by_batch(self) -> bool:
        """True if the loss depends on the pairs that share a batch."""
        # likelihood is answered without torch, which takes seconds
        return self.objective != "likelihood" and bool(self._objective.by_batch)

    @property
    def added_tokens(self) -> tuple[str, ...]:
        """The tokens that the tokenizer must have, even if the base's lacks them."""
        return () if self.objective == "likelihood" else tuple(self._objective.tokens)


def check_path(model: ModelConfig) -> None:
    """Refuse a base that is neither a folder nor a hub id, before anything slow is imported.

    Raises:
        ConfigError: the folder does not exist.
    """
    recover(folder := Path(model.path))
    if not (is_folder(folder) or _HUB_ID.fullmatch(model.path)):
        raise ConfigError(
            "this folder does not exist",
            where=model.path,
            remedy="Set model.path to a folder with a checkpoint, or to a hub id.",
        )


def load_config(path: Path, overrides: Iterable[str] = ()) -> TrainingConfig:
    """Return the settings of a YAML file, overridden by ``key=value`` with dotted keys.

    Raises:
        ConfigError: the file cannot be read, a key is unknown, missing or written twice, or a value
            has the wrong type or is out of range.
    """
    config = parse_config(read_text(path), overrides, where=str(path))
    if config.output != Path():
        return config
    data, seed = config.data, config.optimization.seed
    names = (data.aspect, Path(data.corpus).stem, data.protocol, data.part, data.arm, str(seed))
    return replace(config, output=Path("runs", path.stem, "-".join(filter(None, names))))


def parse_config(
    text: str, overrides: Iterable[str] = (), *, where: str = "config"
) -> TrainingConfig:
    """Return the settings of a text like a file's; ``where`` is its name in errors."""
    return read_settings(TrainingConfig, read_yaml(text, where), where, overrides)
