"""The plan of an experiment: its cells, each with its training and its evaluations.

:func:`expand` reads the experiment and the files of its models, but no model, corpus or result.
"""

import fnmatch
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, fields, replace
from pathlib import Path

from pydantic.dataclasses import dataclass

from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.errors import ConfigError, SporError, advice
from spor_tasks.core.files import FileContent, read_text
from spor_tasks.core.sample import SetFacts
from spor_tasks.harness import task_files
from training.config import TrainingConfig, parse_config
from training.experiments.experiment import Experiment, SetsEntry
from training.settings import LISTS, names_of, read_settings, read_yaml


@dataclass(frozen=True, slots=True)
class Cell:
    """One training with its evaluations, or evaluations alone.

    ``name`` is its path below the experiment's folder, and ``folder`` the whole path. ``training``
    is None where nothing is trained. The ``tasks`` test ``sets``, or what shares their training.
    ``arguments``, ``metadata`` and ``options`` are those of an evaluation, and ``threads`` is its
    number of CPU threads.
    """

    name: str
    folder: Path
    sets: SetFacts
    tasks: tuple[str, ...]
    arguments: FileContent
    options: FileContent
    training: TrainingConfig | None = None
    metadata: FileContent = field(default_factory=dict)
    threads: int = 1


def load_experiment(path: Path, overrides: Iterable[str] = ()) -> Experiment:
    """Return the experiment of a file; everything that it names exists, except the weights.

    ``overrides`` override the file: ``key=value`` with a key of the experiment, such as
    ``seeds=[0]`` or ``evaluation.limit=50``, or else of every training, such as ``lora.r=4``.

    Raises:
        ConfigError: the file, or that of a model, cannot be read, has an unknown key or a wrong
            value, or names sets or arms that do not exist.
    """
    own_keys, of_training = (
        {each.name for each in fields(k)} for k in (Experiment, TrainingConfig)
    )
    by_kind: dict[bool, list[str]] = {True: [], False: []}
    for override in overrides:
        key = override.partition("=")[0]
        if (root := key.partition(".")[0]) not in own_keys | of_training:
            names = (*names_of(Experiment), *names_of(TrainingConfig))
            raise ConfigError(f"{key}: there is no such setting", remedy=advice(key, names, LISTS))
        by_kind[root in own_keys].append(override)
    document = read_yaml(read_text(path), str(path))
    experiment = read_settings(Experiment, document, str(path), by_kind[True])
    models = []
    for entry in experiment.models:
        config = entry.config and path.parent / entry.config
        own = (*entry.overrides, *by_kind[False])
        models.append(replace(entry, config=config, overrides=own))
    experiment = replace(experiment, models=tuple(models))
    try:
        expand(experiment)
    except SporError as error:
        if error.where is not None:
            raise
        raise ConfigError(error.what, where=path, remedy=error.remedy) from error
    return experiment


def expand(experiment: Experiment) -> tuple[Cell, ...]:
    """Return the cells in the order of work: model by model, all sets with one seed first.

    Aspects that share an arm share its cell.

    Raises:
        ConfigError: there are no such arms or tasks, or a model's file or an override is wrong.
        SplitError: there are no such sets.
    """
    cells: dict[str, Cell] = {}
    for cell in itertools.chain(_trained_cells(experiment), _shown_cells(experiment)):
        earlier = cells.get(cell.name, cell)
        tasks = dict.fromkeys((*earlier.tasks, *cell.tasks))
        cells[cell.name] = replace(earlier, tasks=tuple(tasks))
    return tuple(cells.values())


def choose(cells: Sequence[Cell], patterns: Sequence[str]) -> tuple[Cell, ...]:
    """Return the cells whose names hold one of the patterns, where `*` stands for anything.

    Without a pattern, return all.

    Raises:
        ConfigError: no cell has a name with one of the patterns.
    """
    chosen: set[str] = set()
    names = [cell.name for cell in cells]
    for pattern in patterns:
        fitting = fnmatch.filter(names, f"*{pattern}*")
        if not fitting:
            raise ConfigError(
                f"no cell has {pattern!r} in its name",
                where="--only",
                remedy=f"--dry-run lists the cells; the first is {names[0]}.",
            )
        chosen.update(fitting)
    return tuple(cell for cell in cells if cell.name in chosen or not patterns)


