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

Where the samples are known, as those of a task or a file are, plain texts are read of any corpus: a
line for each prompt of each sample, in their order. A line may be a JSON string, if all are.
"""

import logging
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from spor_tasks.core.codec import from_row, to_row
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import (
    LIST_BYTES,
    JsonObject,
    begins_list,
    begins_rows,
    decoded,
    is_blank,
    name_of,
    parse_rows,
    read_json,
    read_lines,
    read_rows,
)
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Triple, sides
from spor_tasks.corpora.base import LabelledRow, PlacedRows
from spor_tasks.corpora.slots import in_its_names
from spor_tasks.evaluation.subject import Subject
from spor_tasks.metrics.base import Metric
from spor_tasks.text import filters as known_filters

_log = logging.getLogger(__name__)

_LOOKS = (
    "Write JSON Lines: in each line a sample and its `output`, as `spor score --help` shows. "
    "`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace."
)

_UNITS = {"webnlg": Triple, "e2e": AttributeValue, "viggo": AttributeValue}

_LONGEST = 1_000_000  # characters of a text


def _read(
    file: Path, subject: Subject, outputs: int, filters: Sequence[str] | None
) -> tuple[Iterator[LabelledRow], Sequence[str]]:
    """Return the place, the fields and, if they lack it, the sample of each row; and the filters.

    These are to be applied to what the rows have: logged outputs are cut already, unless filters
    are named. ``outputs`` is the number of texts for each side of a sample.
    """
    corpus, cut = subject.corpus, subject.filters if filters is None else filters
    is_text = file.name.removesuffix(".gz").endswith(".txt")
    first: JsonObject = {}
    rows: PlacedRows
    if subject.read and (is_text or not subject.for_texts_alone):
        lines = [*read_lines(file)]
        are_rows = begins_rows(lines)
        rows = (parse_rows if are_rows else _texts)(lines, name_of(file))
        if texts := _list_of_texts(lines):
            rows = ((f"{name_of(file)}, text {n}", {"output": t}) for n, t in enumerate(texts, 1))
        begin = [*islice(rows, 1)]
        first = begin[0][1] if begin else {}
        rows = chain(begin, rows)
        if not (subject.may_repeat and first.keys() & {"data", "doc"}):
            end = f"{name_of(file)}:{len(lines) + 1}"
            return _in_order([*rows], end, subject, None if are_rows else outputs), cut
    elif file.suffix == ".json" and corpus.read_outputs and not begins_list(read_lines(file)):
        rows = corpus.read_outputs(read_json(file, CorpusError), str(file))
    else:
        rows = read_rows(file)
        try:
            begin = [*islice(rows, 1)]
        except CorpusError as error:
            remedy = _LOOKS if error.where == f"{name_of(file)}:1" else error.remedy
            raise CorpusError(error.what, where=error.where, remedy=remedy) from error
        first = begin[0][1] if begin else {}
        rows = chain(begin, rows)
    if {"doc", "resps"} <= first.keys():
        whole = filters is not None
        return _logged(rows, first.get("filter"), whole=whole), cut if whole else ()
    if corpus.read_labelled and not subject.task:
        return iter(corpus.read_labelled(rows, subject.labels)), cut
    return ((*row, None) for row in rows), cut


def _logged(rows: PlacedRows, name: object, *, whole: bool) -> Iterator[LabelledRow]:
    """Yield the samples that lm-eval logged after the filters of one name, with their outputs."""
    from spor_tasks.results.samples import answered

    for place, row in rows:
        if row.get("filter") == name:
            sample, outputs = answered(row, place, whole=whole)
            yield place, row_of(sample, outputs), sample


def _in_order(
    rows: Sequence[tuple[str, JsonObject]], end: str, subject: Subject, outputs: int | None
) -> Iterator[LabelledRow]:
    """Yield the row of each sample, in their order.

    ``end`` is the place after the last row. Of plain texts each side of a sample has as many as
    ``outputs`` says; None says that a row has all outputs for a sample.
    """
    placed = subject.samples
    first = next((sample for _, sample in placed if sample), None)
    if first is None:
        raise CorpusError("has no sample", where=subject.name)
    count = outputs * len(sides(first)) if outputs else 1
    if len(rows) != count * len(placed):
        placed = subject.covered
    if len(rows) != count * len(placed):
        needs = f"{count} lines for each of them" if count > 1 else "a line for each of them"
        is_csv = {".csv", ".tsv"} & {*Path(subject.name).suffixes}
        pooled = " Rows of a csv that have one MR are one sample." if is_csv else ""
        found = "is 1 output" if len(rows) == 1 else f"are {len(rows):,} outputs"
        raise CorpusError(
            f"there {found}, and {subject.name} has {len(placed):,} samples",
            where=rows[count * len(placed)][0] if len(rows) > count * len(placed) else end,
            remedy=f"Write {needs}, in their order. An empty line is an empty output.{pooled}",
        )
    names = _fields(count)
    for number, (_, sample) in enumerate(placed):
        if sample is None:
            continue
        of_sample = rows[number * count : (number + 1) * count]
        place, fields = of_sample[0]
        if count > 1:
            fields = {name: row["output"] for name, (_, row) in zip(names, of_sample, strict=True)}
        name = sample.about("name") or sample.id
        about = {str(fields[key]) for key in ("id", "example_id") if key in fields}
        if not about <= {name, sample.id, str(number), str(number + 1)} or fields.keys() & {
            "data",
            "doc",
        }:
            raise CorpusError(
                f"has a sample of its own, or is not about {name}",
                where=place,
                remedy="Leave --references out, or give the samples in the order of the outputs.",
            )
        yield f"{place}, sample {name}", {"id": name, **fields}, sample


def _texts(lines: Sequence[bytes], where: str) -> PlacedRows:
    """Yield each line as the output of a row; if all are JSON strings, what these stand for."""
    texts: Iterable[str] = decoded(lines, where)
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        as_json = [
            "" if is_blank(line) else msgspec.json.decode(line.removeprefix(BOM_UTF8), type=str)
            for line in lines
        ]
        if any(as_json):
            _log.warning("%s: each line is a JSON string, and is read as the text of it", where)
            texts = as_json
    for number, text in enumerate(texts, start=1):
        # only `\n` and `\r\n` end a line
        output = text.removesuffix("\n").removesuffix("\r")
        yield f"{where}:{number}", {"output": output}


def _list_of_texts(lines: Sequence[bytes]) -> Sequence[str]:
    """Return the texts of a file that is a JSON list of nothing else; empty for any other file."""
    if not lines or lines[0].lstrip()[:1] != b"[" or sum(map(len, lines)) > LIST_BYTES:
        return ()
    try:
        return msgspec.json.decode(b"".join(lines), type=list[str])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ()


class ScoredRow(NamedTuple):
    """A row of a file: its place, its fields, its sample, and the outputs that are scored."""

    place: str
    fields: JsonObject
    sample: Sample
    outputs: Sequence[str]


def parsed(
    file: Path,
    subject: Subject,
    metrics: Sequence[Metric],
    filters: Sequence[str] | None,
) -> list[ScoredRow]:
    """Return the rows of a file with what is scored of their outputs; all have a twin or none.

    ``filters`` that are None are those that are usual for the samples.
    """
    corpus, count = subject.corpus, outputs_of(metrics, subject)
    needs_texts = any(each.needs_texts for each in metrics)
    rows: list[ScoredRow] = []
    found, cut = _read(file, subject, count, filters)
    for place, fields, own_sample in found:
        # A maker for each row, for one remembers every sample to number equal ones.
        maker = SampleMaker(corpus.name)
        try:
            filled = {key: value for key, value in fields.items() if (key, value) != ("texts", [])}
            sample = own_sample or with_references(
                from_row(filled, maker, where=place, needs_texts=needs_texts), maker
            )
        except CorpusError as error:
            raise CorpusError(error.what, where=place, remedy=_LOOKS) from error
        if not own_sample:
            sample = in_its_names(sample, corpus.attributes, where=place)
        first = rows[0].sample if rows else sample
        _check(sample, first, place, subject, metrics)
        names = _fields(count * len(sides(sample)))
        texts = [known_filters.apply(cut, _text(fields, name, place)) for name in names]
        rows.append(ScoredRow(place, fields, sample, texts))
    if not rows:
        raise CorpusError("holds no row", where=name_of(file))
    tables = [row.sample.cluster for row in rows]
    by_place = zip(*(row.outputs for row in rows), strict=True)
    replaced = [known_filters.over_all(cut, texts, tables) for texts in by_place]
    by_row = zip(*replaced, strict=True)
    return [row._replace(outputs=texts) for row, texts in zip(rows, by_row, strict=True)]


def _check(
    sample: Sample,
    first: Sample,
    place: str,
    subject: Subject,
    metrics: Sequence[Metric],
) -> None:
    """Refuse a sample that is not one of the subject's, or that the metrics cannot judge.

    Raises:
        CorpusError: it is such a sample, or has no twin if the first has one, or the reverse.
    """
    corpus = subject.corpus.name
    if not subject.has(sample):
        raise CorpusError(
            f"its sample is not one of {subject.name}",
            where=place,
            remedy="Name another task or file, or a registered --corpus and a --metric.",
        )
    if not isinstance(sample.units[0], _UNITS.get(corpus, tuple)):
        raise CorpusError(
            f"its units are not those of {corpus}",
            where=place,
            remedy="WebNLG's are triples, those of E2E and ViGGO attribute-value pairs.",
        )
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


def outputs_of(metrics: Sequence[Metric], subject: Subject) -> int:
    """Return the number of texts that the metrics judge of a side of a sample.

    Raises:
        ConfigError: it is another one for two metrics, or for a metric and the task.
    """
    counts = {each.outputs: name_of_metric(each) for each in metrics if each.outputs}
    if subject.outputs:
        counts.setdefault(subject.outputs, str(subject.task))
    if len(counts) > 1:
        texts = " and ".join(f"{count} of {name}" for count, name in sorted(counts.items()))
        what = f"a sample has different numbers of texts: {texts}"
        raise ConfigError(what, where="metric", remedy="Leave one of them out.")
    return next(iter(counts), 1)


def name_of_metric(metric: Metric) -> str:
    """Return the name that the signature of a metric begins with."""
    return metric.signature.partition("|")[0]


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
