"""Files and folders: JSON Lines in and out, manifests; written whole or not at all."""

import gzip
import hashlib
import json
import os
import reprlib
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from glob import escape
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from spor_tasks.errors import ConfigError, CorpusError, ResultError, SporError
from spor_tasks.samples import CopySample, OrderSample, Sample, Triple

if sys.platform != "win32":
    import fcntl

Row = Mapping[str, Any]

ROW_BYTES = 4_000_000
"""The most bytes of a row that is read, line end included, unpacked where it was packed.

That is a thousand times the longest row of the released sets. A row is held in memory whole, so a
file that is no JSON Lines, or a run-away output, is refused before it fills the machine.
"""
ROW_VARIABLE = "SPOR_MAX_ROW_MB"

_GZIP = b"\x1f\x8b"

MANIFEST = "spor.json"
"""The manifest's name in a folder that other programs write files to as well."""
_SCHEMA = 1

# How often, and after how many seconds, one looks again for a folder that is between two names.
_LOOKS, _PAUSE = 50, 0.02

# Far above what any file of ours has; a file that is made to cost memory or time has more.
_MOST_JSON = 2**24
_MOST_TEXT = 2**18
_DEEPEST = 100

# Where a shell puts the pipes of `<(…)`, and the system those that a program was started with.
_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def is_file(path: Path) -> bool:
    """Say whether this is a file; what cannot be looked at, such as a name too long, is none."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's own fails there


def is_folder(path: Path) -> bool:
    """Say whether this is a folder; what cannot be looked at, such as a name too long, is none."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading; a named pipe or a device may keep a reader for ever.

    Raises:
        OSError: it cannot be opened, or is something else.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is not a regular file")
        return path.open("rb")
    except ValueError as error:  # of a name that no file can have
        raise OSError(f"{error} in its name") from error


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return the content of a regular file, which may have at most so many bytes.

    Raises:
        OSError: it cannot be read, is something else, or has more.
    """
    with open_file(path) as file:
        content = file.read(most if most < 0 else most + 1)
    if len(content) > most >= 0:
        raise OSError(f"it has more than {most:,} bytes")
    return content


def read_text(path: Path) -> str:
    """Return the text of a file that people write, such as settings.

    Raises:
        ConfigError: it cannot be read, or is too long to be one.
    """
    try:
        return read_bytes(path, _MOST_TEXT).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", where=path) from error


def read_json(path: Path, kind: type[SporError] = ConfigError) -> dict[str, Any]:
    """Return the JSON object that a file holds, whatever somebody made of the file.

    Raises:
        SporError: of that ``kind``: it cannot be read, is not a JSON object, or is too large or
            nested too deeply to be a file of ours.
    """
    try:
        content = read_bytes(path, _MOST_JSON)
        value = json.loads(content)
        _refuse_depth(content, value)
    except (OSError, ValueError, RecursionError) as error:
        raise kind(f"cannot be read: {error}", where=path) from error
    if not isinstance(value, dict):
        raise kind("is not a JSON object", where=path)
    return value


def _refuse_depth(content: bytes, value: object) -> None:
    """Refuse a JSON value that code which calls itself could not walk through.

    Raises:
        ValueError: it is nested too deeply.
    """
    if content.count(b"[") + content.count(b"{") <= _DEEPEST:
        return
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    if level:
        raise ValueError(f"it is nested more than {_DEEPEST} deep")


def to_row(sample: Sample) -> dict[str, Any]:
    """Return the sample in the published field names, in the published order.

    These are ``name`` (where the sample has one), ``data``, ``texts``, and what order invariance
    and rule learnability add: ``input_order_1``, ``input_order_2`` and ``output_order``; in place
    of ``texts``, ``replaced_kv_pair`` where units are pairs, else ``replaced_entity``.
    """
    named = {} if sample.name is None else {"name": sample.name}
    row = {**named, "data": [list(unit) for unit in sample.units]}
    match sample:
        case CopySample():
            triples = isinstance(sample.units[0], Triple)
            replaced = "replaced_entity" if triples else "replaced_kv_pair"
            return {**row, replaced: dict(sample.hidden)}
        case OrderSample(input_orders=(first, second)):
            return {
                **row,
                "texts": list(sample.references),
                "input_order_1": list(first),
                "input_order_2": list(second),
                "output_order": [list(order) for order in sample.reference_orders],
            }
    return {**row, "texts": list(sample.references)}


def encode_row(row: Row) -> bytes:
    """Return the row as one line of JSON, byte for byte as the published files write it.

    Half a surrogate pair, which UTF-8 has no bytes for, is written as JSON's escape of it.
    """
    return (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def digest(samples: Iterable[Sample]) -> str:
    """Return the SHA-256 of the samples as a published file would hold them.

    For a split that was read from a published file this is that file's own SHA-256.
    """
    sha = hashlib.sha256()
    for sample in samples:
        sha.update(encode_row(to_row(sample)))
    return sha.hexdigest()


def digest_weights(folder: Path) -> str:
    """Return the SHA-256 that tells the weights of a model or adapter folder from all others.

    It is taken over names and contents of the files that transformers and peft save weights in,
    so it names the same weights wherever the folder lies, and whatever else lies there.

    Raises:
        ConfigError: the folder holds no weights, or some cannot be read.
    """
    sha = hashlib.sha256()
    for path in weight_files(folder):
        try:
            with open_file(path) as file:
                own = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"cannot be read: {error}", where=path) from error
        sha.update(f"{path.name} {own}\n".encode())
    return sha.hexdigest()


def weight_files(folder: Path) -> list[Path]:
    """Return the files that transformers and peft saved a model's weights in.

    Raises:
        ConfigError: there are none.
    """
    files = sorted(folder.glob("*model*.safetensors")) or sorted(folder.glob("*model*.bin"))
    if not files:
        raise ConfigError(
            "holds no weights",
            where=folder,
            remedy="Give a folder that a checkpoint or an adapter was saved in.",
        )
    return files


def row_limit() -> int:
    """Return the most bytes of a row: :data:`ROW_BYTES`, or ``SPOR_MAX_ROW_MB`` million.

    It is a variable of the environment as a dozen commands read rows, and lm-eval does.

    Raises:
        ConfigError: the variable is not a whole number from 1 on.
    """
    named = os.environ.get(ROW_VARIABLE, "")
    if not named:
        return ROW_BYTES
    try:
        megabytes = int(named)
    except ValueError:
        megabytes = 0
    if megabytes < 1:
        raise ConfigError(
            f"must be a whole number from 1 on, not {reprlib.repr(named)}", where=ROW_VARIABLE
        )
    return megabytes * 1_000_000


def parse_rows(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(where:line, row)`` for each line of JSON Lines.

    Raises:
        CorpusError: a line is not a JSON object, is longer than :func:`row_limit`, or says a field
            twice; ``where`` names it.
        ConfigError: as :func:`row_limit`.
    """
    limit = row_limit()
    for number, line in enumerate(lines, start=1):
        place = f"{where}:{number}"
        if len(line) > limit:
            raise CorpusError(
                f"is longer than {limit:,} bytes",
                where=place,
                remedy="Is it JSON Lines, one sample a line? To read longer lines, set "
                f"{ROW_VARIABLE}={4 * limit // 1_000_000} in the environment: millions of bytes.",
            )
        try:
            row = json.loads(line, object_pairs_hook=_object)
            _refuse_depth(line, row)
        except CorpusError as error:
            raise CorpusError(error.what, where=place) from error
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"is not JSON: {error}",
                where=place,
                remedy="The file may be cut short; fetch or write it again.",
            ) from error
        if not isinstance(row, dict):
            raise CorpusError("a line must be one JSON object", where=place)
        yield place, row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # Python keeps the last, other readers the first
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CorpusError(f"has the field {reprlib.repr(twice)} twice")
    return found


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(where:line, row)`` for each line of a JSON Lines file, gzipped or not.

    Raises:
        CorpusError: the file cannot be read, or as :func:`parse_rows`; ``where`` names the line.
        ConfigError: as :func:`row_limit`.
    """
    try:
        file = path.open("rb") if str(path).startswith(_PIPES) else open_file(path)
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error
    with file:
        yield from stream_rows(file, str(path))


def stream_rows(file: BufferedReader, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what :func:`read_rows` does of an open file or pipe, gzipped or not.

    No more is held in memory than one row.

    Raises:
        CorpusError: as :func:`read_rows`.
        ConfigError: as :func:`row_limit`.
    """
    line, most = 1, row_limit() + 1
    try:
        plain = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(_GZIP) else file
        for row in parse_rows(iter(partial(plain.readline, most), b""), where):
            yield row
            line += 1
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot be read: {error}", where=f"{where}:{line}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of the system's errors in the block that ``path`` cannot be written.

    Raises:
        ConfigError: in place of such an error.
    """
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error}",
            where=path,
            remedy="Is the disk full, or the folder not yours? Give another place, or make room.",
        ) from error


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing so that it changes only when the block ends without an error.

    The bytes go to a sibling file that is synchronised and then renamed, so a crash, a full disk
    or an exception leaves what was there before. Siblings of killed processes are deleted.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # such as /dev/stdout, which a rename would replace
        raise OSError("it is not a regular file")
    sweep(path)
    sibling, descriptor = _new_sibling(path)
    on_windows = sys.platform == "win32"  # where an open file cannot be renamed, nor locked
    try:
        with os.fdopen(descriptor, "wb", closefd=on_windows) as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        sibling.chmod(0o644)
        sibling.replace(path)  # before it is unlocked, or another might sweep it
    except BaseException:
        sibling.unlink(missing_ok=True)
        raise
    finally:
        if not on_windows:
            os.close(descriptor)


def sweep(path: Path) -> None:
    """Delete what processes that were killed while they wrote ``path`` have left beside it.

    A process holds a lock on what it writes, which the system frees when the process ends; on a
    network disk, one whose machines see each other's locks.
    """
    if sys.platform == "win32":
        return
    for sibling in path.parent.glob(f".{escape(path.name)}.{'?' * 8}.partial"):
        with suppress(OSError), sibling.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sibling.unlink()


def _new_sibling(path: Path) -> tuple[Path, int]:
    """Make a file to write ``path`` in, locked for as long as the descriptor is open."""
    while True:
        descriptor, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
        )
        if sys.platform != "win32":
            with suppress(OSError):  # a disk without locks, where none are swept either
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return Path(name), descriptor
        os.close(descriptor)  # it was swept before it was locked


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows as JSON Lines, atomically."""
    with atomic_write(path) as file:
        for row in rows:
            file.write(encode_row(row))


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Write one JSON value, indented for people, atomically."""
    with atomic_write(path) as file:
        text = json.dumps(value, ensure_ascii=False, indent=2)
        file.write(f"{text}\n".encode(errors="backslashreplace"))  # as encode_row


@contextmanager
def atomic_folder(
    path: Path, *, kind: str, overwrite: bool, manifest: str = MANIFEST
) -> Iterator[Path]:
    """Give a new folder that takes the place of ``path`` when the block ends without an error.

    Until then ``path`` is as it was; after an error or an interrupt nothing is left of the new one.
    What is written there says its ``kind`` in its manifest, and replaces nothing of another kind.
    Where the system can exchange two names at once, as Linux can on its own disks, a folder that is
    replaced is at its name at every moment; elsewhere a process that is killed between two renames
    leaves it beside, and the next one who reads or writes it puts it back (:func:`recover`).

    Raises:
        ConfigError: another process is writing ``path``; or ``path`` holds something and
            ``overwrite`` is off, or something else than a finished folder of this kind, which is
            never replaced; or its parent cannot be written.
    """
    path = Path(os.path.realpath(path))  # which takes a link to itself as it is
    building = _beside(path, "partial")
    with _writing_alone(path):
        _settle(path)
        _refuse_to_lose(path, kind, manifest, overwrite=overwrite)
        shutil.rmtree(building, ignore_errors=True)  # of a process that was killed
        try:
            building.mkdir()
            yield building
            _refuse_to_lose(path, kind, manifest, overwrite=overwrite)  # again: it may take hours
            _replace(path, building)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def recover(path: Path) -> None:
    """Put the folder ``path`` back where one who was to replace it was killed in between.

    Whoever reads a folder of :func:`atomic_folder` calls this if it is not there.
    """
    with suppress(OSError, ValueError):  # of a name that no folder can have
        path = Path(os.path.realpath(path))
        for _ in range(_LOOKS):
            if path.exists() or not _beside(path, "old").exists():
                return
            with suppress(ConfigError), _writing_alone(path):
                _settle(path)
                return
            time.sleep(_PAUSE)  # its writer is alive, and between the two renames


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f".{path.name}.{end}")


@contextmanager
def _writing_alone(path: Path) -> Iterator[None]:
    """Keep other processes from writing ``path``; the system frees the lock of one that dies."""
    lock = _beside(path, "lock")
    held = FileLock(lock, blocking=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held.acquire()
    except Timeout as error:
        raise ConfigError(
            "is being written by another process",
            where=path,
            remedy="Wait until it is finished, or choose another folder.",
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", where=path) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            lock.unlink()
        held.release()


def _refuse_to_lose(path: Path, kind: str, manifest: str, *, overwrite: bool) -> None:
    if _is_free(path):
        return
    try:
        found = read_manifest(path, manifest).get("kind")
    except ResultError:
        found = None
    if found != kind:
        raise ConfigError(
            f"exists and is no finished {kind}, so it is never replaced",
            where=path,
            remedy="Choose another folder, or move this one away.",
        )
    if not overwrite:
        raise ConfigError(
            "exists already",
            where=path,
            remedy="Choose another folder, or have this one replaced by setting `overwrite`.",
        )


def _is_free(path: Path) -> bool:
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _replace(path: Path, new: Path) -> None:
    """Put the folder ``new`` where ``path`` is; what was there is deleted last."""
    if not path.exists():
        new.rename(path)
    elif not _exchange(path, new):
        try:
            path.rename(_beside(path, "old"))
            new.rename(path)
        finally:
            _settle(path)


def _settle(path: Path) -> None:
    """Finish or undo what two renames were to do; the caller alone writes ``path``."""
    old = _beside(path, "old")
    if not old.exists():
        return
    if _is_free(path):
        old.rename(path)
    else:
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders trade names in one step; False where the system or the disk cannot."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - few commands replace a folder

    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of renameat2(2)
    names = os.fsencode(one), os.fsencode(other)
    try:
        return not ctypes.CDLL(None).renameat2(here, names[0], here, names[1], exchange)
    except AttributeError:  # a C library without it
        return False


def write_manifest(folder: Path, manifest: Row, name: str = MANIFEST) -> None:
    """Write the folder's manifest. It comes last: a folder without one is not finished."""
    write_json(folder / name, {"schema": _SCHEMA, **manifest})


def read_manifest(folder: Path, name: str = MANIFEST) -> dict[str, Any]:
    """Read the manifest of a folder that :func:`write_manifest` finished.

    Raises:
        ResultError: there is none, it is damaged, or a later version of this package wrote it.
    """
    recover(folder)
    path = folder / name
    if not os.path.lexists(path):
        raise ResultError(f"is not finished: it has no {name}", where=folder)
    manifest = read_json(path, ResultError)
    if manifest.get("schema") != _SCHEMA:
        raise ResultError(
            f"is no manifest of schema {_SCHEMA}",
            where=path,
            remedy="Another version of spor-tasks wrote it; install that one, or make it again.",
        )
    return manifest
