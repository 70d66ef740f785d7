"""The only place that writes and reads samples: as rows of a file and as lm-eval documents.

A row has the published field names: ``data``, a list of units, each of three strings (a triple) or
of two (an attribute-value pair), and ``texts``, the references. Optional fields are ``name``, if
the units are pairs, ``category``, and an object ``context`` with all else that the source says.
Rows of order invariance also have ``input_order_1``, ``input_order_2`` and ``output_order``. Rows
of rule learnability have ``replaced_entity`` or ``replaced_kv_pair`` instead of ``texts``, and
``possible_values`` if they hide attributes that E2E does not have. Rows of adversarial pairs have
``contrast``, an object with ``data``, ``text`` and ``template``. A row with a twin has ``twin``,
the row of that twin. Other fields are ignored.

A document is what lm-eval keeps and logs of a sample.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import FileContent, JsonObject, decode
from spor_tasks.core.manual import page
from spor_tasks.core.sample import (
    AttributeValue,
    Challenge,
    Column,
    Contrast,
    DataUnit,
    Fact,
    Hidden,
    Order,
    Orders,
    Sample,
    SampleMaker,
    Triple,
)
from spor_tasks.core.table import CellTable, Table, from_json, to_json

_NAMED = ("name", "category")  # parts of the context with a field of their own
_NESTED = ("contrast", "context")  # fields that are JSON texts in a document
_REPLACED = {True: "replaced_entity", False: "replaced_kv_pair"}  # whether of triples

MOST_UNITS = 1_000
"""The most units of a row's sample: some steps compare each unit with all others."""

_text = json.JSONEncoder(ensure_ascii=False).encode


# --- Documents -----------------------------------------------------------------------------------


def doc_of(sample: Sample) -> FileContent:
    """Return the sample as an lm-eval document; nested lists are JSON texts."""
    doc = {
        "id": sample.id,
        "target": sample.target,
        "references": list(sample.references),
        "units": _text(sample.units),
        "name": sample.about("name"),
        "corpus": sample.corpus,
        "category": sample.about("category"),
    }
    match sample.challenge:
        case Orders(inputs, references):
            doc |= {"input_orders": _text(inputs), "reference_orders": _text(references)}
        case Hidden(phrases, values):
            doc["hidden"] = _text(phrases)
            doc |= {"possible_values": _text(values)} if values else {}
    row = to_row(sample)
    doc |= {field: _text(row[field]) for field in _NESTED if field in row}
    return doc | ({"twin": _text(doc_of(sample.twin))} if sample.twin else {})


def sample_of(doc: JsonObject) -> Sample:
    """Return the sample that :func:`doc_of` made the document from.

    A field that only other documents of the set have may be missing or None.

    Raises:
        LookupError, TypeError, ValueError: the document has another form.
    """

    def make(units: Units, references: tuple[str, ...], /, **context: Fact) -> Sample:
        return Sample(doc["id"], doc["corpus"], units, references, context)

    return _sample(msgspec.convert(_row_of(doc), _Fields), make)


def _row_of(doc: JsonObject) -> FileContent:
    row = {field: decode(doc[field]) for field in _NESTED if doc.get(field)}
    row |= {"data": decode(doc["units"]), "texts": doc["references"] or None}
    row |= {field: doc[field] for field in _NAMED}
    if orders := doc.get("input_orders"):
        row["input_order_1"], row["input_order_2"] = decode(orders)
        row["output_order"] = decode(doc["reference_orders"])
    if hidden := doc.get("hidden"):
        row |= {field: dict(decode(hidden)) for field in _REPLACED.values()}
        row["possible_values"] = dict(decode(doc.get("possible_values") or "[]"))
    if twin := doc.get("twin"):
        row["twin"] = _row_of(decode(twin))
    return row


# --- Rows ----------------------------------------------------------------------------------------

T = TypeVar("T")
Units: TypeAlias = tuple[DataUnit, ...]
_Some: TypeAlias = Annotated[tuple[T, ...], Meta(min_length=1)]
_Data: TypeAlias = _Some[Annotated[tuple[str, ...], Meta(min_length=2, max_length=3)]]
_Phrases: TypeAlias = Annotated[dict[str, str], Meta(min_length=1)]


class _Other(msgspec.Struct):
    data: _Data
    text: str
    template: str = ""


class _Ordering(msgspec.Struct):
    input_order_1: Order = ()
    input_order_2: Order = ()
    output_order: _Some[Order] | None = None


class _Fields(_Ordering, kw_only=True):
    """The fields of a row, as the docstring of this module describes them."""

    data: _Data
    name: str | None = None
    category: str | None = None
    context: FileContent = {}
    replaced_entity: _Phrases | None = None
    replaced_kv_pair: _Phrases | None = None
    possible_values: dict[str, _Some[str]] = {}
    contrast: _Other | None = None
    texts: _Some[str] | None = None
    twin: "_Fields | None" = None


