"""Declarations of tasks in results: sets, arms, titles, ranges and directions of scores.

A task writes the declaration into its result, so that tables need neither the benchmark's data nor
a user's split files.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ResultError
from spor_tasks.core.registry import registry
from spor_tasks.metrics.base import known_info, score_info

FIRST_BENCHMARK = "spor"
"""The benchmark of tasks that do not name one."""

# Fields that only the harness needs.
_OF_TASKS = frozenset(("asks", "scores", "tasks"))


def declaration(spec: SetSpec) -> dict[str, Any]:
    """Return the declaration of a task's sets, as JSON.

    ``scores`` are label, title, range and direction of all that tables show; an end of the range
    that is None is infinite. ``gaps`` are the pairs of scores that are compared with each other.
    """
    fields = msgspec.to_builtins(spec)
    return {name: value for name, value in fields.items() if name not in _OF_TASKS} | {
        "scores": {name: _description(name) for name in spec.displayed}
    }


def _description(name: str) -> dict[str, Any]:
    info = score_info(name)
    return {
        "label": info.label,
        "title": info.title,
        "range": [end if math.isfinite(end) else None for end in (info.low, info.high)],
        "higher_is_better": info.higher_is_better,
        "corrects": info.corrects,
    }


def spec_of(declared: Mapping[str, Any]) -> SetSpec:
    """Return the sets that a result declares, without the scores that no installed metric has.

    Raises:
        ResultError: the benchmark or all metrics are not installed, or the declaration is damaged.
    """
    try:
        spec = msgspec.convert({**declared, "scores": tuple(declared["scores"])}, SetSpec)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise ResultError(f"declared: {error}") from error
    if spec.benchmark not in registry().names("benchmark"):
        raise ResultError(f"the benchmark {spec.benchmark!r} is not installed")
    if spec.name.aspect not in registry().get("benchmark", spec.benchmark).groups:
        raise ResultError(f"the benchmark {spec.benchmark!r} has no {spec.name.aspect!r}")
    reported, breakdown = (
        tuple(filter(known_info, names)) for names in (spec.reported, spec.breakdown)
    )
    if not reported:
        raise ResultError(f"no installed metric has a score of {', '.join(spec.reported)}")
    gaps = tuple(gap for gap in spec.gaps if all(map(known_info, gap)))
    return replace(spec, reported=reported, breakdown=breakdown, gaps=gaps)
