"""In-context learning (section 7): the training samples that a prompt shows before a test sample.

The paper leaves it open how an evaluation in context is to choose them. Here the demonstrations
carry what the arms of an aspect differ in, and all else about them is matched: how many there are,
how often each unit of the test sample is shown, how many other units, how many words, and what a
system would score that does nothing but copy them.
"""

import hashlib
import random
import statistics
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import DEMONSTRATIONS, Rule
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import AttributeValue, DataUnit, Hidden, Sample, SplitPair, Triple
from spor_tasks.metrics.parent import Parent
from spor_tasks.prompts.cover import Block, Cover, Covers, covers, draw_sizes, filled
from spor_tasks.prompts.styles import prompt
from spor_tasks.text.normalize import display

Demonstrations: TypeAlias = tuple[Sample, ...]
"""What one prompt shows, in order. The text of each is its first reference."""

WORD_TOLERANCE = 0.1
"""By how much the number of words that two arms show before a test sample may differ."""

# How hard a match is sought: so many shapes, the best first, with so many draws in each arm, until
# what copying is worth differs by so little.
_SHAPES = 4
_DRAWS = 8
_CLOSE = 1.0
_TRIES = 99  # to hit a sample without a unit of the test sample, which most are
_KNOWN_SAMPLES = 65536


