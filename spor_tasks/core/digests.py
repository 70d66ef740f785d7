"""SHA-256 digests of samples and of model weights."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import encode_row, open_file
from spor_tasks.core.sample import Sample


def digest(samples: Iterable[Sample]) -> str:
    """Return the SHA-256 of the samples as a published file would hold them.

    For a split that was read from a published file this is that file's own SHA-256.
    """
    sha = hashlib.sha256()
    for sample in samples:
        sha.update(encode_row(to_row(sample)))
    return sha.hexdigest()


def digest_weights(folder: Path) -> str:
    """Return the SHA-256 that tells the weights of a model or adapter folder from all others.

    It is taken over names and contents of the files that transformers and peft save weights in,
    so it names the same weights wherever the folder lies, and whatever else lies there.

    Raises:
        ConfigError: the folder holds no weights, or some cannot be read.
    """
    sha = hashlib.sha256()
    for path in weight_files(folder):
        try:
            with open_file(path) as file:
                own = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"cannot be read: {error}", where=path) from error
        sha.update(f"{path.name} {own}\n".encode())
    return sha.hexdigest()


def weight_files(folder: Path) -> list[Path]:
    """Return the files that transformers and peft saved a model's weights in.

    Raises:
        ConfigError: there are none.
    """
    files = sorted(folder.glob("*model*.safetensors")) or sorted(folder.glob("*model*.bin"))
    if not files:
        raise ConfigError(
            "holds no weights",
            where=folder,
            remedy="Give a folder that a checkpoint or an adapter was saved in.",
        )
    return files