def to_row(sample: Sample) -> FileContent:
    """Return the sample as a row, its fields in the published order.

    ``category`` is not written, because the published rows do not have it.
    """
    context: FileContent = {
        key: value for key, value in sample.context.items() if key not in _NAMED
    }
    if sample.table:
        context["table"] = to_json(sample.table)
    row = {"name": sample.about("name"), "data": sample.units, "context": context or None}
    texts: FileContent = {"texts": sample.references}
    match sample.challenge:
        case Hidden(phrases, values):
            replaced = _REPLACED[isinstance(sample.units[0], Triple)]
            texts = {replaced: dict(phrases), "possible_values": dict(values) or None}
        case Orders((first, second), orders):
            texts |= {"input_order_1": first, "input_order_2": second, "output_order": orders}
        case Contrast(units, text, template):
            contrast = {"data": units, "text": text}
            row["contrast"] = contrast | ({"template": template} if template else {})
    row |= texts | {"twin": to_row(sample.twin) if sample.twin else None}
    return {field: value for field, value in row.items() if value is not None}


def from_row(
    row: JsonObject,
    make: SampleMaker,
    *,
    where: str,
    unit: type[DataUnit] | None = None,
    needs_texts: bool = True,
) -> Sample:
    """Return the sample of a row; ``make`` gives it its id, and ``where`` names it in errors.

    Its units must be of the type ``unit``, if given. ``texts`` may be missing unless
    ``needs_texts`` is set.

    Raises:
        CorpusError: the row is malformed, or has more than :data:`MOST_UNITS` units; the error
            names ``where`` and the field.
    """
    try:
        sample = _sample(msgspec.convert(row, _Fields), make, unit, needs_texts=needs_texts)
    except ValueError as error:
        raise CorpusError(
            f"is not a sample: {error}",
            where=where,
            remedy=f"Correct this row; {page('own-corpus')} describes its fields.",
        ) from error
    if (units := len(sample.units)) > MOST_UNITS:
        raise CorpusError(f"`data` has {units:,} units, more than {MOST_UNITS:,}", where=where)
    return sample


def _sample(
    row: _Fields,
    make: Callable[..., Sample],
    unit: type[DataUnit] | None = None,
    *,
    needs_texts: bool = False,
) -> Sample:
    """Return the sample of a row.

    Raises:
        ValueError: two fields of the row contradict each other, or it lacks one.
    """
    named = {"name": row.name, "category": row.category}
    context = row.context | {key: value for key, value in named.items() if value is not None}
    if "table" in context:
        context["table"] = from_json(context["table"])
    read_units = partial(_units, unit=unit, table=context.get("table"))
    units = read_units(row.data)
    if "name" in context and isinstance(units[0], Triple):
        raise ValueError("`name` is only for attribute-value pairs, and these units are triples")
    challenge = _challenge(row, units, read_units)
    if needs_texts and not row.texts and not isinstance(challenge, Hidden):
        raise ValueError("`texts` is missing")
    texts = () if isinstance(challenge, Hidden) else row.texts or ()
    sample = make(units, texts, **context)
    if challenge is not None:
        sample = replace(sample, challenge=challenge)
    if row.twin is None:
        return sample
    twin = _sample(row.twin, SampleMaker(sample.corpus), type(units[0]))
    own_form, twin_form = (
        (len(side.units), len(side.references), type(side.challenge)) for side in (sample, twin)
    )
    if own_form != twin_form or twin.twin or isinstance(challenge, Contrast):
        raise ValueError(
            "`twin` must have as many units and texts as the sample, and the same fields, but no "
            "`contrast`"
        )
    return replace(sample, twin=replace(twin, id=sample.id))


def _units(data: _Data, unit: type[DataUnit] | None, table: Table | CellTable | None) -> Units:
    unit = unit or (Triple if len(data[0]) == len(Triple._fields) else AttributeValue)
    number = len(unit._fields)
    if faults := [i for i, parts in enumerate(data) if len(parts) != number]:
        raise ValueError(f"`data[{faults[0]}]` must have {number} strings, as other units have")
    if isinstance(table, Table):
        unit, numbers = Column, {*map(str, range(len(table.header)))}
        if faults := [i for i, parts in enumerate(data) if parts[-1] not in numbers]:
            raise ValueError(f"`data[{faults[0]}]` must end with the number of a column")
    return tuple(unit(*parts) for parts in data)


def _challenge(
    row: _Fields, units: Units, read_units: Callable[[_Data], Units]
) -> Challenge | None:
    if phrases := getattr(row, _REPLACED[isinstance(units[0], Triple)]):
        return Hidden(tuple(phrases.items()), tuple(row.possible_values.items()))
    if row.contrast:
        contrast = row.contrast
        return Contrast(read_units(contrast.data), contrast.text, contrast.template)
    if row.output_order is None:
        return None
    inputs = (row.input_order_1, row.input_order_2)
    if any(sorted(order) != [*range(len(units))] for order in (*inputs, *row.output_order)):
        raise ValueError(
            "`input_order_1`, `input_order_2` and each order in `output_order` must have each "
            "index into `data` exactly once"
        )
    if len(row.output_order) != len(row.texts or ()):
        raise ValueError("`output_order` must have one order for each text")
    return Orders(inputs, row.output_order)
