"""Sets as a command line asks for them: of a corpus by name or one's own, or from a folder."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.aspects import build, folder, named, search
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.files import is_file
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, SplitPair
from spor_tasks.corpora import own, sources

_SAMPLES = 15_000  # of WebNLG, which the settings of a search are made for


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Which sets are wanted.

    ``corpus`` is one of :func:`corpora` or a JSON Lines file. Without ``part`` or ``protocol`` the
    first that there is is meant. ``seed``, ``restarts`` and ``hide`` are for sets that are built on
    the spot (:class:`~spor_tasks.aspects.build.Settings`); those of the real corpora are the same
    for everyone. With ``search`` those of systematicity are searched again, or larger ones of one's
    own corpus; ``jobs`` processes at a time, one for every core if not said, change nothing but the
    time that this takes.
    """

    corpus: str
    aspect: str
    part: str | None = None
    protocol: str | None = None
    seed: int | None = None
    restarts: int | None = None
    hide: tuple[str, ...] = ()
    search: bool = False
    jobs: int | None = None


class Answer(NamedTuple):
    """Sets, and what their manifest says of how they came about."""

    pair: SplitPair
    facts: Mapping[str, Any]


def corpora() -> tuple[str, ...]:
    """Return the corpora that are known by name; all others are files of one's own."""
    return registry().names("corpus")


def answer(request: Request, progress: search.Progress | None = None) -> Answer:
    """Return the sets that are wanted, as they are known, or built on the spot.

    ``progress`` is told how far a search is.

    Raises:
        ConfigError: there is no such corpus, or a setting is given that has no effect.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets, or the corpus is too small for them.
    """
    if request.search:
        return _searched(request, progress)
    if request.jobs is not None:
        raise ConfigError("only a search is shared between processes", where="jobs")
    if any(spec.is_fixed and spec.name.corpus == request.corpus for spec in named.available()):
        return _fixed(request)
    return _built(request, _read(request.corpus))


def find(target: str) -> tuple[SplitPair, float]:
    """Return sets by a name such as ``published:productivity:e2e:n4``, or those of a folder.

    Beside them stands the divergence that their arms were allowed.

    Raises:
        ResultError: the folder has no manifest of sets.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets.
    """
    if found := re.fullmatch(r"(published|strict):([^:]+):([^:]+)(?::([^:]+))?", target):
        protocol, aspect, corpus, part = found.groups()
        return named.load(aspect, corpus, protocol, part), LIMIT
    stored = folder.read_sets(Path(target))
    return stored.pair, stored.limit


def _fixed(request: Request) -> Answer:
    if request.seed is not None or request.restarts is not None or request.hide:
        raise ConfigError(
            f"the sets of {request.corpus} are the same for everyone; seed, restarts and hide do "
            "not change them",
            remedy="Leave these out, search the sets of systematicity again with --search, or "
            "build sets from a corpus of your own.",
        )
    spec = named.find(request.aspect, request.corpus, request.protocol, request.part)
    return Answer(named.load(*spec.name), _facts(**named.recipe(spec) or {}))


def _built(request: Request, corpus: CorpusSamples) -> Answer:
    if request.protocol not in {None, "strict"}:
        fixed = dict.fromkeys(s.name.corpus for s in named.available() if s.is_fixed)
        raise SplitError(
            f"has no {request.protocol} sets",
            where=corpus.name,
            remedy=f"There are {request.protocol} sets of {', '.join(fixed)}.",
        )
    default = build.Settings()
    settings = build.Settings(
        seed=default.seed if request.seed is None else request.seed,
        restarts=default.restarts if request.restarts is None else request.restarts,
        hide=request.hide,
    )
    pair = build.build(corpus, request.aspect, request.part, settings)
    return Answer(pair, _facts(corpus, seed=settings.seed, **build.effective(settings, pair)))


def _searched(request: Request, progress: search.Progress | None) -> Answer:
    if (request.aspect, request.protocol or "strict") != (search.ASPECT, "strict"):
        raise ConfigError(f"finds the strict sets of {search.ASPECT} only", where="search")
    for setting in ("restarts", "hide"):
        if getattr(request, setting):
            raise ConfigError("a search does not use this setting", where=setting)
    known = _known_recipe(request)
    if known is None and request.part is not None:
        raise ConfigError(f"knows no part {request.part!r} of {request.corpus}", where="search")
    corpus = _read(request.corpus)
    recipe = known or {"seed": build.Settings().seed, **asdict(_effort(len(corpus.samples)))}
    seed = recipe["seed"] if request.seed is None else request.seed
    settings = search.Settings(**{key: value for key, value in recipe.items() if key != "seed"})
    pair = search.systematicity(corpus.samples, settings, seed, request.jobs, progress)
    build.refuse_equal_arms(pair)
    return Answer(pair, _facts(corpus, seed=seed, **asdict(settings)))


def _known_recipe(request: Request) -> Mapping[str, Any] | None:
    for spec in named.available():
        if spec.name == (request.aspect, request.corpus, "strict", request.part):
            return named.recipe(spec)
    return None


def _effort(samples: int) -> search.Settings:
    """Return settings that try as many moves with each sample as with one of WebNLG's."""
    full = search.Settings()
    share = min(1.0, samples / _SAMPLES)
    return replace(
        full,
        moves=math.ceil(share * full.moves),
        combination_moves=math.ceil(share * full.combination_moves),
    )


def _facts(
    corpus: CorpusSamples | None = None, *, seed: int | None = None, **settings: object
) -> Mapping[str, Any]:
    version = f"git:{sources.COMMIT}" if corpus is None else f"sha256:{corpus.sha256}"
    return {"corpus_version": version, "settings": {"limit": LIMIT, **settings}, "seed": seed}


def _read(name: str) -> CorpusSamples:
    if name in corpora():
        known: CorpusSamples = registry().get("corpus", name).read()
        return known
    path = Path(name)
    if not is_file(path):
        raise ConfigError(
            "is neither the name of a corpus nor a file",
            where=name,
            remedy=f"Give {', '.join(corpora())}, or a JSON Lines file of your own.",
        )
    corpus = own.read_corpus(path)
    if corpus.name in corpora():
        raise ConfigError(
            f"has the name of another corpus, {corpus.name}", where=path, remedy="Rename the file."
        )
    return corpus
