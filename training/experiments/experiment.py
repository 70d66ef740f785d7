"""Experiments: which models are tuned on which sets and evaluated how, and the cells that makes.

A file is read as strictly as that of a training. :func:`expand` is a pure function of it: no model,
no corpus and no result is looked at.
"""

import fnmatch
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import StrictBool, StrictInt
from pydantic.dataclasses import dataclass

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_text
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PromptStyle
from training.config import TrainingConfig, parse_config
from training.settings import CLOSED, COMMAND_LINE, Count, NotEmpty, read_settings, read_yaml

_NAME = re.compile(r"\w[\w.-]*")

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True, config=CLOSED)
class ModelEntry:
    """A base model to tune: a file like those in configs/models, and what goes before it.

    ``overrides`` are written as on the command line, ``key=value``. Without a file they say it all,
    ``model.path`` first.
    """

    name: str
    config: Annotated[Path, NotEmpty] | None = None
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=CLOSED)
class SetsEntry:
    """Sets of one aspect on some corpora.

    What is left out is: of protocols the default one, of parts every one, where the sets have any,
    of arms both. ``tasks`` may name others to evaluate than the sets' own, as ``--tasks`` does.
    """

    aspect: str
    corpora: tuple[str, ...]
    protocols: tuple[Literal["published", "strict"], ...] = ()
    parts: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, config=CLOSED)
class EvaluationConfig:
    """How tasks are evaluated.

    ``model`` is lm-eval's kind of model; ``beam5``, the paper's decoding, needs spor-hf. ``dtype``
    and ``threads`` (of the CPU) None are those of the training, ``device`` None is the choice of
    lm-eval; ``limit`` takes that many samples of each task: what comes of it is not a result.
    """

    model: Literal["spor-hf", "hf"] = "spor-hf"
    decoding: Literal["greedy", "beam5"] = "greedy"
    batch_size: Count = 16
    dtype: Dtype | None = None
    device: str | None = None
    threads: Count | None = None
    limit: Count | None = None

    def __post_init__(self) -> None:
        if self.decoding == "beam5" and self.model != "spor-hf":
            raise ConfigError(
                f"evaluation.decoding beam5 needs evaluation.model spor-hf, not {self.model}"
            )

    @property
    def task_suffix(self) -> str | None:
        """What the names of tasks that decode so end in."""
        return None if self.decoding == "greedy" else self.decoding


@dataclass(frozen=True, slots=True, config=CLOSED)
class ShownModel:
    """A checkpoint that is shown demonstrations: a folder or a hub id."""

    name: str
    path: str
    revision: str | None = None
    dtype: Dtype = "auto"


@dataclass(frozen=True, slots=True, config=CLOSED)
class InContextConfig:
    """Cells without training: checkpoints that are shown demonstrations of one arm or the other.

    ``models`` may be bare hub ids or folders; without ``sets`` those of the experiment are taken
    that have such tasks. ``shots`` is the most that a prompt shows, None the tasks' own number;
    ``chat_template`` writes prompts as chats, for instruct models.
    """

    models: tuple[str | ShownModel, ...] = ()
    sets: tuple[SetsEntry, ...] = ()
    shots: StrictInt | None = None
    prompt_style: PromptStyle | None = None
    chat_template: StrictBool = False


