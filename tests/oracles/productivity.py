"""The published ways to choose Visible, which the released sets are compared with [code].

Each sample of more than N units is tried once. The next one is the one whose units Visible has lost
most of (``scarcest``, on WebNLG), or the longest (``longest``, on E2E).
"""

import numpy as np

from spor_tasks.aspects.numbers import divergence, sort


def published(method):
    """Return the published way on a corpus."""

    def choose(pool, _, threshold, limit):
        return try_in_turn(pool, threshold, limit, method)

    return choose


def try_in_turn(pool, threshold, limit, method):
    """Try each sample above N once, in place of samples whose units have become too common.

    The published sets depend on how ties are broken: both lists keep the order of the previous
    round, and the remaining shorter samples come last in Visible, in that order [code].
    """
    short = np.flatnonzero(pool.sizes <= threshold)
    long = np.flatnonzero(pool.sizes > threshold)
    if method == "longest":
        long = sort(long, pool.sizes)
    before = after = pool.counts(short)
    added = []
    while long.size:
        if method == "scarcest":
            long = sort(long, pool.sums(before - after))
        candidate, long = int(long[-1]), long[:-1]
        trial = after + pool.counts([candidate])
        short = sort(short, pool.sums(trial - before))
        places = _fill(pool.sizes[short], int(pool.sizes[candidate]))
        if places:
            trial -= pool.counts(short[places])
            if divergence(before, trial) <= limit:
                after = trial
                added.append(candidate)
                short = np.delete(short, places)
    return [*added, *short.tolist()]


def _fill(sizes, room):
    """Return places that fill the room exactly, each the last that fits; or an empty list."""
    places = []
    end = len(sizes)
    while room:
        fitting = np.flatnonzero(sizes[:end] <= room)
        if not fitting.size:
            return []
        end = int(fitting[-1])
        places.append(end)
        room -= int(sizes[end])
    return places
