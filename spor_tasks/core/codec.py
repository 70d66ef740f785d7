"""The only place that writes and reads samples: as rows of a file and as lm-eval documents.

A row has the published field names: ``data``, a list of units, each of three strings (a triple) or
of two (an attribute-value pair), and ``texts``, the references. Optional fields are ``name``, if
the units are pairs, ``category``, and an object ``context`` with all else that the source says.
Rows of order invariance also have ``input_order_1``, ``input_order_2`` and ``output_order``. Rows
of rule learnability have ``replaced_entity`` or ``replaced_kv_pair`` instead of ``texts``, and
``possible_values`` if they hide attributes that E2E does not have. Rows of adversarial pairs have
``contrast``, an object with ``data``, ``text`` and ``template``. Rows of texts whose units are
asked for have ``rivals``, a list of objects with ``data`` and ``alike``. A row with a twin has
``twin``, the row of that. Other fields are ignored.

A document is what lm-eval keeps and logs of a sample.
"""

import json
import reprlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import (
    AttributeValue,
    Challenge,
    Contrast,
    DataUnit,
    Hidden,
    Json,
    Order,
    Orders,
    Rivals,
    Sample,
    SampleMaker,
    Triple,
    Twin,
    sides,
    with_twin,
)

_NAMED = ("name", "category")  # parts of the context with a field of their own
_REPLACED: dict[type[DataUnit], str] = {
    Triple: "replaced_entity",
    AttributeValue: "replaced_kv_pair",
}

_text = json.JSONEncoder(ensure_ascii=False).encode


# --- Documents -----------------------------------------------------------------------------------


def doc_of(sample: Sample) -> dict[str, Any]:
    """Return the sample as an lm-eval document; nested lists are JSON texts."""
    if isinstance(sample.challenge, Twin):
        own, twin = map(doc_of, sides(sample))
        return own | {"twin": _text(twin)}
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
        case Contrast():
            doc["contrast"] = _text(_contrast_row(sample.challenge))
        case Rivals():
            doc["rivals"] = _text(_rival_rows(sample.challenge))
    return doc | ({"context": _text(other)} if (other := _other(sample)) else {})


def sample_of(doc: Mapping[str, Any]) -> Sample:
    """Return the sample that :func:`doc_of` made the document from.

    A field that only other documents of the set have may be missing or None.

    Raises:
        LookupError, TypeError, ValueError: the document has another form.
    """
    if twin := doc.get("twin"):
        return with_twin(sample_of({**doc, "twin": None}), sample_of(json.loads(twin)))
    units = json.loads(doc["units"])
    unit = Triple if len(units[0]) == len(Triple._fields) else AttributeValue
    named = {key: doc[key] for key in _NAMED if doc[key] is not None}
    other = doc.get("context")
    return Sample(
        id=doc["id"],
        corpus=doc["corpus"],
        units=tuple(unit(*parts) for parts in units),
        references=tuple(doc["references"]),
        context=named | json.loads(other) if other else named,
        challenge=_challenge_of(doc),
    )


def cluster_of(doc: Mapping[str, Any]) -> Hashable:
    """Return the cluster of a document's sample (:attr:`Sample.cluster`), in less time.

    Raises:
        LookupError, TypeError, ValueError: as :func:`sample_of`.
    """
    if doc.get("rivals"):
        return str(doc["id"])
    other = json.loads(doc.get("context") or "{}")
    if isinstance(source := other.get("source"), str) and source:
        return source
    if "table" in other:
        return str(doc["name"])
    return frozenset(map(tuple, json.loads(doc["units"])))


def _challenge_of(doc: Mapping[str, Any]) -> Challenge | None:
    if doc.get("input_orders"):
        first, second = map(tuple, json.loads(doc["input_orders"]))
        return Orders((first, second), tuple(map(tuple, json.loads(doc["reference_orders"]))))
    if doc.get("hidden"):
        values = json.loads(doc.get("possible_values") or "[]")
        return Hidden(
            tuple((what, phrase) for what, phrase in json.loads(doc["hidden"])),
            tuple((what, tuple(known)) for what, known in values),
        )
    if doc.get("contrast"):
        return _contrast(json.loads(doc["contrast"]), "document")
    if doc.get("rivals"):
        return _rivals(json.loads(doc["rivals"]), "document")
    return None


