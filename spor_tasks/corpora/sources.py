"""Where the corpora come from, how each file is verified, and where it is on this machine."""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import platformdirs

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import open_file

REPOSITORY = "https://github.com/xzy-xzy/SPOR"
COMMIT = "ea664bb9d778a18f1a391d34e3ff385ab981d73c"
RAW_URL = f"https://raw.githubusercontent.com/xzy-xzy/SPOR/{COMMIT}"

DATA_DIR_VARIABLE = "SPOR_DATA_DIR"
FETCH = f"Run `spor data fetch`, or set {DATA_DIR_VARIABLE} to a folder that has it."


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a corpus, and whom to attribute it to."""

    name: str
    url: str
    attribution: str


LICENCES = {
    "webnlg": Licence(
        "CC BY-NC-SA 4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
        "WebNLG+ (release 3.0): Gardent et al., ACL 2017; Castro Ferreira et al., WebNLG+ 2020",
    ),
    "e2e": Licence(
        "CC BY-SA 4.0",
        "https://creativecommons.org/licenses/by-sa/4.0/",
        "Cleaned E2E: Novikova et al., SIGDIAL 2017; Dušek, Howcroft and Rieser, INLG 2019",
    ),
}


def path_of_set(name: str) -> str:
    """Return where a released set such as ``test_e2e_systematicity`` lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"


Role = Literal["needed", "optional", "rebuilt"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A data file of the commit.

    ``blob`` is its git blob id. ``at_most`` is its size in bytes, or a bound for the optional file,
    whose size is not known. This package reads the ``needed`` files. It reads an ``optional`` file
    if it is there, and another file otherwise. A ``rebuilt`` file is never fetched: it is computed
    from the needed ones, and its blob id proves the result.
    """

    path: str
    blob: str
    at_most: int
    role: Role


@cache
def files() -> dict[str, SourceFile]:
    """Return every data file of the commit by its path in the repository, sorted by path."""
    manifest = resources.files(__package__).joinpath("manifest.tsv").read_text("utf-8")
    rows = (line.split("\t") for line in manifest.splitlines()[1:])
    return {
        path: SourceFile(path, blob, int(at_most), role)  # type: ignore[arg-type]
        for blob, at_most, role, path in rows
    }


def under(folder: str) -> tuple[str, ...]:
    """Return the paths of the commit's files below ``folder``, sorted."""
    return tuple(path for path in files() if path.startswith(f"{folder}/"))


def url(path: str, base: str = RAW_URL) -> str:
    """Return the URL of a file; names such as ``N=3`` are quoted."""
    return f"{base}/{quote(path)}"


def blob_id(content: bytes) -> str:
    """Return the id under which git stores a file with this content."""
    sha = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    sha.update(content)
    return sha.hexdigest()


def data_dir() -> Path:
    """Return the folder of the corpora: ``SPOR_DATA_DIR``, or a folder in the user's cache."""
    named = os.environ.get(DATA_DIR_VARIABLE)
    if named:
        return Path(named).expanduser()
    return platformdirs.user_cache_path("spor", appauthor=False) / COMMIT


def find(path: str, folder: Path | None = None) -> Path:
    """Return the place of a file of the commit in ``folder``, by default :func:`data_dir`.

    Raises:
        CorpusError: it is missing; the error names it and the command that fetches it.
    """
    found = (folder or data_dir()) / path
    if not found.is_file():
        raise CorpusError("is missing", where=found, remedy=FETCH)
    return found


def read_published(path: str, folder: Path | None = None) -> bytes:
    """Return the content of a file of the commit, verified by its git blob id.

    Raises:
        CorpusError: it is missing, cannot be read, or is not the published file.
    """
    found = find(path, folder)
    try:
        content = take(found, files()[path].at_most)
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=found) from error
    check(path, content, where=found)
    return content


def take(path: Path, at_most: int) -> bytes:
    """Return a file's content, but of a large file only ``at_most`` bytes and one more.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe or a device.
    """
    with open_file(path) as file:
        return file.read(at_most + 1)


def check(path: str, content: bytes, *, where: str | Path) -> None:
    """Check that the content is that of a file of the commit.

    Raises:
        CorpusError: the blob ids differ; the error names both.
    """
    file, got = files()[path], blob_id(content)
    if got != file.blob:
        first = "" if len(content) <= file.at_most else "first "
        raise CorpusError(
            f"is not the published file: expected git blob {file.blob}, got {got} for its "
            f"{first}{len(content):,} bytes",
            where=where,
            remedy="It may be truncated or edited. Run `spor data fetch` to fetch it again.",
        )
