"""Rule learnability (section 3.4): phrases such as "Entity 1" replace what the input hides.

A model that learned to copy writes the phrase; one that memorised writes what was hidden. A string
can be hidden if every reference has it and nothing else in the input reveals it.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_uppercase
from typing import TypeAlias

from spor_tasks.aspects.arms import counted, in_words, no_training_samples, strict_sets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    DataUnit,
    Hidden,
    Sample,
    SampleMaker,
    SplitPair,
    Triple,
)
from spor_tasks.corpora.e2e import enumeration
from spor_tasks.corpora.slots import values_by_attribute
from spor_tasks.text.normalize import clean, display

_WITHOUT_CONTENT = {"", "yes", "no"}
_PLACEHOLDERS = tuple(f"Value {letter}" for letter in ascii_uppercase)
_REVEALED = "what would be hidden is shown elsewhere"

_Outcome: TypeAlias = Sample | str  # a sample that hides something, or the reason for none


def hides_values(sample: Sample) -> bool:
    """Return whether a sample hides values of attributes, and not strings such as entities."""
    return isinstance(sample.units[0], AttributeValue)


def possible_values(hidden: Hidden, attribute: str) -> tuple[str, ...] | None:
    """Return the possible values of a hidden attribute; None if they are not known."""
    return dict(hidden.values).get(attribute) or enumeration.POSSIBLE_VALUES.get(attribute)


def build(
    train: Iterable[Sample],
    test: Iterable[Sample],
    rng: random.Random,
    attributes: Sequence[str] = (),
) -> SplitPair:
    """Build the one arm ``original`` and the test set.

    If units are triples, entities of the test samples are hidden. If they are attribute-value
    pairs, the values of the ``attributes`` are hidden; if there are none, the values that all
    references copy. Pairs of E2E are an exception, as in the paper: without ``attributes``, test
    samples are composed at random of the values in the training samples.

    Raises:
        SplitError: there is nothing to hide, or pairs of E2E have a value that no metric knows.
    """
    train, test = tuple(train), tuple(test)
    if not train:
        raise no_training_samples()
    values = values_by_attribute([*train, *test])
    if unknown := [attribute for attribute in attributes if attribute not in values]:
        raise SplitError(
            f"no sample has the attribute {unknown[0]!r} to hide",
            where=train[0].corpus,
            remedy=f"Choose from {', '.join(sorted(values))}."
            if values
            else "Leave out --hide. Entities are hidden in triples.",
        )
    outcomes: Sequence[_Outcome]
    if not hides_values(train[0]):
        outcomes = _hide(test, _entities)
    elif not attributes and enumeration.has_attributes(values_by_attribute(train)):
        outcomes = enumeration.hide_values(train, rng)
    else:
        outcomes = _hide(test, partial(_values, values=values, named=attributes))
    tested = _samples(outcomes)
    untested = counted(each for each in outcomes if isinstance(each, str))
    if not tested:
        raise SplitError(
            f"no test sample has anything that can be hidden: {in_words(untested)}",
            where=train[0].corpus,
            remedy="An entity must be a subject without a digit that all references mention. A "
            "value must be in all references, or --hide must name its attribute. Nothing else in "
            "the input may reveal it.",
        )
    return strict_sets("rule_learnability", train, test=tested, untested=untested)


def hide_entities(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return the samples that have entities to hide, with a phrase in place of each entity."""
    return _samples(_hide(samples, _entities))


def _samples(outcomes: Iterable[_Outcome]) -> tuple[Sample, ...]:
    return tuple(each for each in outcomes if isinstance(each, Sample))


def _hide(samples: Sequence[Sample], choose: Callable[[Sample], Hidden | str]) -> list[_Outcome]:
    """Return the samples with phrases in place of what ``choose`` hides, or its reason not to."""
    make = SampleMaker(samples[0].corpus if samples else "")

    def hide(sample: Sample) -> _Outcome:
        hidden = choose(sample)
        if isinstance(hidden, str):
            return hidden
        phrases = dict(hidden.phrases)
        units = (_with_phrases(unit, phrases) for unit in sample.units)
        category = {"category": sample.about("category")}
        context = sample.context if hides_values(sample) else category
        return replace(make(units, (), **context), challenge=hidden)

    return list(map(hide, samples))


