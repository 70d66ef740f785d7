"""Where the corpora are published (``sources.toml``), and how their files are fetched and verified.

A file of a repository is verified by its git blob id, ToTTo's archive by its SHA-256.
"""

import hashlib
import os
import shutil
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import IO, Literal, TypeAlias, get_args
from urllib.parse import quote, urlsplit
from zipfile import BadZipFile, ZipFile

import platformdirs

from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import atomic_write, open_file, read_bytes

Outcome: TypeAlias = Literal["fetched", "kept", "absent"]
"""A file was fetched now, was kept as it was, or, if optional, is not in the copy."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_CONNECTIONS = 8
_SECONDS = 30  # without data, after which a connection is closed
_RETRIES = 2
_BLOCK = 2**18


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    corpora: Sequence[str]
    variable: str
    folder: str
    url: str

    @property
    def command(self) -> str:
        """The command that fetches the files."""
        return f"spor data fetch --corpus {self.corpora[0]}"

    @property
    def remedy(self) -> str:
        """The way to get a file that is missing."""
        return f"Run `{self.command}`, or set {self.variable} to a folder that has it."

    def data_dir(self) -> Path:
        """Return the folder of the files: that of the variable, or one in the user's cache."""
        if named := os.environ.get(self.variable):
            return Path(named).expanduser()
        return platformdirs.user_cache_path("spor", appauthor=False) / self.folder


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A data file of a commit, with its git blob id.

    This package reads the ``needed`` files. It reads an ``optional`` file if it is there, and
    another file, or nothing, otherwise. A ``rebuilt`` file is never fetched: it is computed from
    the needed ones, and its blob id proves the result.
    """

    path: str
    blob: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository(_Source):
    """A commit of a repository; ``manifest`` is the file of this package that lists its files."""

    manifest: str

    def files(self) -> Mapping[str, SourceFile]:
        """Return every data file of the commit by its path in the repository, sorted by path."""
        return _listed(self.manifest)

    def under(self, folder: str) -> tuple[str, ...]:
        """Return the paths of the commit's files below ``folder``, sorted."""
        return tuple(path for path in self.files() if path.startswith(f"{folder}/"))

    def read_published(self, path: str, folder: Path | None = None) -> bytes:
        """Return the content of a file of the commit; ``folder`` is :meth:`data_dir` by default.

        Raises:
            CorpusError: it is missing, cannot be read, or is not the published file.
        """
        place = (folder or self.data_dir()) / path
        try:
            content = read_bytes(place)
        except FileNotFoundError as error:
            raise CorpusError("is missing", where=place, remedy=self.remedy) from error
        except OSError as error:
            raise CorpusError(f"cannot be read: {error}", where=place) from error
        self.check(path, content, where=place)
        return content

    def check(self, path: str, content: bytes, *, where: str | Path) -> None:
        """Check that the content is that of a file of the commit.

        Raises:
            CorpusError: the blob ids differ; the error names both.
        """
        published, found = self.files()[path].blob, blob_id(content)
        if found != published:
            raise CorpusError(
                f"is not the published file: expected git blob {published}, got {found}",
                where=where,
                remedy=f"It may be truncated or edited. {self.remedy}",
            )

    def fetch(self, target: Path, copy: Path | None = None) -> Mapping[Outcome, int]:
        """Fetch the needed and the optional files into ``target``; return how many were fetched.

        They come from the commit, or from the folder ``copy``. A published file that is there
        already is kept. A new file is written completely and verified, or not at all.

        Raises:
            CorpusError: a file cannot be fetched, is not the published one, or cannot be written.
        """
        from tqdm import tqdm  # noqa: PLC0415 - not needed to read a corpus

        files = [file for file in self.files().values() if file.role != "rebuilt"]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            tasks = [pool.submit(self._fetch, file, target, copy) for file in files]
            try:
                done = tqdm(as_completed(tasks), total=len(tasks), unit="file", disable=None)
                return Counter(task.result() for task in done)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _fetch(self, file: SourceFile, target: Path, copy: Path | None) -> Outcome:
        place = target / file.path
        url = f"{self.url}/{quote(file.path)}"
        if place.is_file() and blob_id(place.read_bytes()) == file.blob:
            return "kept"
        if copy is None:
            _download(url, place, lambda path: self.check(file.path, path.read_bytes(), where=url))
        elif (copy / file.path).exists() or file.role == "needed":
            with _fetching(copy / file.path):
                content = read_bytes(copy / file.path)
                self.check(file.path, content, where=copy / file.path)
                _write(BytesIO(content), place)
        else:
            return "absent"
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

    def fetch(self, target: Path, copy: Path | None = None) -> Mapping[Outcome, int]:
        """Fetch all files into ``target`` if one is missing; return how many were fetched.

        They come from the archive, or from ``copy``: an archive, or a folder with the files. A new
        file is written completely or not at all.

        Raises:
            CorpusError: the archive cannot be fetched, is not the published one, is damaged or
                lacks a file; or a file cannot be written.
        """
        if all(self.find(name, target).is_file() for name in self.files):
            return {"kept": len(self.files)}
        if copy is None:
            packed = target / self.file
            if not packed.is_file():  # else it was interrupted before it was unpacked
                self._download(packed)
            self._unpack(packed, target)
            packed.unlink()
        elif copy.is_dir():
            for name in self.files:
                with _fetching(place := self.find(name, copy)), open_file(place) as content:
                    _write(content, target / name)
        else:
            self._unpack(copy, target)
        return {"fetched": len(self.files)}

    def _download(self, packed: Path) -> None:
        if self.sha256 is None:
            raise CorpusError(
                "cannot be fetched by a program",
                where=self.url,
                remedy=f"Download {self.file} there with a browser, and run the command again with "
                f"`--from {self.file}`.",
            )
        _download(self.url, packed, self._check)

    def _check(self, packed: Path) -> None:
        if self.sha256 not in {None, found := sha256_of(packed)}:
            raise CorpusError(
                f"is not the published archive: expected SHA-256 {self.sha256}, got {found}",
                where=packed,
                remedy=f"Delete it, and get it from {self.page}.",
            )

    def _unpack(self, packed: Path, target: Path) -> None:
        try:
            with _fetching(packed), ZipFile(packed) as archive:
                self._check(packed)
                for name in self.files:
                    with archive.open(f"{self.root}/{name}") as content:
                        _write(content, target / name)
        except (BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
            raise CorpusError(
                f"is damaged, or not {self.file}: {error}",
                where=packed,
                remedy=f"Get it from {self.page}.",
            ) from error


def blob_id(content: bytes) -> str:
    """Return the id under which git stores a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _write(content: IO[bytes], place: Path) -> None:
    with atomic_write(place) as file:
        shutil.copyfileobj(content, file)


@contextmanager
def _fetching(where: str | Path) -> Iterator[None]:
    """Raise a CorpusError for any error of the network or the disk."""
    try:
        yield
    except OSError as error:
        raise CorpusError(
            f"cannot be fetched: {error}",
            where=where,
            remedy="Check the network and the space on the disk, and run the command again; "
            "fetched files are kept. Or give a copy of the files with --from.",
        ) from error


def _download(url: str, place: Path, verify: Callable[[Path], None]) -> None:
    """Download a file; it is moved to its place after it was verified."""
    import pooch  # noqa: PLC0415 - slow to import, as are requests
    import requests  # noqa: PLC0415

    def download(address: str, partial: str, _: object) -> None:
        pooch.HTTPDownloader(chunk_size=_BLOCK, timeout=_SECONDS)(address, partial, None)
        verify(Path(partial))

    pooch.get_logger().setLevel("ERROR")
    files = pooch.Pooch(
        path=place.parent,
        base_url="",
        registry={place.name: None},
        urls={place.name: url},
        retry_if_failed=_RETRIES,
    )
    with _fetching(url):
        place.unlink(missing_ok=True)
        try:
            files.fetch(place.name, downloader=download)
        except requests.ConnectionError as error:
            raise OSError(f"there is no connection to {urlsplit(url).hostname}") from error
        place.chmod(0o644)


# --- The published sources ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a corpus, and whom to attribute it to."""

    name: str
    url: str
    attribution: str


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@cache
def _listed(manifest: str) -> Mapping[str, SourceFile]:
    rows = (line.split("\t") for line in _text(manifest).splitlines()[1:])
    return {path: SourceFile(path, blob, role) for blob, role, path in rows}


_DECLARED = tomllib.loads(_text("sources.toml"))
LICENCES = {name: Licence(**licence) for name, licence in _DECLARED["licences"].items()}
"""The licence of each corpus."""

SPOR = Repository(**_DECLARED["SPOR"])
LOGICNLG = Repository(**_DECLARED["LOGICNLG"])
VIGGO = Repository(**_DECLARED["VIGGO"])
TOTTO = Archive(**_DECLARED["TOTTO"])
COMPMCTG = Archive(**_DECLARED["COMPMCTG"])
SOURCES = (SPOR, LOGICNLG, VIGGO, TOTTO, COMPMCTG)


def path_of_set(name: str) -> str:
    """Return where a released set such as ``test_e2e_systematicity`` lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"
