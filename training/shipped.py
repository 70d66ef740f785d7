"""The configs and tiny bases that come with this package, by the names of a checkout."""

from pathlib import Path

from spor_tasks.core.errors import ConfigError, advice
from spor_tasks.core.files import is_file, is_folder

_HERE = Path(__file__).parent
_PLACES = (_HERE.parent, _HERE)  # of a checkout, and of the wheel, whose configs are in `training`
_SHIPPED = ("configs/*/**/*.yaml", "training/pretrained/*/")


def find(name: str) -> str:
    """Return this path, or where nothing is there, that of the shipped file of this name.

    Such are `configs/models/mini.yaml` and `training/pretrained/mini`.

    Raises:
        ConfigError: nothing is there either.
    """
    if not Path(name).as_posix().startswith(("configs/", "training/pretrained/")):
        return name
    for path in (Path(name), *(place / name for place in _PLACES)):
        if is_file(path) or is_folder(path):
            return str(path)
    names = sorted(
        file.relative_to(place).as_posix()
        for place in _PLACES
        for pattern in _SHIPPED
        for file in place.glob(pattern)
    )
    where = next(place for place in _PLACES if is_folder(place / "configs"))
    raise ConfigError(
        "does not exist", where=name, remedy=advice(name, names, f"All are in {where}.")
    )
