"""Experiments: which models are tuned on which sets, how they are evaluated, and the cells of that.

A file is read as strictly as a training config. :func:`expand` is a pure function of it: it reads
no model, no corpus and no result.
"""

import fnmatch
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.files import read_text
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PromptStyle
from training.config import TrainingConfig, parse_config
from training.settings import CLOSED, Count, read_settings, read_yaml

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]


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
    task: such scores are not results.
    """

    decoding: Literal["greedy", "beam4", "beam5"] = "greedy"
    batch_size: Count = 16
    dtype: Dtype | None = None
    device: str | None = None
    threads: Count | None = None
    limit: Count | None = None


@dataclass(frozen=True, slots=True, config=CLOSED)
class ShownModel:
    """A checkpoint that is shown demonstrations: a folder or a hub id."""

    name: _FolderName
    path: str
    revision: str | None = None
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


class Cell(NamedTuple):
    """One training with its evaluations, or evaluations alone.

    A ``tuned`` cell trains on ``arm`` of ``sets`` with ``seed``; aspects that share an arm share
    the cell. An ``untuned`` one evaluates the base, and has neither arm nor seed. In a ``shown``
    one a checkpoint reads demonstrations of ``arm``.
    """

    kind: Literal["tuned", "untuned", "shown"]
    model: str
    sets: SetName
    arm: str | None
    seed: int | None
    tasks: tuple[str, ...]

    @property
    def name(self) -> str:
        """The cell's path below the experiment's folder."""
        lasts = {"tuned": f"{self.arm}-{self.seed}", "shown": f"shown-{self.arm}"}
        sets = "-".join(filter(None, self.sets))
        return f"{self.model}/{sets}/{lasts.get(self.kind, self.kind)}"


def load_experiment(path: Path, overrides: Iterable[str] = ()) -> Experiment:
    """Return the experiment of a file; everything that it names exists, except the weights.

    ``overrides`` override the file: ``key=value`` with a key of the experiment, such as
    ``seeds=[0]`` or ``evaluation.limit=50``, or else of every training, such as ``lora.r=4``.

    Raises:
        ConfigError: the file, or that of a model, cannot be read, has an unknown key or a wrong
            value, or names sets or arms that do not exist.
    """
    own_keys = {entry.name for entry in fields(Experiment)}
    by_kind: dict[bool, list[str]] = {True: [], False: []}
    for override in overrides:
        by_kind[re.split("[.=]", override)[0] in own_keys].append(override)
    document = read_yaml(read_text(path), str(path))
    experiment = read_settings(Experiment, document, str(path), by_kind[True])
    models = tuple(
        replace(
            entry,
            config=entry.config and path.parent / entry.config,
            overrides=(*entry.overrides, *by_kind[False]),
        )
        for entry in experiment.models
    )
    experiment = replace(experiment, models=models)
    try:
        for cell in expand(experiment):
            if cell.kind == "tuned":
                training_config(experiment, cell)
    except SporError as error:
        if error.where is not None:
            raise
        raise ConfigError(error.what, where=path, remedy=error.remedy) from error
    return experiment


def expand(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the cells in the order of work: model by model, all sets with one seed first.

    Raises:
        ConfigError: there are no such arms or tasks.
        SplitError: there are no such sets.
    """
    tasks: dict[Cell, dict[str, None]] = {}
    for cell in itertools.chain(_trained_cells(experiment), _shown_cells(experiment)):
        tasks.setdefault(cell._replace(tasks=()), {}).update(dict.fromkeys(cell.tasks))
    return tuple(cell._replace(tasks=tuple(names)) for cell, names in tasks.items())


def choose(cells: Sequence[Cell], patterns: Sequence[str]) -> tuple[Cell, ...]:
    """Return the cells whose names hold one of the patterns, where `*` stands for anything.

    Without a pattern, return all.

    Raises:
        ConfigError: no cell has a name with one of the patterns.
    """
    chosen: set[Cell] = set()
    for pattern in patterns:
        fitting = {cell for cell in cells if fnmatch.fnmatchcase(cell.name, f"*{pattern}*")}
        if not fitting:
            raise ConfigError(
                f"no cell has {pattern!r} in its name",
                where="--only",
                remedy=f"--dry-run lists the cells; the first is {cells[0].name}.",
            )
        chosen |= fitting
    return tuple(cell for cell in cells if cell in chosen or not patterns)


