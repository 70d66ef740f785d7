"""Rule learnability (section 3.4): phrases such as "Entity 1" stand for what the input hides.

A model that learned to copy writes the phrase; one that learned by heart writes what was hidden.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    CopySample,
    Sample,
    SampleMaker,
    Split,
    SplitPair,
    Triple,
)
from spor_tasks.text.normalize import display

POSSIBLE_VALUES: Mapping[str, tuple[str, ...]] = {
    "price range": ("less than £20", "cheap", "£20-25", "high", "more than £30", "moderate"),
    "customer rating": ("low", "3 out of 5", "high", "average", "5 out of 5", "1 out of 5"),
}
"""All values that E2E has for the attributes that can be hidden, none of which an output may tell.

A metric judges an output by them, without a corpus at hand; the build refuses to hide others.
"""

# What is shown for a hidden value; the next letter of the alphabet takes the place of "?".
_PHRASES = {
    "price range": ("less than Value ?", "more than Value ?"),
    "customer rating": ("Value ? out of 5",),
}
# Enumerated in this order, each value in alphabetical order and then none [code].
_ENUMERATED = (
    "eat type",
    "food",
    "price range",
    "customer rating",
    "area",
    "family friendly",
)
_DRAWN = "near"


def build(train: Iterable[Sample], test: Iterable[Sample], rng: random.Random) -> SplitPair:
    """Build the one arm ``original`` and the test set.

    Where units are triples, entities of the test samples are hidden, and nothing is random. Where
    they are attribute-value pairs, samples are made up of what the training samples say, whatever
    ``test`` holds.

    Raises:
        SplitError: there is nothing to hide, or the pairs are not E2E's.
    """
    train = tuple(train)
    if not train:
        raise SplitError("there is no training sample")
    if isinstance(train[0].units[0], Triple):
        tested = hide_entities(tuple(test))
    else:
        tested = hide_values(train, rng)
    if not tested:
        raise SplitError(
            "no test sample has an entity that could be hidden",
            remedy="It must be a subject without a digit, and all references must mention it.",
        )
    return SplitPair(
        aspect="rule_learnability",
        corpus=train[0].corpus,
        protocol="strict",
        arms=(Split("original", train),),
        test=Split("test", tested),
    )


def hide_entities(samples: Sequence[Sample]) -> tuple[CopySample, ...]:
    """Return the samples that have an entity to hide, with a phrase in place of each of these."""
    corpus = samples[0].corpus if samples else ""
    make = SampleMaker(corpus)
    hiding = ((sample, _phrases(sample)) for sample in samples)
    return tuple(
        CopySample.of(
            make(_replace(_triples(sample), phrases), (), category=sample.category),
            ((display(entity), phrase) for entity, phrase in phrases.items()),
        )
        for sample, phrases in hiding
        if phrases
    )


def _replace(triples: Iterable[Triple], phrases: Mapping[str, str]) -> Iterator[Triple]:
    for subject, predicate, obj in triples:
        yield Triple(phrases.get(subject, subject), predicate, phrases.get(obj, obj))


def _phrases(sample: Sample) -> dict[str, str]:
    """Return the phrase for each entity to hide, in the order of the phrases.

    An entity in a pattern that a triple without phrases shares is not hidden, but it keeps its
    number from the others [code].
    """
    triples = _triples(sample)
    hidable = sorted(_hidable(triples, sample.references), key=display)
    phrases = {entity: f"Entity {number}" for number, entity in enumerate(hidable, start=1)}
    plain = [t for t in triples if t.subject not in phrases and t.object not in phrases]
    heads = {(triple.subject, triple.predicate) for triple in plain}
    tails = {(triple.predicate, triple.object) for triple in plain}
    for subject, predicate, obj in triples:
        if (predicate, obj) in tails:
            phrases.pop(subject, None)
        if (subject, predicate) in heads:
            phrases.pop(obj, None)
    return phrases


def _hidable(triples: Sequence[Triple], references: Iterable[str]) -> Iterator[str]:
    """Yield the subjects without a digit that every reference contains, and no other entity."""
    subjects = dict.fromkeys(triple.subject for triple in triples)
    objects = dict.fromkeys(triple.object for triple in triples)
    names = {entity: display(entity).lower() for entity in subjects | objects}
    texts = [display(text).lower() for text in references]
    for entity in subjects:
        name = names[entity]
        others = (other for raw, other in names.items() if raw != entity)
        if (
            not any(map(str.isdigit, name))
            and not any(name in other for other in others)
            and all(name in text for text in texts)
        ):
            yield entity


def _triples(sample: Sample) -> list[Triple]:
    return [unit for unit in sample.units if isinstance(unit, Triple)]


def hide_values(train: Sequence[Sample], rng: random.Random) -> tuple[CopySample, ...]:
    """Return a sample for every choice of values that hides one at least, each of a random name.

    Each attribute takes each of its values or none, and those that can be hidden take the phrases
    in place of their values. The place nearby, or none, and the order of the units are random too.

    Raises:
        SplitError: the attributes are not E2E's, or one that is hidden has a value unknown here.
    """
    values = _values(train)
    _check(values)
    told = {value for attribute in _ENUMERATED for value in values[attribute]}
    names = _saying_nothing((sample.name for sample in train if sample.name), told)
    nearby = _saying_nothing(values[_DRAWN], told)
    make = SampleMaker(train[0].corpus)
    samples = []
    for chosen in _choices(values):
        units = [AttributeValue(*pair) for pair in chosen]
        near = rng.choice([*nearby, None])
        if near:
            units.append(AttributeValue(_DRAWN, near))
        rng.shuffle(units)
        sample = make(units, (), name=rng.choice(names) if names else None)
        hidden = (pair for pair in chosen if pair[0] in _PHRASES)
        samples.append(CopySample.of(sample, hidden))
    return tuple(samples)


def _values(samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Return the values of each attribute in alphabetical order."""
    values: dict[str, set[str]] = {}
    for sample in samples:
        for unit in sample.units:
            if isinstance(unit, AttributeValue):
                values.setdefault(unit.attribute, set()).add(unit.value)
    return {attribute: sorted(found) for attribute, found in values.items()}


def _choices(values: Mapping[str, list[str]]) -> Iterator[tuple[tuple[str, str], ...]]:
    options = [[*_PHRASES.get(attribute, values[attribute]), None] for attribute in _ENUMERATED]
    for chosen in product(*options):
        symbols = iter("AB")
        pairs = tuple(
            (attribute, value.replace("?", next(symbols)) if attribute in _PHRASES else value)
            for attribute, value in zip(_ENUMERATED, chosen, strict=True)
            if value is not None
        )
        if any(attribute in _PHRASES for attribute, _ in pairs):
            yield pairs


def _check(values: Mapping[str, Collection[str]]) -> None:
    missing = [attribute for attribute in (*_ENUMERATED, _DRAWN) if attribute not in values]
    if missing:
        raise SplitError(
            f"attribute-value pairs can only be hidden where they are E2E's, and these have no "
            f"{', '.join(missing)}"
        )
    for attribute, known in POSSIBLE_VALUES.items():
        unknown = sorted(set(values[attribute]).difference(known))
        if unknown:
            raise SplitError(
                f"{attribute} can be {', '.join(unknown)} here, which no metric would notice",
                remedy="Only E2E's own values can be hidden.",
            )


def _saying_nothing(texts: Iterable[str], told: Collection[str]) -> list[str]:
    """Return the texts, each once and in alphabetical order, that contain none of the values."""
    return sorted(text for text in set(texts) if not any(value in text for value in told))
