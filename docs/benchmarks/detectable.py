"""The smallest difference that each task finds with 80 % power: a table of `docs/validity.md`.

The standard deviations of a sample's difference are of SmolLM2-135M: in order invariance tuned with
2,000 pairs, on 300 samples, else with 150 pairs, on 30 samples.
"""

from itertools import product

import numpy as np

from spor_tasks.results.stats import detectable
from spor_tasks.results.student import Variances

DEVIATIONS = {
    "systematicity, WebNLG, PARENT": (29, 2360),
    "systematicity, E2E, PARENT": (22, 156),
    "productivity `n3`, WebNLG, PARENT": (23, 219),
    "productivity `n4`, WebNLG, PARENT": (21, 153),
    "productivity `n3`, E2E, PARENT": (16, 1314),
    "productivity `n4`, E2E, PARENT": (11, 1002),
    "order invariance, WebNLG, ordering PBH": (54, 1559),
    "order invariance, E2E, ordering PBH": (59, 1623),
}
"""The deviation of a sample's difference between the arms, and the number of test samples."""

SEEDS, SPREADS = (3, 5, 10), (0.5, 1.5)
"""Runs of each arm, and the standard deviation between the runs of one arm."""


def found(deviation: float, n: int, seeds: int = 1, spread: float = 0) -> float | None:
    """Return the difference; one run an arm says nothing about other runs."""
    between, none = np.full((1, 2), spread**2 / seeds), np.zeros((1, 2))
    samples = np.array([deviation**2 / n])
    experiment = Variances(samples, between, none, none + seeds - 1, n - 1)
    return detectable([experiment] * 1000)  # of so many, the variances are known


if __name__ == "__main__":
    for task, (deviation, n) in DEVIATIONS.items():
        several = [found(deviation, n, *how) for how in product(SEEDS, SPREADS)]
        numbers = " | ".join(f"{each:.1f}" for each in (found(deviation, n), *several))
        print(f"| {task} | {n:,} | {deviation} | {numbers} |")
