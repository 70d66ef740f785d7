"""Sets that a command line asks for: of a named corpus, of the user's own, or in a folder."""

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

_SAMPLES = 15_000  # about those of WebNLG, which the default settings of a search are made for


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Which sets are wanted.

    ``corpus`` is one of :func:`corpora` or a JSON Lines file. ``part`` and ``protocol`` default to
    the first ones that exist. ``seed``, ``restarts`` and ``hide`` are for sets that are built on
    demand (:class:`~spor_tasks.aspects.build.Settings`); the sets of the real corpora are fixed.
    ``search`` searches those of systematicity again, or larger sets of the user's own corpus, in
    ``jobs`` processes, by default one per core; their number does not change the result.
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
    """Sets, and the facts about their origin for the manifest."""

    pair: SplitPair
    facts: Mapping[str, Any]


def corpora() -> tuple[str, ...]:
    """Return the names of the registered corpora; all others are the user's own files."""
    return registry().names("corpus")


def answer(request: Request, progress: search.Progress | None = None) -> Answer:
    """Return the sets that are wanted: fixed sets, or sets built on demand.

    ``progress`` is called during a search.

    Raises:
        ConfigError: there is no such corpus, or a setting has no effect.
        CorpusError: a file is missing, damaged, or not what it claims to be.
        SplitError: there are no such sets, or the corpus is too small for them.
    """
    if own_sets := _own_sets_of(request):
        return own_sets
    if request.search:
        return _searched(request, progress)
    if request.jobs is not None:
        raise ConfigError(
            "only a search uses several processes",
            where="jobs",
            remedy="Add --search, or leave --jobs out.",
        )
    if any(spec.is_fixed and spec.name.corpus == request.corpus for spec in named.available()):
        return _fixed(request)
    return _built(request, _read(request.corpus))


def _own_sets_of(request: Request) -> Answer | None:
    """Return sets of a file of the user's from a benchmark that reads such files, else None."""
    if request.corpus in corpora() or request.aspect not in registry().names("benchmark"):
        return None
    load = getattr(registry().get("benchmark", request.aspect), "own_sets", None)
    if load is None:
        return None
    for setting in ("restarts", "hide", "search", "jobs"):
        if getattr(request, setting):
            raise ConfigError(
                f"has no effect on sets of {request.aspect}", where=setting, remedy="Leave it out."
            )
    return Answer(*load(request.corpus, request.protocol, request.part, seed=request.seed))


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
            remedy="Leave these options out, search the sets of systematicity again with --search, "
            "or build sets from your own corpus.",
        )
    spec = named.find(request.aspect, request.corpus, request.protocol, request.part)
    return Answer(named.load(*spec.name), _facts(**named.recipe(spec) or {}))


def _built(request: Request, corpus: CorpusSamples) -> Answer:
    if request.protocol not in {None, "strict"}:
        fixed = dict.fromkeys(s.name.corpus for s in named.available() if s.is_fixed)
        raise SplitError(
            f"has no {request.protocol} sets",
            where=corpus.name,
            remedy=f"Use the protocol strict; {request.protocol} sets are of {', '.join(fixed)}.",
        )
    given = {"seed": request.seed, "restarts": request.restarts}
    settings = build.Settings(
        hide=request.hide, **{key: value for key, value in given.items() if value is not None}
    )
    pair = build.build(corpus, request.aspect, request.part, settings)
    return Answer(pair, _facts(corpus, seed=settings.seed, **build.effective(settings, pair)))


def _searched(request: Request, progress: search.Progress | None) -> Answer:
    if (request.aspect, request.protocol or "strict") != (search.ASPECT, "strict"):
        raise ConfigError(
            f"finds only strict sets of {search.ASPECT}",
            where="search",
            remedy="Leave --search out.",
        )
    for setting in ("restarts", "hide"):
        if getattr(request, setting):
            raise ConfigError(
                "a search does not use this setting", where=setting, remedy="Leave it out."
            )
    known = _known_recipe(request)
    if known is None and request.part is not None:
        raise ConfigError(
            f"{request.corpus} has no part {request.part!r} that a search finds",
            where="search",
            remedy="Leave --part out.",
        )
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
    """Return settings with as many moves per sample as on WebNLG."""
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
    version = f"git:{sources.SPOR.commit}" if corpus is None else f"sha256:{corpus.sha256}"
    return {"corpus_version": version, "settings": {"limit": LIMIT, **settings}, "seed": seed}


def _read(name: str) -> CorpusSamples:
    if name in corpora():
        known: CorpusSamples = registry().get("corpus", name).read()
        if any("table" in sample.context for sample in known.test[:1]):
            raise ConfigError(
                "is about tables, and no aspect makes sets of tables yet",
                where=name,
                remedy="Use a corpus of triples or attribute-value pairs.",
            )
        return known
    return read_own(name)


def read_own(name: str) -> CorpusSamples:
    """Return the corpus in a file of the user's own.

    Raises:
        ConfigError: there is no such file, or it has the name of a registered corpus.
        CorpusError: it cannot be read.
    """
    path = Path(name)
    if not is_file(path):
        raise ConfigError(
            "is neither the name of a corpus nor a file",
            where=name,
            remedy=f"Use one of {', '.join(corpora())}, or your own JSON Lines file.",
        )
    corpus = own.read_corpus(path)
    if corpus.name in corpora():
        raise ConfigError(
            f"has the name of the corpus {corpus.name}", where=path, remedy="Rename the file."
        )
    return corpus
