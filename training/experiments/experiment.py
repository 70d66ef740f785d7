"""Experiment files: which models are tuned on which sets, and how they are evaluated.

A file is read as strictly as a training config.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.prompts.styles import PromptStyle
from training.config import Dtype, ModelConfig
from training.settings import CLOSED, Count


def _file_alone(value: object) -> object:
    """Give a model file without a name the name of the file."""
    return {"name": Path(value).stem, "config": value} if isinstance(value, str) else value


def _path_alone(value: object) -> object:
    """Give a checkpoint without a name the last part of its path."""
    return {"name": Path(value).name, "path": value} if isinstance(value, str) else value


_FolderName: TypeAlias = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]


@dataclass(frozen=True, slots=True, config=CLOSED)
class ModelEntry:
    """A base model to tune: a file like those in configs/models, and settings that override it.

    ``overrides`` are written as on the command line, ``key=value``. Without a file they must hold
    at least ``model.path``.
    """

    name: _FolderName
    config: Path | None = None
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=CLOSED)
class SetsEntry:
    """Sets of one aspect on some corpora.

    The defaults are the default protocol, every part and every arm. Of "twin" the arms are those of
    the sets without twins. ``tasks`` names the tasks to evaluate, as ``--tasks`` does; the default
    is the sets' own.
    """

    aspect: str
    corpora: tuple[str, ...]
    protocols: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=CLOSED)
class EvaluationConfig:
    """How tasks are evaluated.

    ``beam5`` and ``beam4`` are the decodings of the SPOR and ToTTo papers; where sets have no such
    tasks, their own are taken. ``dtype`` and ``threads`` (of the CPU) are by default those of the
    training, and ``device`` is lm-eval's choice. ``limit`` evaluates only that many samples of each
    task, evenly spaced: such scores are no results on the test set.
    """

    decoding: Literal["greedy", "beam4", "beam5"] = "greedy"
    batch_size: Count = 16
    dtype: Dtype | None = None
    device: str | None = None
    threads: Count | None = None
    limit: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=CLOSED)
class ShownModel(ModelConfig):
    """A checkpoint that is shown demonstrations."""

    name: _FolderName
    dtype: Dtype = "auto"


@dataclass(frozen=True, slots=True, config=CLOSED)
class InContextConfig:
    """Cells without training: checkpoints that are shown demonstrations of one arm or the other.

    ``models`` may be bare hub ids or folders. Without ``sets``, those of the experiment that have
    such tasks are taken. ``shots`` is the most demonstrations that a prompt shows, by default the
    tasks' own number; ``chat_template`` writes prompts as chats, for instruct models.
    """

    models: tuple[Annotated[ShownModel, BeforeValidator(_path_alone)], ...] = ()
    sets: tuple[SetsEntry, ...] = ()
    shots: int | None = None
    prompt_style: PromptStyle | None = None
    chat_template: bool = False


@dataclass(frozen=True, slots=True, config=CLOSED)
class Experiment:
    """The content of an experiment file.

    Every model is tuned on each arm of each of the ``sets`` with each seed, and evaluated on the
    sets' tasks; with ``untuned`` the base is evaluated too. ``models`` may be bare paths of model
    files, relative to the experiment's own; ``overrides`` override their settings. ``output`` is by
    default ``runs/<name>``. ``slurm`` is for submitit: ``timeout_min``, ``gpus_per_node``,
    ``slurm_partition`` and so on.
    """

    name: str
    sets: tuple[SetsEntry, ...] = ()
    models: tuple[Annotated[ModelEntry, BeforeValidator(_file_alone)], ...] = ()
    seeds: tuple[int, ...] = (0,)
    overrides: tuple[str, ...] = ()
    untuned: bool = True
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    in_context: InContextConfig = field(default_factory=InContextConfig)
    output: Path | None = None
    slurm: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.models or self.in_context.models):
            raise ConfigError(
                "names neither models nor in_context.models, so there is nothing to do",
                remedy="Add models: [FILE] with a file like those in configs/models.",
            )
        names = [model.name for model in self.models]
        names += [model.name for model in self.in_context.models]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ConfigError(
                f"two models have the name {twice[0]}", remedy="Give one of them another `name`."
            )

    @property
    def folder(self) -> Path:
        """Where everything is kept."""
        return self.output or Path("runs") / self.name
