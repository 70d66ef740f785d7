"""In-context learning (section 7): the training samples that a prompt shows before a test sample.

Demonstrations carry the difference between the arms of an aspect, and all else is matched:
docs/decisions/demonstrations.md.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeAlias

from tqdm import tqdm

from spor_tasks.aspects.order_invariance import with_an_order, with_matches
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import DataUnit, Hidden, Sample, Sets, Triple
from spor_tasks.prompts.content import Demonstrations, Prompted, words, worth
from spor_tasks.prompts.cover import Block, Cover, covers, draw_sizes, filled
from spor_tasks.prompts.pool import Fillers, Key, Pool, draw_bit
from spor_tasks.prompts.similar import same_or_other_combinations, similar_tables
from spor_tasks.text.normalize import display

WORD_TOLERANCE = 0.1
"""By how much the number of words that two arms show before a test sample may differ."""

# How hard a match is sought: docs/decisions/demonstrations.md has the effect of each number, on
# which the digests of tasks in context depend.
_MOST_SHAPES = 4
"""Shapes that are tried, the best first."""
_DRAWS = 8
"""Prompts that are drawn of each shape in each arm; every pair of them is a possible match."""
_CLOSE_ENOUGH = 1.0
"""A match that differs by so little in the PARENT of copying needs no further shape."""

_SECONDS = 2.0
"""Before a bar appears, and between two states of it."""


def choose(pair: Sets, most: int) -> tuple[Prompted, ...]:
    """Return the test samples that every arm can cover by ``most`` demonstrations at most.

    A demonstration is a training sample of its arm that has not exactly the units of the test
    sample, and none of its references. The arms differ as follows:

    - Systematicity. Each of *atom* has at most one unit of the test sample. Some of *combination*
      have several, so many that as many pairs of units as possible stand together.
    - Productivity. Those of *invisible* have no more units than any of Invisible. Some of *visible*
      that show units of the test sample have more.
    - Order invariance. *original* and *match* show the same samples of two units or more, in the
      corpus's order and in the order of the text.
    - Benchmarks of tables. See :func:`spor_tasks.prompts.similar.similar_tables`.
    - Benchmarks of other data without aspects. See
      :func:`spor_tasks.prompts.similar.same_or_other_combinations`.
    - Rule learnability. There is one arm, whose demonstrations hide nothing: they have the entity
      that the test sample hides, and any value of an attribute whose value it hides.

    In systematicity and productivity the prompts of both arms have the same number of
    demonstrations and of other units, and show each unit of the test sample once. Their numbers of
    words differ by :data:`WORD_TOLERANCE` at most. Samples without any unit of the test sample fill
    up what an arm lacks. Several choices are drawn, with the test sample's id as seed. The chosen
    one has the smallest difference between the arms in the PARENT of copying all texts.

    In the other aspects there are as few demonstrations as possible that show each unit, of these
    the shortest.

    No demonstration has all units of the test sample, unless there is no other way. They stand in
    the order of their ids, which are digests and give no hint. The order of the training samples
    has no influence.

    Raises:
        ConfigError: not a single demonstration may be shown.
        SplitError: no test sample is covered by all arms, or the arms are not what they should be.
    """
    if most < 1:
        raise ConfigError(
            "demonstrations are what this task is about",
            where="num_fewshot",
            remedy="Allow one at least, or evaluate the task without _icl.",
        )
    demonstrate = _RULES.get(pair.facts.aspect, _without_aspects)(pair, most)
    samples = tqdm(pair.test, "choosing demonstrations", delay=_SECONDS, mininterval=_SECONDS)
    choices = ((sample, demonstrate(sample)) for sample in samples)
    prompted = tuple(Prompted(sample, arms) for sample, arms in choices if arms and all(arms))
    if not prompted:
        raise SplitError(
            f"no test sample is covered by {most} demonstrations in each arm",
            remedy="Allow more, with --num_fewshot. If that does not help, the arms have no "
            "matching ones: evaluate the task without _icl.",
        )
    return prompted


_Arms: TypeAlias = tuple[Demonstrations, ...]
_Demonstrate: TypeAlias = Callable[[Sample], _Arms | None]
"""Returns what each arm shows before a sample; an arm that cannot cover it shows nothing."""


# --- Two arms, matched ----------------------------------------------------------------------------


class _Arm(NamedTuple):
    """The samples that an arm may show, which blocks of them, and what a block is worth."""

    pool: Pool
    allows: Callable[[Block], bool] = lambda _: True
    value: Callable[[Block], int] = lambda _: 0


def _systematicity(pair: Sets, most: int) -> _Demonstrate:
    atom, combination = map(Pool, pair.arms.values())
    return _Matched(
        (_Arm(atom, allows=lambda block: not _pairs(block)), _Arm(combination, value=_pairs)),
        limits=[most],
        # First of all, as many pairs as can be stand together.
        rank=lambda cover: (-cover.value, *cover.shape),
    )


def _pairs(block: Block) -> int:
    """Return how many pairs of units of the test sample a block shows together."""
    units = block.mask.bit_count()
    return units * (units - 1) // 2


def _productivity(pair: Sets, most: int) -> _Demonstrate:
    invisible, visible = map(Pool, pair.arms.values())
    longest = max(invisible.sizes)
    return _Matched(
        (_Arm(invisible), _Arm(visible, value=lambda block: int(block.size > longest))),
        limits=range(1, most + 1),
        # First of all, prompts are short, for long demonstrations make them long enough.
        rank=lambda cover: (*cover.shape, -cover.value),
    )


@dataclass(frozen=True, slots=True)
class _Matched:
    """Finds prompts of two arms that are alike but for what the second one is worth."""

    arms: tuple[_Arm, _Arm]
    limits: Sequence[int]
    """Numbers of samples that covers are sought of, until there are enough covers.

    Where fewer samples rank first, that saves the search for more.
    """
    rank: Callable[[Cover], tuple[int, ...]]
    """The rank of a shape by the second arm's cover; the lowest is the best."""

    def __call__(self, sample: Sample) -> _Arms | None:
        """Return the demonstrations of both arms, or None where they cannot be matched.

        These are the drawn prompts whose copies are worth most nearly the same.
        """
        keys = tuple(dict.fromkeys(sample.units))
        full = (1 << len(keys)) - 1
        blocks = [arm.pool.blocks(sample, keys) for arm in self.arms]
        shows_all = any(block.mask == full for of_arm in blocks for block in of_arm)
        for avoided in (full, None) if shows_all else (None,):
            allowed = [[block for block in of_arm if block.mask != avoided] for of_arm in blocks]
            if plans := self._plans(allowed, full):
                break
        fillers = [arm.pool.fillers(sample, keys) for arm in self.arms]
        rng, best, least = random.Random(sample.id), None, math.inf
        for plan in plans:
            both_arms = (
                _candidates(sample, cover, of_arm, own_blocks, rng)
                for cover, of_arm, own_blocks in zip(plan, fillers, blocks, strict=True)
            )
            for first, second in product(*both_arms):
                gap = abs(first.worth - second.worth)
                more, fewer = max(first.words, second.words), min(first.words, second.words)
                if gap < least and more - fewer <= WORD_TOLERANCE * more:
                    best, least = (first.samples, second.samples), gap
            if least <= _CLOSE_ENOUGH:
                break
        return best

    def _plans(self, blocks: Sequence[Iterable[Block]], full: int) -> list[tuple[Cover, Cover]]:
        """Return covers of both arms of the shapes that they have in common, the best first."""
        searches = [
            covers((block for block in of_arm if arm.allows(block)), full, value=arm.value)
            for arm, of_arm in zip(self.arms, blocks, strict=True)
        ]
        plans: list[tuple[Cover, Cover]] = []
        for limit in self.limits:
            first, second = (
                filled(search(limit), arm.pool.sizes, limit)
                for arm, search in zip(self.arms, searches, strict=True)
            )
            plans = [
                (first[shape], cover)
                for shape, cover in second.items()
                if shape in first and cover.value > 0
            ]
            if len(plans) >= _MOST_SHAPES:
                break
        return sorted(plans, key=lambda plan: self.rank(plan[1]))[:_MOST_SHAPES]