def _trained_cells(experiment: Experiment) -> Iterator[Cell]:
    """Yield a cell of each model, seed, sets and arm, and of each untuned model and sets."""
    evaluation = experiment.evaluation
    sets: list[tuple[TaskSpec, tuple[str, ...], tuple[str, ...]]] = []
    for entry in experiment.sets:
        tasks = tuple(file.name for file in task_files.find(entry.tasks))
        for spec in _specs(entry):
            has_so = evaluation.decoding in spec.sets.decodings
            own = spec.task_name(decoding=evaluation.decoding if has_so else None)
            sets.append((spec, _arms(entry, spec), tasks or (own,)))
    seeds = (*experiment.seeds, *((None,) if experiment.untuned else ()))
    for model, seed, (spec, arms, tasks) in itertools.product(experiment.models, seeds, sets):
        trained_on = spec.trained_on
        if seed is None:  # the base as it is, whose config is that of any training
            if spec.sets.split is not None:  # its outputs are those of the whole task
                own = spec.sets.facets["protocol"]
                trained_on = replace(trained_on, protocol=own, part=None)
            arms = named.find(**trained_on.named).arms[:1]  # noqa: PLW2901
        for arm in arms:
            name = _name(model.name, trained_on, "untuned" if seed is None else f"{arm}-{seed}")
            folder = experiment.folder / name
            settings: FileContent = {f"data.{key}": name for key, name in trained_on.named.items()}
            settings |= {"data.arm": arm, "optimization.seed": seed or 0}
            settings["output"] = str(folder / "adapter")
            given = (f"{key}={json.dumps(value)}" for key, value in settings.items())
            config = parse_config(
                read_text(model.config) if model.config else "{}",
                (*experiment.overrides, *model.overrides, *given),
                where=str(model.config or "models"),
            )
            loaded = config.model if seed is None else config
            yield Cell(
                name,
                folder,
                trained_on,
                tasks,
                arguments={**loaded.arguments, "dtype": evaluation.dtype or config.model.dtype},
                options={"limit": evaluation.limit},
                training=None if seed is None else config,
                metadata=_limited(experiment),
                threads=evaluation.threads or config.optimization.threads,
            )


def _shown_cells(experiment: Experiment) -> Iterator[Cell]:
    """Yield the cells of checkpoints that read demonstrations.

    Raises:
        ConfigError: sets of `in_context.sets` have no such tasks.
    """
    settings, evaluation = experiment.in_context, experiment.evaluation
    available = set(task_files.names())
    for model, entry in itertools.product(settings.models, settings.sets or experiment.sets):
        shown = ((spec, arm) for spec in _specs(entry) for arm in _arms(entry, spec))
        for sets, arm in shown:
            task = sets.task if sets.sets.split else sets.task_name(arm)
            if task not in available:
                if settings.sets:
                    raise ConfigError(
                        f"in_context.sets needs the task {task}, which does not exist",
                        remedy="`spor tasks list` lists all tasks.",
                    )
                continue
            name = _name(model.name, sets.sets, f"shown-{arm}")
            facts = {"prompt_style": settings.prompt_style, "split": sets.sets.split}
            yield Cell(
                name,
                experiment.folder / name,
                sets.sets,
                (task,),
                arguments={**model.arguments, "dtype": evaluation.dtype or model.dtype},
                options={
                    "limit": evaluation.limit,
                    "num_fewshot": settings.shots,
                    "apply_chat_template": settings.chat_template,
                },
                metadata={key: value for key, value in facts.items() if value}
                | _limited(experiment),
                threads=evaluation.threads or 1,
            )


def _limited(experiment: Experiment) -> FileContent:
    """Return the setting by which a limit takes samples from the whole test set."""
    return {"limit_evenly": True} if experiment.evaluation.limit else {}


def _specs(entry: SetsEntry) -> Iterator[TaskSpec]:
    """Yield the declarations of the sets of an entry.

    Raises:
        SplitError: there are none of some corpus, protocol or part.
    """
    for corpus in entry.corpora:
        for protocol in entry.protocols or (named.find(entry.aspect, corpus).sets.protocol,):
            kind = (entry.aspect, corpus, protocol)
            specs = [spec for spec in named.available() if (*spec.sets.named.values(),)[:3] == kind]
            parts = [part for spec in specs for part in spec.splits or (spec.sets.part,)]
            whole = [None] if None in parts or not parts else parts
            for part in entry.parts or whole:
                yield named.find(*kind, part)


def _arms(entry: SetsEntry, spec: TaskSpec) -> tuple[str, ...]:
    for arm in entry.arms:
        if arm not in spec.arms:
            raise ConfigError(
                f"{entry.aspect} has no arm {arm!r}",
                remedy=f"Its arms are {' and '.join(spec.arms)}.",
            )
    return entry.arms or spec.arms


def _name(model: str, sets: SetFacts, last: str) -> str:
    return "/".join((model, "-".join(str(sets).split()), last))