def _contrast_row(contrast: Contrast) -> dict[str, Any]:
    return {
        "data": [list(unit) for unit in contrast.units],
        "text": contrast.text,
        "template": contrast.template,
    }


def _contrast(row: object, where: str) -> Contrast:
    if not isinstance(row, dict):
        raise CorpusError("`contrast` must be an object", where=where)
    units = _units(row.get("data"), "contrast.data", where)
    (text,) = _texts([row.get("text")], "contrast.text", where)
    (template,) = _texts([row.get("template", "")], "contrast.template", where)
    return Contrast(units, text, template)


def _units(value: object, field: str, where: str) -> tuple[DataUnit, ...]:
    data = _list(value, field, where)
    unit = _kind_of_unit(data[0], where)
    return tuple(
        unit(*_texts(parts, f"{field}[{i}]", where, length=len(unit._fields)))
        for i, parts in enumerate(data)
    )


def _rival_rows(rivals: Rivals) -> list[dict[str, Any]]:
    return [
        {"data": [list(unit) for unit in units], "alike": alike}
        for units, alike in zip(rivals.units, rivals.alike, strict=True)
    ]


def _rivals(rows: object, where: str) -> Rivals:
    listed = _list(rows, "rivals", where)
    for i, row in enumerate(listed):
        if not isinstance(row, dict) or not isinstance(row.get("alike"), bool):
            what = f"`rivals[{i}]` must be an object with `data` and `alike`, true or false"
            raise CorpusError(what, where=where)
    return Rivals(
        tuple(_units(row.get("data"), f"rivals[{i}].data", where) for i, row in enumerate(listed)),
        tuple(row["alike"] for row in listed),
    )


def _other(sample: Sample) -> dict[str, Json]:
    return {key: value for key, value in sample.context.items() if key not in _NAMED}


# --- Rows ----------------------------------------------------------------------------------------


def to_row(sample: Sample) -> dict[str, Any]:
    """Return the sample as a row, its fields in the published order.

    ``category`` is not written, because the published rows do not have it.
    """
    if isinstance(sample.challenge, Twin):
        own, twin = map(to_row, sides(sample))
        return own | {"twin": twin}
    name, other = sample.about("name"), _other(sample)
    row: dict[str, Any] = {} if name is None else {"name": name}
    row |= {"data": [list(unit) for unit in sample.units]}
    row |= {"context": other} if other else {}
    match sample.challenge:
        case Hidden(phrases, values):
            row[_REPLACED[type(sample.units[0])]] = dict(phrases)
            return row | ({"possible_values": dict(values)} if values else {})
        case Orders((first, second), references):
            return {
                **row,
                "texts": list(sample.references),
                "input_order_1": list(first),
                "input_order_2": list(second),
                "output_order": [list(order) for order in references],
            }
        case Contrast():
            row["contrast"] = _contrast_row(sample.challenge)
        case Rivals():
            row["rivals"] = _rival_rows(sample.challenge)
    return {**row, "texts": list(sample.references)}


