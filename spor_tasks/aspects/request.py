"""Sets that a command line asks for: of a named corpus, of the user's own, or in a folder."""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from spor_tasks.aspects import build, check, folder, search, systematicity
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.numbers import LIMIT
from spor_tasks.core import named
from spor_tasks.core.contracts import ReadsFiles
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError, advice
from spor_tasks.core.files import is_file, is_folder
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, Json, Sets
from spor_tasks.corpora import own, sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The sets that a command line requests.

    Those of a corpus of SPOR are fixed; others are built on demand, searched, or in a folder.
    """

    corpus: str
    """One of :func:`corpora`, or a file (:mod:`spor_tasks.corpora.formats`)."""
    aspect: str
    part: str | None = None
    """By default, as the protocol, the first that exists."""
    protocol: str | None = None
    seed: int | None = None
    """Of sets that are built (:func:`spor_tasks.aspects.build.build`), as the next two."""
    restarts: int | None = None
    hide: tuple[str, ...] = ()
    search: bool = False
    """Whether larger sets of systematicity are searched."""
    seconds: int | None = None
    """The end of a search (:func:`spor_tasks.aspects.search.systematicity`), or so many rounds."""
    rounds: int | None = None
    sets: str | None = None
    """A folder with sets that were built from the corpus already."""
    lang: str | None = None
    """The language of the texts, in a file that has several."""


FEW_SAMPLES = 100
"""Test samples of systematicity of which fewer are worth a search."""


class Answer(NamedTuple):
    """Sets, and their origin for the manifest.

    ``interrupted`` says whether they are the best that a search had found when it was interrupted.
    """

    pair: Sets
    origin: folder.Origin
    interrupted: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before these sets are used."""
        warnings, found = check.warnings_of(self.pair), len(self.pair.test)
        if "restarts" not in self.origin["settings"] or found >= FEW_SAMPLES:
            return warnings
        few = f"{found:,} test samples are few: `spor data build --search` may find more"
        return (*warnings, f"{few}, and `spor tasks make --sets` makes their tasks")


def corpora() -> tuple[str, ...]:
    """Return the names of the registered corpora; all others are the user's own files."""
    return registry().names("corpus")


def has_sets(corpus: str) -> bool:
    """Return whether there are shipped sets of a corpus; those of any other are built."""
    return any(
        spec.sets.corpus == corpus and spec.sets.aspect in ARMS for spec in named.available()
    )


def answer(request: Request, progress: search.Progress | None = None) -> Answer:
    """Return the sets that are wanted: fixed sets, or sets built on demand.

    ``progress`` is called during a search. One that is interrupted answers with the best sets
    found so far, if there are any.

    Raises:
        ConfigError: the corpus is unknown, or a setting has no effect.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        ResultError: the folder of the sets has no manifest of sets.
        SplitError: there are no such sets, strict sets of a folder break their rules, or the corpus
            is too small for them.
    """
    shipped = [
        spec.sets
        for spec in named.available()
        if spec.sets.is_fixed
        and (spec.sets.aspect, spec.sets.corpus) == (request.aspect, request.corpus)
    ]
    if request.lang and (_is_read(request) or request.corpus in corpora()):
        what = f"has no effect on {request.corpus}"
        raise ConfigError(what, where="lang", remedy="Leave --lang out.")
    find_sets: Callable[[Request, search.Progress | None], Answer]
    if _is_read(request):
        find_sets, used = _own_sets, {"part"}
        refusal = f"has no effect on sets of {request.aspect}"
    elif request.sets:
        find_sets, used = _written, {"sets", "part"}
        refusal = "has no effect on sets that are built"
    elif request.search:
        find_sets, used = _searched, {"search", "seed", "seconds", "rounds"}
        refusal = "a search does not use this setting"
    elif any(name.protocol == "published" for name in shipped):
        find_sets, used = _shipped, {"part"}
        refusal = f"has no effect: the sets of {request.corpus} are the same for everyone"
    else:
        is_default = (request.seed, request.restarts, request.hide) == (None, None, ())
        is_shipped = shipped and request.part in {None, *(name.part for name in shipped)}
        find_sets = _shipped if is_default and is_shipped else _built
        used, refusal = {"seed", "restarts", "hide", "part"}, "is a setting of a search"
    for setting in ("seed", "restarts", "hide", "search", "seconds", "rounds", "sets", "part"):
        value = getattr(request, setting)
        is_given = value is not None if setting == "seed" else bool(value)
        if is_given and setting not in used:
            raise ConfigError(refusal, where=setting, remedy=f"Leave --{setting} out.")
    return find_sets(request, progress)


def _own_sets(request: Request, _: search.Progress | None) -> Answer:
    """Return sets of a file of the user's, from a benchmark that reads such files."""
    benchmark: ReadsFiles = registry().get("benchmark", request.aspect)
    pair = benchmark.own_sets(request.corpus, request.protocol, request.part)
    return Answer(pair, {"corpus_version": version_of(request), "settings": {}, "seed": None})


def _is_read(request: Request) -> bool:
    if request.corpus in corpora() or request.aspect not in registry().names("benchmark"):
        return False
    return named.benchmark(request.aspect).reads_files


def version_of(request: Request) -> str:
    """Return the digest of the requested corpus, as the facts of an answer have it.

    Raises:
        SporError: the corpus cannot be read.
    """
    sha256 = sha256_of(Path(request.corpus)) if _is_read(request) else read_corpus(request).sha256
    return f"sha256:{sha256}"


