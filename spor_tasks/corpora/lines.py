"""Samples in a file, one a line, that are read when they are asked for.

Of a file that is larger than memory, only the places of its lines are kept.
"""

import gzip
import hashlib
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import NamedTuple, overload

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import open_file
from spor_tasks.core.sample import Sample

_GZIP = b"\x1f\x8b"
_LONGEST = 2**26  # bytes of a line; a file that is not of lines must not fill the memory

_BLOCK = 2**20  # bytes to read at once, of a file that is read from start to end


@dataclass(frozen=True, slots=True)
class Format:
    """What a line is.

    ``parse`` makes a sample of a line and of the words that say where it is; no other line changes
    the result. ``id_of`` finds the id in a line, even in one that is damaged, or None. ``remedy``
    is what to do if the file is missing.
    """

    parse: Callable[[bytes, str], Sample]
    id_of: Callable[[bytes], str | None]
    remedy: str | None = None


def read_samples(path: Path, of: Format) -> Iterator[tuple[str, Sample]]:
    """Yield where each sample of a file stands, and the sample; the file may be gzipped.

    Raises:
        CorpusError: the file cannot be read or has no line; or a line is blank, too long, malformed
            or has the id of another one. The error names file, line and id.
    """
    with _streamed(path, of) as file:
        packed = file.peek(2).startswith(_GZIP)
        lines = gzip.GzipFile(fileobj=file) if packed else file
        for where, line in _checked(lines, path, of):
            yield where, of.parse(line, where)


def _open(path: Path, of: Format) -> BufferedReader:
    try:
        return open_file(path)
    except FileNotFoundError as error:
        raise CorpusError("is missing", where=path, remedy=of.remedy) from error
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error


def _streamed(path: Path, of: Format) -> BufferedReader:
    return BufferedReader(_open(path, of).detach(), _BLOCK)


def _checked(
    file: BufferedReader | gzip.GzipFile, path: Path, of: Format
) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file, and where they are."""
    seen: dict[str, int] = {}
    name, number = str(path), 0
    try:
        while line := file.readline(_LONGEST + 1):
            number += 1
            where = f"{name}:{number}"
            if len(line) > _LONGEST:
                raise CorpusError(f"is longer than {_LONGEST:,} bytes", where=where)
            if line.isspace():
                raise CorpusError("is blank; each line must be an example", where=where)
            known = of.id_of(line)
            if known is not None and (before := seen.setdefault(known, number)) != number:
                raise CorpusError(f"has the id of line {before}", where=f"{where}, example {known}")
            yield where, line
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"cannot be read: {error}", where=f"{name}:{number + 1}") from error
    if not number:
        raise CorpusError("has no examples", where=path)


class _Index(NamedTuple):
    """Where each line starts, and the end; the digest of the file; and what tells it changed."""

    starts: Sequence[int]
    sha256: str
    state: tuple[int, int]


@dataclass(frozen=True)
class FileSamples(Sequence[Sample]):
    """The samples of a file, in order; each is made anew when it is asked for.

    Iteration reads the file once. The first question for one sample, the length or the digest reads
    the whole file, and keeps eight bytes a line. Processes and threads may share it.

    Raises:
        CorpusError: when it is read: as :func:`read_samples`, or the file is gzipped, or it changed
            since it was first read.
    """

    path: Path
    of: Format

    @property
    def sha256(self) -> str | None:
        """SHA-256 of the file; None if there is no file."""
        return self._index.sha256 if self.path.is_file() else None

    def __len__(self) -> int:
        return len(self._index.starts) - 1

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in read_samples(self.path, self.of))

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sample, ...]: ...
    def __getitem__(self, index: int | slice) -> Sample | tuple[Sample, ...]:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return next(self._at((chosen,)))
        return tuple(self._at(chosen))

    def _at(self, lines: Iterable[int]) -> Iterator[Sample]:
        starts = self._index.starts
        with _open(self.path, self.of) as file:
            if _state(file) != self._index.state:
                raise CorpusError("changed since it was first read", where=self.path)
            for line in lines:
                file.seek(starts[line])
                content = file.read(starts[line + 1] - starts[line])
                yield self.of.parse(content, f"{self.path}:{line + 1}")

    @cached_property
    def _index(self) -> _Index:
        starts, sha = array("Q", [0]), hashlib.sha256()
        with _streamed(self.path, self.of) as file:
            if file.peek(2).startswith(_GZIP):
                raise CorpusError(
                    "is compressed, so that a single line cannot be read",
                    where=self.path,
                    remedy="Unpack it with `gunzip`.",
                )
            state = _state(file)
            for _, line in _checked(file, self.path, self.of):
                sha.update(line)
                starts.append(starts[-1] + len(line))
        return _Index(starts, sha.hexdigest(), state)


def _state(file: BufferedReader) -> tuple[int, int]:
    facts = os.fstat(file.fileno())
    return facts.st_size, facts.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Joined(Sequence[Sample]):
    """Several sequences of samples, one after the other."""

    parts: tuple[Sequence[Sample], ...]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[Sample]:
        return chain.from_iterable(self.parts)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Sample, ...]: ...
    def __getitem__(self, index: int | slice) -> Sample | tuple[Sample, ...]:
        chosen = range(len(self))[index]
        if not isinstance(chosen, int):
            return tuple(map(self.__getitem__, chosen))
        for part in self.parts:
            if chosen < len(part):
                return part[chosen]
            chosen -= len(part)
        raise IndexError(index)
