"""The best test set of many runs of the paper's own construction (section 3.1.1)."""

import random

from spor_tasks.aspects.search.chains import CountSteps
from spor_tasks.aspects.search.sets import Pool
from spor_tasks.aspects.systematicity import Overlaps


def best_test_set(
    pool: Pool, constructions: int, rng: random.Random, count: CountSteps
) -> list[int]:
    """Run Algorithm 1 ``constructions`` times; return the items of the test set with most units.

    The first sample offered decides most: after it, Atom may have its units only in separate
    samples. So every largest item takes its turn as the first one. The others follow as in the
    paper, largest first and in random order within a size.
    """
    sizes = [len(units) for units in pool.units]
    overlaps = Overlaps([frozenset(units) for units in pool.units])
    order = [item for item, size in enumerate(sizes) if size > 1 and pool.asked[item]]
    largest = max((sizes[item] for item in order), default=0)
    starts = [item for item in order if sizes[item] == largest]
    best, best_units = list[int](), 0
    for run in range(constructions if starts else 0):
        turn = run % len(starts)
        if turn == 0:
            order = _largest_first(order, sizes, rng)
        start = starts[turn]
        others = (item for item in order if item != start)
        _, test = overlaps.atom_and_test([start, *others])
        test_units = sum(pool.asked[item] * sizes[item] for item in test)
        if test_units > best_units:
            best, best_units = sorted(test), test_units
        count(1)
    return best


def _largest_first(items: list[int], sizes: list[int], rng: random.Random) -> list[int]:
    """Return the items largest first, in random order within a size."""
    noise = {item: rng.random() for item in sorted(items)}
    return sorted(items, key=lambda item: (-sizes[item], noise[item]))