def training_config(experiment: Experiment, cell: Cell) -> TrainingConfig:
    """Return the settings of the cell's training, or of a cell without one those for its first arm.

    Raises:
        ConfigError: the model's file or an override is wrong.
    """
    (entry,) = (entry for entry in experiment.models if entry.name == cell.model)
    sets = cell.sets._asdict() | {"arm": cell.arm or named.find(*cell.sets).arms[0]}
    cells_own = [f"data.{name}={json.dumps(value)}" for name, value in sets.items()]
    output = experiment.folder / cell.name / "adapter"
    return parse_config(
        read_text(entry.config) if entry.config else "{}",
        (
            *experiment.overrides,
            *entry.overrides,
            *cells_own,
            f"optimization.seed={cell.seed or 0}",
            f"output={json.dumps(str(output))}",
        ),
        where=str(entry.config or "models"),
    )


def _trained_cells(experiment: Experiment) -> Iterator[Cell]:
    """Yield a cell of each model, seed, sets and arm, and of each untuned model and sets."""
    decoding = experiment.evaluation.decoding
    sets: list[tuple[SetSpec, tuple[str, ...], tuple[str, ...]]] = []
    for entry in experiment.sets:
        tasks = _named_tasks(entry)
        for spec in _specs(entry):
            own = spec.task_name(decoding=decoding if decoding in spec.decodings else None)
            sets.append((spec, _arms(entry, spec), tasks or (own,)))
    untuned = (None,) if experiment.untuned else ()
    for model, seed in itertools.product(experiment.models, (*experiment.seeds, *untuned)):
        for spec, arms, tasks in sets:
            if seed is None:
                whole = spec.split_of or spec.trained_on
                yield Cell("untuned", model.name, whole, None, None, tasks)
            else:
                for arm in arms:
                    yield Cell("tuned", model.name, spec.trained_on, arm, seed, tasks)


def _shown_cells(experiment: Experiment) -> Iterator[Cell]:
    """Yield the cells of checkpoints that read demonstrations.

    Raises:
        ConfigError: sets of `in_context.sets` have no such tasks.
    """
    settings, available = experiment.in_context, set(task_files.names())
    for model, entry in itertools.product(settings.models, settings.sets or experiment.sets):
        for spec in _specs(entry):
            for arm in _arms(entry, spec):
                task = spec.task if spec.split_of else spec.task_name(arm)
                if task in available:
                    yield Cell("shown", model.name, spec.name, arm, None, (task,))
                elif settings.sets:
                    raise ConfigError(
                        f"in_context.sets needs the task {task}, which does not exist",
                        remedy="`spor tasks list` lists all tasks.",
                    )


def _named_tasks(entry: SetsEntry) -> tuple[str, ...]:
    for name in entry.tasks:
        if not task_files.expand([name]):
            raise ConfigError(
                f"no task is called {name!r}", remedy="`spor tasks list` lists all tasks."
            )
    return tuple(file.name for file in task_files.expand(entry.tasks)) if entry.tasks else ()


def _specs(entry: SetsEntry) -> Iterator[SetSpec]:
    """Yield the declarations of the sets of an entry.

    Raises:
        SplitError: there are none of some corpus, protocol or part.
    """
    for corpus in entry.corpora:
        for protocol in entry.protocols or (named.find(entry.aspect, corpus).name.protocol,):
            kind = (entry.aspect, corpus, protocol)
            specs = [spec for spec in named.available() if spec.name[:3] == kind]
            parts = [part for spec in specs for part in spec.splits or (spec.name.part,)]
            whole = [None] if None in parts or not parts else parts
            for part in entry.parts or whole:
                yield named.find(*kind, part)


def _arms(entry: SetsEntry, spec: SetSpec) -> tuple[str, ...]:
    for arm in entry.arms:
        if arm not in spec.arms:
            raise ConfigError(
                f"{entry.aspect} has no arm {arm!r}",
                remedy=f"Its arms are {' and '.join(spec.arms)}.",
            )
    return entry.arms or spec.arms
