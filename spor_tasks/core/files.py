"""Bytes, text, JSON and JSON Lines; a file is written completely or not at all."""

import gzip
import hashlib
import json
import os
import re
import stat
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from io import DEFAULT_BUFFER_SIZE, BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec

from spor_tasks.core.errors import ConfigError, CorpusError, SporError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of JSON whose members another package, or a user, names."""

FileContent: TypeAlias = dict[str, Any]
"""What stands in a file, or under one of its keys, of which nothing is checked yet."""

ROW_BYTES = 16_000_000
"""The largest row that is read, in bytes, uncompressed and with its line end.

That is four thousand times the longest row of the released sets. A whole row is held in memory, so
a file that is not JSON Lines, or a runaway output, is refused before it fills the machine.
"""

LIST_BYTES = 256_000_000
"""The longest JSON list that is read in place of JSON Lines, for all of it is held in memory."""

TEXT_BYTES = 1_000_000
"""The largest file of settings that is read."""

JSON_BYTES = 100_000_000
"""The largest file that is read as one JSON value."""

INSTALL_AGAIN = "This file belongs to the package: install spor-tasks again."
"""The remedy for a damaged data file of this package."""

_BEGINS_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:[{\]]|$)")  # after a mark of Windows
_BEGINS_ROW = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")

_GZIP = b"\x1f\x8b"

STANDARD_INPUT = Path("-")
"""Standard input among files of rows or lines."""

# Where a shell puts the pipes of `<(…)`, and the system the pipes that a program starts with.
_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


LONGEST_NAME = 255
"""The longest name of a file or folder, in bytes, that common file systems take."""


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name of at most so many bytes; the end of a longer one gives way to its digest."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:12]
    return f"{encoded[: most - 13].decode('utf-8', 'ignore')}-{digest}"


def is_file(path: Path) -> bool:
    """Return whether this is a file; False if it cannot be looked up, as with too long a name."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's own fails there


def is_folder(path: Path) -> bool:
    """Return whether this is a folder; False if it cannot be looked up, as with too long a name."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def open_file(path: Path, block: int = DEFAULT_BUFFER_SIZE) -> BufferedReader:
    """Open a regular file for reading; reading a named pipe or a device might never end.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError("it is not a regular file")
        return BufferedReader(path.open("rb", buffering=0), block)
    except ValueError as error:  # of a name that no file can have
        raise OSError(f"{error} in its name") from error


def unreadable(error: Exception) -> str:
    """Return what is wrong with a file that cannot be opened or read."""
    missing = isinstance(error, FileNotFoundError)
    return "does not exist" if missing else f"cannot be read: {error}"


def read_text(path: Path) -> str:
    """Return the text of a file that people write, such as a config.

    Raises:
        ConfigError: it cannot be read, or is longer than :data:`TEXT_BYTES`.
    """
    try:
        with open_file(path) as file:
            content = file.read(TEXT_BYTES + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unreadable(error), where=path) from error
    if len(content) > TEXT_BYTES:
        raise ConfigError(f"is longer than {TEXT_BYTES:,} bytes", where=path)
    return text


def read_json(path: Path, kind: type[SporError] = ConfigError) -> FileContent:
    """Return the JSON object in a file that anyone may have edited.

    Raises:
        SporError: of the type ``kind``: the file cannot be read, or is not a JSON object.
    """
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            value = json.loads(file.read(size)) if size <= JSON_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise kind(unreadable(error), where=path) from error
    if size > JSON_BYTES:
        raise kind(f"cannot be read: it is longer than {JSON_BYTES:,} bytes", where=path)
    if not isinstance(value, dict):
        raise kind("is not a JSON object", where=path)
    return value


def read_packaged(path: Path) -> Any:
    """Return the JSON value in a data file of this package, gzipped if its name ends with `.gz`.

    Raises:
        CorpusError: the file is missing or damaged.
    """
    try:
        content = path.read_bytes()
        return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise CorpusError(
            f"is missing or damaged: {error}", where=path, remedy=INSTALL_AGAIN
        ) from error


