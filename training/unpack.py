"""Runs a packed experiment where there is no network, slice by slice.

It needs Python with torch and transformers, and of its own only the standard library: every pack
holds a copy of this file beside its list of pieces. Pieces may come in several loads.

    python3 unpack.py add PIECE... --to WORK
    python3 unpack.py restore OUT-OF-BEFORE/* --to WORK
    python3 unpack.py run --to WORK --seconds 540 --out OUT -- --only 'systematicity*'
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

LISTING = "pieces.json"
PROJECT, WHEELS, DATA = "project", "wheels", "data"
"""What a pack holds: the checkout with the models, what it needs, and the corpora."""

_CONTENT = "content"
_SITE = "site-packages"  # by this name dill, which datasets hash with, knows what is installed
_MB = 10**6
_GRACE = 60.0  # seconds to end in, after an interrupt
_WEIGHTS = (".safetensors", ".pt", ".bin")  # what results leave behind


class Piece(NamedTuple):
    """One file of a pack."""

    name: str
    size: int
    sha256: str


class UnpackError(Exception):
    """Something is missing or damaged; the text says what."""


class Pieces(io.RawIOBase):
    """A file to write to that comes out as several, each of at most ``limit`` bytes."""

    def __init__(self, folder: Path, stem: str, limit: int) -> None:
        self.written: list[Piece] = []
        self._folder, self._stem, self._limit = folder, stem, limit
        self._buffer = bytearray()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has the buffer protocol
        """Take bytes; full pieces are written at once."""
        self._buffer += data
        while len(self._buffer) >= self._limit:
            self._put(bytes(self._buffer[: self._limit]))
            del self._buffer[: self._limit]
        return len(data)

    def close(self) -> None:
        """Write what is left."""
        if not self.closed and self._buffer:
            self._put(bytes(self._buffer))
            self._buffer.clear()
        super().close()

    def _put(self, data: bytes) -> None:
        name = f"{self._stem}-{len(self.written):03}"
        (self._folder / name).write_bytes(data)
        self.written.append(Piece(name, len(data), hashlib.sha256(data).hexdigest()))


def write_archive(
    folder: Path, stem: str, limit: int, files: Iterable[tuple[str, Path]]
) -> list[Piece]:
    """Write files under their names into pieces; the same files give the same bytes."""
    pieces = Pieces(folder, stem, limit)
    with (
        pieces,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=pieces, mtime=0) as packed,
        tarfile.open(mode="w|", fileobj=packed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, path in files:
            entry = tarfile.TarInfo(name)
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return pieces.written


def read_listing(path: Path) -> dict[str, Any]:
    """Return what a pack says of itself."""
    try:
        listing: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UnpackError(f"{path}: is no list of pieces: {error}") from error
    return listing


def add(listing: Mapping[str, Any], files: Sequence[Path], work: Path) -> list[str]:
    """Take pieces into the work folder, unpack them once all are there; return those missing.

    Raises:
        UnpackError: a file is no piece of this pack, or is damaged.
    """
    pieces = [Piece(**piece) for piece in listing["pieces"]]
    known = {piece.name: piece for piece in pieces}
    store = work / "pieces"
    store.mkdir(parents=True, exist_ok=True)
    for file in files:
        piece = known.get(file.name)
        if piece is None:
            raise UnpackError(f"{file}: is no piece of this pack")
        if _sha256(file) != piece.sha256:
            raise UnpackError(f"{file}: is damaged: it is not the piece that was packed")
        shutil.copyfile(file, store / f"{file.name}.part")
        (store / f"{file.name}.part").rename(store / file.name)
    missing = [piece.name for piece in pieces if not (store / piece.name).is_file()]
    if not missing and not (work / _CONTENT).is_dir():
        _unpack([store / piece.name for piece in pieces], work)
    return missing


def restore(files: Iterable[Path], work: Path) -> None:
    """Put back what another machine's runs left, so that this one goes on from there.

    Raises:
        UnpackError: the pack is not complete, or the files are no archive of results.
    """
    try:
        _extract(sorted(files), _content(work) / PROJECT)
    except (OSError, EOFError, tarfile.TarError) as error:
        raise UnpackError(f"these are not all pieces of one archive of results: {error}") from error


def run(
    listing: Mapping[str, Any], work: Path, seconds: float | None, arguments: Sequence[str]
) -> int:
    """Run the experiment for at most so long; return its exit status.

    It is interrupted as from the keyboard, so that it keeps what it needs to go on, and killed if
    that does not end it.

    Raises:
        UnpackError: the pack is not complete.
    """
    content = _content(work)
    # What runs in the background ignores interrupts, and would hand that on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "training", "run", listing["experiment"], *arguments]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command,
        cwd=content / PROJECT,
        env=_environment(content, listing),
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        after = f" after {seconds:g} s" if isinstance(reason, subprocess.TimeoutExpired) else ""
        print(f"interrupted{after}", flush=True)
        process.send_signal(signal.SIGINT)
    finally:
        _end(process)
    return process.returncode


def collect(work: Path, out: Path, limit: int, *, weights: bool) -> list[Piece]:
    """Write what the runs left as pieces into a folder: all, or all but weights."""
    out.mkdir(parents=True, exist_ok=True)
    project = work / _CONTENT / PROJECT
    brought = set((work / _CONTENT / "brought.txt").read_text("utf-8").splitlines())
    files = (
        (name, path)
        for path in sorted(project.joinpath("runs").rglob("*"))
        if path.is_file()
        and (name := path.relative_to(project).as_posix()) not in brought
        and (weights or path.suffix not in _WEIGHTS)
    )
    return write_archive(out, "results.tar.gz", limit, files)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was told to end, and kill it with all its own if it does not."""
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        print(f"{_GRACE:.0f} seconds later: killed", flush=True)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _unpack(pieces: Sequence[Path], work: Path) -> None:
    """Unpack and install; the folder of the content stands there only when both are done."""
    place = work / f"{_CONTENT}.part"
    shutil.rmtree(place, ignore_errors=True)
    _extract(pieces, place)
    names = sorted(
        path.relative_to(place / PROJECT).as_posix()
        for path in (place / PROJECT).rglob("*")
        if path.is_file()
    )
    (place / "brought.txt").write_text("\n".join(names), "utf-8")
    wheels = sorted(map(str, (place / WHEELS).glob("*.whl")))
    if wheels:
        options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir"]
        subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "pip", "install", *options, "--target", place / _SITE, *wheels],
            check=True,
        )
    place.rename(work / _CONTENT)


