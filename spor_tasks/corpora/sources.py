"""Where the corpora are published (``sources.toml``), and how their files are fetched and verified.

A file of a repository is verified by its git blob id, ToTTo's archive by its SHA-256.
"""

import hashlib
import io
import os
import shutil
import time
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote, urlsplit
from zipfile import BadZipFile, ZipFile

from spor_tasks.core import folders
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import CorpusError, MissingError
from spor_tasks.core.files import atomic_write, open_file

_CONNECTIONS = 8
_SECONDS = 30  # without data, after which a connection is closed
_RETRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    corpora: Sequence[str]
    variable: str
    folder: str
    url: str

    @property
    def remedy(self) -> str:
        """The way to get a file that is missing."""
        command = f"spor data fetch --corpus {self.corpora[0]}"
        return f"Run `{command}`, or set {self.variable} to a folder that has it."

    def _check_copy(self, copy: Path, places: Iterable[Path]) -> None:
        """Refuse a copy with none of the files."""
        first, *others = places
        if not any(os.path.lexists(place) for place in (first, *others)):
            faults = f"has none of the files of {' and '.join(self.corpora)}, such as {first}"
            raise CorpusError(
                faults if os.path.lexists(copy) else "does not exist",
                where=copy,
                remedy="Name with --from the folder, or the archive, that its publisher has.",
            )

    def data_dir(self) -> Path:
        """Return the folder of the files: that of the variable, or one in the user's cache."""
        if named := os.environ.get(self.variable):
            return Path(named).expanduser()
        return folders.user_cache() / self.folder


