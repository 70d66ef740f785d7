"""Rule learnability (section 3.4): phrases such as "Entity 1" replace what the input hides.

A model that learned to copy writes the phrase; one that memorised writes what was hidden. A string
can be hidden if every reference has it and nothing else in the input reveals it.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_uppercase
from typing import TypeAlias

from spor_tasks.aspects.arms import counted, in_words, strict_sets
from spor_tasks.core.errors import SplitError, advice
from spor_tasks.core.sample import (
    AttributeValue,
    DataUnit,
    Hidden,
    Sample,
    SampleMaker,
    Sets,
    Triple,
)
from spor_tasks.corpora.e2e import enumeration
from spor_tasks.corpora.slots import letters_of, values_by_attribute
from spor_tasks.text.normalize import boolean, clean, display

_REVEALED = "what would be hidden is shown elsewhere"

MOST_LETTERS = 10_000
"""The most letters of all values that a hidden attribute can have: each row of a test set lists
them. ViGGO's attributes have 1,627 at most."""


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
) -> Sets:
    """Build the one arm ``original`` and the test set.

    If units are triples, entities of the test samples are hidden. If they are attribute-value
    pairs, the values of the ``attributes`` are hidden; if there are none, the values that all
    references copy. Pairs of E2E are an exception, as in the paper: without ``attributes``, test
    samples are composed at random of the values in the training samples.

    Raises:
        SplitError: there is nothing to hide, pairs of E2E have a value that no metric knows, or the
            values of one of the ``attributes`` have more than :data:`MOST_LETTERS`.
    """
    train, test = tuple(train), tuple(test)
    values = values_by_attribute([*train, *test])
    named = {letters_of(attribute): attribute for attribute in values}
    attributes = [
        each if each in values else named.get(letters_of(each), each) for each in attributes
    ]
    if unknown := [attribute for attribute in attributes if attribute not in values]:
        raise SplitError(
            f"no sample has the attribute {unknown[0]!r} to hide",
            where=train[0].corpus,
            remedy=advice(unknown[0], sorted(values))
            if values
            else "Leave out --hide. Entities are hidden in triples.",
        )
    letters = {attribute: sum(map(len, possible)) for attribute, possible in values.items()}
    if many := [attribute for attribute in attributes if letters[attribute] > MOST_LETTERS]:
        raise SplitError(
            f"the values of {many[0]!r} have {letters[many[0]]:,} letters, more than "
            f"{MOST_LETTERS:,}, and each test sample would list them",
            where=train[0].corpus,
            remedy="Hide an attribute of fewer values.",
        )
    outcomes: Sequence[_Outcome]
    if not hides_values(train[0]):
        outcomes = _hide(test, _entities)
    elif not attributes and enumeration.has_attributes(values_by_attribute(train)):
        outcomes = enumeration.hide_values(train, rng)
    else:
        few = {each: tuple(values[each]) for each in values if letters[each] <= MOST_LETTERS}
        outcomes = _hide(test, partial(_values, values=few, named=attributes))
    tested = _samples(outcomes)
    untested = counted(each for each in outcomes if isinstance(each, str))
    if not tested:
        raise SplitError(
            f"no test sample has anything that can be hidden: {in_words(untested)}",
            where=train[0].corpus,
            remedy="Entities need a subject without a digit that all references mention. Values "
            "must be in all references, or --hide must name their attribute. Nothing else in the "
            "input may reveal them.",
        )
    return strict_sets("rule_learnability", train, test=tested, untested=untested)


