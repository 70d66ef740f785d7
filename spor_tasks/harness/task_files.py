"""The task files: their content, the names of tasks and tags, and lm-eval's manager of them."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import yaml

from spor_tasks.core.contracts import Benchmark, TaskSpec
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import LONGEST_NAME, FileContent, atomic_write
from spor_tasks.core.registry import registry
from spor_tasks.core.removed import why_removed

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

FOLDER = Path(__file__).parent.parent / "tasks"
"""The folder of all task files, which lm-eval can include."""

TEMPLATES = FOLDER / "spor"
"""The folder of the templates that task files include."""


LIST = "`spor tasks list` names our tasks, `lm_eval ls tasks` those of lm-eval."
"""What to type to see the names of tasks."""


LONGEST_TASK = LONGEST_NAME - len("samples__2026-01-01T00-00-00.000000.jsonl")
"""The longest name of a task, in bytes, that lm-eval can name a file of samples after."""


class OwnCorpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A corpus of one's own, and the settings that its sets are built with."""

    file: str
    version: str
    """The digest of what is read of it."""
    seed: int | None = None
    restarts: int | None = None
    hide: tuple[str, ...] = ()
    sets: str | None = None
    """The folder of sets that were built before."""
    lang: str | None = None
    """The language that is read of texts in several."""
    instruction: str | None = None
    """What prompts in plain words ask for, in place of an English text."""


class TaskSets(msgspec.Struct, frozen=True, kw_only=True):
    """The sets that a task is about, as its file says."""

    benchmark: str = "spor"
    """That of its first tasks if it has none."""
    aspect: str
    corpus: str
    protocol: str
    part: str | None = None
    version: float = 1.0
    decoding: str | None = None
    """How the task decodes; None if greedily."""
    icl_arm: str | None = None
    """The arm that a task for untuned models shows demonstrations of."""
    test_sha256: str | None = None
    """The digest of the test set that the task was made for."""
    own_corpus: OwnCorpus | None = None
    """The corpus of one's own that the sets are built from (:mod:`spor_tasks.harness.own`)."""

    @property
    def found(self) -> Benchmark:
        """The benchmark that has the sets.

        Raises:
            ConfigError: it is unknown.
        """
        found: Benchmark = registry().get("benchmark", self.benchmark)
        return found

    @property
    def spec(self) -> TaskSpec:
        """The declaration of the sets.

        Raises:
            SplitError: the benchmark has no such sets.
        """
        return self.found.find(self.aspect, self.corpus, self.protocol, self.part)


class TaskFile(NamedTuple):
    """A task, and its file."""

    name: str
    path: Path
    sets: TaskSets
    metadata: FileContent
    template: Path
    """The file that it includes first."""
    shots: int
    """The number of demonstrations, at most."""
    tags: tuple[str, ...]
    """The names that stand for this task and others."""

    @property
    def asks_likelihoods(self) -> bool:
        """True if it asks how likely given texts are."""
        return bool(_template(self.template)["output_type"] == "loglikelihood")


@cache  # files do not change during a run, and names are looked up often
def files() -> tuple[TaskFile, ...]:
    """Return the file of every task, sorted by name, without importing lm-eval."""
    found = []
    for path in FOLDER.rglob("*.yaml"):
        content = _content(path)
        included = content["include"]
        file = TaskFile(
            name=content["task"],
            path=path,
            sets=msgspec.convert(content["metadata"], TaskSets),
            metadata=content["metadata"],
            template=path.parent / (included if isinstance(included, str) else included[0]),
            shots=content.get("num_fewshot", 0),
            tags=tuple(content.get("tag", ())),
        )
        found.append(file)
    return tuple(sorted(found, key=attrgetter("name")))


@cache
def names() -> tuple[str, ...]:
    """Return the names of all tasks and tags, sorted."""
    return tuple(sorted({name for file in files() for name in (file.name, *file.tags)}))