@dataclass(frozen=True, slots=True)
class Prompted:
    """A test sample, and the demonstrations before it in each arm of its split."""

    sample: Sample
    arms: tuple[Demonstrations, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """What the prompts of one arm show, as means over the test samples.

    ``own_units`` counts how often units of the test sample are shown, ``other_units`` all other
    units of the demonstrations, ``words`` what stands between white space in their prompts and
    texts. ``copied`` is the PARENT of all their texts in a row; None where a test sample has no
    reference.
    """

    demonstrations: float
    own_units: float
    other_units: float
    words: float
    copied: float | None

    def __str__(self) -> str:
        copied = "" if self.copied is None else f"; to copy its texts has PARENT {self.copied:.2f}"
        return (
            f"{self.demonstrations:.2f} demonstrations, {self.own_units:.2f} units of the test "
            f"sample, {self.other_units:.2f} other units, {self.words:.1f} words{copied}"
        )


def choose(pair: SplitPair, most: int) -> tuple[Prompted, ...]:
    """Return the test samples that every arm can cover by ``most`` demonstrations at most.

    A demonstration is a training sample of its arm that has not exactly the units of the test
    sample, and none of its references. What the arms differ in:

    - Systematicity. Each of *atom* has at most one unit of the test sample. Some of *combination*
      have several, so many that as many pairs of units as possible stand together.
    - Productivity. Those of *invisible* have no more units than any of Invisible. Some of *visible*
      that show units of the test sample have more.
    - Order invariance. *original* and *match* show the same samples of two units or more, in the
      corpus's order and in the order of the text.
    - Rule learnability. There is one arm, whose demonstrations hide nothing: they have the entity
      that the test sample hides, and any value of an attribute whose value it hides.

    In systematicity and productivity the prompts of both arms have the same number of
    demonstrations, show each unit of the test sample once, have the same number of other units, and
    a number of words that differs by :data:`WORD_TOLERANCE` at most. Samples without any unit of
    the test sample fill up what an arm lacks. Of several choices drawn with a seed, the test
    sample's id, the one is taken for which copying all texts is worth most nearly the same PARENT
    in both arms. In the other aspects there are as few demonstrations as possible that show each
    unit, of these the shortest. No demonstration has all units of the test sample, unless there is
    no other way. They stand in the order of their ids, which are digests and give no hint. The
    order of the training samples has no influence.

    Raises:
        ConfigError: not a single demonstration may be shown.
        SplitError: no test sample is covered by all arms, or the arms are not what they should be.
    """
    if most < 1:
        raise ConfigError(
            "demonstrations are what this task is about",
            where="--num_fewshot",
            remedy="Allow one at least, or evaluate the task without _icl.",
        )
    demonstrate = _RULES[DEMONSTRATIONS[pair.aspect]](pair, most)
    found = ((sample, demonstrate(sample)) for sample in pair.test.samples)
    prompted = tuple(Prompted(sample, arms) for sample, arms in found if arms)
    if not prompted:
        raise SplitError(
            f"no test sample is covered by {most} demonstrations in each arm",
            remedy="Allow more, with --num_fewshot.",
        )
    return prompted


def digest(prompted: Iterable[Prompted]) -> str:
    """Return a SHA-256 of which demonstrations all arms show before which test samples.

    It is the same for every arm, so that scores of two that may be compared have it in common.
    """
    sha = hashlib.sha256()
    for shown in prompted:
        arms = (" ".join(sample.id for sample in arm) for arm in shown.arms)
        sha.update(f"{shown.sample.id}: {' | '.join(arms)}\n".encode(errors="backslashreplace"))
    return sha.hexdigest()


def copied_text(demonstrations: Iterable[Sample]) -> str:
    """Return what a system writes that copies the text of every demonstration."""
    return " ".join(sample.references[0] for sample in demonstrations)


def matching(prompted: Sequence[Prompted]) -> tuple[Matching, ...]:
    """Return what the prompts of each arm show, to see how alike they are."""
    return tuple(
        _matching([(shown.sample, shown.arms[number]) for shown in prompted])
        for number in range(len(prompted[0].arms))
    )


def _matching(prompts: Sequence[tuple[Sample, Demonstrations]]) -> Matching:
    own, others = [], []
    for sample, shown in prompts:
        units = [unit for demonstration in shown for unit in set(demonstration.units)]
        own.append(sum(unit in sample.units for unit in units))
        others.append(len(units) - own[-1])
    has_texts = all(sample.references for sample, _ in prompts)
    return Matching(
        demonstrations=statistics.fmean(len(shown) for _, shown in prompts),
        own_units=statistics.fmean(own),
        other_units=statistics.fmean(others),
        words=statistics.fmean(sum(map(_words, shown)) for _, shown in prompts),
        copied=statistics.fmean(_worth(*each) for each in prompts) if has_texts else None,
    )


@lru_cache(maxsize=_KNOWN_SAMPLES)
def _words(sample: Sample) -> int:
    return len(prompt(sample, "causal").split()) + len(sample.references[0].split())


def _worth(sample: Sample, demonstrations: Demonstrations) -> float:
    """Return the PARENT of copying the demonstrations, from 0 to 100."""
    return 100 * Parent().judge(sample, copied_text(demonstrations)).f


_Key: TypeAlias = Hashable
"""What a demonstration must show where a test sample has a unit."""

_Arms: TypeAlias = tuple[Demonstrations, ...]
_Demonstrate: TypeAlias = Callable[[Sample], _Arms | None]


# --- Two arms, matched ----------------------------------------------------------------------------


class _Arm(NamedTuple):
    """The samples that an arm may show, and how it covers a test sample's units with some of them.

    ``cover`` is given the blocks that there are, all units, and the most samples to take.
    """

    pool: "_Pool"
    cover: Callable[[Iterable[Block], int, int], Covers]


def _systematicity(pair: SplitPair, most: int) -> _Demonstrate:
    def apart(blocks: Iterable[Block], full: int, limit: int) -> Covers:
        return covers((block for block in blocks if block.mask.bit_count() == 1), full, limit)

    def together(blocks: Iterable[Block], full: int, limit: int) -> Covers:
        return covers(blocks, full, limit, value=lambda block: _pairs(block.mask.bit_count()))

    atom, combination = (_Pool(arm.samples) for arm in pair.arms)
    # First of all, as many pairs as can be stand together.
    return _matched(
        (_Arm(atom, apart), _Arm(combination, together)),
        limits=[most],
        rank=lambda cover: (-cover.value, *cover.shape),
    )


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


def _productivity(pair: SplitPair, most: int) -> _Demonstrate:
    invisible, visible = (_Pool(arm.samples) for arm in pair.arms)
    longest = max(invisible.sizes)

    def long(blocks: Iterable[Block], full: int, limit: int) -> Covers:
        return covers(blocks, full, limit, value=lambda block: int(block.size > longest))

    # First of all, prompts are short, for long demonstrations make them long enough.
    return _matched(
        (_Arm(invisible, covers), _Arm(visible, long)),
        limits=range(1, most + 1),
        rank=lambda cover: (*cover.shape, -cover.value),
    )


def _matched(
    arms: tuple[_Arm, _Arm], limits: Iterable[int], rank: Callable[[Cover], tuple[int, ...]]
) -> _Demonstrate:
    """Return what finds prompts of two arms that are alike but for what the second one is worth.

    The best shape is that with the lowest ``rank`` of the second arm's cover, whose value must be
    positive. Covers are sought of so many samples as each limit allows, until there are enough:
    where fewer samples rank first, that saves the search for more.
    """

    def demonstrate(sample: Sample) -> _Arms | None:
        keys = _keys(sample)
        full = (1 << len(keys)) - 1
        blocks = [{found.block: found for found in arm.pool.found(sample, keys)} for arm in arms]
        for avoided in (full, None):
            allowed = [[block for block in of if block.mask != avoided] for of in blocks]
            if plans := _plans(arms, allowed, full, limits, rank):
                return _best_match(sample, plans, arms, blocks)
        return None

    return demonstrate


def _plans(
    arms: tuple[_Arm, _Arm],
    blocks: Sequence[Sequence[Block]],
    full: int,
    limits: Iterable[int],
    rank: Callable[[Cover], tuple[int, ...]],
) -> list[tuple[Cover, Cover]]:
    """Return covers of both arms of the shapes that they have in common, the best ones first."""
    plans: list[tuple[Cover, Cover]] = []
    for limit in limits:
        one, other = (
            filled(arm.cover(of, full, limit), arm.pool.sizes, limit)
            for arm, of in zip(arms, blocks, strict=True)
        )
        shared = ((one[shape], cover) for shape, cover in other.items() if shape in one)
        plans = sorted(
            (plan for plan in shared if plan[1].value > 0), key=lambda plan: rank(plan[1])
        )
        if len(plans) >= _SHAPES:
            break
    return plans[:_SHAPES]


def _best_match(
    sample: Sample,
    plans: Iterable[tuple[Cover, Cover]],
    arms: Sequence[_Arm],
    blocks: Sequence[Mapping[Block, "_Found"]],
) -> _Arms | None:
    """Return the drawn prompts of both arms whose copies are worth most nearly the same."""
    rng = random.Random(sample.id)
    best: tuple[float, _Arms] | None = None
    for plan in plans:
        one, other = (
            _candidates(sample, cover, arm.pool, of, rng)
            for cover, arm, of in zip(plan, arms, blocks, strict=True)
        )
        for first, second in product(one, other):
            more, fewer = max(first.words, second.words), min(first.words, second.words)
            gap = abs(first.worth - second.worth)
            if more - fewer <= WORD_TOLERANCE * more and (best is None or gap < best[0]):
                best = gap, (first.samples, second.samples)
        if best is not None and best[0] <= _CLOSE:
            break
    return best and best[1]


class _Candidate(NamedTuple):
    samples: Demonstrations
    words: int
    worth: float


def _candidates(
    sample: Sample,
    cover: Cover,
    pool: "_Pool",
    blocks: Mapping[Block, "_Found"],
    rng: random.Random,
) -> list[_Candidate]:
    """Return some drawn prompts of an arm.

    In every other one the fillers have an entity or value of the test sample where there are such,
    as the other demonstrations have.
    """
    found = []
    for number in range(_DRAWS):
        samples = _drawn(sample, cover, pool, blocks, rng, related=number % 2 == 1)
        if samples is not None:
            words = sum(map(_words, samples))
            found.append(_Candidate(samples, words, _worth(sample, samples)))
    return found


def _drawn(
    sample: Sample,
    cover: Cover,
    pool: "_Pool",
    blocks: Mapping[Block, "_Found"],
    rng: random.Random,
    *,
    related: bool,
) -> Demonstrations | None:
    """Return a sample of each block and fillers, None where a draw finds too few that differ."""
    taken = 0
    for block in cover.blocks:
        left = blocks[block].bits & ~taken
        if not left:
            return None
        taken |= _draw(left, rng)
    fillers = pool.fillers(sample, _keys(sample))
    for size in draw_sizes(pool.sizes, cover.fillers, rng):
        drawn = fillers.draw(size, taken, rng, related=related)
        if not drawn:
            return None
        taken |= drawn
    return tuple(sorted(pool.of(taken), key=attrgetter("id")))


# --- One choice for all arms ----------------------------------------------------------------------


def _order_invariance(pair: SplitPair, most: int) -> _Demonstrate:
    original, match = (arm.samples for arm in pair.arms)
    matched = _matched_orders(original, match)
    pool = _Pool(sample for sample in original if len(sample.units) > 1)

    def demonstrate(sample: Sample) -> _Arms | None:
        shown = _fewest(sample, _keys(sample), pool, most)
        if shown is None:
            return None
        return shown, tuple(matched[demonstration.id] for demonstration in shown)

    return demonstrate


def _matched_orders(original: Iterable[Sample], match: Iterable[Sample]) -> dict[str, Sample]:
    """Return for each sample's id the one of Match that has its first reference.

    Match has a sample for each reference, in the order of Original.
    """
    texts = [(sample, number) for sample in original for number in range(len(sample.references))]
    try:
        return {
            sample.id: found
            for (sample, number), found in zip(texts, match, strict=True)
            if number == 0
        }
    except ValueError as error:
        raise SplitError("Match does not have one sample for each reference of Original") from error


def _rule_learnability(pair: SplitPair, most: int) -> _Demonstrate:
    (original,) = pair.arms
    pool = _Pool(original.samples, shows=_shows_unhidden)

    def demonstrate(sample: Sample) -> _Arms | None:
        shown = _fewest(sample, _unhidden(sample), pool, most)
        return None if shown is None else (shown,)

    return demonstrate


def _fewest(
    sample: Sample, keys: Sequence[_Key], pool: "_Pool", most: int
) -> Demonstrations | None:
    """Return as few samples as show every unit, of these the smallest; None where too few do."""
    full = (1 << len(keys)) - 1
    found = {each.block: each for each in pool.found(sample, keys)}
    smallest = {block.mask: block for block in sorted(found, reverse=True)}
    for avoided in (full, None):
        allowed = [block for mask, block in smallest.items() if mask != avoided]
        if known := covers(allowed, full, most, once=False):
            cover = known[min(known)]
            rng = random.Random(sample.id)
            taken = 0
            for block in cover.blocks:
                taken |= _draw(found[block].bits & ~taken, rng)
            return tuple(sorted(pool.of(taken), key=attrgetter("id")))
    return None


_RULES: Mapping[Rule, Callable[[SplitPair, int], _Demonstrate]] = {
    "units together": _systematicity,
    "length": _productivity,
    "order": _order_invariance,
    "none": _rule_learnability,
}


# --- What units show ------------------------------------------------------------------------------


def _keys(sample: Sample) -> tuple[_Key, ...]:
    return tuple(dict.fromkeys(sample.units))


def _unhidden(sample: Sample) -> tuple[_Key, ...]:
    """Return the triples with their entities put back, the attributes alone of hidden values."""
    hidden = dict(sample.challenge.phrases) if isinstance(sample.challenge, Hidden) else {}
    entities = {phrase: entity for entity, phrase in hidden.items()}

    def key(unit: DataUnit) -> _Key:
        if isinstance(unit, Triple):
            return tuple(display(entities.get(end, end)) for end in unit)
        return unit.attribute if unit.attribute in hidden else unit

    return tuple(dict.fromkeys(map(key, sample.units)))


def _shows_unhidden(unit: DataUnit) -> tuple[_Key, ...]:
    # What was hidden is known in display form only.
    return (tuple(map(display, unit)),) if isinstance(unit, Triple) else (unit, unit.attribute)


def _shows(unit: DataUnit) -> tuple[_Key, ...]:
    return (unit,)


def _entities(sample: Sample) -> set[str]:
    """Return what a unit may have in common with another one: entities, or values."""
    return {
        end
        for unit in sample.units
        for end in ((unit.value,) if isinstance(unit, AttributeValue) else (unit[0], unit[2]))
    }


# --- Samples as bits ------------------------------------------------------------------------------


class _Found(NamedTuple):
    """The samples of a block, as bits of their pool."""

    block: Block
    bits: int


class _Pool:
    """Training samples as bits, in the order of their sizes: the lowest bit is the smallest.

    ``sizes`` are those that there are.
    """

    def __init__(
        self, samples: Iterable[Sample], shows: Callable[[DataUnit], tuple[_Key, ...]] = _shows
    ) -> None:
        self.samples = sorted(samples, key=lambda sample: (_size(sample), sample.id))
        self._sizes = [_size(sample) for sample in self.samples]
        self.sizes = tuple(sorted(set(self._sizes)))
        self._holders: dict[_Key, int] = defaultdict(int)
        self._of_entity: dict[str, int] = defaultdict(int)
        self._texts: dict[str, int] = defaultdict(int)
        for number, sample in enumerate(self.samples):
            for key in {key for unit in sample.units for key in shows(unit)}:
                self._holders[key] |= 1 << number
            for entity in _entities(sample):
                self._of_entity[entity] |= 1 << number
            for text in sample.references:
                self._texts[text] |= 1 << number

    def of(self, bits: int) -> Iterator[Sample]:
        """Yield the samples of these bits."""
        while bits:
            yield self.samples[_lowest(bits)]
            bits &= bits - 1

    def range_of(self, size: int) -> range:
        """Return the numbers of the samples of a size."""
        return range(bisect_left(self._sizes, size), bisect_right(self._sizes, size))

    def found(self, sample: Sample, keys: Sequence[_Key]) -> Iterator[_Found]:
        """Yield for each set of units of a test sample, and each size, what demonstrates these.

        Units are what ``keys`` stand for, as bits in their order.
        """
        allowed = ~self._with_texts_of(sample)
        parts = {0: ((1 << len(self.samples)) - 1) & allowed}
        for number, key in enumerate(keys):
            holders = self._holders.get(key, 0)
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
        for mask, bits in parts.items():
            for size in self.sizes:
                # Where all units are shown there must be more, lest they be those of the sample.
                if size > len(keys) or mask.bit_count() < len(keys):
                    numbers = self.range_of(size)
                    of_size = bits & ((1 << numbers.stop) - (1 << numbers.start))
                    if of_size:
                        yield _Found(Block(mask, size), of_size)

    def fillers(self, sample: Sample, keys: Sequence[_Key]) -> "_Fillers":
        """Return the samples that have none of the units and no text of a test sample."""
        barred = self._with_texts_of(sample)
        for key in keys:
            barred |= self._holders.get(key, 0)
        related = 0
        for entity in _entities(sample):
            related |= self._of_entity.get(entity, 0)
        return _Fillers(self, barred, related)

    def _with_texts_of(self, sample: Sample) -> int:
        bits = 0
        for text in sample.references:
            bits |= self._texts.get(text, 0)
        return bits


class _Fillers(NamedTuple):
    """The samples of a pool but for those that are ``barred``; some are ``related``."""

    pool: _Pool
    barred: int
    related: int

    def draw(self, size: int, taken: int, rng: random.Random, *, related: bool) -> int:
        """Return a sample of a size that is not taken, as a bit; 0 where none is found."""
        numbers = self.pool.range_of(size)
        barred = self.barred | taken
        near = self.related & ~barred & ((1 << numbers.stop) - (1 << numbers.start))
        if related and near:
            return _draw(near, rng)
        drawn = (rng.choice(numbers) for _ in range(_TRIES))
        free = (1 << number for number in drawn if not barred >> number & 1)
        return next(islice(free, 1), 0)


def _size(sample: Sample) -> int:
    return len(set(sample.units))


def _draw(bits: int, rng: random.Random) -> int:
    """Return one of the bits at random."""
    for _ in range(rng.randrange(bits.bit_count())):
        bits &= bits - 1
    return bits & -bits


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
