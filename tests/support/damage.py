"""What may lie where a file should: by accident, or put there by somebody who means harm."""

import os
from contextlib import contextmanager
from pathlib import Path

SOAK = 20 if os.environ.get("SPOR_SOAK") else 1
"""How many times as much is tried in a long run."""

LONG_NAME = "x" * 5_000
"""No file can have it."""


def _bytes(content):
    return lambda path: path.write_bytes(content)


def _huge(path):
    with path.open("wb") as file:
        file.truncate(2**25)  # takes no room on the disk


DAMAGE = {
    "nothing": lambda _: None,
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a named pipe": os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "32 megabytes": _huge,
    "no text": _bytes(b"\xff\xfe\x00\x80"),
    "an empty file": _bytes(b""),
    "a list": _bytes(b"[1]"),
    "a number": _bytes(b"5"),
    "half of it": _bytes(b'{"a": {"b": '),
    "10,000 brackets": _bytes(b"[" * 10_000),
    "a number of 5,000 digits": _bytes(b'{"a": ' + b"9" * 5_000 + b"}"),
    "a pickle": _bytes(b"cos\nsystem\n(S'true'\ntR."),
}


def replace(path, kind):
    """Put something else where a file is."""
    path.unlink(missing_ok=True)
    DAMAGE[kind](path)


@contextmanager
def no_file_larger_than(size):
    """Have the system refuse to write larger files, as it does on a full disk."""
    import resource  # not on every system

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