def decode(content: bytes | bytearray | str) -> Any:
    """Return a JSON value as :func:`json.loads` does, three times as fast.

    Raises:
        ValueError, RecursionError: it is not JSON, or nested too deeply.
    """
    try:
        return msgspec.json.decode(content)
    except ValueError:  # such as NaN, or half of a surrogate pair, which lm-eval logs
        return json.loads(content)


def encode_row(row: JsonObject) -> bytes:
    """Return the row as one line of JSON, byte for byte as the published files have it.

    Half of a surrogate pair, which UTF-8 cannot encode, is written as its JSON escape.
    """
    return (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def parse_rows(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, FileContent]]:
    """Yield ``(where:line, row)`` for each line of JSON Lines that is not blank.

    A JSON list of rows is read as well; the place of a row is its number there.

    Raises:
        CorpusError: a line or item is not a JSON object, or a line is longer than
            :data:`ROW_BYTES`, or a list than :data:`LIST_BYTES`; the error names it.
    """
    numbered = _filled(lines)
    number, line = next(numbered, (1, b""))
    rows: Iterable[tuple[str, object]]
    if begins_list([line]):
        content = bytearray(line)
        while len(content) <= LIST_BYTES and (more := next(numbered, None)):
            content += more[1]
        items = _loads(content, f"{where}:{number}", LIST_BYTES)
        rows = ((f"{where}, row {n}", item) for n, item in enumerate(items, start=1))
    else:
        filled = chain([(number, line)] if line else [], numbered)
        rows = ((place := f"{where}:{n}", _loads(line, place, ROW_BYTES)) for n, line in filled)
    for place, row in rows:
        if not isinstance(row, dict):
            raise CorpusError("is not a JSON object", where=place)
        yield place, row


def _loads(content: bytes | bytearray, where: str, most: int) -> Any:
    """Return the JSON value of a row, or of a whole list, of at most so many bytes."""
    if len(content) > most:
        a_list = most == LIST_BYTES
        raise CorpusError(
            f"{'begins a list of more' if a_list else 'is longer'} than {most:,} bytes",
            where=where,
            remedy="Write a row a line: `jq -c '.[]' LIST` makes lines of a list."
            if a_list
            else "Check that the file is JSON Lines, one sample per line.",
        )
    try:
        return decode(content)
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            f"is not JSON: {error}",
            where=where,
            remedy="The file may be truncated. Fetch or write it again.",
        ) from error


def begins_list(lines: Iterable[bytes]) -> bool:
    """Return whether lines are a JSON list of rows."""
    return _BEGINS_LIST.match(_first(lines)) is not None


def begins_rows(lines: Iterable[bytes]) -> bool:
    """Return whether lines are rows as :func:`parse_rows` reads them, and not plain texts."""
    return begins_list([first := _first(lines)]) or _BEGINS_ROW.match(first) is not None


def _first(lines: Iterable[bytes]) -> bytes:
    return next((line for _, line in _filled(lines)), b"")


