"""Built sets in a folder: one JSON Lines file per set, and a manifest with their digests."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypedDict

import msgspec

from spor_tasks import __version__
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError, ResultError
from spor_tasks.core.files import JsonObject, open_file, write_rows, writing
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest
from spor_tasks.core.sample import Json, Sample, SetFacts, Sets
from spor_tasks.corpora import jsonl

MANIFEST = "manifest.json"
_KIND = "sets"


@contextmanager
def new(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder for sets, which becomes ``path`` if the block ends without error.

    Raises:
        ConfigError: another process is writing ``path``, ``path`` has something that must not be
            replaced, or it cannot be written.
    """
    with (
        writing(path),
        atomic_folder(path, kind=_KIND, manifest=MANIFEST, overwrite=overwrite) as folder,
    ):
        yield folder


class Origin(TypedDict):
    """Where sets come from: the digest of the corpus, settings and seed."""

    corpus_version: str
    settings: Mapping[str, Json]
    seed: int | None


def write_sets(folder: Path, pair: Sets, origin: Origin) -> JsonObject:
    """Write each arm and the test set in the published field names; return the manifest."""
    for name, samples in pair.all.items():
        write_rows(folder / _file(name), map(to_row, samples))
    manifest = {
        "kind": _KIND,
        **pair.facts.named,
        **origin,
        "files": {
            _file(name): {
                "sha256": digest(samples),
                "samples": len(samples),
                "units": sum(len(sample.units) for sample in samples),
                "references": sum(len(sample.references) for sample in samples),
            }
            for name, samples in pair.all.items()
        },
        **({"untested": dict(pair.untested)} if pair.untested else {}),
        "spor_tasks": __version__,
    }
    write_manifest(folder, manifest, MANIFEST)
    return read_manifest(folder, MANIFEST)


def read_sets(folder: Path) -> Sets:
    """Return the sets in a folder, after comparing every file with the manifest.

    Raises:
        ResultError: the folder has no manifest of sets, or it is damaged.
        CorpusError: a file is missing, truncated or edited; the error names it.
    """
    try:
        read = msgspec.convert(read_manifest(folder, MANIFEST), _Manifest)
        files = {name: read.files[_file(name)].sha256 for name in (*ARMS[read.aspect], "test")}
    except (msgspec.ValidationError, KeyError, SystemError) as error:  # of a number too large
        raise ResultError(
            f"is not the manifest of built sets ({error})",
            where=folder / MANIFEST,
            remedy="Give a folder that `spor data build` wrote, or build the sets again.",
        ) from error
    facts = SetFacts(aspect=read.aspect, corpus=read.corpus, protocol=read.protocol, part=read.part)
    arms: dict[str, Sequence[Sample]] = {}
    for name, sha256 in files.items():
        path = folder / _file(name)
        try:
            with open_file(path) as file:
                actual, length = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
                file.seek(0)
                content = file.read() if actual == sha256 else b""
        except OSError as error:
            raise CorpusError(f"cannot be read: {error}", where=path) from error
        if actual != sha256:
            raise CorpusError(
                f"is not the file that {MANIFEST} describes: its SHA-256 is {actual}, not {sha256}"
                f" ({length:,} bytes)",
                where=path,
                remedy="It may be truncated or edited. Build the sets again.",
            )
        arms[name] = jsonl.parse_samples(content, read.corpus, where=str(path))
    test = arms.pop("test")
    return Sets(facts, arms, test)


class _SetFile(msgspec.Struct):
    sha256: str


class _Manifest(msgspec.Struct):
    kind: Literal["sets"]
    aspect: str
    corpus: str
    protocol: str
    part: str | None
    files: dict[str, _SetFile]


def _file(name: str) -> str:
    return f"{name}.jsonl"
