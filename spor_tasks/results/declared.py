"""Declarations of tasks in results: sets, arms, titles, ranges and directions of scores.

A task writes the declaration into its result, so that tables need neither the benchmark's data nor
a user's split files.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ResultError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetName
from spor_tasks.metrics.scores import known_info, score_info

FIRST_BENCHMARK = "spor"
"""The benchmark of tasks that do not name one."""

# Fields that only the harness needs.
_OF_TASKS = frozenset(("asks", "scores", "tasks"))


class KeyGap(NamedTuple):
    """The keys of two scores of one system; shown is the first less the second."""

    score: str
    subtracted: str

    @property
    def name(self) -> str:
        """The key of the difference."""
        return f"{self.score} - {self.subtracted}"


@dataclass(frozen=True, slots=True)
class ScoreFacts:
    """What a result says of a score: an end of its range that is None is infinite."""

    label: str
    title: str
    range: tuple[float | None, float | None]
    higher_is_better: bool | None
    corrects: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a result says of its task. A score is its key in the result file, which nothing parses.

    The fields are as in :class:`~spor_tasks.core.contracts.SetSpec`.
    """

    benchmark: str
    name: SetName
    task: str
    title: str
    part_title: str | None
    arms: tuple[str, ...]
    scores: Mapping[str, ScoreFacts]
    reported: tuple[str, ...]
    headline: str
    breakdown: tuple[str, ...] = ()
    gaps: tuple[KeyGap, ...] = ()
    decodings: tuple[str, ...] = ()
    in_context: bool = True
    split_of: SetName | None = None
    is_pooled: bool = False
    is_fixed: bool = True

    @property
    def displayed(self) -> tuple[str, ...]:
        """All that tables show: scores with tests, scores without, and gaps."""
        return (*self.reported, *self.breakdown, *(gap.name for gap in self.gaps))

    def task_name(self, arm: str | None = None, decoding: str | None = None) -> str:
        """Return the name of the task that shows demonstrations of an arm, or decodes otherwise."""
        variant = None if arm is None else f"icl_{arm}"
        return "_".join(filter(None, [self.task, variant, decoding]))


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


def declared(spec: SetSpec) -> Declared:
    """Return what a result of a task over these sets says of them."""
    return spec_of(declaration(spec))


def spec_of(declared: Mapping[str, Any]) -> Declared:
    """Return the sets that a result declares, without the scores that no installed metric has.

    Raises:
        ResultError: the benchmark or all metrics are not installed, or the declaration is damaged.
    """
    try:
        spec = msgspec.convert(declared, Declared)
    except (msgspec.ValidationError, TypeError) as error:
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
