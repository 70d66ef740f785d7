"""How this process was started: alone, or by `accelerate launch` with others."""

import os


def is_shared() -> bool:
    """Return whether other processes share the work."""
    return "RANK" in os.environ


def is_first() -> bool:
    """Return whether this is the only process, or the first of several."""
    return os.environ.get("RANK", "0") == "0"