class _Candidate(NamedTuple):
    samples: Demonstrations
    words: int
    worth: float


def _candidates(
    sample: Sample, cover: Cover, fillers: Fillers, blocks: Mapping[Block, int], rng: random.Random
) -> list[_Candidate]:
    """Return some drawn prompts of an arm: a sample of each block, and fillers.

    In every other one the fillers have an entity or value of the test sample where there are such,
    as the other demonstrations have. A draw that finds too few different samples gives none.
    """
    pool = fillers.pool

    def draw(*, related: bool) -> int:
        drawn_bits = 0
        for block in cover.blocks:
            remaining = blocks[block] & ~drawn_bits
            if not remaining:
                return 0
            drawn_bits |= draw_bit(remaining, rng)
        for size in draw_sizes(pool.sizes, cover.fillers, rng):
            drawn = fillers.draw(size, drawn_bits, rng, related=related)
            if not drawn:
                return 0
            drawn_bits |= drawn
        return drawn_bits

    drawn = [draw(related=number % 2 == 1) for number in range(_DRAWS)]
    candidates = [pool.in_order(bits) for bits in drawn if bits]
    return [
        _Candidate(shown, sum(words(each) for each in shown), worth(sample, shown))
        for shown in candidates
    ]


# --- One choice for all arms ----------------------------------------------------------------------


