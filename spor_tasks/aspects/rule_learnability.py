"""Rule learnability (section 3.4): phrases such as "Entity 1" replace what the input hides.

A model that learned to copy writes the phrase; one that memorised writes what was hidden.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from string import ascii_uppercase
from typing import TypeAlias

from spor_tasks.aspects.arms import counted, in_words, no_training_samples, strict_sets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker, SplitPair, Triple
from spor_tasks.text.normalize import clean, display

POSSIBLE_VALUES: Mapping[str, tuple[str, ...]] = {
    "price range": ("less than £20", "cheap", "£20-25", "high", "more than £30", "moderate"),
    "customer rating": ("low", "3 out of 5", "high", "average", "5 out of 5", "1 out of 5"),
}
"""All values in E2E of the attributes that can be hidden; an output must not name any of them.

They are listed here because a metric needs them when there is no corpus to read.
"""

# What is shown for a hidden value; "?" is replaced by the next letter, A or B.
_PHRASES = {
    "price range": ("less than Value ?", "more than Value ?"),
    "customer rating": ("Value ? out of 5",),
}
# Attributes in the order of the enumeration: each value alphabetically, then no value [code].
_ENUMERATED = ("eat type", "food", "price range", "customer rating", "area", "family friendly")
_DRAWN = "near"
_TELLS_NOTHING = {"", "yes", "no"}

_PLACEHOLDERS = tuple(f"Value {letter}" for letter in ascii_uppercase)

_Outcome: TypeAlias = Sample | str  # a sample that hides something, or why there is none
_REVEALED = "what would be hidden is shown elsewhere"


def hides_values(sample: Sample) -> bool:
    """Return whether a sample hides values of attributes, and not strings such as entities."""
    return isinstance(sample.units[0], AttributeValue)


def possible_values(hidden: Hidden, attribute: str) -> tuple[str, ...] | None:
    """Return the possible values of a hidden attribute; None if they are not known."""
    return dict(hidden.values).get(attribute) or POSSIBLE_VALUES.get(attribute)


def build(
    train: Iterable[Sample],
    test: Iterable[Sample],
    rng: random.Random,
    attributes: Sequence[str] = (),
) -> SplitPair:
    """Build the one arm ``original`` and the test set.

    If units are triples, entities of the test samples are hidden; nothing is random. If they are
    attribute-value pairs, the values of the ``attributes`` are hidden in the test samples. If no
    attributes are given, the values that all references copy are hidden, save
    that of the pairs of E2E, test samples are composed from the values in the training samples,
    without using ``test``, as in the paper.

    Raises:
        SplitError: there is nothing to hide, or pairs of E2E have a value that no metric knows.
    """
    train, test = tuple(train), tuple(test)
    if not train:
        raise no_training_samples()
    if not hides_values(train[0]):
        if attributes:
            raise SplitError(
                f"has triples, which have no attribute {attributes[0]!r} to hide",
                where=train[0].corpus,
                remedy="Leave out --hide. Entities are hidden in triples.",
            )
        outcomes = _hide_entities(test)
    elif not attributes and {*_ENUMERATED, _DRAWN} <= _values(train).keys():
        outcomes = list(hide_values(train, rng))
    else:
        outcomes = _hide_in_place(test, _values([*train, *test]), attributes)
    tested, untested = _kept(outcomes), counted(each for each in outcomes if isinstance(each, str))
    if not tested:
        raise SplitError(
            f"no test sample has anything that can be hidden: {in_words(untested)}",
            where=train[0].corpus,
            remedy="An entity must be a subject without a digit, and all references must mention "
            "it. A value must be in all references, or its attribute be named with --hide; "
            "nothing else that is shown may reveal it.",
        )
    return strict_sets("rule_learnability", train, test=tested, untested=untested)


def _kept(outcomes: Iterable[_Outcome]) -> tuple[Sample, ...]:
    return tuple(each for each in outcomes if isinstance(each, Sample))


def hide_entities(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return the samples that have entities to hide, with a phrase in place of each entity."""
    return _kept(_hide_entities(samples))


def _hide_entities(samples: Sequence[Sample]) -> list[_Outcome]:
    make = SampleMaker(samples[0].corpus if samples else "")
    outcomes: list[_Outcome] = []
    for sample in samples:
        triples = [unit for unit in sample.units if isinstance(unit, Triple)]
        hidable = sorted(_hidable(triples, sample.references), key=display)
        if phrases := _phrases(triples, hidable):
            shown = (
                Triple(phrases.get(subject, subject), predicate, phrases.get(obj, obj))
                for subject, predicate, obj in triples
            )
            challenge = Hidden(tuple((display(entity), phrases[entity]) for entity in phrases))
            made = make(shown, (), category=sample.about("category"))
            outcomes.append(replace(made, challenge=challenge))
        else:
            outcomes.append(_REVEALED if hidable else "no entity is in all references")
    return outcomes