def _with_phrases(unit: DataUnit, phrases: Mapping[str, str]) -> DataUnit:
    if isinstance(unit, AttributeValue):
        return unit._replace(value=phrases.get(unit.attribute, unit.value))
    subject, obj = (phrases.get(display(end), end) for end in (unit.subject, unit.object))
    return unit._replace(subject=subject, object=obj)


# --- Entities of triples --------------------------------------------------------------------------


def _entities(sample: Sample) -> Hidden | str:
    """Return the entities to hide, or the reason for none.

    An entity is not hidden if a triple without phrases has the same predicate with the same object
    (or subject). Its number is not given to another entity [code].
    """
    triples = [unit for unit in sample.units if isinstance(unit, Triple)]
    candidates = sorted(_in_all_references(triples, sample.references), key=display)
    phrases = {entity: f"Entity {number}" for number, entity in enumerate(candidates, start=1)}
    plain = [t for t in triples if t.subject not in phrases and t.object not in phrases]
    heads = {(triple.subject, triple.predicate) for triple in plain}
    tails = {(triple.predicate, triple.object) for triple in plain}
    for subject, predicate, obj in triples:
        if (predicate, obj) in tails:
            phrases.pop(subject, None)
        if (subject, predicate) in heads:
            phrases.pop(obj, None)
    if phrases:
        return Hidden(tuple((display(entity), phrase) for entity, phrase in phrases.items()))
    return _REVEALED if candidates else "no entity is in all references"


def _in_all_references(triples: Sequence[Triple], references: Iterable[str]) -> Iterator[str]:
    """Yield the subjects without digits that every reference has and no other entity contains."""
    subjects = dict.fromkeys(triple.subject for triple in triples)
    objects = dict.fromkeys(triple.object for triple in triples)
    names = {entity: display(entity).lower() for entity in subjects | objects}
    texts = [display(text).lower() for text in references]
    for entity in subjects:
        name = names[entity]
        rivals = (rival for raw, rival in names.items() if raw != entity)
        if (
            not any(map(str.isdigit, name))
            and not any(name in rival for rival in rivals)
            and all(name in text for text in texts)
        ):
            yield entity


# --- Values of attributes -------------------------------------------------------------------------


def _values(
    sample: Sample, values: Mapping[str, Sequence[str]], named: Collection[str]
) -> Hidden | str:
    """Return the attributes whose values to hide, or the reason for none.

    These are the ``named`` attributes, or else those whose value every reference has as whole words
    and that have no other value in the sample. Attributes that the rest of the input reveals are
    left out; a sample that reveals a named one hides nothing.
    """
    if named:
        attributes = [unit[0] for unit in sample.units if unit[0] in named]
    else:
        texts = [f" {clean(text)} " for text in sample.references]
        words = [(unit[0], clean(unit[-1])) for unit in sample.units]
        several = Counter(unit[0] for unit in sample.units)
        attributes = [
            attribute
            for attribute, value in words
            if several[attribute] == 1
            and value not in _WITHOUT_CONTENT
            and all(f" {value} " in text for text in texts)
        ]
    attributes = [*dict.fromkeys(attributes)][: len(_PLACEHOLDERS)]
    if not attributes:
        return "no unit has a named attribute" if named else "no value is in all references"
    while revealed := _revealed(sample, attributes, values):
        attributes = [] if named else [name for name in attributes if name not in revealed]
    if not attributes:
        return _REVEALED
    phrases = tuple(zip(attributes, _PLACEHOLDERS, strict=False))
    return Hidden(phrases, tuple((name, tuple(values[name])) for name in attributes))


def _revealed(
    sample: Sample, attributes: Collection[str], values: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the hidden attributes of which any value is in the rest of the input."""
    rest = [
        *sample.context.values(),
        *(u[-1] for u in sample.units if u[0] not in attributes),
        *_PLACEHOLDERS[: len(attributes)],
    ]
    texts = [display(text).lower() for text in rest if isinstance(text, str)]
    return [
        attribute
        for attribute in attributes
        if any(value.lower() in text for value in values[attribute] for text in texts)
    ]