class SourceFile(NamedTuple):
    """A data file of a commit, with its git blob id and its size, where that is known.

    This package reads the ``needed`` files. It reads an ``optional`` file if it is there, and
    another file, or nothing, otherwise. A ``rebuilt`` file is never fetched: it is computed from
    the needed ones, and its blob id proves the result.
    """

    path: str
    blob: str
    role: str
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository(_Source):
    """A commit of a repository; ``manifest`` is the file of this package that lists its files."""

    manifest: str
    optional: Mapping[str, str] = field(default_factory=dict)

    def files(self) -> Mapping[str, SourceFile]:
        """Return every data file of the commit by its path in the repository, sorted by path."""
        return _listed(self.manifest)

    def under(self, folder: str) -> tuple[str, ...]:
        """Return the paths of the commit's files below ``folder``, sorted."""
        return tuple(path for path in self.files() if path.startswith(f"{folder}/"))

    def read_published(
        self, path: str, folder: Path | None = None, place: Path | None = None
    ) -> bytes:
        """Return the content of a file of the commit; ``folder`` is :meth:`data_dir` by default.

        ``place`` is where the file lies, if not there under its own path.

        Raises:
            CorpusError: it is missing, cannot be read, or is not the published file.
        """
        place = place or (folder or self.data_dir()) / path
        try:
            with open_file(place) as file:  # one byte too many is another file too
                size = self.files()[path].size or os.fstat(file.fileno()).st_size
                content = file.read(size + 1)
        except OSError as error:
            what = f"is missing or cannot be read: {error.strerror}"
            kind = CorpusError if os.path.lexists(place) else MissingError
            raise kind(what, where=place, remedy=self.remedy) from error
        self.check(path, content, where=place)
        return content

    def check(self, path: str, content: bytes, *, where: str | Path) -> None:
        """Check that the content is that of a file of the commit.

        Raises:
            CorpusError: the blob ids differ; the error names both.
        """
        _verify(blob_id(content), self.files()[path].blob, where, self.remedy)

    def fetch(self, target: Path, copy: Path | None = None) -> Mapping[str, int]:
        """Fetch the needed and the optional files into ``target``, from the commit or a folder.

        A new file is written completely and verified, or not at all. The result counts the files
        that were ``fetched``, ``kept`` because they were there already, and ``absent``: optional
        files that the folder ``copy`` lacks.

        Raises:
            CorpusError: a file cannot be fetched, is not the published one, or cannot be written.
        """
        from concurrent.futures import ThreadPoolExecutor  # neither is needed to read a corpus

        from tqdm import tqdm

        files = [file for file in self.files().values() if file.role != "rebuilt"]
        if copy:
            self._check_copy(copy, (copy / file.path for file in files))
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            outcomes = pool.map(lambda file: self._fetch(file, target, copy), files)
            return Counter(tqdm(outcomes, total=len(files), unit="file", disable=None))

    def _fetch(self, file: SourceFile, target: Path, copy: Path | None) -> str:
        place = target / file.path
        if place.is_file() and _found_id(file, place) == file.blob:
            return "kept"
        if copy and file.role == "optional" and not (copy / file.path).exists():
            return "absent"
        origin = copy / file.path if copy else f"{self.url}/{quote(file.path)}"

        def verify(path: Path) -> None:
            _verify(_found_id(file, path), file.blob, origin, self.remedy)

        _get(origin, place, verify, file.size or MOST_BYTES)
        return "fetched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive(_Source):
    """A zip archive with ``files``, which are in its folder ``root``.

    Without ``sha256``, only a person can download it.
    """

    page: str
    file: str
    root: str
    files: Sequence[str]
    sha256: str | None = None

    def find(self, name: str, folder: Path | None = None) -> Path:
        """Return where a file is or would be: in ``folder``, or below it as in the archive.

        ``folder`` is :meth:`data_dir` by default.
        """
        folder = folder or self.data_dir()
        below = folder / self.root / name
        return below if below.is_file() else folder / name

    def fetch(self, target: Path, copy: Path | None = None) -> Mapping[str, int]:
        """Fetch all files into ``target`` if one is missing; count files as :class:`Repository`.

        They come from the archive, or from ``copy``: an archive, or a folder with the files. A new
        file is written completely or not at all.

        Raises:
            CorpusError: the archive cannot be fetched, is not the published one, is damaged or
                lacks a file; or a file cannot be written.
        """
        if copy:
            is_folder = copy.is_dir()
            self._check_copy(copy, (self.find(n, copy) if is_folder else copy for n in self.files))
        if all(self.find(name, target).is_file() for name in self.files):
            return {"kept": len(self.files)}
        if copy is None and self.sha256 is None:
            raise CorpusError(
                "cannot be fetched by a program",
                where=self.url,
                remedy=f"Download {self.file} there with a browser, then add `--from {self.file}`.",
            )
        if copy is None:
            packed = target / self.file
            _get(self.url, packed, lambda path: self._check(path, self.url))
            self._unpack(packed, target)
            packed.unlink()
        elif copy.is_dir():
            for name in self.files:
                _get(self.find(name, copy), target / name)
        else:
            self._unpack(copy, target)
        return {"fetched": len(self.files)}

    def _check(self, packed: Path, where: str | Path) -> None:
        if self.sha256:
            _verify(sha256_of(packed), self.sha256, where, f"Get it from {self.page}.")

    def _unpack(self, packed: Path, target: Path) -> None:
        with _fetching(packed), open_file(packed) as file, ZipFile(file) as archive:
            self._check(packed, packed)
            for name in self.files:
                member = f"{self.root}/{name}"
                _refuse_more(archive.getinfo(member).file_size, MOST_BYTES)
                with archive.open(member) as content, atomic_write(target / name) as unpacked:
                    shutil.copyfileobj(content, unpacked)


def blob_id(content: bytes) -> str:
    """Return the id under which git stores a file with this content."""
    return _blob_id(io.BytesIO(content), len(content))


def _blob_id(file: IO[bytes], size: int) -> str:
    sha = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for block in iter(partial(file.read, 2**20), b""):
        sha.update(block)
    return sha.hexdigest()


def _found_id(file: SourceFile, path: Path) -> str:
    """Return the blob id of what is there; of another size than the published file's, in words."""
    with open_file(path) as found:
        size = os.fstat(found.fileno()).st_size
        if file.size not in {None, size}:
            return f"that of a file of {size:,} bytes instead of {file.size:,}"
        _refuse_more(size, MOST_BYTES)
        return _blob_id(found, size)


