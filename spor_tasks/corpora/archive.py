"""A published zip archive of data, such as ToTTo's: what it is, and how it is unpacked.

The archives that are declared so far have no published digest. What the first fetch gets is
trusted; its digests are kept in a manifest beside the files, and later fetches compare with them.
"""

import hashlib
import os
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, NamedTuple, TypeAlias

import platformdirs

from spor_tasks.core.errors import CorpusError

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that are done, and all bytes, None where that is not known."""

_MOST_RATIO = 200  # of unpacked to packed bytes; tables in JSON Lines have about 10
_BLOCK = 2**20
_ENCRYPTED = 0x1  # a bit of the flags of an entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A zip archive at an address.

    Of its entries, those with the names in ``files`` are needed and those in ``notes``, such as a
    licence, are taken if they are there, in whatever folder of the archive they are. ``variable``
    names the environment variable with the folder of a copy, ``fetch`` is the command that makes
    one, and ``folder`` is where the archive itself puts its files. An archive of more than
    ``at_most`` bytes is refused, and one of more than ``unpacked`` bytes when it is unpacked.
    ``corpora`` are those that it has. ``by_hand`` is the archive's name where only a person can
    download it.
    """

    corpus: str
    url: str
    page: str
    variable: str
    fetch: str
    folder: str
    files: tuple[str, ...]
    notes: tuple[str, ...]
    at_most: int
    unpacked: int
    corpora: tuple[str, ...]
    by_hand: str | None = None

    @property
    def file(self) -> str:
        """The name of the archive."""
        return self.by_hand or Path(self.url).name

    @property
    def remedy(self) -> str:
        """What to do if a file is missing."""
        return f"Run `{self.fetch}`, or set {self.variable} to a folder that has it."

    def data_dir(self) -> Path:
        """Return the folder of the files: that of the variable, or one in the user's cache."""
        if named := os.environ.get(self.variable):
            return Path(named).expanduser()
        return platformdirs.user_cache_path("spor", appauthor=False) / self.corpus

    def find(self, name: str, folder: Path | None = None) -> Path:
        """Return where a file is or would be: in ``folder``, or below it as in the archive.

        ``folder`` is :meth:`data_dir` by default.
        """
        folder = folder or self.data_dir()
        inner = folder / self.folder / name
        return inner if inner.is_file() and not (folder / name).is_file() else folder / name

    def unpack(self, source: Path, target: Path, progress: Progress) -> Mapping[str, str]:
        """Unpack the wanted files of an archive into a folder, and return their SHA-256 by name.

        Raises:
            CorpusError: it is not a zip archive, or is damaged; it has not each needed file once;
                an entry would leave the folder, is a link or is encrypted; or it is too large. The
                error names the entry.
        """
        try:
            with zipfile.ZipFile(source) as opened:
                wanted = self._wanted(opened.infolist(), source)
                sources = {
                    name: Source(partial(opened.open, entry), entry.file_size)
                    for name, entry in wanted.items()
                }
                return copy_all(sources, target, progress)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise CorpusError(
                f"is not a zip archive, or is damaged: {error}", where=source
            ) from error

    def _wanted(
        self, entries: list[zipfile.ZipInfo], source: Path
    ) -> Mapping[str, zipfile.ZipInfo]:
        """Return the entries to unpack by the name of their file; refuse the whole otherwise."""
        twice = Counter(entry.filename for entry in entries)
        for entry in entries:
            if fault := _fault(entry) or ("is there twice" if twice[entry.filename] > 1 else None):
                raise CorpusError(fault, where=f"{source}: {entry.filename}")
        found: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            parts = PurePosixPath(entry.filename).parts
            for name in (*self.files, *self.notes):
                wanted = PurePosixPath(name).parts
                if parts[-len(wanted) :] != wanted or entry.is_dir():
                    continue
                if name in found and name in self.files:
                    raise CorpusError(f"has {name} twice", where=source)
                found.setdefault(name, entry)
        if missing := [name for name in self.files if name not in found]:
            raise CorpusError(f"does not have {', '.join(missing)}", where=source)
        if (size := sum(entry.file_size for entry in found.values())) > self.unpacked:
            raise CorpusError(
                f"would have {size:,} bytes unpacked; at most {self.unpacked:,} are accepted",
                where=source,
            )
        return found


def _fault(entry: zipfile.ZipInfo) -> str | None:
    """Return why an entry is refused, or None."""
    name = entry.filename
    windows = PureWindowsPath(name)
    if windows.drive or windows.root or ".." in windows.parts or "\0" in name:
        return "would leave the folder"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "is a link or a special file"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return "is packed by another method than deflate"
    if entry.file_size > _MOST_RATIO * max(entry.compress_size, 1):
        return f"has {entry.file_size:,} bytes packed into {entry.compress_size:,}"
    return None


class Source(NamedTuple):
    """What starts to read a file, and the bytes that it has."""

    start: Callable[[], AbstractContextManager[IO[bytes]]]
    size: int


def copy_all(sources: Mapping[str, Source], folder: Path, progress: Progress) -> Mapping[str, str]:
    """Copy files onto the disk, into a folder, and return their SHA-256 by name.

    Raises:
        CorpusError: a file has more bytes than it should.
        OSError: one cannot be read or written.
    """
    done, total, digests = 0, sum(source.size for source in sources.values()), {}
    for name, source in sources.items():
        end, sha = done + source.size, hashlib.sha256()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with source.start() as file, (folder / name).open("wb") as out:
            while block := file.read(_BLOCK):
                done += len(block)
                if done > end:
                    raise CorpusError(f"has more than {source.size:,} bytes", where=name)
                out.write(block)
                sha.update(block)
                progress(done, total)
            out.flush()
            os.fsync(out.fileno())
        done, digests[name] = end, sha.hexdigest()
    return digests


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
