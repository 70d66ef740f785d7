"""Attributes and values, and tables of meaning representations (MRs): `name[Gull], food[Fish]`."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from spor_tasks.core.errors import CorpusError, advice
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker
from spor_tasks.text.normalize import words_of_name

_SLOT = re.compile(r"([^\[\](), ][^\[\](),]*)\[([^\[\]]*)\]")


def references_by_mr(content: bytes) -> dict[str, list[str]]:
    """Return the references of each MR in a verified CSV file, the MRs in their first order.

    Rows with equal MRs belong together, adjacent or not.
    """
    references: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(content.decode(), newline="")):
        references.setdefault(row["mr"], []).append(row["ref"])
    return references


def slots_of(mr: str) -> list[tuple[str, str]]:
    """Return the slots of an MR and their values, in order."""
    return [(slot, value) for slot, value in _SLOT.findall(mr)]


def values_by_attribute(samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Return the values of each attribute in alphabetical order."""
    values: dict[str, set[str]] = {}
    for sample in samples:
        for unit in sample.units:
            if isinstance(unit, AttributeValue):
                values.setdefault(unit.attribute, set()).add(unit.value)
    return {attribute: sorted(distinct) for attribute, distinct in values.items()}


def letters_of(name: str) -> str:
    """Return what `familyFriendly`, `family_friendly` and `Family Friendly` have in common."""
    return "".join(filter(str.isalnum, name)).casefold()


def attribute_of(name: str, attributes: Mapping[str, str], *, where: str) -> str:
    """Return the attribute that has the words of a name, given all by the letters of their names.

    A name without a letter or digit stays as it is.

    Raises:
        CorpusError: there is none; the error says which are the nearest.
    """
    if not letters_of(name):
        return name
    if (attribute := attributes.get(letters_of(name))) is None:
        known = dict.fromkeys(attributes.values())
        what = f"has an attribute {name!r}, which the corpus does not have"
        raise CorpusError(what, where=where, remedy=advice(words_of_name(name), known))
    return attribute


def in_its_names(sample: Sample, attributes: Mapping[str, str], *, where: str) -> Sample:
    """Return a sample of pairs with the attributes as its corpus names them, and the id of that.

    Pairs that share no attribute with the corpus are not its own, and stay as they are.

    Raises:
        CorpusError: only some of them do.
    """
    pairs = [unit for unit in sample.units if isinstance(unit, AttributeValue)]
    if not any(letters_of(unit.attribute) in attributes for unit in pairs):
        return sample

    def named(name: str) -> str:
        return attribute_of(name, attributes, where=where)

    units = tuple(AttributeValue(named(unit.attribute), unit.value) for unit in pairs)
    challenge = sample.challenge
    if isinstance(challenge, Hidden):
        challenge = Hidden(
            tuple((named(name), phrase) for name, phrase in challenge.phrases),
            tuple((named(name), values) for name, values in challenge.values),
        )
    made = SampleMaker(sample.corpus)(units, sample.references, **sample.context)
    twin = sample.twin and replace(in_its_names(sample.twin, attributes, where=where), id=made.id)
    return replace(sample, id=made.id, units=units, challenge=challenge, twin=twin)
