"""How well metrics agree with human judgements of outputs, over texts and over systems."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spor_tasks.evaluation.judged import Judged, Progress, require_known
from spor_tasks.metrics.correlation import Level, codes, levels, pearson, standard, williams
from spor_tasks.metrics.significance import percentile_interval
from spor_tasks.metrics.totals import Numbers

RESAMPLES = 1_000
SEED = 0


class Estimate(NamedTuple):
    """A number with its 95 % bootstrap interval; NaN stands for an undefined number."""

    value: float
    low: float
    high: float


class Correlation(NamedTuple):
    """How a metric correlates with a judgement ``over`` texts or systems.

    ``kendall`` is τ-b. A correlation with a constant is NaN.
    """

    over: str
    metric: str
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


class Difference(NamedTuple):
    """The signed Pearson correlation of ``metric`` minus that of ``other``.

    ``t`` and ``p`` are those of :func:`williams`.
    """

    over: str
    metric: str
    other: str
    difference: Estimate
    t: float
    p: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the metrics of a file agree with one judgement.

    All correlations are over the same rows: those with the judgement and a score of every metric.
    ``left_out`` counts the other rows.
    """

    file: Path
    judgement: str
    texts: int
    inputs: int
    systems: int
    left_out: int
    resamples: int
    seed: int
    correlations: tuple[Correlation, ...]
    differences: tuple[Difference, ...]

    def strongest(self, over: str) -> str | None:
        """Return the metric with the largest absolute Pearson correlation."""
        found = {
            each.metric: abs(each.pearson.value)
            for each in self.correlations
            if each.over == over and not math.isnan(each.pearson.value)
        }
        return max(found, key=found.__getitem__, default=None)


def agreements(
    judged: Sequence[Judged],
    *,
    judgements: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    progress: Progress | None = None,
) -> tuple[Agreement, ...]:
    """Correlate the scores in each file with each of ``judgements`` in it, or with all judgements.

    Intervals come from resamples of whole inputs with all their outputs; systems are not resampled.

    Raises:
        ConfigError: a name in ``judgements`` is in no file.
    """
    known = tuple(dict.fromkeys(name for each in judged for name in each.judgements))
    require_known("judgement", judgements, known)
    asked = [
        (each, name) for each in judged for name in each.judgements if name in (judgements or known)
    ]
    found = []
    for each, name in asked:
        found.append(_agreement(each, name, resamples, seed))
        if progress:
            progress(len(found), len(asked))
    return tuple(found)


def _agreement(judged: Judged, judgement: str, resamples: int, seed: int) -> Agreement:
    table = np.stack([judged.judgements[judgement], *judged.scores.values()])
    whole = ~np.isnan(table).any(axis=0)
    people, *columns = map(standard, table[:, whole])
    scores = dict(zip(judged.scores, columns, strict=True))
    inputs, systems = (codes(of[whole]) for of in (judged.inputs, judged.systems))
    correlations: list[Correlation] = []
    differences: list[Difference] = []
    for level in levels(inputs, systems, resamples, seed):
        found = {name: level.correlate(column, people) for name, column in scores.items()}
        correlations += [
            Correlation(level.over, name, *map(_estimate, coefficients))
            for name, coefficients in found.items()
        ]
        differences += _differences(level, scores, {name: found[name][0] for name in found})
    return Agreement(
        judged.file,
        judgement,
        len(people),
        len(np.unique(inputs)),
        len(np.unique(systems)),
        int((~whole).sum()),
        resamples,
        seed,
        tuple(correlations),
        tuple(differences),
    )


def _estimate(values: Numbers) -> Estimate:
    """Return the first value, with the interval of the defined values of resamples."""
    resampled = values[1:][~np.isnan(values[1:])]
    bounded = len(resampled) and not math.isnan(values[0])
    found = percentile_interval(resampled) if bounded else None
    return Estimate(float(values[0]), *(found or (math.nan, math.nan)))


def _differences(
    level: Level, scores: Mapping[str, Numbers], found: Mapping[str, Numbers]
) -> Iterator[Difference]:
    points = {name: level.points(column)[None] for name, column in scores.items()}
    for one, other in combinations(scores, 2):
        (shared,) = pearson(points[one], points[other], np.ones_like(points[one]))
        test = williams(found[one][0], found[other][0], shared, level.n)
        yield Difference(level.over, one, other, _estimate(found[one] - found[other]), *test)
