"""Task files for a corpus in a file or of another package, or for a space of combinations."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from spor_tasks.aspects import references
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.build import PARTS
from spor_tasks.aspects.folder import read_sets
from spor_tasks.aspects.request import Request, answer, corpora, has_sets, read_corpus, version_of
from spor_tasks.core import named
from spor_tasks.core.contracts import Benchmark
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError, SporError
from spor_tasks.core.folders import atomic_folder, write_manifest
from spor_tasks.core.references import has_words
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetFacts, Sets
from spor_tasks.corpora.own import state_of
from spor_tasks.harness import task_files
from spor_tasks.harness.generate import task_texts

_KIND = "tasks"
# the settings of a build that a task file has
_BUILT_WITH = ("seed", "restarts", "hide", "sets", "lang")


class TaskSet(NamedTuple):
    """The tag of all tasks, the tasks with their sizes, and why other sets were refused.

    ``notes`` say how the corpus was read. ``warnings`` are of tasks, or of the corpus.
    """

    tag: str
    tasks: Mapping[str, int]
    refused: Mapping[str, str]
    warnings: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


def write(
    folder: Path,
    request: Request,
    aspects: Sequence[str] = (),
    folders: Sequence[Path] = (),
    *,
    instruction: str | None = None,
    overwrite: bool = False,
) -> TaskSet:
    """Write the task files of all sets that a corpus allows.

    ``request`` has the corpus and the settings that sets are built with. The sets are of these
    aspects, by default of all; those in ``folders`` are taken as they are. If the request names a
    benchmark as its aspect, the corpus is a YAML file with a space of combinations, and the sets
    are of each protocol. The files name the corpus, the settings, and the digests of the corpus and
    of each test set. When a task is loaded, its sets are read from their folder or built again.
    ``instruction`` is what prompts in plain words ask for, in place of an English text.

    Raises:
        ConfigError: the folder is not empty, or cannot be written; the instruction has no word, or
            is not Unicode; or two folders have sets of one aspect and part.
        CorpusError: the corpus cannot be read.
        SplitError: the corpus allows none of these sets, or strict ones in a folder break a rule.
    """
    request = _checked(request, instruction)
    requests = _requests(request, aspects, folders)
    templates = task_files.FOLDER / request.aspect if request.aspect else task_files.TEMPLATES
    sizes: dict[str, int] = {}
    warnings: list[tuple[str, str]] = []
    refused: dict[str, SporError] = {}
    with atomic_folder(folder, kind=_KIND, overwrite=overwrite) as place:
        for template in templates.glob("_*"):
            (place / template.name).write_bytes(template.read_bytes())
        for name, each in requests.items():
            left_out = SporError if each.protocol else SplitError
            try:
                pair, facts, _ = found = answer(each)
            except left_out as error:
                if each.sets:  # which were named
                    raise
                refused[name] = error
                continue
            sets = pair.facts
            (benchmark,) = (of for of in named.benchmarks() if sets.aspect in of.groups)
            spec = benchmark.find(sets.aspect, sets.corpus, sets.protocol, sets.part)
            own = task_files.OwnCorpus(
                file=request.corpus,
                version=facts["corpus_version"],
                instruction=instruction,
                **{key: getattr(each, key) for key in _BUILT_WITH},
            )
            for file, text in task_texts(spec, pair, templates=".", own_corpus=own):
                if len(os.fsencode(file.removesuffix(".yaml"))) > task_files.LONGEST_TASK:
                    what = "the name is too long for the files of its tasks"
                    raise ConfigError(what, where=request.corpus, remedy="Rename the file.")
                (place / file).write_text(text, "utf-8")
            sizes[spec.task] = len(pair.test)
            warnings += ((spec.task, warning) for warning in found.warnings)
            tag = f"{spec.benchmark}_{spec.sets.corpus}"
        reasons = {name: error.what for name, error in refused.items()}
        if not sizes:
            first, *_ = refused.values()
            if len({*reasons.values()}) == 1:
                raise SplitError(first.what, where=request.corpus, remedy=first.remedy)
            each_why = tuple(f"{name}: {why}" for name, why in reasons.items())
            raise SplitError("allows no sets", where=request.corpus, each=each_why)
        write_manifest(place, {"kind": _KIND, "corpus": request.corpus, "tag": tag})
    if request.aspect:
        return TaskSet(tag, sizes, reasons, warnings)
    corpus = read_corpus(request)
    texts = references.of_corpus(corpus)
    warnings += ((corpus.name, warning) for warning in texts.warnings)
    return TaskSet(tag, sizes, reasons, warnings, (*references.pooled(corpus), *texts.notes))


def _checked(request: Request, instruction: str | None) -> Request:
    """Return the request with the whole path of its file, if tasks can be made of it."""
    if instruction is not None and not has_words(instruction):
        raise ConfigError("has no word", where="instruction", remedy="Say what to write.")
    if instruction and instruction.encode(errors="ignore").decode() != instruction:
        raise ConfigError("is not Unicode", where="instruction", remedy="Write it in UTF-8.")
    if request.corpus not in corpora():
        is_path = os.path.lexists(request.corpus)  # and no misspelt name
        return replace(request, corpus=os.path.realpath(request.corpus)) if is_path else request
    if has_sets(request.corpus):
        what = f"the tasks of {request.corpus} are part of this package"
        raise ConfigError(what, remedy="`spor tasks list` names them.")
    if instruction is not None:
        what = f"has no effect on {request.corpus}, which words its own prompts"
        raise ConfigError(what, where="instruction", remedy="Leave it out.")
    return request


def _requests(
    request: Request, aspects: Sequence[str], folders: Iterable[Path]
) -> Mapping[str, Request]:
    """Return what to ask for: sets of each protocol, or of each aspect and part, by their names."""
    if request.aspect:
        sets: Benchmark = registry().get("benchmark", request.aspect)
        protocols = dict.fromkeys(spec.sets.protocol for spec in sets.sets())
        return {protocol: replace(request, protocol=protocol) for protocol in protocols}
    requests = {
        f"{aspect} {part or ''}".strip(): replace(request, aspect=aspect, part=part)
        for aspect in aspects or ARMS
        for part in PARTS.get(aspect, (None,))
    }
    of_folders: dict[str, Request] = {}
    for folder in folders:
        name = read_sets(folder).facts
        title = f"{name.aspect} {name.part or ''}".strip()
        if first := of_folders.get(title):
            what = f"has sets of {title}, as {first.sets} has"
            raise ConfigError(what, where=folder, remedy="Give one of them.")
        of_folders[title] = Request(
            corpus=request.corpus,
            aspect=name.aspect,
            part=name.part,
            sets=os.path.realpath(folder),
            lang=request.lang,
        )
    return requests | of_folders


def load(own: task_files.OwnCorpus, name: SetFacts) -> Sets:
    """Build the sets that a task's metadata describes; again only if the file changes.

    Raises:
        ConfigError: there is no such corpus.
        CorpusError: the corpus cannot be read, or is not the one that the task was made for.
        SplitError: the corpus does not allow the sets.
    """
    request = Request(
        corpus=own.file,
        aspect=name.aspect,
        part=name.part,
        protocol=name.protocol,
        **{key: getattr(own, key) for key in _BUILT_WITH},
    )
    # The digest comes first: a part of the corpus may be too small for the sets.
    if version_of(request) != own.version:
        raise CorpusError(
            "has changed since its task files were made, or another version reads it otherwise",
            where=own.file,
            remedy=f"Make them again with `spor tasks make {own.file} --out DIR`, and train again.",
        )
    return _built(request, None if own.file in corpora() else state_of(Path(own.file)))


@cache
def _built(request: Request, _changed: Hashable) -> Sets:
    return answer(request).pair
