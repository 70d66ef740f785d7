"""How outputs are judged (`judging.toml`), and the look-up of declared sets by their name."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from spor_tasks.core.contracts import Gap, SetName, SetSpec
from spor_tasks.core.errors import SplitError


class _Judging(msgspec.Struct, omit_defaults=True):
    """Fields of :class:`SetSpec`."""

    scores: tuple[str, ...]
    reported: tuple[str, ...]
    headline: str
    breakdown: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    outputs: int = 1
    template: str = "_base"


@cache
def _tables() -> dict[str, dict[str, _Judging]]:
    content = tomllib.loads(Path(__file__).with_name("judging.toml").read_text("utf-8"))
    return msgspec.convert(content, dict[str, dict[str, _Judging]])


def judging(benchmark: str, kind: str) -> dict[str, Any]:
    """Return the fields of :class:`SetSpec` about scores, for a kind of sets of a benchmark."""
    return msgspec.structs.asdict(_tables()[benchmark][kind])


def find(specs: Sequence[SetSpec], name: SetName) -> SetSpec:
    """Return the declaration of sets among those of a benchmark.

    Raises:
        SplitError: there are no such sets; the error lists all.
    """
    for spec in specs:
        if spec.name == name:
            return spec
    raise SplitError(
        f"there is no split {str(name)!r}",
        remedy=f"There are {', '.join(str(spec.name) for spec in specs)}.",
    )
