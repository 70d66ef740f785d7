"""Samples in a file, one a line; of a large file, only the places of its lines are in memory."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import CorpusError, MissingError
from spor_tasks.core.files import ROW_BYTES, is_blank, open_file
from spor_tasks.core.sample import Sample

_BLOCK = 2**20  # bytes to read at once


@dataclass(frozen=True)
class FileSamples(Sequence[Sample]):
    """The samples of a file, in order; each is made anew when it is requested.

    ``parse`` makes a sample of a line and of its place; no other line changes the result.
    ``remedy`` is the advice for a missing file. The first request for a sample or the
    length reads the whole file, and keeps 16 bytes a line; blank lines are none. Processes and
    threads may share it.

    Raises:
        CorpusError: when it is read: the file is missing, cannot be read, or has a malformed line.
    """

    path: Path
    parse: Callable[[bytes, str], Sample]
    remedy: str | None = None

    @cached_property
    def sha256(self) -> str | None:
        """SHA-256 of the file; None if the file is missing."""
        return sha256_of(self.path) if self.path.is_file() else None

    def __len__(self) -> int:
        return len(self._places) // 2

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in self.numbered())

    def numbered(self) -> Iterator[tuple[str, Sample]]:
        """Yield where each sample stands, and the sample."""
        for number, _, line in self._lines():
            where = f"{self.path}:{number}"
            yield where, self.parse(line, where)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        if not isinstance(chosen, int):
            return tuple(map(self.__getitem__, chosen))
        number, start = self._places[2 * chosen : 2 * chosen + 2]
        with self.path.open("rb") as file:
            file.seek(start)
            return self.parse(file.readline(), f"{self.path}:{number}")

    @cached_property
    def _places(self) -> Sequence[int]:
        """The numbers and starts of the lines, in turn."""
        places = array("Q")
        for number, start, _ in self._lines():
            places.extend((number, start))
        return places

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the number, the start and the content of each line that is not blank."""
        start = 0
        try:
            with open_file(self.path, _BLOCK) as file:
                lines = iter(partial(file.readline, ROW_BYTES + 1), b"")
                for number, line in enumerate(lines, start=1):
                    if not is_blank(line):
                        yield number, start, line
                    start += len(line)
        except FileNotFoundError as error:
            raise MissingError("is missing", where=self.path, remedy=self.remedy) from error
        except OSError as error:
            raise CorpusError(f"cannot be read: {error}", where=self.path) from error
