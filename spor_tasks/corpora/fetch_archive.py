"""Fetch a zip archive that has no published digest, unpack it, and record what was fetched."""

import http.client
import json
import os
import re
import time
import urllib.error
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import open_file, write_json, writing
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest
from spor_tasks.corpora.archive import Archive, Progress, Source, copy_all, sha256_of
from spor_tasks.corpora.fetch import PATIENCE, PAUSES, SLOWEST, may_pass, opened

_KIND = "fetched files"
_BLOCK = 2**18
_AGAIN = "Run the command again: it goes on where it stopped."


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is in the folder: ``fetched`` now, or ``kept`` as it was.

    ``sha256`` is that of the archive, None if single files were copied; ``files`` are the digests
    of the files by name.
    """

    outcome: Literal["fetched", "kept"]
    sha256: str | None
    files: Mapping[str, str]


def fetch_archive(
    archive: Archive,
    target: Path,
    source: Path | None = None,
    *,
    sha256: str | None = None,
    pauses: Sequence[float] = PAUSES,
    progress: Progress = lambda _done, _total: None,
) -> Fetched:
    """Fetch an archive, and unpack the wanted files into the folder ``target``.

    ``source`` is a copy: a zip archive, or a folder with one or with the files. ``sha256`` is what
    the archive must have. Without it, the first fetch is trusted, and a later one must get the same
    files. If the folder has what its manifest says, nothing is fetched. A download that stopped
    goes on where it stopped, if the server allows that. The folder is written completely or not at
    all.

    Raises:
        ConfigError: ``sha256`` is not a digest, or cannot be compared; or the folder is not one of
            ours, is being written by another process, or cannot be written.
        CorpusError: the archive cannot be fetched, is not the one that was fetched before or that
            is asked for, or is refused (:meth:`Archive.unpack`).
    """
    target = Path(os.path.realpath(target))  # which has a name, unlike `.`
    asked, known = _digest(sha256), _known(target)
    if known and _is_whole(archive, target, known) and asked in {None, known["sha256"]}:
        return Fetched("kept", known["sha256"], known["files"])
    copied = _file_of(archive, source) if source else None
    if asked and copied and copied.is_dir():
        raise ConfigError(
            "cannot be compared with single files, only with an archive",
            where="sha256",
            remedy=f"Give the archive itself, {archive.file}.",
        )
    if archive.by_hand and not copied:
        raise CorpusError(
            "cannot be fetched by a program",
            where=archive.url,
            remedy=f"Get {archive.by_hand} there with a browser, and run `{archive.fetch} --from "
            f"{archive.by_hand}`.",
        )
    download = target.with_name(f".{target.name}.zip.partial")
    with (
        writing(target),
        atomic_folder(target, kind=_KIND, overwrite=True) as folder,
    ):
        if copied and copied.is_dir():
            packed, files = None, _copied(archive, copied, folder, progress)
        else:
            if not copied:
                _download(archive, download, pauses, progress)
            try:
                packed = _checked(copied or download, asked)
                files = archive.unpack(copied or download, folder, progress)
            except CorpusError:
                _forget(download)
                raise
        if known and not asked:
            _compare(files, known["files"], target)
        facts = {"corpus": archive.corpus, "url": archive.url, "sha256": packed, "files": files}
        write_manifest(folder, {"kind": _KIND, **facts})
    _forget(download)
    return Fetched("fetched", packed, files)


def _digest(given: str | None) -> str | None:
    if given is None or re.fullmatch("[0-9a-f]{64}", given.lower()):
        return given and given.lower()
    raise ConfigError(
        f"must be 64 hexadecimal digits, not {given!r}", where="sha256", remedy="Check the digest."
    )


def _known(target: Path) -> Mapping[str, Any] | None:
    """Return the manifest of an earlier fetch, or None."""
    with suppress(ResultError):
        manifest = read_manifest(target)
        if manifest.get("kind") == _KIND and isinstance(manifest.get("files"), dict):
            return {"sha256": None, **manifest}
    return None


def _is_whole(archive: Archive, target: Path, known: Mapping[str, Any]) -> bool:
    files = known["files"]
    with suppress(OSError):
        return {*archive.files} <= files.keys() and all(
            sha256_of(target / name) == sha for name, sha in files.items()
        )
    return False


def _compare(files: Mapping[str, str], known: Mapping[str, str], target: Path) -> None:
    if differing := [name for name, sha in known.items() if files.get(name) != sha]:
        raise CorpusError(
            f"{', '.join(differing)} would differ from what was fetched before",
            where=target,
            remedy="If the publisher has changed the archive, give its SHA-256 with --sha256, or "
            "fetch it into another folder with --to.",
        )


def _checked(path: Path, asked: str | None) -> str:
    try:
        found = sha256_of(path)
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error
    if asked not in {None, found}:
        raise CorpusError(f"has the SHA-256 {found}, not {asked}", where=path)
    return found


# --- Copies ---------------------------------------------------------------------------------------


def _file_of(archive: Archive, source: Path) -> Path:
    """Return the archive that a folder has, or the folder with the files, or the file itself."""
    packed = source / archive.file
    if source.is_dir() and packed.is_file():
        return packed
    if not source.exists():
        raise CorpusError("does not exist", where=source, remedy="Give a zip archive or a folder.")
    return source


def _copied(archive: Archive, source: Path, folder: Path, progress: Progress) -> Mapping[str, str]:
    found = {name: archive.find(name, source) for name in (*archive.files, *archive.notes)}
    present = {name: path for name, path in found.items() if path.is_file()}
    if missing := next((found[name] for name in archive.files if name not in present), None):
        raise CorpusError("is missing", where=missing, remedy=f"Give a copy of {archive.page}.")
    sources = {
        name: Source(partial(open_file, path), path.stat().st_size)
        for name, path in present.items()
    }
    return copy_all(sources, folder, progress)


# --- Downloads ------------------------------------------------------------------------------------


def _download(archive: Archive, partial: Path, pauses: Sequence[float], progress: Progress) -> None:
    """Download the archive to ``partial``, where the start of it may be already.

    An attempt that gets no further counts; ``pauses`` says how many there are.
    """
    deadline = time.monotonic() + PATIENCE + archive.at_most / SLOWEST

    def left() -> float:
        if (seconds := deadline - time.monotonic()) <= 0:
            raise TimeoutError("it took too long")
        return seconds

    waiting, before = iter(pauses), _size(partial)
    while fault := _attempt(archive, partial, left, progress):
        if isinstance(fault, urllib.error.HTTPError):
            fault.close()
            if fault.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and before:
                if fault.headers.get("Content-Range") == f"bytes */{before}":
                    return  # it was whole
                _forget(partial)
                before = 0
                continue
        if _size(partial) > before:
            waiting, before = iter(pauses), _size(partial)
        pause = next(waiting, None)
        if pause is None or not may_pass(fault) or time.monotonic() + pause > deadline:
            raise CorpusError(
                f"cannot be fetched: {fault}",
                where=archive.url,
                remedy=f"{_AGAIN} Or get a copy from {archive.page}, and name it with --from.",
            ) from fault
        time.sleep(pause)


def _attempt(
    archive: Archive, partial: Path, left: Callable[[], float], progress: Progress
) -> Exception | None:
    """Download what is missing; return what went wrong, or None."""
    try:
        with opened(archive.url, left, _conditions(archive, partial)) as response:
            _append(archive, response, partial, progress)
    except (OSError, http.client.HTTPException) as error:
        return error
    return None


def _append(
    archive: Archive, response: http.client.HTTPResponse, partial: Path, progress: Progress
) -> None:
    at = _size(partial)
    goes_on = response.status == HTTPStatus.PARTIAL_CONTENT
    if goes_on and not (response.headers.get("Content-Range") or "").startswith(f"bytes {at}-"):
        _forget(partial)
        raise http.client.HTTPException("the server sent another part than was asked for")
    if not goes_on:
        at = 0
        partial.unlink(missing_ok=True)
        write_json(_notes(partial), {"url": archive.url, "version": _version(response)})
    total = None if response.length is None else at + response.length
    with partial.open("ab") as file:
        while block := response.read(_BLOCK):
            at += len(block)
            if at > archive.at_most:
                break
            file.write(block)
            progress(at, total)
    if max(at, total or 0) > archive.at_most:
        _forget(partial)
        raise CorpusError(f"has more than {archive.at_most:,} bytes", where=archive.url)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


def _conditions(archive: Archive, partial: Path) -> Mapping[str, str]:
    """Return the headers that ask for the rest of the archive, if it is still the same one."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(_notes(partial).read_bytes())
        if known["url"] == archive.url and known["version"] and (size := _size(partial)):
            return {"Range": f"bytes={size}-", "If-Range": str(known["version"])}
    return {}


def _version(response: http.client.HTTPResponse) -> str | None:
    """Return what tells whether the archive is still the same: its tag if strong, or its date."""
    tag: str | None = response.headers.get("ETag")
    return tag if tag and tag.startswith('"') else response.headers.get("Last-Modified")


def _notes(partial: Path) -> Path:
    return partial.with_suffix(".json")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _forget(partial: Path) -> None:
    for path in (partial, _notes(partial)):
        path.unlink(missing_ok=True)
