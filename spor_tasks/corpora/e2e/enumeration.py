"""The test set of rule learnability on E2E: every choice of values that hides one (section 3.4)."""

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker
from spor_tasks.corpora.slots import values_by_attribute

POSSIBLE_VALUES: Mapping[str, tuple[str, ...]] = {
    "price range": ("less than £20", "cheap", "£20-25", "high", "more than £30", "moderate"),
    "customer rating": ("low", "3 out of 5", "high", "average", "5 out of 5", "1 out of 5"),
}
"""All values in E2E of the attributes that can be hidden; an output must not name any of them.

They are listed here because a metric needs them when there is no corpus to read.
"""

# The phrases for hidden values; "?" is replaced by the next letter, A or B.
_PHRASES = {
    "price range": ("less than Value ?", "more than Value ?"),
    "customer rating": ("Value ? out of 5",),
}
# Attributes in the order of the enumeration: each value alphabetically, then no value [code].
_ENUMERATED = ("eat type", "food", "price range", "customer rating", "area", "family friendly")
_DRAWN = "near"


MOST_CHOICES = 100_000
"""The most choices of values, or of none, that are enumerated; E2E has 1,728."""


def has_attributes(values: Mapping[str, object]) -> bool:
    """Return whether samples with these attributes are like those of E2E."""
    return {*_ENUMERATED, _DRAWN} <= values.keys()


def hide_values(train: Sequence[Sample], rng: random.Random) -> tuple[Sample, ...]:
    """Return a sample for every choice of values that hides at least one of them.

    Each attribute takes each of its values, or no value; attributes that can be hidden take phrases
    instead of values. The name, the place nearby (or none) and the order of the units are random.

    Raises:
        SplitError: a hidden attribute has a value that E2E does not have, or there are more than
            :data:`MOST_CHOICES`.
    """
    values = values_by_attribute(train)
    for attribute, possible in POSSIBLE_VALUES.items():
        if unknown := sorted(set(values[attribute]).difference(possible)):
            raise SplitError(
                f"{attribute} has the values {', '.join(unknown)}, which E2E does not have and no "
                "metric knows",
                remedy="Name the attributes whose values to hide, with --hide ATTRIBUTE.",
            )
    stated = {value for attribute in _ENUMERATED for value in values[attribute]}
    names = _without(stated, (name for sample in train if (name := sample.about("name"))))
    nearby = _without(stated, values[_DRAWN])
    make = SampleMaker(train[0].corpus)
    samples = []
    for chosen in _choices(values):
        units = [AttributeValue(*pair) for pair in chosen]
        near = rng.choice([*nearby, None])
        if near:
            units.append(AttributeValue(_DRAWN, near))
        rng.shuffle(units)
        sample = make(units, (), name=rng.choice(names) if names else None)
        hidden = Hidden(tuple(pair for pair in chosen if pair[0] in _PHRASES))
        samples.append(replace(sample, challenge=hidden))
    return tuple(samples)


def _choices(values: Mapping[str, list[str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    options = [[*_PHRASES.get(attribute, values[attribute]), None] for attribute in _ENUMERATED]
    if (choices := math.prod(map(len, options))) > MOST_CHOICES:
        raise SplitError(
            f"the values of the attributes have {choices:,} choices, more than {MOST_CHOICES:,}",
            remedy="Name the attributes whose values to hide, with --hide ATTRIBUTE.",
        )
    for chosen in product(*options):
        symbols = iter("AB")
        pairs = tuple(
            (attribute, value.replace("?", next(symbols)) if attribute in _PHRASES else value)
            for attribute, value in zip(_ENUMERATED, chosen, strict=True)
            if value is not None
        )
        if any(attribute in _PHRASES for attribute, _ in pairs):
            yield pairs


def _without(values: Collection[str], texts: Iterable[str]) -> list[str]:
    """Return the texts that contain none of the values, each once and in alphabetical order."""
    return sorted(text for text in set(texts) if not any(value in text for value in values))
