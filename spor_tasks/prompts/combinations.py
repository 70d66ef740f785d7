"""Demonstrations of combinations of attributes, as CompMCTG shows them (Zhong et al., 2024)."""

import random
from collections import defaultdict
from collections.abc import Callable

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample, Split


def same_or_other_combinations(arm: Split, most: int) -> Callable[[Sample], tuple[Sample, ...]]:
    """Return the function that chooses ``most`` demonstrations of a test sample.

    If the arm has texts of the sample's combination, they are of it. If not, each is of another
    combination, all as likely; only where there are fewer is one shown again. The sample's id is
    the seed.

    Raises:
        SplitError: the arm has no sample.
    """
    samples = arm.samples
    numbers: dict[frozenset[DataUnit], list[int]] = defaultdict(list)
    for number, sample in enumerate(samples):
        numbers[frozenset(sample.units)].append(number)
    if not numbers:
        raise SplitError(f"{arm.name} has no samples")
    combinations = [*numbers]

    def choose(sample: Sample) -> tuple[Sample, ...]:
        rng = random.Random(sample.id)
        same = numbers.get(frozenset(sample.units))
        if same is not None:
            drawn = rng.sample(same, min(most, len(same)))
        else:
            often = -(-most // len(combinations))
            chosen = [
                each for _ in range(often) for each in rng.sample(combinations, len(combinations))
            ]
            drawn = [rng.choice(numbers[each]) for each in chosen[:most]]
        return tuple(samples[number] for number in drawn)

    return choose