@dataclass(frozen=True, slots=True, config=CLOSED)
class Experiment:
    """What an experiment file holds.

    Every model is tuned on each arm of each of the ``sets`` with each seed, and evaluated on the
    sets' tasks; with ``untuned`` the base as well. ``overrides`` go before the settings of all
    model files, the paths of which start at the experiment's own. ``output`` is by default
    ``runs/<name>``. ``processes`` is how many a cell is shared by, one for each GPU; ``slurm`` is
    for submitit's executor: ``timeout_min``, ``gpus_per_node``, ``slurm_partition`` and so on.
    """

    name: str
    sets: tuple[SetsEntry, ...] = ()
    models: tuple[str | ModelEntry, ...] = ()
    seeds: tuple[StrictInt, ...] = (0,)
    overrides: tuple[str, ...] = ()
    untuned: StrictBool = True
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    in_context: InContextConfig = field(default_factory=InContextConfig)
    processes: Count = 1
    output: Annotated[Path, NotEmpty] | None = None
    slurm: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.models or self.in_context.models):
            raise ConfigError("names neither models nor in_context.models: there is nothing to do")

    @property
    def folder(self) -> Path:
        """Where everything is kept."""
        return self.output or Path("runs") / self.name

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """The models to tune; one that is given by its file alone has the file's name."""
        return tuple(
            ModelEntry(Path(model).stem, Path(model)) if isinstance(model, str) else model
            for model in self.models
        )

    @property
    def shown_models(self) -> tuple[ShownModel, ...]:
        """The models that are shown demonstrations; a bare path's last part is its name."""
        return tuple(
            ShownModel(Path(model).name, model) if isinstance(model, str) else model
            for model in self.in_context.models
        )


class Cell(NamedTuple):
    """One training with its evaluations, or evaluations alone.

    ``sets`` are those whose arms are trained on or shown; aspects that share an arm share the
    cell. Without ``seed`` nothing is trained: the base is shown ``arm``, or without it nothing.
    """

    model: str
    sets: SetName
    arm: str | None
    seed: int | None
    tasks: tuple[str, ...]

    @property
    def name(self) -> str:
        """The cell's path below the experiment's folder."""
        last = (
            f"{self.arm}-{self.seed}"
            if self.seed is not None
            else f"shown-{self.arm}"
            if self.arm
            else "untuned"
        )
        return f"{self.model}/{'-'.join(filter(None, self.sets))}/{last}"


def load_experiment(path: Path, overrides: Iterable[str] = ()) -> Experiment:
    """Read an experiment file, and check that all that it names exists except the weights.

    ``overrides`` go before the file: ``key=value`` with a key of the experiment, such as
    ``seeds=[0]`` or ``evaluation.limit=50``, or else of every training, such as ``lora.rank=4``.

    Raises:
        ConfigError: the file, or that of a model, cannot be read, has an unknown key or a wrong
            value, or names sets or arms that do not exist.
    """
    document = read_yaml(read_text(path), str(path))
    own_keys = {entry.name for entry in fields(Experiment)}
    own: list[str] = []
    others: list[str] = []
    for override in overrides:
        section = override.partition("=")[0].partition(".")[0]
        (own if section in own_keys else others).append(override)
    found = read_settings(Experiment, document, str(path), own)
    models = tuple(
        replace(
            entry,
            config=entry.config and path.parent / entry.config,
            overrides=(*entry.overrides, *others),
        )
        for entry in found.entries
    )
    found = replace(found, models=models)
    try:
        for cell in expand(found):
            if cell.seed is not None:
                training_config(found, cell)
    except ConfigError as error:
        if error.where not in {None, COMMAND_LINE}:
            raise
        raise ConfigError(error.what, where=path, remedy=error.remedy) from error
    return found


