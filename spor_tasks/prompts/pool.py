"""The training samples that a prompt may show, as sets of bits.

A set of samples is an integer with one bit per sample, in the order of their sizes: the lowest bit
is the smallest. The needs of a test sample are *keys*: its units, or what stands for them.
"""

import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias, TypeVar

from spor_tasks.core.sample import AttributeValue, DataUnit, Sample
from spor_tasks.prompts.cover import Block

T = TypeVar("T", bound=Hashable)

Key: TypeAlias = Hashable
"""What a demonstration must show where a test sample has a unit."""

FILLER_DRAWS = 99
"""Samples drawn to find one without a unit of the test sample. Most of a pool are such samples: 9
draws match 113 test samples of systematicity on WebNLG as closely."""


class Pool:
    """Training samples; ``sizes`` are the numbers of distinct units that they have.

    ``shows`` says which keys a unit shows, by default itself.
    """

    def __init__(
        self,
        samples: Iterable[Sample],
        shows: Callable[[DataUnit], tuple[Key, ...]] = lambda unit: (unit,),
    ) -> None:
        sized = [(len(set(sample.units)), sample) for sample in samples]
        sized.sort(key=lambda each: (each[0], each[1].id))
        self._samples = [sample for _, sample in sized]
        sizes = [size for size, _ in sized]
        self.numbers = {
            size: range(bisect_left(sizes, size), bisect_right(sizes, size))
            for size in sorted(set(sizes))
        }
        self.sizes = tuple(self.numbers)
        self._with_key: dict[Key, int] = defaultdict(int)
        self._with_entity: dict[str, int] = defaultdict(int)
        self._with_text: dict[str, int] = defaultdict(int)
        for number, sample in enumerate(self._samples):
            for key in {key for unit in sample.units for key in shows(unit)}:
                self._with_key[key] |= 1 << number
            for entity in _entities(sample):
                self._with_entity[entity] |= 1 << number
            for text in sample.references:
                self._with_text[text] |= 1 << number

    def in_order(self, bits: int) -> tuple[Sample, ...]:
        """Return the samples of these bits as prompts show them, in the order of their ids."""
        samples = []
        while bits:
            samples.append(self._samples[(bits & -bits).bit_length() - 1])
            bits &= bits - 1
        return tuple(sorted(samples, key=attrgetter("id")))

    def blocks(self, sample: Sample, keys: Sequence[Key]) -> dict[Block, int]:
        """Return the samples that show some keys of a test sample, by these keys and their size.

        Those with a text of the test sample, or with exactly its units, are left out.
        """
        parts = {0: ((1 << len(self._samples)) - 1) & ~_union(self._with_text, sample.references)}
        for number, key in enumerate(keys):
            holders = self._with_key.get(key, 0)
            parts = {
                mask: bits
                for without, some in parts.items()
                for mask, bits in (
                    (without, some & ~holders),
                    (without | 1 << number, some & holders),
                )
                if bits
            }
        parts.pop(0, None)
        return {
            Block(mask, size): of_size
            for mask, bits in parts.items()
            for size in self.sizes
            # Where all units are shown there must be more, lest they be those of the sample.
            if size > len(keys) or mask.bit_count() < len(keys)
            if (of_size := bits & self.of_size(size))
        }

    def of_size(self, size: int) -> int:
        """Return the samples of a size."""
        numbers = self.numbers[size]
        return (1 << numbers.stop) - (1 << numbers.start)

    def fillers(self, sample: Sample, keys: Iterable[Key]) -> "Fillers":
        """Return the samples that have none of the keys and no text of a test sample."""
        barred = _union(self._with_text, sample.references) | _union(self._with_key, keys)
        return Fillers(self, barred, _union(self._with_entity, _entities(sample)))


class Fillers(NamedTuple):
    """The samples of a pool but for the ``barred``; ``related`` have an entity of a test sample."""

    pool: Pool
    barred: int
    related: int

    def draw(self, size: int, drawn_bits: int, rng: random.Random, *, related: bool) -> int:
        """Return a sample of a size that is not taken, as a bit; 0 where none is found."""
        barred = self.barred | drawn_bits
        near = self.related & ~barred & self.pool.of_size(size)
        if related and near:
            return draw_bit(near, rng)
        drawn = (rng.choice(self.pool.numbers[size]) for _ in range(FILLER_DRAWS))
        free = (1 << number for number in drawn if not barred >> number & 1)
        return next(free, 0)


def _union(sets: Mapping[T, int], keys: Iterable[T]) -> int:
    """Return the samples in the sets of any of the keys."""
    bits = 0
    for key in keys:
        bits |= sets.get(key, 0)
    return bits


def draw_bit(bits: int, rng: random.Random) -> int:
    """Return one of the bits at random."""
    for _ in range(rng.randrange(bits.bit_count())):
        bits &= bits - 1
    return bits & -bits


def _entities(sample: Sample) -> set[str]:
    """Return what a unit may have in common with another one: entities, or values."""
    return {
        end
        for unit in sample.units
        for end in ((unit.value,) if isinstance(unit, AttributeValue) else (unit[0], unit[2]))
    }