def _written(request: Request, _: search.Progress | None) -> Answer:
    """Return the sets that ``spor data build`` wrote into a folder."""
    place = Path(request.sets or "")
    pair, manifest = folder.read_sets(place), read_manifest(place, folder.MANIFEST)
    name = pair.facts
    requested = (request.aspect, request.protocol or name.protocol, request.part or name.part)
    if requested != (name.aspect, name.protocol, name.part):
        raise ConfigError(
            f"has the sets {name}",
            where=place,
            remedy="Name their aspect, protocol and part, or leave the sets out.",
        )
    version = version_of(request)
    if manifest.get("corpus_version") != version:
        raise CorpusError(
            f"is not the corpus that the sets in {place} were built from",
            where=request.corpus,
            remedy="Build them again with `spor data build`, or give the corpus as it was.",
        )
    if name.protocol == "strict" and not (result := check.check(pair)).holds:
        raise SplitError(
            f"breaks a rule of {name.aspect}: {result.violations[0].words}",
            where=place,
            remedy=f"`spor data check {place}` names the samples. Build the sets again.",
        )
    settings, seed = manifest.get("settings") or {}, manifest.get("seed")
    return Answer(pair, {"corpus_version": version, "settings": settings, "seed": seed})


def find(target: str) -> Sets:
    """Return sets by a name such as ``published:productivity:e2e:n4``, or those of a folder.

    Raises:
        ResultError: the folder has no manifest of sets.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets.
    """
    if match := re.fullmatch(r"(published|strict):([^:]+):([^:]+)(?::([^:]+))?", target):
        protocol, aspect, corpus, part = match.groups()
        return named.load(aspect, corpus, protocol, part)
    return folder.read_sets(Path(target))


def _shipped(request: Request, _: search.Progress | None) -> Answer:
    pair = named.load(request.aspect, request.corpus, request.protocol, request.part)
    if request.corpus in sources.SPOR.corpora:
        return Answer(pair, _facts())
    return Answer(
        pair, _facts(read_corpus(request), seed=None if request.aspect == search.ASPECT else 0)
    )


def _built(request: Request, _: search.Progress | None) -> Answer:
    corpus, seed = read_corpus(request), request.seed or 0
    if request.protocol not in {None, "strict"}:
        fixed = dict.fromkeys(s.sets.corpus for s in named.available() if s.sets.is_fixed)
        raise SplitError(
            f"has no {request.protocol} sets",
            where=corpus.name,
            remedy=f"Use the protocol strict; {request.protocol} sets are of {', '.join(fixed)}.",
        )
    restarts = request.restarts or systematicity.RESTARTS
    pair = build.build(
        corpus, request.aspect, request.part, seed=seed, restarts=restarts, hide=request.hide
    )
    settings: dict[str, Json] = {}  # that these sets depend on
    if request.aspect == "systematicity":
        settings["restarts"] = restarts
    elif request.aspect == "rule_learnability" and request.hide:
        settings["hide"] = list(request.hide)
    return Answer(pair, _facts(corpus, seed=seed, **settings))


def _searched(request: Request, progress: search.Progress | None) -> Answer:
    if (request.aspect, request.protocol or "strict") != (search.ASPECT, "strict"):
        raise ConfigError(
            f"finds only strict sets of {search.ASPECT}",
            where="search",
            remedy="Leave --search out.",
        )
    corpus, seed = read_corpus(request), request.seed or 0
    result = search.systematicity(
        corpus.samples, seed, rounds=request.rounds, seconds=request.seconds, progress=progress
    )
    facts = _facts(corpus, seed=seed, rounds=result.rounds)
    return Answer(result.pair, facts, result.interrupted)


def _facts(
    corpus: CorpusSamples | None = None, *, seed: int | None = None, **settings: Json
) -> folder.Origin:
    version = f"git:{sources.SPOR.folder}" if corpus is None else f"sha256:{corpus.sha256}"
    return {"corpus_version": version, "settings": {"limit": LIMIT, **settings}, "seed": seed}


def read_corpus(request: Request) -> CorpusSamples:
    """Return the requested corpus, of a package or in a file of the user's own.

    Raises:
        ConfigError: as :func:`read_own`.
        CorpusError: it cannot be read.
        SplitError: it has no units that recur.
    """
    if request.corpus not in corpora():
        return read_own(request.corpus, request.lang)
    named.check_has_units(request.corpus)
    corpus: CorpusSamples = registry().get("corpus", request.corpus).read()
    return corpus


def read_own(name: str, lang: str | None = None) -> CorpusSamples:
    """Return the corpus in a file or folder of the user's own, its texts in one of its languages.

    Raises:
        ConfigError: the file does not exist, has the name of a registered corpus, or has texts in
            one language.
        CorpusError: it cannot be read.
    """
    path = Path(name)
    if not is_file(path) and not is_folder(path):
        raise ConfigError(
            "is neither the name of a corpus nor a file",
            where=name,
            remedy=f"{advice(name, corpora())} Or name a file of your own.",
        )
    corpus = _read_once(path, lang, own.state_of(path))
    if corpus.name in corpora():
        raise ConfigError(
            f"has the name of the corpus {corpus.name}", where=path, remedy="Rename the file."
        )
    return corpus


@lru_cache(maxsize=1)  # all sets of a corpus are built one after the other
def _read_once(path: Path, lang: str | None, _changed: Hashable) -> CorpusSamples:
    return own.read_corpus(path, lang)
