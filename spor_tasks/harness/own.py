"""Task files for a corpus of one's own: a JSON Lines file, or a space of combinations."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.aspects import named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.build import PARTS
from spor_tasks.aspects.request import Request, answer
from spor_tasks.core.contracts import SetName, Sets, SetSpec
from spor_tasks.core.errors import CorpusError, SplitError, SporError
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SplitPair
from spor_tasks.harness import task_files
from spor_tasks.harness.generate import task_texts

_KIND = "tasks"
_SETTINGS = ("seed", "restarts", "hide")


class Made(NamedTuple):
    """The tag of all tasks, the tasks with their sizes, and why other sets were refused."""

    tag: str
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
    with _new(folder, task_files.TEMPLATES, overwrite=overwrite) as place:
        for each in _requests(request, aspects or tuple(ARMS)):
            try:
                pair, facts, _ = answer(each)
            except SplitError as error:
                refused[" ".join(filter(None, [each.aspect, each.part]))] = error.what
                continue
            spec = _spec(pair)
            _write_tasks(place, spec, pair, _own_corpus(request, facts))
            sizes[spec.task] = len(pair.test.samples)
            tag = f"{spec.benchmark}_{spec.name.corpus}"
        _refuse_nothing(sizes, refused, request.corpus)
        write_manifest(place, {"kind": _KIND, "corpus": request.corpus, "tag": tag})
    return Made(tag, sizes, refused)


def write_splits(folder: Path, request: Request, *, overwrite: bool = False) -> Made:
    """Write the task files of a space of combinations, one for each protocol that it allows.

    ``request`` has the benchmark as its aspect, and a YAML file as its corpus.

    Raises:
        ConfigError: the folder is not empty, or cannot be written; or the file is malformed.
        SplitError: the space allows no protocol.
    """
    sets: Sets = registry().get("benchmark", request.aspect)
    request = replace(request, corpus=str(Path(request.corpus).resolve()))
    sizes: dict[str, int] = {}
    refused: dict[str, str] = {}
    with _new(folder, task_files.FOLDER / request.aspect, overwrite=overwrite) as place:
        for protocol in dict.fromkeys(spec.name.protocol for spec in sets.sets()):
            try:
                pair, facts, _ = answer(replace(request, protocol=protocol))
            except SporError as error:
                refused[protocol] = error.what
                continue
            spec = _spec(pair)
            _write_tasks(place, spec, pair, _own_corpus(request, facts))
            sizes[spec.task] = len(pair.test.samples)
        _refuse_nothing(sizes, refused, request.corpus)
        tag = f"{spec.benchmark}_{spec.name.corpus}"
        write_manifest(place, {"kind": _KIND, "corpus": request.corpus, "tag": tag})
    return Made(tag, sizes, refused)


@contextmanager
def _new(folder: Path, templates: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yield a new folder for task files, which has what they include."""
    with atomic_folder(folder, kind=_KIND, overwrite=overwrite) as place:
        for template in templates.glob("_*"):
            (place / template.name).write_bytes(template.read_bytes())
        yield place


def _write_tasks(place: Path, spec: SetSpec, pair: SplitPair, own: Mapping[str, Any]) -> None:
    for name, text in task_texts(spec, pair, templates=".", own_corpus=own):
        (place / name).write_text(text, "utf-8")


def _own_corpus(request: Request, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {"file": request.corpus, "version": facts["corpus_version"], **_settings(request)}


def _refuse_nothing(sizes: Mapping[str, int], refused: Mapping[str, str], corpus: str) -> None:
    if not sizes:
        reasons = tuple(f"{name}: {why}" for name, why in refused.items())
        raise SplitError("allows no sets", where=corpus, each=reasons)


def load(own: Mapping[str, Any], name: SetName) -> SplitPair:
    """Build the sets that a task's metadata describes; again only if the file changes.

    Raises:
        CorpusError: the corpus cannot be read, or is not the one that the task was made for.
        SplitError: the corpus does not allow the sets.
    """
    file = Path(own["file"])
    settings = {key: own[key] for key in _SETTINGS if key in own}
    if "hide" in settings:
        settings["hide"] = tuple(settings["hide"])
    request = Request(
        corpus=str(file),
        aspect=name.aspect,
        part=name.part,
        protocol=name.protocol,
        **settings,
    )
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
    pair, facts, _ = answer(request)
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
