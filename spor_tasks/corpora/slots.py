"""Attributes and values, and tables of meaning representations (MRs): `name[Gull], food[Fish]`."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from spor_tasks.core.errors import CorpusError, advice
from spor_tasks.core.files import FileContent, decoded
from spor_tasks.core.manual import page
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker
from spor_tasks.text.normalize import words_of_name

_ACT = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_SLOT = re.compile(r"([^\[\](), ][^\[\](),]*)\[([^\[\]]*)\]")


def references_by_mr(lines: Iterable[bytes], where: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the place, the MR and the references of each MR in a CSV file, in their first order.

    Rows with equal MRs belong together, adjacent or not. The columns are parted by commas, tabs or
    semicolons, as the header is.

    Raises:
        CorpusError: there are no columns ``mr`` and ``ref``, or a row is malformed.
    """
    texts = decoded(lines, where)
    header = next(texts, "")
    parting = next((sign for sign in "\t;" if sign in header), ",")
    table = csv.DictReader(chain([header], texts), delimiter=parting, strict=True)
    found: dict[str, tuple[str, list[str]]] = {}
    try:
        columns = {name.strip().lower(): name for name in table.fieldnames or ()}
        if not {"mr", "ref"} <= columns.keys():
            raise CorpusError(
                "is neither JSON nor XML, and its first line has no columns `mr` and `ref`",
                where=where,
                remedy=f"{page('own-corpus')} describes the forms of a corpus of your own.",
            )
        for row in table:
            mr, reference = row[columns["mr"]], row[columns["ref"]]
            place = f"{where}:{table.line_num}"
            if None in row or mr is None or reference is None:
                raise CorpusError("has more or fewer cells than the first line", where=place)
            found.setdefault(mr, (place, []))[1].append(reference)
    except csv.Error as error:
        raise CorpusError(
            f"is not CSV: {error}", where=f"{where}:{table.reader.line_num}"
        ) from error
    return ((place, mr, references) for mr, (place, references) in found.items())


def slots_of(mr: str) -> list[tuple[str, str]]:
    """Return the slots of an MR and their values, in order."""
    return [(slot, value) for slot, value in _SLOT.findall(mr)]


def row_of_mr(mr: str, references: Sequence[str], where: str) -> FileContent:
    """Return a row of an MR such as `name[Gull], eatType[pub]` or `inform(name[Gull], …)`.

    The name is no unit, and neither is the dialogue act, which is in the context under ``act``.
    Slots without a value tell nothing, so there may be no unit.

    Raises:
        CorpusError: it is not an MR.
    """
    act = _ACT.fullmatch(mr)
    listed = act[2] if act else mr
    if _SLOT.sub("", listed).strip(" ,") or not mr.strip():
        raise CorpusError(
            f"{mr!r} is not a meaning representation",
            where=where,
            remedy="Write `name[Gull], eatType[pub]`, or `inform(name[Gull], …)`.",
        )
    slots = [(words_of_name(slot), value) for slot, value in slots_of(listed) if value]
    name = next((value for slot, value in slots if slot == "name"), None)
    return {
        "data": [slot for slot in slots if slot[0] != "name"],
        "texts": references,
        "name": name,
        "context": {"act": act[1]} if act else {},
    }


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
