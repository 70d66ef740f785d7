"""How often `spor compare` calls equal systems different, and how often its intervals miss.

The tables of `docs/validity.md` are from here.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from spor_tasks.metrics.tally import Column
from spor_tasks.results.compare import holm
from spor_tasks.results.paired_tests import ScoreOfSystems, against_first
from spor_tasks.results.stats import Clusters

TRIALS = 2_000
SLOW_TRIALS = 500
TASKS, SCORES, SYSTEMS = 4, 2, 3
LEVEL = 0.05


def answers(
    rng: np.random.Generator, clusters: Clusters, right: float, alike: float = 0.0
) -> Column:
    """Draw 0 or 1 for each document; ``alike`` is the share that takes its cluster's answer."""
    of_clusters = rng.random(clusters.max() + 1) < right
    own = rng.random(len(clusters)) < right
    follows = rng.random(len(clusters)) < alike
    return Column.of([*np.where(follows, of_clusters[clusters], own).astype(float)])


def p_values(columns: Sequence[Column], clusters: Clusters) -> list[float]:
    """Return p of each further system against the first."""
    (found,) = against_first([ScoreOfSystems(columns)], clusters)
    return [each.p or 0.0 for each in found.differences]


def family(rng: np.random.Generator) -> list[float]:
    """Return p of all scores of all tasks, of equal systems."""
    apart = np.arange(200)
    return [
        p
        for _ in range(TASKS * SCORES)
        for p in p_values([answers(rng, apart, 0.6) for _ in range(SYSTEMS)], apart)
    ]


def main() -> None:
    """Print the tables."""
    rng = np.random.default_rng(0)
    print("documents, right: p < 0.05 of equal systems, misses of Wilson's, of 0 and of 0.1")
    for n, right in product((30, 100, 1_000), (0.5, 0.8)):
        apart, called, missed = np.arange(n), 0, np.zeros(3, int)
        for _ in range(TRIALS):
            columns = [answers(rng, apart, share) for share in (right, right, right + 0.1)]
            (found,) = against_first([ScoreOfSystems(columns)], apart)
            intervals = [found.intervals[0], *(each.interval for each in found.differences)]
            called += (found.differences[0].p or 0.0) < LEVEL
            missed += [
                not (each and each.low <= true <= each.high)
                for each, true in zip(intervals, (right, 0, 0.1), strict=True)
            ]
        print(n, right, *(f"{100 * count / TRIALS:.1f} %" for count in (called, *missed)))

    print("200 documents in 40 clusters, alike: p < 0.05 by document, and by cluster")
    apart, together = np.arange(200), np.arange(200) // 5
    for alike in (0.0, 0.5, 1.0):
        of_both = np.zeros(2, int)
        for _ in range(SLOW_TRIALS):
            columns = [answers(rng, together, 0.6, alike) for _ in range(2)]
            of_both += [p_values(columns, each)[0] < LEVEL for each in (apart, together)]
        print(alike, *(f"{100 * count / SLOW_TRIALS:.1f} %" for count in of_both))

    print(f"{TASKS} tasks, {SCORES} scores, {SYSTEMS} equal systems: any p < 0.05 alone, adjusted")
    families = [family(rng) for _ in range(TRIALS)]
    for p_of in (families, map(holm, families)):
        print(f"{100 * np.mean([min(each) < LEVEL for each in p_of]):.1f} %")


if __name__ == "__main__":
    main()
