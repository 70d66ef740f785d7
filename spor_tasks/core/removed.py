"""Names of tasks that are gone, each with the release that removed it, and why."""

from functools import cache
from pathlib import Path

import msgspec


class _Removed(msgspec.Struct, forbid_unknown_fields=True):
    since: str
    why: str
    names: tuple[str, ...]


@cache
def why_removed(name: str) -> str | None:
    """Return since when and why a task or tag is gone; None of any other name."""
    content = Path(__file__).with_suffix(".toml").read_bytes()
    removed = msgspec.toml.decode(content, type=dict[str, tuple[_Removed, ...]])["removed"]
    whys = (f"removed in {each.since}: {each.why}" for each in removed if name in each.names)
    return next(whys, None)