def _order_invariance(pair: Sets, most: int) -> _Demonstrate:
    of_first_reference = {sample.id: matches[0] for sample, matches in with_matches(pair)}
    pool = Pool(with_an_order(pair.arms["original"]))

    def demonstrate(sample: Sample) -> _Arms:
        shown = _fewest(sample, tuple(dict.fromkeys(sample.units)), pool, most)
        return shown, tuple(of_first_reference[each.id] for each in shown)

    return demonstrate


def _fewest(sample: Sample, keys: Sequence[Key], pool: Pool, most: int) -> Demonstrations:
    """Return as few samples as show every unit, of these the smallest; none where too few do."""
    full = (1 << len(keys)) - 1
    blocks = pool.blocks(sample, keys)
    smallest = {block.mask: block for block in sorted(blocks, reverse=True)}
    for avoided in (full, None):
        search = covers((b for mask, b in smallest.items() if mask != avoided), full, once=False)
        # Few samples first: the search for as many as are allowed takes seconds with twelve units.
        for number in range(1, most + 1):
            if possible := search(number):
                rng = random.Random(sample.id)
                drawn_bits = 0
                for block in possible[min(possible)].blocks:
                    drawn_bits |= draw_bit(blocks[block] & ~drawn_bits, rng)
                return pool.in_order(drawn_bits)
    return ()


# --- Each arm apart -------------------------------------------------------------------------------


def _without_aspects(pair: Sets, most: int) -> _Demonstrate:
    rule = similar_tables if pair.test[0].table else same_or_other_combinations
    choices = [rule(arm, samples, most) for arm, samples in pair.arms.items()]
    return lambda sample: tuple(choose_of_arm(sample) for choose_of_arm in choices)


def _rule_learnability(pair: Sets, most: int) -> _Demonstrate:
    def shows(unit: DataUnit) -> tuple[Key, ...]:
        if isinstance(unit, Triple):  # hidden entities are known in display form only
            return (tuple(display(part) for part in unit),)
        return (unit, unit.attribute)

    pools = [Pool(samples, shows) for samples in pair.arms.values()]
    return lambda sample: tuple(_fewest(sample, _unhidden(sample), pool, most) for pool in pools)


def _unhidden(sample: Sample) -> tuple[Key, ...]:
    """Return the triples with their entities put back, the attributes alone of hidden values."""
    hidden = dict(sample.challenge.phrases) if isinstance(sample.challenge, Hidden) else {}
    entities = {phrase: entity for entity, phrase in hidden.items()}
    keys: dict[Key, None] = {}
    for unit in sample.units:
        if isinstance(unit, Triple):
            keys[tuple(display(entities.get(end, end)) for end in unit)] = None
        else:
            keys[unit.attribute if unit.attribute in hidden else unit] = None
    return tuple(keys)


_RULES: Mapping[str, Callable[[Sets, int], _Demonstrate]] = {
    "systematicity": _systematicity,
    "productivity": _productivity,
    "order_invariance": _order_invariance,
    "rule_learnability": _rule_learnability,
}
