"""Attributes and values, and tables of meaning representations (MRs): `name[Gull], food[Fish]`."""

import csv
import io
import re
from collections.abc import Iterable

from spor_tasks.core.sample import AttributeValue, Sample

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