def _filled(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, after their numbers; a blank one may be without end."""
    return ((n, line) for n, line in enumerate(lines, 1) if not is_blank(line))


def is_blank(line: bytes) -> bool:
    """Return whether a line that is not too long has white space alone, or a mark of Windows."""
    return len(line) <= ROW_BYTES and not line.removeprefix(BOM_UTF8).strip()


def read_rows(path: Path) -> Iterator[tuple[str, FileContent]]:
    """Yield ``(where:line, row)`` for each line of JSON Lines, read as by :func:`read_lines`.

    Raises:
        CorpusError: the file cannot be read, or as :func:`parse_rows`; the error names the line.
    """
    return parse_rows(read_lines(path), name_of(path))


def name_of(path: Path) -> str:
    """Return the name of a file in errors."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def read_lines(path: Path) -> Generator[bytes]:
    """Yield the lines of a file or pipe, gzipped or not; of one that is too long, the start.

    Only one line at a time is held in memory.

    Raises:
        CorpusError: the file cannot be read; the error names the line.
    """
    place, number = name_of(path), 0
    try:
        with (
            open(0, "rb", closefd=False)
            if path == STANDARD_INPUT
            else path.open("rb")
            if str(path).startswith(_PIPES)
            else open_file(path)
        ) as file:
            number = 1
            plain = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(_GZIP) else file
            for line in iter(partial(plain.readline, ROW_BYTES + 1), b""):
                yield line
                number += 1
    except (OSError, EOFError, zlib.error) as error:
        where = f"{place}:{number}" if number else place
        raise CorpusError(unreadable(error), where=where) from error


def decoded(lines: Iterable[bytes], where: str) -> Iterator[str]:
    """Yield the lines as texts, with their ends but without a mark of Windows before them.

    Raises:
        CorpusError: a line is not UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            what, place = f"is not UTF-8: {error}", f"{where}:{number}"
            raise CorpusError(what, where=place, remedy="Save the file as UTF-8.") from error


def require_new(path: Path | None, *, overwrite: bool) -> None:
    """Check that no file is at a path, unless it may be replaced.

    Raises:
        ConfigError: there is one.
    """
    if path and not overwrite and is_file(path):
        remedy = "Choose another file, or replace this one with --overwrite."
        raise ConfigError("already exists", where=path, remedy=remedy)


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

    The bytes go to a file beside it, which is flushed to disk and then renamed, so a crash, a full
    disk or an exception leaves the old content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A rename would replace such as /dev/stdout, which is a link; a file may be behind it.
    is_standard = path.is_symlink() and str(path.readlink()).startswith("/proc/")
    if is_standard or (path.exists() and not path.is_file()):
        raise OSError("it is not a regular file")
    sweep(path.parent)
    descriptor, new = _new_partial(path)
    with ExitStack() as until_renamed:
        if fcntl:  # a copy of the descriptor has the lock too
            until_renamed.callback(os.close, os.dup(descriptor))
        try:
            with open(new, "wb", opener=lambda *_: descriptor) as file:
                yield file
                file.flush()
                os.fsync(descriptor)
            new.chmod(0o644)
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def sweep(folder: Path) -> None:
    """Remove what killed processes left of files that they wrote; living ones hold a lock on it."""
    for path in folder.glob(".*.partial"):
        with suppress(OSError):  # it is in use, or not ours to remove
            if _PARTIAL.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                with path.open("r+b") as file:
                    if fcntl:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        path.unlink()
                if not fcntl:  # the system removes no file that is open
                    path.unlink()


_STEM = LONGEST_NAME - 20  # what `mkstemp` below adds takes 18 bytes
_PARTIAL = re.compile(r"\..+\.[a-z0-9_]{8}\.partial", re.DOTALL)  # as of `mkstemp` below


def _new_partial(path: Path) -> tuple[int, Path]:
    """Create a file beside ``path``, with a lock that says that its writer lives."""
    while True:
        descriptor, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{shortened(path.name, _STEM)}.", suffix=".partial"
        )
        if fcntl:
            with suppress(OSError):  # this file system has no locks, and nobody sweeps there
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # another process swept it before it had its lock


def write_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """Write the rows as JSON Lines, atomically."""
    with atomic_write(path) as file:
        for row in rows:
            file.write(encode_row(row))


def write_json(path: Path, value: object) -> None:
    """Write one JSON value, indented for people, atomically."""
    with atomic_write(path) as file:
        file.write(json_bytes(value))


def json_bytes(value: object) -> bytes:
    """Return one JSON value, indented for people."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{text}\n".encode(errors="backslashreplace")  # as encode_row
