"""Choices of samples that together show every unit of another sample.

The search is an exact dynamic program over sets of units that are not yet covered. A set of units
is a *mask*: an integer with one bit per unit. The content of a unit does not matter here.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

MOST_UNITS = 24
"""The most units, over all samples shown, of a cover; this bounds the search.

It leaves nothing out: with 8 demonstrations, the covers chosen for the published sets of
systematicity, and of productivity on WebNLG with N = 3 and 5, have at most 22 units; a bound of 32
finds the same. A bound of 16 would leave out 5 of their 2,834 test samples.
"""

_WORSE_THAN_ANY = (-1, ())  # as no block has a value below 0


class Block(NamedTuple):
    """Samples that are alike here: they show the units ``mask`` and have ``size`` units in all."""

    mask: int
    size: int


class PromptSize(NamedTuple):
    """The number of samples shown, and of their units in all; smaller is better."""

    samples: int
    units: int


class Cover(NamedTuple):
    """One sample of each of the ``blocks``; together they show every unit wanted.

    ``fillers`` are further samples that show none of these units; they are part of ``shape``.
    ``value`` is the value of the blocks in the caller's own measure.
    """

    shape: PromptSize
    value: int
    blocks: tuple[Block, ...]
    fillers: PromptSize = PromptSize(0, 0)


Covers: TypeAlias = Mapping[PromptSize, Cover]
"""The most valuable cover of each shape."""


def covers(
    blocks: Iterable[Block],
    full: int,
    *,
    once: bool = True,
    value: Callable[[Block], int] = lambda _: 0,
) -> Callable[[int], Covers]:
    """Return the search for the most valuable cover of the units ``full``, for each possible shape.

    The search takes the most samples that a cover may have, and searches what fewer leave open.
    With ``once``, no two samples show the same unit. The value of a cover is the sum of the values
    of its blocks.
    """
    by_unit: dict[int, list[tuple[Block, int]]] = defaultdict(list)
    for block in sorted(blocks):
        for unit in _bits(block.mask):
            by_unit[unit].append((block, value(block)))

    @cache
    def cover(uncovered: int, left: int) -> Mapping[tuple[int, int], tuple[int, tuple[Block, ...]]]:
        """Return value and blocks of the best cover of a mask by ``left`` samples, by its shape."""
        if not uncovered:
            return {(0, 0): (0, ())}
        best: dict[tuple[int, int], tuple[int, tuple[Block, ...]]] = {}
        room = MOST_UNITS - (full & ~uncovered).bit_count()  # at most, after all other units
        # Some block must show the lowest unit left: try each, and cover what it leaves.
        for block, worth in by_unit[uncovered & -uncovered]:
            mask, size = block
            rest_mask = uncovered & ~mask
            if (once and mask & ~uncovered) or (left == 1 and rest_mask):
                continue
            # No cover has more samples than units: all numbers that are enough count as one.
            rest_left = min(left - 1, rest_mask.bit_count())
            for (samples, units), (value_of_rest, rest) in cover(rest_mask, rest_left).items():
                shape, whole = (samples + 1, units + size), worth + value_of_rest
                if shape[1] <= room and best.get(shape, _WORSE_THAN_ANY)[0] < whole:
                    best[shape] = whole, (block, *rest)
        return best

    def search(most: int) -> Covers:
        return {
            PromptSize(*shape): Cover(PromptSize(*shape), worth, chosen)
            for shape, (worth, chosen) in cover(full, min(most, full.bit_count())).items()
        }

    return search


def filled(all_covers: Covers, sizes: Sequence[int], most: int) -> Covers:
    """Return covers of further shapes: those found, with fillers of the given sizes added.

    They have at most ``most`` samples, fillers included.
    """
    more: dict[PromptSize, Cover] = {}
    for (samples, units), cover in all_covers.items():
        for number in range(most - samples + 1):
            for total in _sums(tuple(sizes), number):
                shape = PromptSize(samples + number, units + total)
                best_so_far = more.get(shape)
                if shape.units <= MOST_UNITS and (
                    best_so_far is None or best_so_far.value < cover.value
                ):
                    more[shape] = cover._replace(shape=shape, fillers=PromptSize(number, total))
    return more


def draw_sizes(sizes: Sequence[int], fillers: PromptSize, rng: random.Random) -> list[int]:
    """Draw the sizes of fillers so that they add up to the units of the shape."""
    drawn: list[int] = []
    remaining = fillers.units
    for number in reversed(range(fillers.samples)):
        possible = [size for size in sizes if remaining - size in _sums(tuple(sizes), number)]
        drawn.append(rng.choice(possible))
        remaining -= drawn[-1]
    return drawn


@cache
def _sums(sizes: tuple[int, ...], number: int) -> frozenset[int]:
    """Return the sums of ``number`` sizes, each of which may be used any number of times."""
    if not number:
        return frozenset([0])
    return frozenset(
        size + rest
        for size in sizes
        for rest in _sums(sizes, number - 1)
        if size + rest <= MOST_UNITS
    )


def _bits(mask: int) -> Iterable[int]:
    return (1 << unit for unit in range(mask.bit_length()) if mask >> unit & 1)
