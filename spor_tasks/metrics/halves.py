"""Scores of all samples, and the same scores of the samples of each kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.totals import Value


def with_halves(infos: Sequence[ScoreInfo], halves: Iterable[str]) -> tuple[ScoreInfo, ...]:
    """Return scores, then the same of each half, whose name ends theirs."""
    return (
        *infos,
        *(
            replace(
                info,
                name=f"{info.name}_{half}",
                label=f"{info.label}, {half}",
                corrects=info.corrects and f"{info.corrects}_{half}",
                of_some=True,
            )
            for half in halves
            for info in infos
        ),
    )


def with_half(values: Mapping[str, Value], half: str | None) -> dict[str, Value]:
    """Return the values of a sample, and the same for the half that it is in, if it is in one."""
    if half is None:
        return dict(values)
    return {**values, **{f"{name}_{half}": value for name, value in values.items()}}
