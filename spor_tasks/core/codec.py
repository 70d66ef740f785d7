"""Samples as the documents that lm-eval keeps and logs, and back: one mapping, read both ways."""

import json
from collections.abc import Mapping
from typing import Any

from spor_tasks.core.sample import AttributeValue, CopySample, OrderSample, Sample, Triple


def doc_of(sample: Sample) -> dict[str, Any]:
    """Return the sample as lm-eval's document; what is ragged is one JSON text."""
    doc = {
        "id": sample.id,
        "target": sample.references[0] if sample.references else "",
        "references": list(sample.references),
        "units": json.dumps(sample.units, ensure_ascii=False),
        "name": sample.name,
        "corpus": sample.corpus,
        "category": sample.category,
    }
    match sample:
        case OrderSample(input_orders=orders):
            return doc | {
                "input_orders": json.dumps(orders),
                "reference_orders": json.dumps(sample.reference_orders),
            }
        case CopySample(hidden=hidden):
            return doc | {"hidden": json.dumps(hidden, ensure_ascii=False)}
    return doc


def sample_of(doc: Mapping[str, Any]) -> Sample:
    """Return the sample that :func:`doc_of` made the document from, without what only some have."""
    units = json.loads(doc["units"])
    unit = Triple if len(units[0]) == len(Triple._fields) else AttributeValue
    return Sample(
        id=doc["id"],
        corpus=doc["corpus"],
        units=tuple(unit(*parts) for parts in units),
        references=tuple(doc["references"]),
        name=doc["name"],
        category=doc["category"],
    )


def order_sample_of(doc: Mapping[str, Any]) -> OrderSample:
    """Return the sample with the orders that :func:`doc_of` made the document from."""
    first, second = map(tuple, json.loads(doc["input_orders"]))
    references = tuple(map(tuple, json.loads(doc["reference_orders"])))
    return OrderSample.of(sample_of(doc), (first, second), references)


def copy_sample_of(doc: Mapping[str, Any]) -> CopySample:
    """Return the sample with what it hides that :func:`doc_of` made the document from."""
    hidden = json.loads(doc["hidden"])
    return CopySample.of(sample_of(doc), ((what, phrase) for what, phrase in hidden))


def any_sample_of(doc: Mapping[str, Any]) -> Sample:
    """Return the sample, with its orders or what it hides where the document has these."""
    if "input_orders" in doc:
        return order_sample_of(doc)
    return copy_sample_of(doc) if "hidden" in doc else sample_of(doc)


def to_row(sample: Sample) -> dict[str, Any]:
    """Return the sample in the published field names, in the published order.

    These are ``name`` (where the sample has one), ``data``, ``texts``, and what order invariance
    and rule learnability add: ``input_order_1``, ``input_order_2`` and ``output_order``; in place
    of ``texts``, ``replaced_kv_pair`` where units are pairs, else ``replaced_entity``.
    """
    named = {} if sample.name is None else {"name": sample.name}
    row = {**named, "data": [list(unit) for unit in sample.units]}
    match sample:
        case CopySample():
            triples = isinstance(sample.units[0], Triple)
            replaced = "replaced_entity" if triples else "replaced_kv_pair"
            return {**row, replaced: dict(sample.hidden)}
        case OrderSample(input_orders=(first, second)):
            return {
                **row,
                "texts": list(sample.references),
                "input_order_1": list(first),
                "input_order_2": list(second),
                "output_order": [list(order) for order in sample.reference_orders],
            }
    return {**row, "texts": list(sample.references)}
