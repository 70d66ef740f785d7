"""The task files: what they hold, the names that `--tasks` takes, and lm-eval's view of them."""

import fnmatch
from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

FOLDER = Path(__file__).parent.parent / "tasks"
"""The folder that lm-eval's ``--include_path`` takes."""

TEMPLATES = FOLDER / "spor"
"""The folder of what task files include."""


class TaskFile(NamedTuple):
    """A name that ``--tasks`` takes, and the file behind it."""

    name: str
    kind: Literal["task", "group"]
    path: Path
    content: dict[str, Any]

    @property
    def decoding(self) -> str | None:
        """How a task decodes, None where it does so greedily."""
        decoding: str | None = self.content["metadata"].get("decoding")
        return decoding


def files() -> tuple[TaskFile, ...]:
    """Return the file of every task and group, sorted by name; lm-eval is not loaded for it."""
    return tuple(sorted(map(_read, FOLDER.rglob("*.yaml")), key=attrgetter("name")))


def expand(names: Iterable[str]) -> tuple[TaskFile, ...]:
    """Return the files of our tasks behind the names, which may be groups or patterns.

    Names that are not ours are passed over.
    """
    known = {file.name: file for file in files()}

    def leaves(name: str) -> Iterator[str]:
        for match in fnmatch.filter(known, name):
            if known[match].kind == "task":
                yield match
            else:
                for member in known[match].content["task"]:
                    yield from leaves(member)

    found = dict.fromkeys(leaf for name in names for leaf in leaves(name))
    return tuple(known[name] for name in found)


def generation_kwargs(beams: int = 1) -> dict[str, Any]:
    """Return how the tasks decode: greedily, or as ``_beam5`` does with so many beams."""
    text = (TEMPLATES / ("_base" if beams == 1 else "_beam5")).read_text("utf-8")
    decoding: dict[str, Any] = yaml.load(text, _TemplateLoader)["generation_kwargs"]  # noqa: S506 - a SafeLoader
    return decoding | {"num_beams": beams}


class _TemplateLoader(yaml.SafeLoader):
    """Reads a template without the functions that it names."""


_TemplateLoader.add_constructor("!function", lambda *_: None)


@cache  # nobody changes them while we run, and names are looked up again and again
def _read(path: Path) -> TaskFile:
    content = yaml.safe_load(path.read_bytes())
    kind: Literal["task", "group"] = "group" if "group" in content else "task"
    return TaskFile(content[kind], kind, path, content)


def manager(model_args: dict[str, Any] | None = None, **metadata: object) -> "TaskManager":
    """Return lm-eval's manager of our tasks alone, in a hundredth of the time of all it has.

    For ``simple_evaluate(model, model_args, tasks, task_manager=manager(model_args))``: the tasks
    must know the model's arguments, which say what it was trained on and what prompt it reads.
    """
    from lm_eval.tasks import TaskManager  # noqa: PLC0415 - a second that listing tasks can do without

    return TaskManager(
        include_path=FOLDER, include_defaults=False, metadata={**(model_args or {}), **metadata}
    )