def _phrases(triples: Sequence[Triple], hidable: Sequence[str]) -> dict[str, str]:
    """Return the phrase for each entity to hide, in the order of the phrases.

    An entity is not hidden if a triple without phrases has the same predicate with the same object
    (or subject). Its number is not given to another entity [code].
    """
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
    """Yield the subjects without digits that every reference has and no other entity contains."""
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


def hide_values(train: Sequence[Sample], rng: random.Random) -> tuple[Sample, ...]:
    """Return a sample for every choice of values that hides at least one of them.

    Each attribute takes each of its values, or no value; attributes that can be hidden take phrases
    instead of values. The name, the place nearby (or none) and the order of the units are random.

    Raises:
        SplitError: a hidden attribute has a value that E2E does not have.
    """
    values = _values(train)
    for attribute, known in POSSIBLE_VALUES.items():
        if unknown := sorted(set(values[attribute]).difference(known)):
            raise SplitError(
                f"{attribute} has the values {', '.join(unknown)}, which E2E does not have and no "
                "metric knows",
                remedy="Name the attributes whose values to hide, with --hide ATTRIBUTE.",
            )
    told = {value for attribute in _ENUMERATED for value in values[attribute]}
    names = _saying_nothing((name for sample in train if (name := sample.about("name"))), told)
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
        hidden = Hidden(tuple(pair for pair in chosen if pair[0] in _PHRASES))
        samples.append(replace(sample, challenge=hidden))
    return tuple(samples)


def _hide_in_place(
    test: Sequence[Sample], values: Mapping[str, Sequence[str]], attributes: Sequence[str]
) -> list[_Outcome]:
    """Return the test samples with ``Value A``, ``Value B`` … in place of attributes' values.

    These are the named ``attributes``, or else those whose values all references copy. A sample is
    left out if it has none of them, or reveals a value of a named one elsewhere.
    """
    if unknown := [attribute for attribute in attributes if attribute not in values]:
        raise SplitError(
            f"no sample has the attribute {unknown[0]!r}",
            where=test[0].corpus if test else None,
            remedy=f"Choose from {', '.join(sorted(values))}.",
        )
    make = SampleMaker(test[0].corpus if test else "")
    outcomes: list[_Outcome] = []
    for sample in test:
        hidden = _named(sample, attributes, values) if attributes else _copied(sample, values)
        if isinstance(hidden, str):
            outcomes.append(hidden)
            continue
        phrases = dict(zip(hidden, _PLACEHOLDERS, strict=False))
        units = (AttributeValue(unit[0], phrases.get(unit[0], unit[-1])) for unit in sample.units)
        known = tuple((what, tuple(values[what])) for what in phrases)
        made = make(units, (), **sample.context)
        outcomes.append(replace(made, challenge=Hidden(tuple(phrases.items()), known)))
    return outcomes


def _named(
    sample: Sample, attributes: Sequence[str], values: Mapping[str, Sequence[str]]
) -> list[str] | str:
    """Return the named attributes that the sample has, or why they cannot be hidden."""
    units = (unit[0] for unit in sample.units if unit[0] in attributes)
    present = [*dict.fromkeys(units)][: len(_PLACEHOLDERS)]
    if not present:
        return "no unit has a named attribute"
    return _REVEALED if _told(sample, present, values) else present


def _told(
    sample: Sample, hidden: Collection[str], values: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the hidden attributes of which any value is in what a sample shows then."""
    rest = [
        *sample.context.values(),
        *(u[-1] for u in sample.units if u[0] not in hidden),
        *_PLACEHOLDERS[: len(hidden)],
    ]
    shown = [display(text).lower() for text in rest if isinstance(text, str)]
    return [
        what
        for what in hidden
        if any(value.lower() in text for value in values[what] for text in shown)
    ]


def _copied(sample: Sample, values: Mapping[str, Sequence[str]]) -> list[str] | str:
    """Return the attributes whose value in the sample can be hidden, or why there is none.

    Every reference must have the value as whole words, the attribute no other value in the sample,
    and nothing that is still shown may contain any value of the attribute.
    """
    texts = [f" {clean(text)} " for text in sample.references]
    words = [clean(unit[-1]) for unit in sample.units]
    several = Counter(unit[0] for unit in sample.units)
    found = [
        unit[0]
        for unit, value in zip(sample.units, words, strict=True)
        if several[unit[0]] == 1
        and value not in _TELLS_NOTHING
        and all(f" {value} " in text for text in texts)
    ][: len(_PLACEHOLDERS)]
    if not found:
        return "no value is in all references"
    while told := _told(sample, found, values):
        found = [what for what in found if what not in told]
    return found or _REVEALED


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


def _saying_nothing(texts: Iterable[str], told: Collection[str]) -> list[str]:
    """Return the texts that contain none of the values, each once and in alphabetical order."""
    return sorted(text for text in set(texts) if not any(value in text for value in told))
