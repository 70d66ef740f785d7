"""Splits of a space in a folder: ``unseen.jsonl`` in the published format, and what certifies it.

The manifest has the space, the protocol, and of each split its divergence and whether it is
eligible, as the paper requires and as the published code does.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks import __version__
from spor_tasks.benchmarks.compmctg import sets, splits
from spor_tasks.benchmarks.compmctg.protocols import (
    ALPHA,
    Partition,
    TooLargeError,
    divergence,
    is_eligible,
    most_divergent,
    partition,
)
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError, SplitError
from spor_tasks.core.files import is_file, write_rows, writing
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import Space, read_space

KIND = "splits of combinations"
"""What the manifest of such a folder says that it is."""

_MANIFEST = "manifest.json"
_UNSEEN = "unseen.jsonl"
_SAME = 1e-9  # divergences that differ by less are equal


def build(
    corpus: str, protocol: str, folder: Path, *, seed: int | None = None, overwrite: bool = False
) -> Mapping[str, Any]:
    """Write the splits of a corpus, or of a space that a YAML file describes; return the manifest.

    The seed, by default that of the shipped splits, draws splits from all of the highest
    divergence. A protocol that ends in ``_published`` has the splits of the user's data.

    Raises:
        ConfigError: there is no such space, a setting has no effect, or the folder cannot be
            written.
        SplitError: no split satisfies the protocol.
        CorpusError: the published splits are missing or malformed.
    """
    space, name = space_of(corpus), protocol.removesuffix(sets.PUBLISHED)
    searches = protocol in {"acd", "fewshot"}
    if seed is not None and not searches:
        raise ConfigError(
            f"has no effect on the protocol {protocol}", where="seed", remedy="Leave it out."
        )
    seed = splits.SEED if seed is None else seed
    found = splits.find(space, name, seed=seed) if name == protocol else _published(space, name)
    with (
        writing(folder),
        atomic_folder(folder, kind=KIND, manifest=_MANIFEST, overwrite=overwrite) as staging,
    ):
        left_out = [unseen for _, unseen in found.partitions]
        write_rows(staging / _UNSEEN, reader.unseen_rows(space, name, left_out))
        facts = {
            "kind": KIND,
            "corpus": space.name,
            "aspects": {aspect: list(values) for aspect, values in space.aspects.items()},
            "protocol": protocol,
            "alpha": ALPHA,
            "seed": seed if searches else None,
            "divergence": found.divergence,
            "is_proved_highest": found.ties is not None if searches else None,
            "ties": found.ties,
            "splits": list(map(_told, found.partitions)),
            "files": {_UNSEEN: {"sha256": sha256_of(staging / _UNSEEN)}},
            "spor_tasks": __version__,
        }
        write_manifest(staging, facts, _MANIFEST)
        return read_manifest(staging, _MANIFEST)


def space_of(corpus: str) -> Space:
    """Return the space of a corpus, or the one that a YAML file describes.

    Raises:
        ConfigError: there is no such corpus or file, or the file is malformed.
    """
    known = {space.name: space for space in splits.SPACES}
    if corpus in known:
        return known[corpus]
    if is_file(Path(corpus)) and Path(corpus).suffix in {".yaml", ".yml"}:
        return read_space(Path(corpus))
    raise ConfigError(
        "is neither a corpus with combinations of attributes nor a YAML file",
        where=corpus,
        remedy=f"Use one of {', '.join(known)}, or a file with `aspects:` and their values.",
    )


def _published(space: Space, protocol: str) -> splits.Found:
    if space.name not in reader.FOLDERS:
        raise ConfigError(
            "has no published splits",
            where=space.name,
            remedy=f"Use one of {', '.join(reader.FOLDERS)}.",
        )
    if not (partitions := sets.published(space, protocol)):
        raise SplitError(f"the published file has no split of {protocol}", where=space.name)
    return splits.Found(partitions)


def _told(split: Partition) -> Mapping[str, Any]:
    return {
        "seen": len(split.seen),
        "unseen": len(split.unseen),
        "divergence": divergence(*split) if all(split) else None,
        "eligible": is_eligible(*split),
        "eligible_both_ways": is_eligible(*split, both_ways=True),
    }


# --- Checks ---------------------------------------------------------------------------------------


class Certificate(NamedTuple):
    """What is true of the splits in a folder, and in words what is wrong with them.

    ``highest`` is the highest divergence that any split of the protocol has, which this proves; it
    is None where the protocol maximizes nothing or the space is too large.
    """

    corpus: str
    protocol: str
    splits: tuple[Mapping[str, Any], ...]
    highest: float | None
    violations: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.violations


def check(folder: Path) -> Certificate:
    """Return what is true of the splits in a folder, all of it computed again.

    Raises:
        ResultError: the folder has no manifest of splits.
        CorpusError: ``unseen.jsonl`` is missing or malformed.
    """
    manifest = read_manifest(folder, _MANIFEST)
    try:
        space = Space(manifest["corpus"], {k: tuple(v) for k, v in manifest["aspects"].items()})
        protocol, told = str(manifest["protocol"]), list(manifest["splits"])
        sha256 = manifest["files"][_UNSEEN]["sha256"]
        splits.PROTOCOLS.index(protocol.removesuffix(sets.PUBLISHED))
    except (AttributeError, KeyError, TypeError, ValueError, ConfigError) as error:
        raise ResultError(
            f"is not a manifest of splits: {error}",
            where=folder / _MANIFEST,
            remedy="Build the splits again.",
        ) from error
    rows = reader.read_unseen(folder / _UNSEEN, space)
    found = tuple(
        partition(space, [each for each in space.combinations if not row.has(space.as_row(each))])
        for row in rows
    )
    if sha256_of(folder / _UNSEEN) != sha256:
        raise CorpusError(
            f"is not the file that {_MANIFEST} describes",
            where=folder / _UNSEEN,
            remedy="It may be truncated or edited. Build the splits again.",
        )
    is_published = protocol.endswith(sets.PUBLISHED)
    protocol = protocol.removesuffix(sets.PUBLISHED)
    highest = _highest(space, protocol)
    wrong = [
        *_wrong_rows(rows, protocol),
        *_wrong_splits(space, protocol, found),
        *(["the manifest says other things of the splits"] if told != _all(found) else []),
        *([] if is_published else _too_low(found, highest)),
    ]
    return Certificate(
        space.name, manifest["protocol"], tuple(map(_told, found)), highest, tuple(wrong)
    )


def _all(found: Sequence[Partition]) -> list[Mapping[str, Any]]:
    return list(map(_told, found))


def _highest(space: Space, protocol: str) -> float | None:
    if protocol not in {"acd", "fewshot"}:
        return None
    try:
        return most_divergent(space, splits.size_of(space, protocol), most=1, seed=0).divergence
    except TooLargeError:
        return None


def _wrong_rows(rows: Sequence[reader.Unseen], protocol: str) -> Iterator[str]:
    for number, row in enumerate(rows):
        if row.protocol != protocol:
            yield f"split {number} is of {row.protocol}"


def _wrong_splits(space: Space, protocol: str, found: Sequence[Partition]) -> Iterator[str]:
    counts = Counter(found)
    if not found:
        yield "there is no split"
    for number, split in enumerate(found):
        if len(split.seen) != (size := splits.size_of(space, protocol)):
            yield f"split {number} shows {len(split.seen)} combinations, not {size}"
        if not is_eligible(*split):
            yield f"split {number} leaves out a value that it never shows"
        if counts[split] > 1:
            yield f"split {number} is there {counts[split]} times"
    if protocol == "holdout" and len(counts) < len(space.combinations):
        yield "not every combination is left out once"


def _too_low(found: Sequence[Partition], highest: float | None) -> Iterator[str]:
    for number, split in enumerate(found):
        if highest is not None and divergence(*split) < highest - _SAME:
            yield f"split {number} has a divergence of {divergence(*split):.6f}, not {highest:.6f}"
