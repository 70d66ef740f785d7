"""The settings of a training run, and how they are read.

Defaults are the paper's (section 2.2 and Appendix A: LoRA r 8, α 32, dropout 0.1; Adam at a
constant 1e-4; batches of 6; 10 epochs). A file leaves out keys whose defaults it takes.
"""

import re
from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import FileContent, is_folder, read_text
from spor_tasks.core.folders import recover
from training import shipped
from training.registry import OBJECTIVES
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

PAPER_LORA: FileContent = {"r": 8, "lora_alpha": 32, "lora_dropout": 0.1, "target_modules": None}

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True, config=CLOSED)
class ModelConfig:
    """The base model."""

    path: Annotated[NotEmpty, AfterValidator(shipped.find)]
    """A checkpoint folder, also a shipped one, or a hub id."""
    revision: str | None = None
    """A branch, tag or commit of a hub id."""
    dtype: Dtype = "float32"
    """The type of the frozen weights, ``auto`` that in which they were saved. LoRA's own are
    float32."""
    quantization: Literal["nf4"] | None = None
    """``nf4`` holds the frozen weights in four bits (QLoRA), with bitsandbytes."""

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of lm-eval's models that load it, except its type."""
        others = {"revision": self.revision, "quantization": self.quantization}
        return {"pretrained": self.path, **{key: value for key, value in others.items() if value}}


@dataclass(frozen=True, slots=True, config=CLOSED)
class DataConfig:
    """The training set: one arm of one split, with one training pair for each reference."""

    aspect: str
    corpus: str
    """The name of one, or a file of your own, from which the sets are built as ``spor data build``
    builds them, with its ``seed``, ``restarts``, ``hide`` and ``lang``."""
    arm: str
    protocol: str | None = None
    """None is the default of the split."""
    part: str | None = None
    """None is the first of an aspect that has several, such as n3 of productivity."""
    limit: Count | None = None
    """The most pairs to keep, drawn with the training's seed."""
    seed: int | None = None
    restarts: Count | None = None
    hide: tuple[str, ...] = ()
    sets: str | None = None
    """The folder into which ``spor data build`` wrote the sets of a corpus of your own."""
    lang: str | None = None
    """The language that is read of texts in several."""


@dataclass(frozen=True, slots=True, config=CLOSED)
class OptimizationConfig:
    """How the adapter is fitted.

    Training ends after ``epochs`` or ``max_steps`` optimizer steps, whichever comes first; one of
    them may be None. Within a step, batches are of similarly long pairs.
    """

    learning_rate: Positive = 1e-4
    batch_size: Count = 6
    """Sequences of a batch."""
    gradient_accumulation: Count = 1
    """Batches of a step. The pairs that it takes depend on the product with ``batch_size`` alone,
    and several processes share them."""
    epochs: Count | None = 10
    max_steps: Count | None = None
    max_length: Count | None = None
    """Pairs of more tokens are left out; None is as many as the model has positions."""
    packing: bool = False
    """The pairs of a batch are laid end to end, each seeing itself alone: nothing is padded, and
    the same is learned."""
    cuda_graphs: bool = False
    """A GPU repeats batches of a shape as a whole (:mod:`training.graphs`)."""
    group_by_length: bool = False
    """Whole steps are of similarly long pairs, which is not the paper's plain shuffling."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """The type to compute in where a shorter one is safe."""
    threads: Threads = 1
    """Threads of the CPU; sums, and so adapters, differ in their last digits with the number."""
    save_steps: Count | None = 100
    """The state is saved after so many steps and after every epoch, so that an interrupted
    training can continue."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    cut: Literal["none", "right"] = "none"
    """``right`` cuts the end of the table from prompts that are too long, as an evaluation does."""
    schedule: Literal["constant", "linear"] = "constant"
    """After the warm-up the rate stays, or falls linearly to be 0 after the last step."""
    warmup: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The share of the steps over which the rate rises linearly from 0."""
    optimizer: Literal["torch", "transformers"] = "torch"
    """Whose AdamW (:mod:`training.optimizers`)."""
    weight_decay: NotNegative = 0.0
    """AdamW's, of all weights but biases and norms."""
    decay_norms: bool = False
    """Weights of norms decay too."""
    clip_norm: Positive | None = None
    """The largest norm of a step's gradient."""

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
    """The choice of the epoch whose weights are saved: the one with the best outputs."""

    policy: Literal["dev-best", "dev-split", "test-best", "last"] = "dev-best"
    """The samples that judge. ``dev-best`` has samples of the corpus that neither arm holds and
    nothing tests, the same for every arm, model and training seed. ``dev-split`` holds some out of
    the arms themselves, at most a fifth, and does not train on them; order invariance and rule
    learnability need it, as their arms have equal content. ``test-best``, the paper's (Appendix
    A), takes the test set, that of performance in these two aspects. ``last`` judges nothing."""
    metric: str = "parent"
    """The score that is compared, one of those that the sets report."""
    samples: Count = 500
    """The number of samples that judge, drawn with ``seed``."""
    seed: int = 0
    beams: Count = 1
    """The number of beams of outputs, 1 being greedy."""
    batch_size: Count = 32


@dataclass(frozen=True, slots=True, config=CLOSED)
class TrainingConfig:
    """One training: the base, the training set, the method, and the folder of the weights."""

    model: ModelConfig
    data: DataConfig
    output: Path = Path()
    """A relative one starts at the working directory; by default it is a folder in ``runs`` with
    the names of file, training set and seed."""
    method: Literal["lora", "full", "codes"] = "lora"
    """``lora`` trains an adapter, ``full`` all weights of the base, which are saved as a
    checkpoint, and ``codes`` the vectors of values of ``dcg`` and ``contrastive_prefix``."""
    lora: FileContent = field(default_factory=dict)
    """Arguments of :class:`peft.LoraConfig`; those left out are the paper's, then peft's."""
    objective: str = "likelihood"
    """The loss to minimize, one of :mod:`training.objectives`."""
    objective_settings: FileContent = field(default_factory=dict)
    optimization: OptimizationConfig = field(default_factory=OptimizationConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    overwrite: bool = False
    """An existing adapter may be replaced."""

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
            resolved = read_settings(kind, own, "objective_settings")
            object.__setattr__(self, "objective_settings", to_dict(resolved))

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
    return replace(config, output=Path("runs", path.stem, "-".join(name for name in names if name)))


def parse_config(
    text: str, overrides: Iterable[str] = (), *, where: str = "config"
) -> TrainingConfig:
    """Return the settings of a text like a file's; ``where`` is its name in errors."""
    return read_settings(TrainingConfig, read_yaml(text, where), where, overrides)
