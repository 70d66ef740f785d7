"""The embedded texts: made up from a seed, with one value of each of three aspects.

A value shows in words that no other value has, and any of its words fits any words of the other
aspects. So a model that knows how each value is said can say every combination.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.compmctg.reader import units_of
from spor_tasks.corpora.compmctg.spaces import Combination, Space

NAME = "compmctg_mini"

WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sentiment": {
            "Negative": ("awful", "dull", "dreadful", "terrible", "poor", "disappointing"),
            "Positive": ("lovely", "superb", "pleasant", "charming", "splendid", "delightful"),
        },
        "tense": {
            "Present": ("is", "seems", "looks", "remains"),
            "Past": ("was", "seemed", "looked", "remained"),
        },
        "topic": {
            "Food": ("soup", "bread", "cake", "salad", "stew", "cheese"),
            "Music": ("song", "choir", "drummer", "concert", "melody", "violin"),
            "Travel": ("train", "hotel", "ferry", "airport", "journey", "guide"),
        },
    }
)
"""How the values of each aspect are said."""

SPACE = Space(NAME, MappingProxyType({aspect: tuple(of) for aspect, of in WORDS.items()}))

PREFIXES = (
    *("In short,", "To be fair,", "On the whole,", "As expected,", "Once again,"),
    *("Without a doubt,", "For many people,", "Surprisingly,", "In this town,", "To everyone,"),
)
"""How texts begin, whatever their values; none is the beginning of another one."""

DEGREES = ("really", "quite", "rather", "truly")
"""Words that may stand before one of sentiment."""

EACH = 200
"""The number of texts of a combination."""

REPEATS = 3
"""How often a test set asks for each beginning and combination."""


@lru_cache(maxsize=4)
def samples(seed: int = 0, each: int = EACH) -> tuple[Sample, ...]:
    """Return so many different texts of each combination; the combinations take turns.

    They are like those of :func:`spor_tasks.corpora.compmctg.reader.read`.
    """
    make = SampleMaker(NAME)
    texts = [_texts(combination, seed) for combination in SPACE.combinations]
    return tuple(
        make(units_of(SPACE, combination), [next(of)])
        for _ in range(each)
        for combination, of in zip(SPACE.combinations, texts, strict=True)
    )


def _texts(combination: Combination, seed: int) -> Iterator[str]:
    """Yield different texts without an end."""
    rng = random.Random(f"{NAME} {seed} {' '.join(combination)}")
    told = set[str]()
    while True:
        text = _text(combination, rng)
        if text not in told:
            told.add(text)
            yield text


def _text(combination: Combination, rng: random.Random) -> str:
    qualities, verbs, things = (
        WORDS[aspect][value] for aspect, value in zip(SPACE.aspects, combination, strict=True)
    )
    clauses = [
        _clause(thing, verbs, qualities, rng)
        for thing in rng.sample(things, 2 if rng.random() < _SHARE else 1)
    ]
    return f"{rng.choice(PREFIXES)} {' and '.join(clauses)}."


def _clause(thing: str, verbs: Sequence[str], qualities: Sequence[str], rng: random.Random) -> str:
    degree = rng.choice(DEGREES) if rng.random() < _SHARE else ""
    said = (thing, rng.choice(verbs), degree, rng.choice(qualities))
    return f"the {' '.join(filter(None, said))}"


_SHARE = 0.4  # of texts with two clauses, and of clauses with a degree
