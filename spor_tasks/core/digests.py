"""SHA-256 digests of samples, texts and files: docs/decisions/digests.md says of what, and why."""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row, open_file
from spor_tasks.core.sample import InFile, Sample


def digest(samples: Iterable[Sample]) -> str:
    """Return the SHA-256 of the samples as a published file would hold them.

    For a split read from a published file this is the SHA-256 of the file.
    """
    if isinstance(samples, InFile) and samples.sha256:
        return samples.sha256
    sha = hashlib.sha256()
    for sample in samples:
        sha.update(encode_row(to_row(sample)))
    return sha.hexdigest()


@cache
def set_digest(samples: Sequence[Sample]) -> str:
    """Return the digest of the samples of a set, which is computed once."""
    return digest(samples)


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