def from_row(
    row: Mapping[str, Any],
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
        CorpusError: the row is malformed; the error names ``where`` and the field.
    """
    if "twin" in row:
        return _with_twin(row, make, where, unit, needs_texts=needs_texts)
    listed = _list(row.get("data"), "data", where)
    unit = unit or _kind_of_unit(listed[0], where)
    units = [
        unit(*_texts(parts, f"data[{i}]", where, length=len(unit._fields)))
        for i, parts in enumerate(listed)
    ]
    context = _context(row, where)
    if "name" in context and unit is Triple:
        raise CorpusError(
            "`name` is only for attribute-value pairs, but these units are triples", where=where
        )
    if (replaced := _REPLACED[unit]) in row:
        hidden = _hidden(row, replaced, where)
        return replace(make(units, (), **context), challenge=hidden)
    has_texts = needs_texts or "texts" in row
    texts = _texts(row.get("texts"), "texts", where) if has_texts else []
    sample = make(units, texts, **context)
    if "contrast" in row:
        return replace(sample, challenge=_contrast(row["contrast"], where))
    if "rivals" in row:
        return replace(sample, challenge=_rivals(row["rivals"], where))
    if "output_order" in row:
        return replace(sample, challenge=_orders(row, len(units), len(texts), where))
    return sample


def _with_twin(
    row: Mapping[str, Any],
    make: SampleMaker,
    where: str,
    unit: type[DataUnit] | None,
    *,
    needs_texts: bool,
) -> Sample:
    """Return the sample of a row with a twin, which must be of the same form."""
    own = {key: value for key, value in row.items() if key != "twin"}
    sample = from_row(own, make, where=where, unit=unit, needs_texts=needs_texts)
    if not isinstance(row["twin"], dict) or "twin" in row["twin"]:
        raise CorpusError("`twin` must be an object without a `twin`", where=where)
    twin = from_row(
        row["twin"],
        SampleMaker(make.corpus),
        where=f"{where}, twin",
        unit=type(sample.units[0]),
        needs_texts=needs_texts,
    )
    alike = [
        (len(each.units), len(each.references), type(each.challenge)) for each in (sample, twin)
    ]
    if alike[0] != alike[1] or isinstance(sample.challenge, Contrast | Rivals):
        raise CorpusError(
            "`twin` must have as many units and texts as the sample, and the same fields, none of "
            "which are `contrast` and `rivals`",
            where=where,
        )
    return with_twin(sample, replace(twin, id=sample.id))


def _kind_of_unit(parts: object, where: str) -> type[DataUnit]:
    count = len(_list(parts, "data[0]", where))
    for unit in (Triple, AttributeValue):
        if count == len(unit._fields):
            return unit
    raise CorpusError(f"`data[0]` must have 2 or 3 strings, not {count}", where=where)


def _context(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    other = row.get("context", {})
    if not isinstance(other, dict):
        raise CorpusError(f"`context` must be an object, not {reprlib.repr(other)}", where=where)
    context = {**other, **{key: row[key] for key in _NAMED if row.get(key) is not None}}
    for key in _NAMED:
        if not isinstance(context.get(key, ""), str):
            raise CorpusError(
                f"`{key}` must be a string, not {reprlib.repr(context[key])}", where=where
            )
    return context


def _hidden(row: Mapping[str, Any], field: str, where: str) -> Hidden:
    phrases, values = row[field], row.get("possible_values", {})
    if not isinstance(phrases, dict) or not phrases:
        raise CorpusError(f"`{field}` must be a non-empty object", where=where)
    if not isinstance(values, dict):
        raise CorpusError("`possible_values` must be an object", where=where)
    _texts(list(phrases.values()), field, where)
    return Hidden(
        tuple(phrases.items()),
        tuple(
            (what, tuple(_texts(known, f"possible_values.{what}", where)))
            for what, known in values.items()
        ),
    )


def _orders(row: Mapping[str, Any], units: int, texts: int, where: str) -> Orders:
    first, second = (
        _order(row.get(field), units, field, where) for field in ("input_order_1", "input_order_2")
    )
    orders = tuple(
        _order(value, units, f"output_order[{i}]", where)
        for i, value in enumerate(_list(row["output_order"], "output_order", where))
    )
    if len(orders) != texts:
        raise CorpusError(
            f"`output_order` must have {texts} orders, one per text, not {len(orders)}",
            where=where,
        )
    return Orders((first, second), orders)


def _order(value: object, units: int, field: str, where: str) -> Order:
    order = _list(value, field, where)
    whole = all(type(index) is int for index in order)
    if not whole or sorted(order) != list(range(units)):
        raise CorpusError(f"`{field}` must have each index into `data` exactly once", where=where)
    return tuple(order)


def _texts(value: object, field: str, where: str, *, length: int | None = None) -> list[str]:
    texts = _list(value, field, where)
    if not all(isinstance(text, str) for text in texts):
        raise CorpusError(
            f"`{field}` must be a list of strings, not {reprlib.repr(texts)}", where=where
        )
    if length not in (None, len(texts)):
        raise CorpusError(
            f"`{field}` must have {length} strings, not {len(texts)}",
            where=where,
            remedy="Make all units of a file triples, or all of them attribute-value pairs.",
        )
    return texts


def _list(value: object, field: str, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise CorpusError(f"`{field}` must be a non-empty list", where=where)
    return value
