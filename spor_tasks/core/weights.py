"""The folders of models and adapters on this machine, and what identifies their weights."""

import hashlib
from functools import lru_cache
from pathlib import Path

from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file, is_folder
from spor_tasks.core.folders import recover


def find_folder(
    name: object, file: str, *, subfolder: str = "", revision: str | None = None
) -> Path | None:
    """Return the folder of a model that has the file: its own, or that in the hub's cache.

    ``name`` is a folder, whose ``subfolder`` is meant, or a name on the hub. Nothing is downloaded:
    None is a model that is not on this machine.

    Raises:
        ConfigError: the folder lacks the file or does not exist.
    """
    if not isinstance(name, str):
        return None
    folder = Path(name)
    recover(folder)
    if is_folder(folder):
        folder /= subfolder
        if not is_file(folder / file):
            raise ConfigError(
                f"has no {file}",
                where=folder,
                remedy="Name a checkpoint with pretrained=, and an adapter of it with peft=.",
            )
        return folder
    # Reports and checks of tasks need neither its time nor its memory.
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(name, file, revision=revision)
    except HFValidationError as error:
        raise ConfigError("there is no such folder", where=name) from error
    return Path(cached).parent if isinstance(cached, str) else None


def digest_weights(folder: Path) -> str:
    """Return the SHA-256 that identifies the weights in a model or adapter folder.

    It covers names and contents of the files in which transformers and peft save weights, so equal
    weights have equal digests, wherever the folder is and whatever else is in it. Files that did
    not change are read once in a process.

    Raises:
        ConfigError: the folder has no weight files, or one cannot be read.
    """
    try:
        files = sorted(folder.glob("*model*.safetensors")) or sorted(folder.glob("*model*.bin"))
        states = [(path, path.stat()) for path in files]
        sha256 = _digest(tuple((path, s.st_size, s.st_mtime_ns) for path, s in states))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error}", where=folder) from error
    if not files:
        raise ConfigError(
            "has no weight files",
            where=folder,
            remedy="Give the folder of a saved checkpoint or adapter.",
        )
    return sha256


@lru_cache(maxsize=16)
def _digest(states: tuple[tuple[Path, int, int], ...]) -> str:
    sha = hashlib.sha256()
    for path, _, _ in states:
        sha.update(f"{path.name} {sha256_of(path)}\n".encode())
    return sha.hexdigest()
