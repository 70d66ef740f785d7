"""Simulated systems that are asked for a combination of values, and what their texts then have."""

import random
from collections.abc import Callable, Mapping

from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.reader import units_of
from spor_tasks.corpora.compmctg.spaces import Combination, Space
from spor_tasks.metrics.compmctg import accuracy_values
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.totals import Value

Found = tuple[str | None, ...]
System = Callable[[Combination, random.Random], Found]


def systems(space: Space, split: Partition) -> Mapping[str, System]:
    """Return systems that were trained on the seen combinations of a split, by what they write."""
    seen, values = split.seen, [*space.aspects.values()]
    known = {value: 0.1 + 0.8 * n / 6 for n, value in enumerate(sum(values, ()))}

    def any_text(_: Combination, rng: random.Random) -> Found:
        return rng.choice(seen)

    def any_values(_: Combination, rng: random.Random) -> Found:
        return tuple(map(rng.choice, values))

    def knows_some(asked: Combination, rng: random.Random) -> Found:
        other = rng.choice(seen)
        return tuple(
            value if rng.random() < known[value] else other[place]
            for place, value in enumerate(asked)
        )

    def nearest(asked: Combination, rng: random.Random) -> Found:
        return max(seen, key=lambda each: (_alike(asked, each), rng.random()))

    def by_heart(asked: Combination, rng: random.Random) -> Found:
        return asked if asked in seen else rng.choice(seen)

    return {
        "nothing": lambda *_: (None,) * len(values),
        "one text for all": lambda *_: seen[0],
        "any training text": any_text,
        "any values": any_values,
        "the requested values": lambda asked, _: asked,
        "each value with a probability of its own": knows_some,
        "the nearest seen combination": nearest,
        "seen combinations by heart": by_heart,
    }


def _alike(one: Combination, other: Combination) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


def values_of(
    space: Space, split: Partition, system: System, *, repeats: int, seed: int
) -> list[Mapping[str, Value]]:
    """Return what the texts of a system add, so many for each combination, the seen ones first."""
    rng = random.Random(seed)

    def row(found: Found) -> dict[str, str | None]:
        return dict(zip(space.aspects, found, strict=True))

    return [
        {**values, **in_groups(sample, values, ("mini_acc_id", "mini_acc_comp"))}
        for unseen, combinations in enumerate(split)
        for each in combinations
        for sample in [Sample("", space.name, units_of(space, each), (), {"unseen": bool(unseen)})]
        for _ in range(repeats)
        for values in [accuracy_values("mini", space.aspects, sample, row(system(each, rng)))]
    ]
