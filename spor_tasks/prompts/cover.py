"""Which samples to show so that each unit of another one is shown, in how many samples and units.

Units are bits: a *mask* stands for a set of them. What a unit is does not matter here.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

MOST_UNITS = 24
"""The units of all samples that are shown together, at most; it bounds the search."""


class Block(NamedTuple):
    """Samples that show exactly the units ``mask`` and have ``size`` units in all."""

    mask: int
    size: int


class Shape(NamedTuple):
    """How many samples are shown, and how many units they have in all; smaller is better."""

    samples: int
    units: int


class Cover(NamedTuple):
    """A sample of each of the ``blocks``, which together show every unit that is asked for.

    To these come ``fillers``, so many samples that show none of these units and have the rest of
    the shape's units. ``value`` is what the cover is worth to whoever asked for it.
    """

    shape: Shape
    value: int
    blocks: tuple[Block, ...]
    fillers: Shape = Shape(0, 0)


Covers: TypeAlias = Mapping[Shape, Cover]
"""The most valuable cover of each shape."""


def covers(
    blocks: Iterable[Block],
    full: int,
    most: int,
    *,
    once: bool = True,
    value: Callable[[Block], int] = lambda _: 0,
) -> Covers:
    """Return a cover of the units ``full`` for each shape that there is one of.

    A cover takes ``most`` samples at most. With ``once`` none of the units is shown by two of them.
    Its value is the sum of that of its blocks.
    """
    by_unit: dict[int, list[tuple[Block, int]]] = defaultdict(list)
    for block in sorted(blocks):
        for unit in _bits(block.mask):
            by_unit[unit].append((block, value(block)))

    @cache
    def cover(left: int) -> Mapping[tuple[int, int], tuple[int, tuple[Block, ...]]]:
        """Return value and blocks of the best cover of these units by samples and units shown."""
        if not left:
            return {(0, 0): (0, ())}
        found: dict[tuple[int, int], tuple[int, tuple[Block, ...]]] = {}
        # What shows the lowest unit that is left is settled here.
        for block, worth in by_unit[left & -left]:
            mask, size = block
            if once and mask & ~left:
                continue
            for (samples, units), (value_of_rest, rest) in cover(left & ~mask).items():
                shape = samples + 1, units + size
                if shape[0] <= most and shape[1] <= MOST_UNITS:
                    known = found.get(shape)
                    if known is None or known[0] < worth + value_of_rest:
                        found[shape] = worth + value_of_rest, (block, *rest)
        return found

    return {
        Shape(*shape): Cover(Shape(*shape), worth, chosen)
        for shape, (worth, chosen) in cover(full).items()
    }


def filled(found: Covers, sizes: Sequence[int], most: int) -> Covers:
    """Return covers of more shapes, made of those that there are by adding fillers of some sizes.

    They have ``most`` samples at most, fillers included.
    """
    more: dict[Shape, Cover] = {}
    for (samples, units), cover in found.items():
        for number in range(most - samples + 1):
            for total in _sums(tuple(sizes), number):
                if units + total <= MOST_UNITS:
                    shape = Shape(samples + number, units + total)
                    _keep(more, cover._replace(shape=shape, fillers=Shape(number, total)))
    return more


def draw_sizes(sizes: Sequence[int], fillers: Shape, rng: random.Random) -> list[int]:
    """Return sizes of fillers that together have the number of units that the shape says."""
    drawn: list[int] = []
    left = fillers.units
    for number in reversed(range(fillers.samples)):
        possible = [size for size in sizes if left - size in _sums(tuple(sizes), number)]
        drawn.append(rng.choice(possible))
        left -= drawn[-1]
    return drawn


def _keep(found: dict[Shape, Cover], cover: Cover) -> None:
    """Keep the cover if it is worth more than that of its shape; of equals the first stays."""
    known = found.get(cover.shape)
    if known is None or cover.value > known.value:
        found[cover.shape] = cover


@cache
def _sums(sizes: tuple[int, ...], number: int) -> frozenset[int]:
    """Return the sums of so many of the sizes, each as often as one likes."""
    if not number:
        return frozenset([0])
    return frozenset(
        size + rest
        for size in sizes
        for rest in _sums(sizes, number - 1)
        if size + rest <= MOST_UNITS
    )


def _bits(mask: int) -> Iterable[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1
