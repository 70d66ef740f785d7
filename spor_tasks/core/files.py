"""Read and write bytes, text, JSON and JSON Lines; a file is written completely or not at all."""

import gzip
import json
import os
import reprlib
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from glob import escape
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from spor_tasks.core.errors import ConfigError, CorpusError, SporError

if sys.platform != "win32":
    import fcntl

Row = Mapping[str, Any]

ROW_BYTES = 4_000_000
"""The largest row that is read, in bytes, uncompressed and with its line end.

That is a thousand times the longest row of the released sets. A whole row is held in memory, so a
file that is not JSON Lines, or a runaway output, is refused before it fills the machine.
"""

ROW_VARIABLE = "SPOR_MAX_ROW_MB"

_GZIP = b"\x1f\x8b"

# Bytes: far more than any file of ours has, far less than a file made to exhaust memory.
_MOST_JSON = 2**24

_MOST_TEXT = 2**18

_DEEPEST = 100

# Where a shell puts the pipes of `<(…)`, and the system the pipes that a program starts with.
_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def is_file(path: Path) -> bool:
    """Return whether this is a file; False if it cannot be looked up, as with too long a name."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's own fails there


def is_folder(path: Path) -> bool:
    """Return whether this is a folder; False if it cannot be looked up, as with too long a name."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading; reading a named pipe or a device might never end.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is not a regular file")
        return path.open("rb")
    except ValueError as error:  # of a name that no file can have
        raise OSError(f"{error} in its name") from error


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes; -1 is no limit.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger.
    """
    with open_file(path) as file:
        content = file.read(most if most < 0 else most + 1)
    if len(content) > most >= 0:
        raise OSError(f"it has more than {most:,} bytes")
    return content


def read_text(path: Path) -> str:
    """Return the text of a file that people write, such as a config.

    Raises:
        ConfigError: it cannot be read, or is larger than 256 KiB.
    """
    try:
        return read_bytes(path, _MOST_TEXT).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", where=path) from error


def read_json(path: Path, kind: type[SporError] = ConfigError) -> dict[str, Any]:
    """Return the JSON object in a file that anyone may have edited.

    Raises:
        SporError: of the type ``kind``: the file cannot be read, is not a JSON object, is larger
            than 16 MiB, or is nested more than 100 levels deep.
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
    """Refuse a JSON value that a recursive function could not walk.

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
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")


def encode_row(row: Row) -> bytes:
    """Return the row as one line of JSON, byte for byte as the published files have it.

    Half of a surrogate pair, which UTF-8 cannot encode, is written as its JSON escape.
    """
    return (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def row_limit() -> int:
    """Return the largest row to read, in bytes: :data:`ROW_BYTES`, or ``SPOR_MAX_ROW_MB`` million.

    This is an environment variable because a dozen commands read rows, and so does lm-eval.

    Raises:
        ConfigError: the variable is not a positive whole number.
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
            f"must be a positive whole number, not {reprlib.repr(named)}",
            where=ROW_VARIABLE,
            remedy="Set it to a number of megabytes, or unset it.",
        )
    return megabytes * 1_000_000


def parse_rows(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(where:line, row)`` for each line of JSON Lines.

    Raises:
        CorpusError: a line is not a JSON object, is longer than :func:`row_limit`, or has a field
            twice; the error names the line.
        ConfigError: as :func:`row_limit`.
    """
    limit = row_limit()
    for number, line in enumerate(lines, start=1):
        place = f"{where}:{number}"
        if len(line) > limit:
            raise CorpusError(
                f"is longer than {limit:,} bytes",
                where=place,
                remedy="Check that the file is JSON Lines, one sample per line. To read longer "
                f"lines, set the environment variable {ROW_VARIABLE}={4 * limit // 1_000_000} "
                "(megabytes).",
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
                remedy="The file may be truncated. Fetch or write it again.",
            ) from error
        if not isinstance(row, dict):
            raise CorpusError("is not a JSON object", where=place)
        yield place, row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # Python keeps the last value, other readers the first
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CorpusError(f"has the field {reprlib.repr(twice)} twice")
    return found


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(where:line, row)`` for each line of a JSON Lines file, gzipped or not.

    Raises:
        CorpusError: the file cannot be read, or as :func:`parse_rows`; the error names the line.
        ConfigError: as :func:`row_limit`.
    """
    with open_lines(path) as file:
        yield from stream_rows(file, str(path))


def open_lines(path: Path) -> BufferedReader:
    """Open a file or a pipe.

    Raises:
        CorpusError: it cannot be read.
    """
    try:
        return path.open("rb") if str(path).startswith(_PIPES) else open_file(path)
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error


def stream_rows(file: BufferedReader, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of an open file or pipe as :func:`read_rows` does, gzipped or not.

    Only one row at a time is held in memory.

    Raises:
        CorpusError: as :func:`read_rows`.
        ConfigError: as :func:`row_limit`.
    """
    return parse_rows(stream_lines(file, where), where)


def stream_lines(file: BufferedReader, where: str) -> Iterator[bytes]:
    """Yield the lines of an open file or pipe, gzipped or not; of one that is too long, the start.

    Raises:
        CorpusError: the file cannot be read; the error names the line.
        ConfigError: as :func:`row_limit`.
    """
    line, most = 1, row_limit() + 1
    try:
        plain = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(_GZIP) else file
        for content in iter(partial(plain.readline, most), b""):
            yield content
            line += 1
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot be read: {error}", where=f"{where}:{line}") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` in the block into the error that ``path`` cannot be written.

    Raises:
        ConfigError: in place of the ``OSError``.
    """
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error}",
            where=path,
            remedy="Check that the disk has room and that you may write there, or choose another "
            "place.",
        ) from error


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing; it changes only if the block ends without an error.

    The bytes go to a sibling file, which is flushed to disk and then renamed, so a crash, a full
    disk or an exception leaves the old content. Leftovers of killed processes are deleted.
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
        sibling.replace(path)  # before it is unlocked, or another process might sweep it
    except BaseException:
        sibling.unlink(missing_ok=True)
        raise
    finally:
        if not on_windows:
            os.close(descriptor)


def sweep(path: Path) -> None:
    """Delete the partial files that killed processes left beside ``path``.

    A process holds a lock on the file that it writes, and the system frees the lock when the
    process ends. On a network disk, this needs machines that see each other's locks.
    """
    if sys.platform == "win32":
        return
    for sibling in path.parent.glob(f".{escape(path.name)}.{'?' * 8}.partial"):
        with suppress(OSError), sibling.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sibling.unlink()


def _new_sibling(path: Path) -> tuple[Path, int]:
    """Create a file for the new content of ``path``, locked while the descriptor is open."""
    while True:
        descriptor, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
        )
        if sys.platform != "win32":
            with suppress(OSError):  # a disk without locks; `sweep` deletes nothing there
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return Path(name), descriptor
        os.close(descriptor)  # another process swept it before it was locked


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
