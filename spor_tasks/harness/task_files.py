"""The task files: their content, the names of tasks and tags, and lm-eval's manager of them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import yaml

from spor_tasks.core import hosts
from spor_tasks.core.contracts import Benchmark, TaskSpec
from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import LONGEST_NAME, FileContent, atomic_write, is_folder
from spor_tasks.core.registry import registry
from spor_tasks.core.removed import why_removed

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

FOLDER = hosts.TASKS
"""The folder of all task files, which lm-eval can include."""

TEMPLATES = FOLDER / "spor"
"""The folder of the templates that task files include."""


LIST = "`spor tasks list` names our tasks, `lm_eval ls tasks` those of lm-eval."
"""What to type to see the names of tasks."""

_OURS = "`spor tasks list` names all."


LONGEST_TASK = LONGEST_NAME - len("samples__2026-01-01T00-00-00.000000.jsonl")
"""The longest name of a task, in bytes, that lm-eval can name a file of samples after."""


class OwnCorpus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A corpus of one's own, and the settings that its sets are built with."""

    file: str
    """Its path, or the name of a corpus of another package."""
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
    shots: int
    """The number of demonstrations, at most."""
    tags: tuple[str, ...]
    """The names that stand for this task and others."""

    @property
    def asks_likelihoods(self) -> bool:
        """True if it asks how likely given texts are."""
        return bool(_whole(self.path).get("output_type") == "loglikelihood")


@cache  # shipped files do not change, and names are looked up often
def _shipped() -> tuple[TaskFile, ...]:
    found = (_task(path, _content(path)) for path in FOLDER.rglob("*.yaml"))
    return tuple(sorted(found, key=attrgetter("name")))


def _task(path: Path, content: FileContent) -> TaskFile:
    return TaskFile(
        name=content["task"],
        path=path,
        sets=msgspec.convert(content["metadata"], TaskSets),
        metadata=content["metadata"],
        shots=content.get("num_fewshot", 0),
        tags=(tags,) if isinstance(tags := content.get("tag", ()), str) else tuple(tags),
    )


def files(include: Path | None = None) -> tuple[TaskFile, ...]:
    """Return the file of every task, sorted by name, without importing lm-eval.

    Those in a folder to ``include`` come before shipped ones of the same names. Files of other
    tasks there are skipped.

    Raises:
        ConfigError: there is no such folder, or a file in it is damaged.
    """
    if include is None:
        return _shipped()
    if not is_folder(include):
        raise ConfigError("is not a folder of task files", where=include)
    found = {file.name: file for file in _shipped()}
    for path in include.rglob("*.yaml"):
        try:
            content = _whole(path)
            with suppress(KeyError, msgspec.ValidationError):  # another package's task
                found[content["task"]] = _task(path, content)
        except (OSError, RecursionError, TypeError, ValueError, yaml.YAMLError) as error:
            raise ConfigError(f"is not a task file: {error}", where=path) from error
    return tuple(found[name] for name in sorted(found))


def names(include: Path | None = None) -> tuple[str, ...]:
    """Return the names of all tasks and tags, sorted."""
    return tuple(sorted({name for file in files(include) for name in (file.name, *file.tags)}))


def matching(patterns: Iterable[str], include: Path | None = None) -> list[str]:
    """Return the names of our tasks and tags that are among the names or match the patterns."""
    patterns = list(patterns)
    known = names(include)
    return [name for name in known if any(fnmatch(name, pattern) for pattern in patterns)]


def expand(patterns: Iterable[str], include: Path | None = None) -> tuple[TaskFile, ...]:
    """Return the files of our tasks with these names, which may be tags or patterns.

    Names of other tasks are skipped.

    Raises:
        ConfigError: as :func:`files`.
    """
    matched = set(matching(patterns, include))
    found = files(include)
    return tuple(file for file in found if not matched.isdisjoint((file.name, *file.tags)))


def find(patterns: Iterable[str], include: Path | None = None) -> tuple[TaskFile, ...]:
    """Return the files as :func:`expand` does.

    Raises:
        ConfigError: one of the names or patterns is not of our tasks, or as :func:`files`.
    """
    patterns = list(patterns)
    for pattern in patterns:
        if not expand([pattern], include):
            raise unknown(pattern, include, _OURS)
    return expand(patterns, include)


def unknown(name: str, include: Path | None = None, remedy: str = LIST) -> ConfigError:
    """Return the error that no task has a name, or has it any more."""
    if why := why_removed(name):
        return ConfigError(f"{name} was {why}", where="tasks", remedy=remedy)
    what = f"{name!r} is not a task"
    return ConfigError(what, where="tasks", remedy=advice(name, names(include), remedy))


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
    return _whole(file)


def _whole(file: Path) -> FileContent:
    """Return the content of a file, with what it includes."""
    content = _content(file)
    included = content.get("include", [])
    whole: FileContent = {}
    for name in [included] if isinstance(included, str) else included:
        whole |= _template(file.parent / name)
    return whole | content


# In C and five times as fast where PyYAML was built with libyaml.
class _TaskLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a file without importing the functions that it names."""


_TaskLoader.add_multi_constructor("!", lambda *_: None)


def _content(file: Path) -> FileContent:
    content = yaml.load(file.read_bytes(), _TaskLoader)  # noqa: S506 - a SafeLoader
    return content if isinstance(content, dict) else {}


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


def manager(
    model_args: FileContent | None = None, include: Path | None = None, **metadata: object
) -> "TaskManager":
    """Return a task manager of only our tasks, a hundred times faster than one of all tasks.

    It has the folder of shipped tasks, and one to ``include``. Of a tag that is in several, lm-eval
    keeps only the tasks of the last.

    For ``simple_evaluate(model, model_args, tasks, task_manager=manager(model_args))``: the tasks
    need the model's arguments to find its adapter and its style of prompt. For `spor-hf` they also
    need ``model_type="spor-hf"``, since only that model searches with beams and seeds each text.
    """
    from lm_eval.tasks import TaskManager  # takes a second

    return TaskManager(
        include_path=[FOLDER, include] if include else FOLDER,
        include_defaults=False,
        metadata={**(model_args or {}), **metadata},
    )
