"""Tests of several systems on the same samples, each further one against the first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from spor_tasks.metrics.scores import known_info
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results import proportions, stats
from spor_tasks.results.compare import NO_VERDICT, NOT_RESAMPLED
from spor_tasks.results.stats import Clusters, Estimate, Interval, Scale

EXACT, RANDOMIZATION, OVER_RUNS = "McNemar, exact", "randomization", "t test over runs and clusters"
"""The tests of two systems."""

_BOUNDED = f"{RANDOMIZATION}, p bounded (Hoeffding)"


def test_name(test: str, p: float | None) -> str:
    """Return the name of a test, which says where its p is a bound and no count of resamples."""
    is_bound = test == RANDOMIZATION and p is not None and p * (stats.RESAMPLES + 1) < 1
    return _BOUNDED if is_bound else test


class ScoreOfSystems(NamedTuple):
    """One score of several systems on the same samples."""

    columns: Sequence[Column]
    scale: Scale = stats.ANY
    score: str = ""
    """The key of a score of ours, whose metric says whether it is a share.

    Of any other, the values of all systems say it.
    """

    @property
    def most(self) -> float | None:
        """What a right answer counts; None of a score that is no share."""
        most = proportions.share_of(self.columns, self.scale)
        return None if most and (info := known_info(self.score)) and not info.is_share else most

    def on_shared(self) -> "ScoreOfSystems":
        """Return the score of the samples that every system has a verdict on; others have none."""
        scored = np.all([column.scored for column in self.columns], axis=0)
        columns = [
            Column(np.where(scored[:, None], column.statistics, np.nan), column.totals)
            for column in self.columns
        ]
        return self._replace(columns=columns)


class Tested(NamedTuple):
    """Systems on the same samples: the score of each, and each further one less the first."""

    values: tuple[float, ...]
    intervals: tuple[Interval | None, ...]
    differences: tuple[Estimate, ...]
    test: str


def against_first(scores: Iterable[ScoreOfSystems], clusters: Clusters) -> list[Tested]:
    """Test each further system against the first by each score, on the same resamples.

    A score is tested on the samples with a verdict of every system. Shares of right answers, with
    no two samples in a cluster, have Wilson's interval and McNemar's exact test. Any other score
    has those of :mod:`spor_tasks.results.stats`.
    """
    shown = [each.on_shared() for each in scores]
    found = [_without_resamples(each, clusters) for each in shown]
    left = [each.columns for each, done in zip(shown, found, strict=True) if not done]
    drawn = iter(stats.resampled_scores([*chain(*left)], clusters).T if left else ())
    return [
        done or _by_resamples(each, clusters, [*islice(drawn, len(each.columns))])
        for each, done in zip(shown, found, strict=True)
    ]


def _without_resamples(compared: ScoreOfSystems, clusters: Clusters) -> Tested | None:
    """Test shares exactly, or say why a score is not tested; None of one that resamples test."""
    columns, scored = compared.columns, compared.columns[0].scored
    values = tuple(column.value for column in columns)
    first, *others = columns
    n = int(scored.sum())
    if not n or not first.totals.resampled:
        reason = NOT_RESAMPLED if n else NO_VERDICT
        none = (
            Estimate(value - values[0], n=n, reason=f"not tested: {reason}") for value in values[1:]
        )
        return Tested(values, (None,) * len(values), tuple(none), "")
    most = compared.most
    if most and len(np.unique(clusters[scored])) == n:
        return Tested(
            values,
            tuple(proportions.wilson(column, most) for column in columns),
            tuple(proportions.paired(first, other, most) for other in others),
            EXACT,
        )
    return None


def _by_resamples(compared: ScoreOfSystems, clusters: Clusters, drawn: Sequence[Numbers]) -> Tested:
    """Test one score by randomization; ``drawn`` are its columns' scores of resamples."""
    columns, most = compared.columns, compared.most
    first, *others = columns
    scale = (0.0, most) if most else compared.scale
    p_values = stats.randomization_p_values([(other, first) for other in others], clusters)
    own = [
        stats.estimate([[column]], clusters, scale, [of])
        for column, of in zip(columns, drawn, strict=True)
    ]
    differences = [
        stats.estimate([[other], [first]], clusters, scale, [of, drawn[0]])
        for other, of in zip(others, drawn[1:], strict=True)
    ]
    noted = [each.notes if each else () for each in own]
    return Tested(
        tuple(column.value for column in columns),
        tuple(each.interval if each else None for each in own),
        tuple(
            replace(each, p=p, notes=tuple(dict.fromkeys((*each.notes, *noted[0], *of))))
            for each, p, of in zip(differences, p_values, noted[1:], strict=True)
            if each
        ),
        RANDOMIZATION,
    )


def repeats(systems: Iterable[Sequence[Numbers]]) -> bool:
    """Return whether two scores have the same value on every sample of every system.

    A system has the values of both.
    """
    return all(np.array_equal(one, other, equal_nan=True) for one, other in systems)
