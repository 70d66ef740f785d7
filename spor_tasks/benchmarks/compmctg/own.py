"""Sets that a user's files say: of a space of one's own, or of published splits.

A space of one's own is a YAML file (:func:`spor_tasks.corpora.compmctg.spaces.read_request`).
Beside it are ``gen.jsonl``, the texts that train a generator, ``cls.jsonl``, those that train
classifiers, and, for splits that one has already, ``unseen.jsonl``.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.benchmarks.compmctg import sets, splits
from spor_tasks.benchmarks.compmctg.protocols import Partition
from spor_tasks.core.contracts import SetName
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.files import is_file
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.linearize import PREFIXES
from spor_tasks.corpora.compmctg.spaces import read_request

_TAKEN = {"mini"}  # of the tasks of compmctg_mini


class _Own(NamedTuple):
    asked: sets.Asked
    folder: Path


def names(corpus: str, protocol: str, *, seed: int | None = None) -> tuple[SetName, ...]:
    """Return the sets of a protocol: of a YAML file, or of a corpus with published splits.

    The seed draws splits from all of the highest divergence, by default that of the shipped ones.

    Raises:
        ConfigError: the file is malformed, or the sets of the protocol have tasks already.
        SplitError: no split satisfies the protocol.
        CorpusError: the published splits are missing or malformed.
    """
    if corpus in reader.FOLDERS:
        space = next(space for space in splits.SPACES if space.name == corpus)
        plain = protocol.removesuffix(sets.PUBLISHED)
        if plain == protocol:
            raise ConfigError(
                f"the sets of {protocol} have tasks already",
                where=corpus,
                remedy=f"`spor tasks list` has them. Splits of your own unseen.jsonl are "
                f"{protocol}{sets.PUBLISHED}.",
            )
        found = _not_empty(sets.published(space, plain), corpus, plain)
    else:
        own = _read(Path(corpus))
        corpus, found = own.asked.space.name, _splits(own, protocol, seed)
    return tuple(
        SetName(sets.BENCHMARK, corpus, protocol, part) for part in _parts(protocol, len(found))
    )


def load(
    corpus: str, protocol: str | None, part: str | None = None, *, seed: int | None = None
) -> tuple[SplitPair, Mapping[str, Any]]:
    """Return sets of a space in a YAML file, and the facts about them.

    Raises:
        ConfigError: the file is malformed, or no protocol is named.
        SplitError: no split satisfies the protocol, or it has no such part.
        CorpusError: ``unseen.jsonl`` is asked for, and is missing or malformed.
    """
    if protocol is None:
        raise ConfigError(
            "no protocol is named",
            where=corpus,
            remedy=f"Use one of {', '.join(splits.PROTOCOLS)}; splits of your own unseen.jsonl are "
            f"acd{sets.PUBLISHED} and so on.",
        )
    own = _read(Path(corpus))
    found = _splits(own, protocol, seed)
    parts = _parts(protocol, len(found))
    if part not in parts and part is not None:
        raise SplitError(
            f"has no split {part!r} of {protocol}",
            where=corpus,
            remedy=f"It has {', '.join(filter(None, parts)) or 'one, without a number'}.",
        )
    split = found[parts.index(part) if part else 0]
    name = SetName(sets.BENCHMARK, own.asked.space.name, protocol, part or parts[0])
    texts = sets.shown(own.folder / "gen.jsonl", own.asked.space, frozenset(split.unseen))
    pair = sets.pair_of(name, own.asked, frozenset(split.unseen), texts)
    version = f"sha256:{sha256_of(Path(corpus))}"
    return pair, {"corpus_version": version, "settings": {}, "seed": seed}


def texts(corpus: str) -> tuple[Sample, ...]:
    """Return all labelled texts beside a YAML file, those for classifiers last, if there are any.

    Raises:
        ConfigError: the file is malformed.
        CorpusError: ``gen.jsonl`` is missing, or a row is malformed.
    """
    own = _read(Path(corpus))
    of_classifiers = own.folder / "cls.jsonl"
    paths = [own.folder / "gen.jsonl", *([of_classifiers] if of_classifiers.exists() else [])]
    return tuple(sample for path in paths for sample in reader.read(path, own.asked.space))


def _parts(protocol: str, count: int) -> tuple[str | None, ...]:
    is_whole = protocol.removesuffix(sets.PUBLISHED) == "original"
    return (None,) if is_whole else tuple(map(str, range(count)))


def _splits(own: _Own, protocol: str, seed: int | None) -> tuple[Partition, ...]:
    plain = protocol.removesuffix(sets.PUBLISHED)
    if plain not in splits.PROTOCOLS:
        raise SplitError(
            f"has no {protocol} sets",
            where=own.asked.space.name,
            remedy=f"The protocols are {', '.join(splits.PROTOCOLS)}.",
        )
    if plain == protocol and protocol in {"acd", "fewshot"}:
        return _searched(own.asked, protocol, splits.SEED if seed is None else seed)
    if plain == protocol:
        return splits.find(own.asked.space, protocol).partitions
    path = own.folder / "unseen.jsonl"
    return _not_empty(sets.published(own.asked.space, plain, path), str(path), plain)


@cache
def _searched(asked: sets.Asked, protocol: str, seed: int) -> tuple[Partition, ...]:
    return splits.find(asked.space, protocol, seed=seed).partitions


def _not_empty(found: tuple[Partition, ...], where: str, protocol: str) -> tuple[Partition, ...]:
    if not found:
        raise SplitError(f"the published file has no split of {protocol}", where=where)
    return found


def _read(path: Path) -> _Own:
    """Return what a YAML file says; equal files at one place are one object."""
    if path.suffix not in {".yaml", ".yml"} or not is_file(path):
        raise ConfigError(
            "is neither a YAML file nor a corpus with published splits",
            where=path,
            remedy=f"Name a file with `aspects:` and their values, or one of "
            f"{', '.join(reader.FOLDERS)}.",
        )
    return _known(path.resolve(), sha256_of(path))


@cache
def _known(path: Path, _sha256: str) -> _Own:
    request = read_request(path)
    name = request.space.name
    if name in {*registry().names("corpus"), *_TAKEN}:
        raise ConfigError(
            f"has the name of the corpus {name}", where=path, remedy="Rename the file."
        )
    prefixes, repeats = request.beginnings or PREFIXES, request.repeats
    asked = sets.Asked(request.space, name, prefixes, repeats or sets.REPEATS)
    return _Own(asked, path.parent)