def _content(work: Path) -> Path:
    content = work / _CONTENT
    if not content.is_dir():
        raise UnpackError(f"{work}: not all pieces are here; `add` says which are missing")
    return content


def _extract(pieces: Iterable[Path], place: Path) -> None:
    with (
        gzip.GzipFile(fileobj=_chained(pieces)) as packed,
        tarfile.open(mode="r|", fileobj=packed) as archive,
    ):
        archive.extractall(place, filter="data")


def _environment(content: Path, listing: Mapping[str, Any]) -> dict[str, str]:
    paths = [str(content / _SITE), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "SPOR_DATA_DIR": str(content / DATA),
        "SPOR_COMMIT": listing["commit"] or "",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


class _Chain(io.RawIOBase):
    """Files read one after the other as one."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._files: Iterator[IO[bytes]] = (path.open("rb") for path in paths)
        self._file = next(self._files, None)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever has the buffer protocol
        """Read into the buffer."""
        while self._file is not None:
            data = self._file.read(len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
            self._file.close()
            self._file = next(self._files, None)
        return 0


def _chained(paths: Iterable[Path]) -> IO[bytes]:
    return io.BufferedReader(_Chain(paths), buffer_size=_MB)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 2 where something is missing or damaged, or the run's own status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pieces", type=Path, default=Path(__file__).with_name(LISTING))
    commands = parser.add_subparsers(dest="command", required=True)
    adding = commands.add_parser("add", help="take pieces, and unpack them once all are there")
    adding.add_argument("files", nargs="+", type=Path, metavar="PIECE")
    adding.add_argument("--to", type=Path, required=True, metavar="WORK")
    restoring = commands.add_parser("restore", help="go on from what another machine's runs left")
    restoring.add_argument("files", nargs="+", type=Path, metavar="PIECE")
    restoring.add_argument("--to", type=Path, required=True, metavar="WORK")
    running = commands.add_parser("run", help="run a slice, and write what it left to a folder")
    running.add_argument("--to", type=Path, required=True, metavar="WORK")
    running.add_argument("--seconds", type=float, help="no limit if not given")
    running.add_argument("--out", type=Path, required=True, help="for the results, in pieces")
    running.add_argument("--piece-mb", type=float, default=15)
    running.add_argument("--weights", action="store_true", help="adapters too")
    running.add_argument("arguments", nargs="*", metavar="-- ARGUMENTS of `training run`")
    options = parser.parse_args(arguments)
    try:
        listing = read_listing(options.pieces)
        if options.command == "add":
            missing = add(listing, options.files, options.to)
            print(f"missing: {' '.join(missing)}" if missing else f"{options.to}: ready")
            return 0
        if options.command == "restore":
            restore(options.files, options.to)
            return 0
        status = run(listing, options.to, options.seconds, options.arguments)
        limit = int(options.piece_mb * _MB)
        written = collect(options.to, options.out, limit, weights=options.weights)
        print(f"{options.out}: {len(written)} pieces, cat them for one tar.gz")
    except UnpackError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