def _verify(digest: str, published: str, where: str | Path, remedy: str) -> None:
    if digest != published:
        raise CorpusError(
            f"is not the published file: expected the digest {published}, got {digest}",
            where=where,
            remedy=f"It may be truncated or edited. {remedy}",
        )


@contextmanager
def _fetching(where: str | Path) -> Iterator[None]:
    """Turn an error of the network, the disk or a damaged archive into a CorpusError."""
    try:
        yield
    except (OSError, BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
        raise CorpusError(
            f"cannot be fetched, or is damaged: {error}",
            where=where,
            remedy="Check the network and the space on the disk, and run the command again; "
            "fetched files are kept. Or give another copy of the files with --from.",
        ) from error


MOST_BYTES = 4_000_000_000
"""The largest file that is fetched or unpacked, where its size is not known."""


def _get(
    origin: str | Path,
    place: Path,
    verify: Callable[[Path], None] = lambda _: None,
    most: int = MOST_BYTES,
) -> None:
    """Copy a file, or download it from a URL; it is moved to its place after it was verified.

    A file is verified before it is copied, and again as a copy. No more is read than ``most``.
    """
    import requests  # slow to import

    if isinstance(origin, Path):
        with _fetching(origin), open_file(origin) as file:
            verify(origin)
            _refuse_more(os.fstat(file.fileno()).st_size, MOST_BYTES)
            with atomic_write(place) as copied:
                shutil.copyfileobj(file, copied)
                copied.flush()
                verify(Path(copied.name))
        return
    with _fetching(origin), atomic_write(place) as loaded:
        try:
            _download(origin, Path(loaded.name), most)
        except requests.ConnectionError as error:
            raise OSError(f"cannot connect to {urlsplit(origin).hostname}") from error
        verify(Path(loaded.name))


def _download(url: str, place: Path, most: int) -> None:
    import pooch  # as above
    import requests

    for left in reversed(range(_RETRIES + 1)):
        progress = _Bound(place, most)
        try:
            pooch.HTTPDownloader(progressbar=progress, chunk_size=2**18, timeout=_SECONDS)(
                url, str(place), None
            )
        except requests.RequestException:
            if not left:
                raise
            time.sleep(1)
        else:
            return


def _refuse_more(size: int, most: int) -> None:
    if size > most:
        raise OSError(f"it is longer than {most:,} bytes")


@dataclass
class _Bound:
    """Refuses a download that grows too large; pooch tells it of each block, as if to show it."""

    place: Path
    most: int
    total: int = 0

    def update(self, _: int) -> None:
        _refuse_more(self.place.stat().st_size, self.most)

    def reset(self) -> None:
        pass

    def close(self) -> None:
        pass


# --- The published sources ------------------------------------------------------------------------


class Licence(NamedTuple):
    """The licence of a corpus, and whom to attribute it to."""

    name: str
    url: str
    attribution: str


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@cache
def _listed(manifest: str) -> Mapping[str, SourceFile]:
    rows = (line.split("\t") for line in _text(manifest).splitlines()[1:])
    return {
        path: SourceFile(path, blob, role, int(size) if size else None)
        for blob, role, size, path in rows
    }


_DECLARED = tomllib.loads(_text("sources.toml"))
LICENCES = {name: Licence(**licence) for name, licence in _DECLARED["licences"].items()}
"""The licence of each corpus."""

SPOR = Repository(**_DECLARED["SPOR"])
LOGICNLG = Repository(**_DECLARED["LOGICNLG"])
VIGGO = Repository(**_DECLARED["VIGGO"])
TOTTO = Archive(**_DECLARED["TOTTO"])
COMPMCTG = Archive(**_DECLARED["COMPMCTG"])
SOURCES = (SPOR, LOGICNLG, VIGGO, TOTTO, COMPMCTG)


def data_dirs() -> tuple[Path, ...]:
    """Return the folders that published files are read from now, which variables may change."""
    return tuple(source.data_dir() for source in SOURCES)
