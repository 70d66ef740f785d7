"""Covers against all collections of blocks there are."""

import random
from collections.abc import Iterator
from itertools import chain, combinations, combinations_with_replacement

from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.prompts.cover import MOST_UNITS, Block, Covers, Shape, covers, draw_sizes, filled

UNITS = 3
FULL = 2**UNITS - 1

blocks = st.sets(st.builds(Block, st.integers(1, FULL), st.integers(1, 5)), max_size=7)
sizes = st.sets(st.integers(1, 12), min_size=1, max_size=3).map(sorted)


def worth(block: Block) -> int:
    return block.size if block.mask.bit_count() > 1 else 0


def collections(of: set[Block]) -> Iterator[tuple[Block, ...]]:
    return chain.from_iterable(combinations(sorted(of), n) for n in range(1, len(of) + 1))


def best_values(of: set[Block], most: int, *, once: bool) -> dict[Shape, int]:
    """The most that a cover of each shape is worth."""
    values: dict[Shape, int] = {}
    for chosen in collections(of):
        times = [sum(block.mask >> unit & 1 for block in chosen) for unit in range(UNITS)]
        shape = Shape(len(chosen), sum(block.size for block in chosen))
        fits = shape.samples <= most and shape.units <= MOST_UNITS
        if fits and min(times) > 0 and (max(times) == 1 or not once):
            values[shape] = max(values.get(shape, 0), sum(map(worth, chosen)))
    return values


@example({Block(3, 2), Block(3, 4), Block(4, 2), Block(1, 2), Block(2, 2)}, 3)
@given(blocks, st.integers(1, 5))
def test_covers_are_the_best_of_all(of: set[Block], most: int) -> None:
    found = covers(of, FULL, most, value=worth)
    assert {shape: cover.value for shape, cover in found.items()} == best_values(
        of, most, once=True
    )
    for shape, cover in found.items():
        assert (cover.shape, cover.fillers) == (shape, Shape(0, 0))
        assert set(cover.blocks) <= of
        assert Shape(len(cover.blocks), sum(block.size for block in cover.blocks)) == shape
        assert sum(map(worth, cover.blocks)) == cover.value


@given(blocks, st.integers(1, 5))
def test_covers_that_may_repeat_units_find_the_smallest_of_all(of: set[Block], most: int) -> None:
    found = covers(of, FULL, most, once=False)
    values = best_values(of, most, once=False)
    assert bool(found) == bool(values)
    if values:
        assert min(found) == min(values)


@given(blocks, sizes, st.integers(1, 5))
def test_fillers_make_all_possible_shapes(of: set[Block], of_fillers: list[int], most: int) -> None:
    plain: Covers = covers(of, FULL, most, value=worth)
    expected: dict[Shape, int] = {}
    for (samples, units), cover in plain.items():
        for number in range(most - samples + 1):
            for drawn in combinations_with_replacement(of_fillers, number):
                shape = Shape(samples + number, units + sum(drawn))
                if shape.units <= MOST_UNITS:
                    expected[shape] = max(expected.get(shape, 0), cover.value)
    found = filled(plain, of_fillers, most)
    assert {shape: cover.value for shape, cover in found.items()} == expected
    for cover in found.values():
        drawn_sizes = draw_sizes(of_fillers, cover.fillers, random.Random(1))
        assert Shape(len(drawn_sizes), sum(drawn_sizes)) == cover.fillers
        assert set(drawn_sizes) <= set(of_fillers)
