"""Sets as a command line asks for them: of a corpus by name or one's own, or from a folder."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.aspects import build, folder, search
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.benchmarks.spor import embedded, released, shipped
from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.files import is_file
from spor_tasks.core.sample import Corpus, SplitPair
from spor_tasks.corpora import known, own, sources
from spor_tasks.corpora.mini import worlds as mini

CORPORA = (*released.CORPORA, embedded.CORPUS)
"""The corpora that are known by name; all others are files of one's own."""

_SAMPLES = 15_000  # of WebNLG, which the settings of a search are made for


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Which sets are wanted.

    ``corpus`` is one of :data:`CORPORA` or a JSON Lines file. Without ``part`` or ``protocol`` the
    first that there is is meant. ``seed`` and ``restarts`` are for sets that are built on the spot;
    those of the real corpora are the same for everyone. With ``search`` those of systematicity are
    searched again, or larger ones of one's own corpus; ``jobs`` processes at a time, one for every
    core if not said, change nothing but the time that this takes.
    """

    corpus: str
    aspect: str
    part: str | None = None
    protocol: str | None = None
    seed: int | None = None
    restarts: int | None = None
    search: bool = False
    jobs: int | None = None


class Answer(NamedTuple):
    """Sets, and what their manifest says of how they came about."""

    pair: SplitPair
    facts: Mapping[str, Any]


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
    if request.corpus in released.CORPORA:
        return _known(request)
    return _built(request, _read(request.corpus))


def find(target: str) -> tuple[SplitPair, float]:
    """Return sets by a name such as ``published:productivity:e2e:n4``, or those of a folder.

    Beside them stands the divergence that their arms were allowed.

    Raises:
        ResultError: the folder has no manifest of sets.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets.
    """
    if named := re.fullmatch(r"(published|strict):([^:]+):([^:]+)(?::([^:]+))?", target):
        protocol, aspect, corpus, part = named.groups()
        return registry.load(aspect, corpus, protocol, part), LIMIT
    stored = folder.read(Path(target))
    return stored.pair, stored.limit


def _known(request: Request) -> Answer:
    if request.seed is not None or request.restarts is not None:
        raise ConfigError(
            f"the sets of {request.corpus} are the same for everyone, whatever seed or restarts",
            remedy="Leave them out, search the sets of systematicity again, or build from a corpus "
            "of your own.",
        )
    pair = registry.load(request.aspect, request.corpus, request.protocol, request.part)
    if (pair.aspect, pair.protocol) != ("systematicity", "strict"):
        return Answer(pair, _facts())
    settings, seed = shipped.recipe(pair.corpus, pair.part)
    return Answer(pair, _facts(seed=seed, **asdict(settings)))


def _built(request: Request, corpus: Corpus) -> Answer:
    if request.protocol == "published":
        raise SplitError(
            "no sets of it were published",
            where=corpus.name,
            remedy=f"There are published sets of {', '.join(released.CORPORA)}.",
        )
    default = build.Settings()
    settings = build.Settings(
        seed=default.seed if request.seed is None else request.seed,
        restarts=request.restarts or default.restarts,
    )
    pair = build.build(corpus, request.aspect, request.part, settings)
    restarts = {"restarts": settings.restarts} if pair.aspect == "systematicity" else {}
    return Answer(pair, _facts(corpus, seed=settings.seed, **restarts))


def _searched(request: Request, progress: search.Progress | None) -> Answer:
    if (request.aspect, request.protocol or "strict") != ("systematicity", "strict"):
        raise ConfigError("finds the strict sets of systematicity, no others", where="search")
    if request.restarts is not None:
        raise ConfigError("are no setting of a search", where="restarts")
    if (request.corpus, request.part) in shipped.SETS:
        settings, seed = shipped.recipe(request.corpus, request.part)
    elif request.part is None:
        settings, seed = None, build.Settings().seed
    else:
        raise ConfigError(f"knows no part {request.part!r} of {request.corpus}", where="search")
    corpus = _read(request.corpus)
    settings = settings or _effort(len(corpus.samples))
    seed = seed if request.seed is None else request.seed
    pair = search.systematicity(corpus.samples, settings, seed, request.jobs, progress)
    build.refuse_equal_arms(pair)
    return Answer(pair, _facts(corpus, seed=seed, **asdict(settings)))


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
    corpus: Corpus | None = None, *, seed: int | None = None, **settings: str | float
) -> Mapping[str, Any]:
    version = f"git:{sources.COMMIT}" if corpus is None else f"sha256:{corpus.sha256}"
    return {"corpus_version": version, "settings": {"limit": LIMIT, **settings}, "seed": seed}


def _read(name: str) -> Corpus:
    match name:
        case embedded.CORPUS:
            return mini.corpus()
        case _ if name in known.NAMES:
            return known.read(name)
    path = Path(name)
    if not is_file(path):
        raise ConfigError(
            "is no corpus",
            where=name,
            remedy=f"Give {', '.join(CORPORA)}, or a JSON Lines file of your own.",
        )
    corpus = own.read(path)
    if corpus.name in CORPORA:
        raise ConfigError(
            f"has the name of another corpus, {corpus.name}", where=path, remedy="Rename the file."
        )
    return corpus