def expand(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the cells in the order of work: model by model, all sets with one seed first.

    Raises:
        ConfigError: there are no such sets or arms, or two models have one name.
    """
    _check_names(
        [entry.name for entry in experiment.entries]
        + [model.name for model in experiment.shown_models]
    )
    wanted = _tasks_by_arm(experiment.sets, experiment.evaluation.task_suffix)
    cells = [
        Cell(entry.name, sets, arm, seed, tuple(names))
        for entry in experiment.entries
        for seed in (*experiment.seeds, *((None,) if experiment.untuned else ()))
        for sets, arms in wanted.items()
        for arm, names in arms.items()
        if (arm is None) == (seed is None)
    ]
    return tuple(dict.fromkeys([*cells, *_shown_cells(experiment)]))


def choose(cells: Sequence[Cell], patterns: Iterable[str]) -> tuple[Cell, ...]:
    """Return the cells whose name holds one of the patterns, in which `*` stands for anything.

    Raises:
        ConfigError: a pattern fits no cell.
    """
    patterns = tuple(patterns)
    for pattern in patterns:
        if not any(_fits(cell, pattern) for cell in cells):
            raise ConfigError(
                f"no cell is called {pattern!r}",
                where="--only",
                remedy=f"--dry-run lists them; the first is {cells[0].name}.",
            )
    return tuple(
        cell for cell in cells if not patterns or any(_fits(cell, some) for some in patterns)
    )


def training_config(experiment: Experiment, cell: Cell) -> TrainingConfig:
    """Return the settings of the cell's training; a cell without one has those of an arm's.

    Raises:
        ConfigError: the model's file or an override is wrong.
    """
    (entry,) = (entry for entry in experiment.entries if entry.name == cell.model)
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


def _fits(cell: Cell, pattern: str) -> bool:
    return fnmatch.fnmatchcase(cell.name, f"*{pattern}*")


def _check_names(names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"the model name {name!r} cannot be the name of a folder",
                remedy="Use letters, digits, `.`, `_` and `-`.",
            )
        if name in names[:number]:
            raise ConfigError(
                f"two models are called {name}", remedy="Give one of them another `name`."
            )


_TasksByArm: TypeAlias = dict[SetName, dict[str | None, dict[str, None]]]


def _tasks_by_arm(entries: Iterable[SetsEntry], decoding: str | None) -> _TasksByArm:
    """Return the tasks for each arm of the sets that are trained on, and for None, the base."""
    found: _TasksByArm = defaultdict(lambda: defaultdict(dict))
    for entry in entries:
        tasks = _named_tasks(entry)
        for spec in _specs(entry):
            for arm in (None, *_arms(entry, spec)):
                own = tasks or (spec.task_name(decoding=decoding),)
                found[spec.trained_on][arm] |= dict.fromkeys(own)
    return found


def _named_tasks(entry: SetsEntry) -> tuple[str, ...]:
    for name in entry.tasks:
        if not task_files.expand([name]):
            raise ConfigError(
                f"there is no task {name!r}", remedy="`spor tasks list` names those there are."
            )
    return tuple(file.name for file in task_files.expand(entry.tasks)) if entry.tasks else ()


def _specs(entry: SetsEntry) -> Iterator[SetSpec]:
    """Yield what is known of the sets of an entry.

    Raises:
        ConfigError: there are none of some corpus, protocol or part.
    """
    for corpus in entry.corpora:
        of_corpus = [spec for spec in named.available() if spec.name[:2] == (entry.aspect, corpus)]
        if not of_corpus:
            raise _unknown(entry.aspect, corpus)
        for protocol in entry.protocols or (of_corpus[0].name.protocol,):
            parts = {spec.name.part: spec for spec in of_corpus if spec.name.protocol == protocol}
            whole = (None,) if None in parts else tuple(parts)
            for part in entry.parts or whole or (None,):
                if part not in parts:
                    raise _unknown(entry.aspect, corpus, protocol, part)
                yield parts[part]


def _unknown(*asked: str | None) -> ConfigError:
    return ConfigError(
        f"there are no sets {' '.join(filter(None, asked))!r}",
        remedy=f"There are {', '.join(str(spec.name) for spec in named.available())}.",
    )


def _arms(entry: SetsEntry, spec: SetSpec) -> tuple[str, ...]:
    for arm in entry.arms:
        if arm not in spec.arms:
            raise ConfigError(
                f"{entry.aspect} has no arm {arm!r}",
                remedy=f"Its arms are {' and '.join(spec.arms)}.",
            )
    return entry.arms or spec.arms


def _shown_cells(experiment: Experiment) -> Iterator[Cell]:
    """Yield the cells of checkpoints that are shown demonstrations.

    Raises:
        ConfigError: sets that are asked for have no such tasks.
    """
    for model in experiment.shown_models:
        for entry in experiment.in_context.sets or experiment.sets:
            for spec in _specs(entry):
                for arm in _arms(entry, spec):
                    task = spec.task_name(arm)
                    if task in _known_tasks():
                        yield Cell(model.name, spec.name, arm, None, (task,))
                    elif experiment.in_context.sets:
                        raise ConfigError(f"in_context.sets: there is no task {task}")


@cache
def _known_tasks() -> frozenset[str]:
    return frozenset(file.name for file in task_files.files())
