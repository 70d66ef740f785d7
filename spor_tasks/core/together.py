"""Files of one folder that change at one moment; whatever else is in the folder stays.

A file system renames one thing at a time. So while several files change, each of their names is a
symbolic link that leads through one more link, ``shown``: first to the former files, and with the
one rename of that link to the new ones. Before and after, all are plain files. A process that is
killed leaves links that lead to all the former or all the new files; the next writer makes plain
files of them.
"""

import errno
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from spor_tasks.core.files import sweep, writing
from spor_tasks.core.folders import writing_alone

_NEW, _FORMER, _SHOWN, _LINK, _LOCK = (
    f".spor.{name}.partial" for name in ("new", "former", "shown", "link", "lock")
)

# The system, the file system or the user's rights have no links.
_NO_LINKS = {errno.EPERM, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def replace_files(folder: Path, files: Mapping[str, bytes], outdated: Iterable[str] = ()) -> None:
    """Write files into a folder, by name, in place of those and ``outdated`` ones that are there.

    A name may be that of a file in a folder below. Whoever opens the names at any moment finds all
    the former files or all the new ones, also if this process is killed or a call to the system
    fails. A file system without links holds this for each file alone.

    Raises:
        OSError, ConfigError: a file cannot be written, a name is taken by something that is no
            file, or another process is writing these files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted({*outdated, *files})
    with writing_alone(folder, folder / _LOCK):
        sweep(folder)
        _settle(folder)
        try:
            for name, content in files.items():
                with writing(folder / name):
                    _write(folder / _NEW / name, content)
            if _has_links(folder):
                for name in names:
                    with writing(folder / name):
                        _lead(folder, name)
                _sync(folder)
                _link(folder / _SHOWN, _NEW, folder)  # the moment
                _sync(folder)
            else:
                for place, new in ((folder / name, folder / _NEW / name) for name in names):
                    if new.exists():
                        place.parent.mkdir(parents=True, exist_ok=True)
                        new.replace(place)
                    else:
                        place.unlink(missing_ok=True)
        finally:
            try:
                _settle(folder)
            except BaseException:  # an interrupt, or a fault that may be over
                _settle(folder)
                raise


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _has_links(folder: Path) -> bool:
    """Have ``shown`` lead to the former files, if there can be links."""
    (folder / _FORMER).mkdir()
    try:
        (folder / _SHOWN).symlink_to(_FORMER)
    except (OSError, NotImplementedError) as error:
        if getattr(error, "errno", errno.ENOSYS) not in _NO_LINKS:
            raise
        return False
    return True


def _lead(folder: Path, name: str) -> None:
    """Have a name lead through ``shown``; what it shows does not change."""
    place, former = folder / name, folder / _FORMER / name
    if os.path.lexists(place):
        if not place.is_file():
            raise OSError(errno.EEXIST, "it is not a regular file", str(place))
        former.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(place), former)
        except OSError:  # of another disk, or of a file system with symbolic links only
            _write(former, place.read_bytes())
    elif not (folder / _NEW / name).exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    _link(place, _target(folder, name), folder)


def _link(place: Path, target: str, folder: Path) -> None:
    """Put a link in the place of whatever has the name, in one step."""
    link = folder / _LINK
    link.symlink_to(target)
    link.replace(place)


def _target(folder: Path, name: str) -> str:
    start = os.path.realpath((folder / name).parent)  # a folder below may itself be a link
    return os.path.relpath(Path(os.path.realpath(folder)) / _SHOWN / name, start)


def _sync(folder: Path) -> None:
    """Have the disk hold the names in a folder."""
    if os.name != "posix":  # Windows opens no folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _settle(folder: Path) -> None:
    """Make plain files of all links: of the new files after the moment, else of the former."""
    link = folder / _LINK
    link.unlink(missing_ok=True)
    for state in (folder / _NEW, folder / _FORMER):
        for file in [path for path in state.rglob("*") if not path.is_dir()]:
            name = str(file.relative_to(state))
            place, shown = folder / name, folder / _SHOWN / name
            if not place.is_symlink() or os.readlink(place) != _target(folder, name):  # noqa: PTH115
                continue
            if shown.exists():
                with suppress(OSError):  # of a file system with symbolic links only
                    os.link(shown, link)
                    shown = link  # a reader may be on its way to the other name
                shown.replace(place)
                continue
            place.unlink()
            with suppress(OSError):  # it holds other files
                for parent in list(place.parents)[: name.count(os.sep)]:
                    parent.rmdir()
    (folder / _SHOWN).unlink(missing_ok=True)
    for name in (_NEW, _FORMER):
        shutil.rmtree(folder / name, ignore_errors=True)
