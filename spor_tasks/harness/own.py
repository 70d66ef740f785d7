"""Task files for a corpus of one's own, a JSON Lines file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.aspects import named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.build import PARTS
from spor_tasks.aspects.request import Request, answer
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.sample import SplitPair
from spor_tasks.harness import task_files
from spor_tasks.harness.generate import dump, group_content, task_texts

_KIND = "tasks"
_SETTINGS = ("seed", "restarts", "hide")


class Made(NamedTuple):
    """The group of all tasks, the tasks with their sizes, and why other sets were refused."""

    group: str
    tasks: Mapping[str, int]
    refused: Mapping[str, str]


def write(
    folder: Path, request: Request, aspects: Sequence[str] = (), *, overwrite: bool = False
) -> Made:
    """Write the task files of all sets that a corpus allows; return which were made.

    ``request`` has the corpus and the settings that sets are built with. ``aspects`` are all if
    empty. The files name the corpus, these settings, and the digests of the corpus and of each test
    set; the sets are built again when a task is loaded.

    Raises:
        ConfigError: the folder is not empty, or cannot be written.
        CorpusError: the corpus cannot be read.
        SplitError: the corpus allows none of these sets.
    """
    request = replace(request, corpus=str(Path(request.corpus).resolve()))
    sizes: dict[str, int] = {}
    refused: dict[str, str] = {}
    with atomic_folder(folder, kind=_KIND, overwrite=overwrite) as place:
        for template in task_files.TEMPLATES.glob("_*"):
            (place / template.name).write_bytes(template.read_bytes())
        for each in _requests(request, aspects or tuple(ARMS)):
            try:
                pair, facts = answer(each)
            except SplitError as error:
                refused[" ".join(filter(None, [each.aspect, each.part]))] = error.what
                continue
            spec = _spec(pair)
            own = {"file": request.corpus, "version": facts["corpus_version"], **_settings(request)}
            for name, text in task_texts(spec, pair, templates=".", own_corpus=own):
                (place / name).write_text(text, "utf-8")
            sizes[spec.task] = len(pair.test.samples)
            group = f"{spec.benchmark}_{spec.name.corpus}"
        if not sizes:
            reasons = tuple(f"{name}: {why}" for name, why in refused.items())
            raise SplitError("allows no sets", where=request.corpus, each=reasons)
        content = group_content(group, tuple(sizes))
        (place / f"{group}.yaml").write_text(dump(content), "utf-8")
        write_manifest(place, {"kind": _KIND, "corpus": request.corpus, "group": group})
    return Made(group, sizes, refused)


def load(own: Mapping[str, Any], aspect: str, part: str | None) -> SplitPair:
    """Build the sets that a task's metadata describes; again only if the file changes.

    Raises:
        CorpusError: the corpus cannot be read, or is not the one that the task was made for.
        SplitError: the corpus does not allow the sets.
    """
    file = Path(own["file"])
    settings = {key: own[key] for key in _SETTINGS if key in own}
    if "hide" in settings:
        settings["hide"] = tuple(settings["hide"])
    request = Request(corpus=str(file), aspect=aspect, part=part, **settings)
    try:
        changed = file.stat().st_mtime_ns
    except OSError as error:
        raise CorpusError(
            f"cannot be read: {error}", where=file, remedy="Make the task files again."
        ) from error
    pair, version = _built(request, changed)
    if version != own["version"]:
        raise CorpusError(
            "has changed since its task files were made",
            where=file,
            remedy=f"Make them again with `spor tasks make {file} --out DIR`, and train again.",
        )
    return pair


@cache
def _built(request: Request, _changed: int) -> tuple[SplitPair, str]:
    pair, facts = answer(request)
    return pair, facts["corpus_version"]


def _requests(request: Request, aspects: Sequence[str]) -> Iterator[Request]:
    for aspect in aspects:
        for part in PARTS.get(aspect, (None,)):
            yield replace(request, aspect=aspect, part=part)


def _spec(pair: SplitPair) -> SetSpec:
    (benchmark,) = (each for each in named.benchmarks() if pair.aspect in each.groups)
    return benchmark.find(SetName(pair.aspect, pair.corpus, pair.protocol, pair.part))


def _settings(request: Request) -> dict[str, Any]:
    given = {key: getattr(request, key) for key in _SETTINGS}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in given.items()
        if value not in {None, ()}
    }
