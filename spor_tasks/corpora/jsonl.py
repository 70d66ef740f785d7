"""JSON Lines in the published field names: the released sets, built ones, corpora of one's own.

One sample a line: ``data`` (a list of units: of three texts, triples, or of two, attribute-value
pairs), ``texts`` (its references), and what is optional: ``name`` where the units are pairs, and
``category``. Rows of order invariance have ``input_order_1``, ``input_order_2`` and
``output_order`` besides; rows of rule learnability ``replaced_entity`` or ``replaced_kv_pair`` in
place of ``texts``. Other fields are left alone.
"""

import io
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import parse_rows, read_rows
from spor_tasks.core.sample import (
    AttributeValue,
    CopySample,
    DataUnit,
    OrderSample,
    Sample,
    SampleMaker,
    Triple,
)


def read(path: Path, corpus: str) -> tuple[Sample, ...]:
    """Return the samples of a JSON Lines file, gzipped or not.

    Raises:
        CorpusError: the file cannot be read, holds no sample, or a row is malformed; the error
            names file, line and field.
    """
    return _samples(read_rows(path), corpus, str(path))


def parse(content: bytes, corpus: str, *, where: str) -> tuple[Sample, ...]:
    """Return the samples of a JSON Lines file's content; ``where`` names it in errors.

    Raises:
        CorpusError: as :func:`read`.
    """
    return _samples(parse_rows(io.BytesIO(content), where), corpus, where)


class RowReader:
    """Reads the rows of one file, in order, as samples of a corpus; all have one kind of units.

    Rows may do without ``texts`` where ``needs_texts`` is not set.
    """

    def __init__(self, corpus: str, *, needs_texts: bool = True) -> None:
        self._make = SampleMaker(corpus)
        self._needs_texts = needs_texts
        self._unit: type[DataUnit] | None = None

    def __call__(self, row: Mapping[str, Any], where: str) -> Sample:
        """Return the sample of a row.

        Raises:
            CorpusError: the row is malformed, or its units are pairs where those before were
                triples, or the other way about; the error names ``where`` and the field.
        """
        listed = _list(row.get("data"), "data", where)
        self._unit = unit = self._unit or _kind_of_unit(listed[0], where)
        name, category = (_text_or_none(row, field, where) for field in ("name", "category"))
        if name is not None and unit is Triple:
            raise CorpusError(
                "`name` goes with attribute-value pairs, and these units are triples", where=where
            )
        units = [
            unit(*_texts(parts, f"data[{i}]", where, length=len(unit._fields)))
            for i, parts in enumerate(listed)
        ]
        replaced = "replaced_entity" if unit is Triple else "replaced_kv_pair"
        if replaced in row:
            sample = self._make(units, (), name=name, category=category)
            return CopySample.of(sample, _hidden(row[replaced], replaced, where))
        texts = (
            _texts(row.get("texts"), "texts", where) if self._needs_texts or "texts" in row else ()
        )
        sample = self._make(units, texts, name=name, category=category)
        return _ordered(sample, row, where) if "output_order" in row else sample


def _samples(
    rows: Iterable[tuple[str, Mapping[str, Any]]], corpus: str, where: str
) -> tuple[Sample, ...]:
    read_row = RowReader(corpus)
    samples = tuple(read_row(row, place) for place, row in rows)
    if not samples:
        raise CorpusError("holds no sample", where=where)
    return samples


def _kind_of_unit(parts: object, where: str) -> type[DataUnit]:
    count = len(_list(parts, "data[0]", where))
    for unit in (Triple, AttributeValue):
        if count == len(unit._fields):
            return unit
    raise CorpusError(f"`data[0]` must hold 2 or 3 texts, not {count}", where=where)


def _text_or_none(row: Mapping[str, Any], field: str, where: str) -> str | None:
    value = row.get(field)
    if not isinstance(value, str | None):
        raise CorpusError(f"`{field}` must be a text, not {reprlib.repr(value)}", where=where)
    return value


def _hidden(value: object, field: str, where: str) -> list[tuple[str, str]]:
    if not isinstance(value, dict) or not value:
        raise CorpusError(f"`{field}` must be an object that is not empty", where=where)
    _texts(list(value.values()), field, where)
    return list(value.items())


def _ordered(sample: Sample, row: Mapping[str, Any], where: str) -> OrderSample:
    first, second = (
        _order(row.get(field), sample, field, where) for field in ("input_order_1", "input_order_2")
    )
    orders = tuple(
        _order(value, sample, f"output_order[{i}]", where)
        for i, value in enumerate(_list(row["output_order"], "output_order", where))
    )
    if len(orders) != len(sample.references):
        raise CorpusError(
            f"`output_order` must hold {len(sample.references)} orders, one per text, "
            f"not {len(orders)}",
            where=where,
        )
    return OrderSample.of(sample, (first, second), orders)


def _order(value: object, sample: Sample, field: str, where: str) -> tuple[int, ...]:
    order = _list(value, field, where)
    whole = all(type(index) is int for index in order)
    if not whole or sorted(order) != list(range(len(sample.units))):
        raise CorpusError(f"`{field}` must hold each index into `data` once", where=where)
    return tuple(order)


def _texts(value: object, field: str, where: str, *, length: int | None = None) -> list[str]:
    texts = _list(value, field, where)
    if not all(isinstance(text, str) for text in texts):
        raise CorpusError(f"`{field}` must hold texts only, not {reprlib.repr(texts)}", where=where)
    if length not in (None, len(texts)):
        raise CorpusError(
            f"`{field}` must hold {length} texts, not {len(texts)}",
            where=where,
            remedy="Either all units of a file are triples, or all are pairs.",
        )
    return texts


def _list(value: object, field: str, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise CorpusError(f"`{field}` must be a list that is not empty", where=where)
    return value
