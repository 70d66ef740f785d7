"""Order invariance and CWIO written down from their definitions, over the slow alignment.

It is the oracle of the differential tests and the yardstick of the benchmark.
"""

import math

from spor_tasks.core.sample import AttributeValue, Orders, Triple, challenge_of
from tests.oracles import align as slow_align


def located(sample, output):
    """Where units are by the rules of everywhere but CWIO."""
    pairs = []
    for unit in sample.units:
        if isinstance(unit, Triple):
            pairs.append((unit.subject, unit.object))
        elif unit.value in {"yes", "no"}:
            pairs.append((unit.attribute, None))
        else:
            pairs.append((None, unit.value))
    strict = isinstance(sample.units[0], AttributeValue)
    return slow_align.locate_ends(pairs, output, strict=strict)


def located_for_cwio(sample, output):
    pairs = [
        (unit.subject, unit.object)
        if isinstance(unit, Triple)
        else (sample.about("name"), unit.value)
        for unit in sample.units
    ]
    return slow_align.locate_ends(pairs, output, strict=False)


def order(positions):
    return sorted(range(len(positions)), key=lambda i: (positions[i] is None, positions[i] or 0, i))


def tau(one, other):
    """Look up where both orders have each of any two units."""
    agreeing = disagreeing = 0
    for a in range(len(one)):
        for b in range(a):
            alike = (one.index(a) < one.index(b)) == (other.index(a) < other.index(b))
            agreeing += alike
            disagreeing += not alike
    return (agreeing - disagreeing) / (agreeing + disagreeing)


def judge(sample, output):
    """Return whether an output is faithful, proper and exact."""
    positions = located(sample, output)
    told = order(positions)
    return (
        None not in positions,
        any(tau(told, reference) > 0 for reference in challenge_of(sample, Orders).references),
        any(told == list(reference) for reference in challenge_of(sample, Orders).references),
    )


def cwio(samples, outputs):
    """Return `cwio`, `cwio_located` and `cwio_located_share`."""
    taus = {}
    located_taus = {}
    for sample, output in zip(samples, outputs, strict=True):
        size = len(sample.units)
        given = range(size)
        taus.setdefault(size, []).append(tau(order(located_for_cwio(sample, output)), given))
        positions = located(sample, output)
        if None not in positions:
            located_taus.setdefault(size, []).append(tau(order(positions), given))
    share = 100 * sum(map(len, located_taus.values())) / len(samples)
    return mean_of_means(taus), mean_of_means(located_taus), share


def mean_of_means(groups):
    means = [sum(group) / len(group) for group in groups.values()]
    return sum(means) / len(means) if means else math.nan