def matching(patterns: Iterable[str]) -> list[str]:
    """Return the names of our tasks and tags that are among the names or match the patterns."""
    patterns = list(patterns)
    return [name for name in names() if any(fnmatch(name, pattern) for pattern in patterns)]


def expand(patterns: Iterable[str]) -> tuple[TaskFile, ...]:
    """Return the files of our tasks with these names, which may be tags or patterns.

    Names of other tasks are skipped.
    """
    matched = set(matching(patterns))
    return tuple(file for file in files() if not matched.isdisjoint((file.name, *file.tags)))


def find(patterns: Iterable[str]) -> tuple[TaskFile, ...]:
    """Return the files as :func:`expand` does.

    Raises:
        ConfigError: one of the names or patterns is not of our tasks.
    """
    found = {pattern: expand([pattern]) for pattern in patterns}
    for pattern, of_pattern in found.items():
        if not of_pattern:
            raise unknown(pattern)
    return expand(found)


def unknown(name: str) -> ConfigError:
    """Return the error that no task has a name, or has it any more."""
    if why := why_removed(name):
        return ConfigError(f"{name} was {why}", where="tasks", remedy=LIST)
    what = f"{name!r} is not a task"
    return ConfigError(what, where="tasks", remedy=advice(name, names(), LIST))


def decoding(spec: TaskSpec | None = None, beams: int = 1) -> tuple[FileContent, tuple[str, ...]]:
    """Return how the task of some sets decodes, and the filters that cut its outputs.

    It decodes greedily, or with this number of beams as the benchmark's tasks with beams, if it has
    any (``_beam5`` and the like). Sets whose templates are not here, as those of an installed
    package, decode as SPOR's.
    """
    templates = TEMPLATES if spec is None else FOLDER / spec.benchmark
    own = templates / spec.asking.template if spec is not None and templates.is_dir() else None
    template = _template(own or TEMPLATES / "_base")
    chosen = template["generation_kwargs"]
    searching = next(templates.glob("_beam*"), None)
    if beams > 1 and searching is not None:
        chosen = _template(searching)["generation_kwargs"]
    functions = [each["function"] for each in template["filter_list"][0]["filter"]]
    names = (name.removeprefix("spor_") for name in functions if name.startswith("spor_"))
    return chosen | {"num_beams": beams}, tuple(names)


@cache
def _template(file: Path) -> FileContent:
    """Return the content of a template, with what it includes."""
    content = _content(file)
    included = content.get("include")
    return (_template(file.parent / included) if included else {}) | content


# In C and five times as fast where PyYAML was built with libyaml.
class _TaskLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a file without importing the functions that it names."""


_TaskLoader.add_constructor("!function", lambda *_: None)


def _content(file: Path) -> FileContent:
    content: FileContent = yaml.load(file.read_bytes(), _TaskLoader)  # noqa: S506 - a SafeLoader
    return content


def write_all(folder: Path, files: Mapping[str, str]) -> None:
    """Write these task files to a folder, by their paths in it, and remove all others.

    Raises:
        OSError: one cannot be written. Some may then be missing.
    """
    for name, text in files.items():
        with atomic_write(folder / name) as file:
            file.write(text.encode())
    for path in folder.rglob("*.yaml"):
        if path.relative_to(folder).as_posix() not in files:
            path.unlink()


def manager(model_args: FileContent | None = None, **metadata: object) -> "TaskManager":
    """Return a task manager of only our tasks, a hundred times faster than one of all tasks.

    It has one folder: of several, lm-eval keeps for each tag only the tasks of the last.

    For ``simple_evaluate(model, model_args, tasks, task_manager=manager(model_args))``: the tasks
    need the model's arguments to find its adapter and its style of prompt. For `spor-hf` they also
    need ``model_type="spor-hf"``, since only that model searches with beams and seeds each text.
    """
    from lm_eval.tasks import TaskManager  # takes a second

    return TaskManager(
        include_path=FOLDER,
        include_defaults=False,
        metadata={**(model_args or {}), **metadata},
    )