def hide_entities(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return the samples that have entities to hide, with a phrase in place of each entity."""
    return _samples(_hide(samples, _entities))


def _samples(outcomes: Iterable[_Outcome]) -> tuple[Sample, ...]:
    return tuple(each for each in outcomes if isinstance(each, Sample))


# --- The algorithm --------------------------------------------------------------------------------


def _hide(samples: Sequence[Sample], choose: Callable[[Sample], Hidden | str]) -> list[_Outcome]:
    """Return the samples with phrases in place of what ``choose`` hides, or its reason not to."""
    make = SampleMaker(samples[0].corpus if samples else "")

    def hide(sample: Sample) -> _Outcome:
        hidden = choose(sample)
        if isinstance(hidden, str):
            return hidden
        phrases = dict(hidden.phrases)
        units: list[DataUnit] = []
        for unit in sample.units:
            if isinstance(unit, AttributeValue):
                units.append(unit._replace(value=phrases.get(unit.attribute, unit.value)))
            else:
                subject, obj = (phrases.get(display(e), e) for e in (unit.subject, unit.object))
                units.append(Triple(subject, unit.predicate, obj))
        category = {"category": sample.about("category")}
        context = sample.context if hides_values(sample) else category
        return replace(make(units, (), **context), challenge=hidden)

    return [hide(sample) for sample in samples]


# --- Entities of triples --------------------------------------------------------------------------


def _entities(sample: Sample) -> Hidden | str:
    """Return the entities to hide, or the reason for none.

    They are the subjects without digits that every reference has and no other entity contains. As
    published, those that the rest of the input reveals are sought once: without these, others may
    be revealed, and their numbers are not given to the rest [code].
    """
    triples = [unit for unit in sample.units if isinstance(unit, Triple)]
    subjects = {triple.subject for triple in triples}
    lowered = {end: display(end).lower() for end in subjects | {t.object for t in triples}}
    texts = [display(text).lower() for text in sample.references]
    names = sorted(
        display(subject)
        for subject in subjects
        if not any(map(str.isdigit, lowered[subject]))
        and not any(lowered[subject] in name for end, name in lowered.items() if end != subject)
        and all(lowered[subject] in text for text in texts)
    )
    # An entity is revealed if its triple is, but for it, like one without phrases.
    plain = [t for t in triples if {display(t.subject), display(t.object)}.isdisjoint(names)]
    heads = {(triple.subject, triple.predicate) for triple in plain}
    tails = {(triple.predicate, triple.object) for triple in plain}
    revealed = {display(t.subject) for t in triples if (t.predicate, t.object) in tails}
    revealed |= {display(t.object) for t in triples if (t.subject, t.predicate) in heads}
    phrases = tuple(
        (name, f"Entity {number}")
        for number, name in enumerate(names, start=1)
        if name not in revealed
    )
    if phrases:
        return Hidden(phrases)
    return _REVEALED if names else "no entity is in all references"


# --- Values of attributes -------------------------------------------------------------------------


def _values(
    sample: Sample, values: Mapping[str, Sequence[str]], named: Collection[str]
) -> Hidden | str:
    """Return the attributes whose values to hide, or the reason for none.

    These are the ``named`` attributes, or else those whose one value all references copy as whole
    words. A sample that reveals a named one hides nothing. ``values`` are those of the attributes
    that may be hidden.
    """
    if named:
        found = [unit[0] for unit in sample.units if unit[0] in named]
    else:
        texts = [f" {clean(text)} " for text in sample.references]
        several = Counter(unit[0] for unit in sample.units)
        found = [
            unit[0]
            for unit in sample.units
            if several[unit[0]] == 1
            and (value := clean(unit[-1]))
            and not boolean(value)
            and all(f" {value} " in text for text in texts)
        ]
    names = [name for name in dict.fromkeys(found) if name in values][: len(ascii_uppercase)]
    hidden = names
    while revealed := _revealed_attributes(sample, hidden, values):
        hidden = [] if named else [name for name in hidden if name not in revealed]
    if hidden:
        phrases = tuple((name, _placeholder(n)) for n, name in enumerate(hidden, start=1))
        return Hidden(phrases, tuple((name, tuple(values[name])) for name in hidden))
    if names:
        return _REVEALED
    if found:
        return f"the attribute can have values of more than {MOST_LETTERS:,} letters in all"
    return "no unit has a named attribute" if named else "no value is in all references"


def _revealed_attributes(
    sample: Sample, names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the attributes of which any value is in the rest of the input."""
    plain = [unit[-1] for unit in sample.units if unit[0] not in names]
    placeholders = map(_placeholder, range(1, len(names) + 1))
    rest = [*sample.context.values(), *plain, *placeholders]
    texts = [display(text).lower() for text in rest if isinstance(text, str)]
    return [
        name
        for name in names
        if any(value.lower() in text for value in values[name] for text in texts)
    ]


def _placeholder(number: int) -> str:
    return f"Value {ascii_uppercase[number - 1]}"
