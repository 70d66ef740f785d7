"""The configs and tiny bases that come with this package, by the names of a checkout."""

from pathlib import Path

from spor_tasks.core.files import is_file, is_folder

_HERE = Path(__file__).parent
_PLACES = (_HERE.parent, _HERE)  # of a checkout, and of the wheel, whose configs are in `training`
_FOLDERS = ("configs/", "training/pretrained/")


def find(name: str) -> str:
    """Return this path, or where nothing is there, that of the shipped file of this name.

    Such are `configs/models/mini.yaml` and `training/pretrained/mini`.
    """
    if not name.startswith(_FOLDERS):
        return name
    places = (Path(), *_PLACES)
    found = (path for place in places if is_file(path := place / name) or is_folder(path))
    return str(next(found, name))
