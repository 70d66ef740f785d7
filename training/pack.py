"""Packs an experiment for a machine that has Python, torch and transformers, and no network.

A pack is a folder of pieces, their list and `unpack.py`, which that machine runs: this checkout,
the models to start from, the corpora, and a wheel of each package that is missing there.
"""

import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    PathDistribution,
    distribution,
)
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version
from tqdm import tqdm

from spor_tasks.corpora import sources
from spor_tasks.errors import ConfigError
from spor_tasks.store import write_json
from training import unpack
from training.checkpoints import git_commit

_log = logging.getLogger(__name__)
_ROOT = Path(__file__).parent.parent
_CHECKOUT = ("training", "configs", "pyproject.toml", "constraints.txt")
_THERE = ("torch", "transformers")
_OWN = "spor-tasks"
_NEEDED = f"{_OWN}[train]"
_GLIBC = (17, 24, 27, 28)  # what wheels are built for; pip takes each by its own name only
_MB = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The machine that the pack is for: its Python, and packages there beside torch's own."""

    python: str = "3.12"
    machine: str = "x86_64"
    present: frozenset[str] = frozenset()

    @property
    def markers(self) -> dict[str, str]:
        """What decides there which requirements hold."""
        return {
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": "linux",
            "platform_system": "Linux",
            "platform_machine": self.machine,
            "extra": "",
        }


def pack(
    experiment: Path,
    out: Path,
    include: Iterable[Path],
    *,
    target: Target,
    wheels: Path,
    piece_mb: float,
) -> list[unpack.Piece]:
    """Write a pack of an experiment into a new folder; return its pieces.

    ``include`` are files and folders of this checkout that git does not hold, above all the models
    that the experiment starts from. ``wheels`` is where downloads are kept for the next time.

    Raises:
        ConfigError: something to pack is not there, or lies outside the checkout; the folder is not
            empty; or a package has no wheel for that machine.
        CorpusError: the corpora are not at hand.
    """
    if out.exists() and any(out.iterdir()):
        raise ConfigError("is not empty", where=out, remedy="Choose another folder.")
    content = [
        *((f"{unpack.PROJECT}/{_inside(path)}", path) for path in _checkout(include)),
        *((f"{unpack.DATA}/{name}", path) for name, path in _corpora()),
        *((f"{unpack.WHEELS}/{path.name}", path) for path in find_wheels(target, wheels)),
    ]
    out.mkdir(parents=True, exist_ok=True)
    size = sum(path.stat().st_size for _, path in content)
    _log.info("%d files, %.0f MB", len(content), size / _MB)
    pieces = unpack.write_archive(out, "pack", int(piece_mb * _MB), sorted(content))
    shutil.copyfile(unpack.__file__, out / "unpack.py")
    listing = {
        "experiment": str(_inside(experiment)),
        "commit": git_commit(),
        "pieces": [piece._asdict() for piece in pieces],
        "target": asdict(target) | {"present": sorted(target.present)},
    }
    write_json(out / unpack.LISTING, listing)
    return pieces


def needed(requirement: str, target: Target, own: Distribution | None = None) -> Mapping[str, str]:
    """Return the packages that a requirement brings on that machine, with the versions here.

    ``own`` goes before the package of its name that is installed.

    Raises:
        ConfigError: one of them is not installed here, so that its version is not known.
    """
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(requirement)]
    while waiting:
        wanted = waiting.pop()
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            package = own if own and own.name == wanted.name else distribution(name)
        except PackageNotFoundError as error:
            raise ConfigError(
                f"{name} is not installed", remedy="Install the project with its extra `train`."
            ) from error
        found[name] = package.version
        for line in package.requires or ():
            other = Requirement(line)
            if other.marker is None or any(
                other.marker.evaluate(target.markers | {"extra": extra}) for extra in ("", *extras)
            ):
                waiting.append(other)
    return found


def find_wheels(target: Target, folder: Path) -> list[Path]:
    """Return a wheel of each package that is missing on that machine, our own among them."""
    own_wheel = _own_wheel(folder)
    (metadata,) = (path for path in zipfile.Path(own_wheel).iterdir() if ".dist-info" in path.name)
    # Not as it was installed: that may have been before the last change.
    wanted = needed(_NEEDED, target, PathDistribution(metadata))
    there = {_OWN, *target.present}.union(*(needed(name, target) for name in _THERE))
    missing = {name: version for name, version in wanted.items() if name not in there}
    place = folder / f"{target.python}-{target.machine}"
    place.mkdir(parents=True, exist_ok=True)
    kept = {}
    for path in place.glob("*.whl"):
        name, version, *_ = parse_wheel_filename(path.name)
        kept[name, version] = path
    found = [
        kept.get((canonicalize_name(name), Version(version)))
        or _download(name, version, target, place)
        for name, version in tqdm(sorted(missing.items()), unit=" wheels")
    ]
    return [*found, own_wheel]


def _own_wheel(folder: Path) -> Path:
    """Build the wheel of this package."""
    with tempfile.TemporaryDirectory() as empty:
        _python(["build", "--wheel", "--no-isolation", "--outdir", empty], _OWN)
        (wheel,) = Path(empty).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, folder / wheel.name))


def _download(name: str, version: str, target: Target, place: Path) -> Path:
    """Get a wheel for that machine; of what is only there as sources, build one."""
    platforms = [f"manylinux_2_{minor}_{target.machine}" for minor in _GLIBC]
    options = [part for platform in platforms for part in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as empty:
        common = ["--quiet", "--disable-pip-version-check", "--no-deps"]
        wanted = f"{name}=={version}"
        fetch = ["pip", "download", *common, "--only-binary=:all:", "--dest", empty]
        python = ["--python-version", target.python, "--implementation", "cp"]
        try:
            _python([*fetch, *python, *options, wanted], name, quiet=True)
        except ConfigError:
            _python(["pip", "wheel", *common, "--wheel-dir", empty, wanted], name)
        (wheel,) = Path(empty).glob("*.whl")
        if not wheel.name.endswith("-none-any.whl") and target.machine not in wheel.name:
            raise ConfigError(f"{wheel.name} does not run on {target.machine}")
        return Path(shutil.move(wheel, place / wheel.name))


def _python(arguments: list[str], what: str, *, quiet: bool = False) -> None:
    done = subprocess.run(  # noqa: S603 - our own commands
        [sys.executable, "-m", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        if not quiet:
            _log.error("%s", done.stderr.strip())
        raise ConfigError(
            f"{what}: `{' '.join(arguments[:2])}` failed", remedy="Its message stands above."
        )


def _checkout(include: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of this checkout that travel."""
    listed = subprocess.run(  # noqa: S603 - constants
        ["git", "ls-files", "-z", *_CHECKOUT],  # noqa: S607 - wherever git is
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    yield from (_ROOT / name for name in listed.split("\0") if name)
    for path in include:
        if not path.exists():
            raise ConfigError("is not there", where=path)
        yield from (
            file for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()
        )


def _inside(path: Path) -> Path:
    """Return where a file lies in this checkout."""
    try:
        return path.absolute().relative_to(_ROOT)
    except ValueError as error:
        raise ConfigError(
            "lies outside the checkout", where=path, remedy=f"Copy or link it into {_ROOT}."
        ) from error


def _corpora() -> Iterator[tuple[str, Path]]:
    for name, file in sources.files().items():
        if file.role == "needed" or (sources.data_dir() / name).is_file():
            yield name, sources.find(name)
