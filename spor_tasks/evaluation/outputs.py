"""Reads a file of outputs: samples, and what any system wrote for them.

Each row is a sample in the published field names (:mod:`spor_tasks.core.codec`) with its
``output`` or, under the metric ``order``, ``output_1`` and ``output_2``. If it has a twin, the
outputs for that follow, numbered on. Scored is what filters (:mod:`spor_tasks.text.filters`) leave
of an output.

The samples that lm-eval logs of our tasks are read too, with the outputs as they were scored; if
filters are named, with the whole outputs. A corpus that reads outputs in a published form
(:class:`spor_tasks.corpora.base.Corpus`) may be scored from that too: plain texts, one a line, or
labelled texts, to which no filter is applied by default. A row with the text as its ``output`` may
stand for a line.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from spor_tasks.core.codec import from_row, to_row
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import (
    JsonObject,
    begins_list,
    begins_rows,
    name_of,
    parse_rows,
    read_json,
    read_lines,
    read_rows,
)
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Triple, sides
from spor_tasks.corpora.base import Corpus, LabelledRow, PlacedRows
from spor_tasks.corpora.slots import in_its_names
from spor_tasks.metrics.base import Metric
from spor_tasks.text import filters as known_filters

_LOOKS = (
    "Write JSON Lines: in each line a sample and its `output`, as `spor score --help` shows. "
    "`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace."
)

_UNITS = {"webnlg": Triple, "e2e": AttributeValue, "viggo": AttributeValue}

_LONGEST = 1_000_000  # characters of a text


def _read(
    file: Path, corpus: Corpus, references: Path | None, *, whole: bool
) -> Iterator[LabelledRow]:
    """Yield the place of each row, its fields, and its sample if the fields do not contain it."""
    is_text = file.name.removesuffix(".gz").endswith(".txt")
    if not corpus.read_labelled and (references or (is_text and corpus.read_references)):
        yield from _lines(file, corpus, references)
        return
    if file.suffix == ".json" and corpus.read_outputs and not begins_list(read_lines(file)):
        first: JsonObject = {}
        rows = corpus.read_outputs(read_json(file, CorpusError), str(file))
    else:
        rows = read_rows(file)
        try:
            place, first = next(rows, (None, {}))
        except CorpusError as error:
            remedy = _LOOKS if error.where == f"{name_of(file)}:1" else error.remedy
            raise CorpusError(error.what, where=error.where, remedy=remedy) from error
        rows = chain([(place, first)], rows) if place else rows
    if {"doc", "resps"} <= first.keys():
        from spor_tasks.results.samples import answered

        of_filter = (
            (place, row) for place, row in rows if row.get("filter") == first.get("filter")
        )
        for place, row in of_filter:
            sample, outputs = answered(row, place, whole=whole)
            yield place, row_of(sample, outputs), sample
    elif corpus.read_labelled:
        yield from corpus.read_labelled(rows, references)
    else:
        yield from ((*row, None) for row in rows)


def _lines(file: Path, corpus: Corpus, references: Path | None) -> Iterator[LabelledRow]:
    """Yield the lines of a file as outputs for the samples that the corpus has there."""
    if corpus.read_references is None:
        raise ConfigError(
            f"the corpus {corpus.name} does not say which samples a line of text is about",
            where="references",
            remedy="Write JSON Lines: each sample with its `output`.",
        )
    lines = [*read_lines(file)]
    rows = (parse_rows if begins_rows(lines) else _texts)(lines, name_of(file))
    end = f"{name_of(file)}:{len(lines) + 1}"
    for row, placed in zip_longest(rows, [*corpus.read_references(references)]):
        place, fields = row or (end, {})
        if row is None or placed is None:
            raise CorpusError(
                f"is missing: the output for {placed[0]}" if placed else "is a line too many",
                where=place,
                remedy="The file needs one line for each sample.",
            )
        _, sample = placed
        name = sample.about("name") or sample.id
        about = {str(fields.get(key, name)) for key in ("id", "example_id")}
        if about != {name} or fields.keys() & {"data", "doc"}:
            raise CorpusError(
                f"has a sample of its own, or is not about {name}",
                where=place,
                remedy="Leave --references out, or give the samples in the order of the outputs.",
            )
        yield f"{place}, sample {name}", {"id": name, **fields}, sample


def _texts(lines: Iterable[bytes], where: str) -> PlacedRows:
    """Yield each line as the output of a row."""
    for number, line in enumerate(lines, start=1):
        try:  # only `\n` and `\r\n` end a line; editors of Windows put a mark before the first
            text = line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise CorpusError(f"is not UTF-8: {error}", where=f"{where}:{number}") from error
        yield f"{where}:{number}", {"output": text}


class ScoredRow(NamedTuple):
    """A row of a file: its place, its fields, its sample, and the outputs that are scored."""

    place: str
    fields: JsonObject
    sample: Sample
    outputs: Sequence[str]


def parsed(
    file: Path,
    corpus: Corpus,
    references: Path | None,
    metrics: Sequence[Metric],
    filters: Sequence[str],
    *,
    whole: bool,
) -> list[ScoredRow]:
    """Return the rows of a file with what is scored of their outputs; all have a twin or none."""
    needs_texts = any(each.needs_texts for each in metrics)
    rows: list[ScoredRow] = []
    for place, fields, own_sample in _read(file, corpus, references, whole=whole):
        # A maker for each row, for one remembers every sample to number equal ones.
        maker = SampleMaker(corpus.name)
        try:
            sample = own_sample or with_references(
                from_row(fields, maker, where=place, needs_texts=needs_texts), maker
            )
        except CorpusError as error:
            raise CorpusError(error.what, where=place, remedy=_LOOKS) from error
        if not own_sample:
            sample = in_its_names(sample, corpus.attributes, where=place)
        if not isinstance(sample.units[0], _UNITS.get(corpus.name, tuple)):
            raise CorpusError(
                f"its units are not those of {corpus.name}",
                where=place,
                remedy="WebNLG's are triples, those of E2E and ViGGO attribute-value pairs.",
            )
        first = rows[0].sample if rows else sample
        challenges = [side.challenge for side in sides(sample)]
        if (sample.twin is None) != (first.twin is None) or not all(
            isinstance(challenge, each.challenge or object)
            for challenge in challenges
            for each in metrics
        ):
            raise CorpusError(
                "lacks what the metric looks at",
                where=place,
                remedy="Samples of `order` have `output_order`, those of `copy_rule` have "
                "`replaced_entity` or `replaced_kv_pair`.",
            )
        names = _fields((metrics[0].outputs or 1) * len(sides(sample)))
        texts = [known_filters.apply(filters, _text(fields, name, place)) for name in names]
        rows.append(ScoredRow(place, fields, sample, texts))
    if not rows:
        raise CorpusError("holds no row", where=name_of(file))
    tables = [row.sample.cluster for row in rows]
    by_place = zip(*(row.outputs for row in rows), strict=True)
    replaced = [known_filters.over_all(filters, texts, tables) for texts in by_place]
    by_row = zip(*replaced, strict=True)
    return [row._replace(outputs=texts) for row, texts in zip(rows, by_row, strict=True)]


def row_of(sample: Sample, outputs: Sequence[str]) -> JsonObject:
    """Return a sample and its outputs as a row."""
    return {**to_row(sample), **dict(zip(_fields(len(outputs)), outputs, strict=True))}


def _fields(count: int) -> tuple[str, ...]:
    """Return the fields of a row that so many outputs are in."""
    return ("output",) if count == 1 else tuple(f"output_{n}" for n in range(1, count + 1))


def _text(row: JsonObject, field: str, where: str) -> str:
    """Return the text in a field of a row.

    It has at most a million characters: measuring these takes seconds and 200 MB.

    Raises:
        CorpusError: there is none, or it is longer; the error names ``where`` and the field.
    """
    text = row.get(field)
    if not isinstance(text, str):
        others = [key for key in row if isinstance(row[key], str) and key not in {"id", "name"}]
        remedy = f"Rename `{others[0]}` to `{field}`, if it is the output." if others else _LOOKS
        raise CorpusError(f"has no text `{field}`", where=where, remedy=remedy)
    if len(text) > _LONGEST:
        raise CorpusError(
            f"`{field}` has {len(text):,} characters, more than {_LONGEST:,}",
            where=where,
            remedy="Did the system not stop? Score the beginning of the text.",
        )
    return text


def check_same(rows: Iterable[ScoredRow], second: Iterable[ScoredRow]) -> None:
    """Refuse two files that are not of the same samples."""
    remedy = "Two systems are compared on the same samples in the same order."
    for row, match in zip_longest(rows, second):
        if row is None or match is None:
            fault, where = "has no counterpart in the other file", (row or match).place
            raise ResultError(fault, where=where, remedy=remedy)
        if (row.sample.id, row.sample.twin is None) != (match.sample.id, match.sample.twin is None):
            fault = f"is another sample than {match.place}"
            raise ResultError(fault, where=row.place, remedy=remedy)
