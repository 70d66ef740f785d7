"""Scores a file of outputs, whatever system wrote them, without the harness.

Each row is a sample in the published field names (:mod:`spor_tasks.core.codec`) with its
``output`` or, under the metric ``order``, ``output_1`` and ``output_2``. If it has a twin, the
outputs for that follow, numbered on. Scored is what filters (:mod:`spor_tasks.text.filters`) leave
of an output.

The samples that lm-eval logs of our tasks are read too, with the outputs as they were scored; if
filters are named, with the whole outputs. A corpus that reads outputs in a published form
(:class:`spor_tasks.corpora.base.Corpus`) may be scored from that too: plain texts, one a line, or
labelled texts, to which no filter is applied by default.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.codec import from_row, to_row
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import (
    name_of,
    read_json,
    read_lines,
    read_rows,
    write_rows,
    writing,
)
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Triple, sides
from spor_tasks.corpora.base import Corpus, LabelledRow, Rows
from spor_tasks.metrics import learned
from spor_tasks.metrics.base import (
    Column,
    Judgement,
    Metric,
    Score,
    Tally,
    judge_all,
    score_info,
    with_groups,
)
from spor_tasks.metrics.base import metric as registered
from spor_tasks.results import statistics
from spor_tasks.results.clusters import Clusters, clusters_of, common, count_of
from spor_tasks.results.samples import answered
from spor_tasks.results.statistics import Estimate
from spor_tasks.text import filters as known_filters

_LOOKS = (
    "Write JSON Lines: in each line a sample and its `output`, as `spor score --help` shows. "
    "`spor baseline copy-input TASK --out FILE` writes such lines, with outputs to replace. "
    "`jq -c '.[]' LIST` makes lines of a JSON list."
)

_UNITS = {"webnlg": Triple, "e2e": AttributeValue}

_WITH_OWN_PARENT = ("totto", "totto_mini")

_LONGEST = 1_000_000  # characters of a text

_PREFIXES = {"nli_acc": "nli", "mctg_ppl": "ppl", "compmctg": "aspects"}
"""The prefixes of metrics by a model, where they are not the metric's own name."""


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of a file of outputs.

    ``clusters`` counts the samples with different units, or the different tables.
    ``samples_sha256`` is the digest of the samples as the published file of them would have it,
    whatever else the rows hold: scores are of the same test set if it is the same. ``comparisons``
    are by score, where another file was given.
    """

    metric: str
    corpus: str
    samples: int
    clusters: int
    samples_sha256: str
    scores: tuple[Score, ...]
    comparisons: Mapping[str, Estimate | None]


def metric(name: str, **settings: Any) -> Metric:  # noqa: ANN401 - of different types
    """Return the registered metric with this name, with its settings, such as a ``model``.

    Raises:
        ConfigError: the metric or a setting is unknown, its first setting is missing, or its model
            cannot be loaded.
    """
    plain = registered(name)
    if not settings:
        return plain
    prefix = _PREFIXES.get(name, name)
    allowed = learned.LOADERS[prefix].settings if prefix in learned.LOADERS else ()
    if unknown := settings.keys() - set(allowed):
        raise ConfigError(f"the metric {name} has no {min(unknown)}", remedy="Leave it out.")
    if allowed[0] not in settings:
        raise ConfigError(f"the metric {name} needs its {allowed[0]}", remedy="Name it too.")
    return cast("Metric", learned.load(prefix, **settings))


def score(
    file: Path,
    name: str,
    corpus: str,
    *,
    references: Path | None = None,
    per_sample: Path | None = None,
    against: Path | None = None,
    intervals: bool = False,
    judge: Metric | None = None,
    more: Sequence[Metric] = (),
    filters: Sequence[str] | None = None,
) -> Result:
    """Score the outputs in ``file``, which may be gzipped, or ``-`` for standard input.

    ``name`` is that of a registered metric; those with scores that correct one of its scores are
    measured too, and so are ``more`` metrics. ``judge`` is the metric of this name with its
    classifier or other settings.
    ``references`` is a file of samples in the corpus's own format. The outputs are then plain
    texts, one a line; those in a `.txt` file are for the corpus's own test samples. ``per_sample``
    is written each row as it was, with what the metrics found. ``against`` holds another system's
    outputs for the same samples in the same order. ``filters`` are applied to each output, in this
    order; an empty list scores it whole, and None is as tasks of the corpus do.

    Raises:
        ConfigError: the metric, corpus or a filter is unknown, the metric lacks a classifier, or
            ``per_sample`` cannot be written.
        CorpusError: a row cannot be read or scored; the error names the line.
        ResultError: ``against`` is of other samples.
    """
    _check_parent(name, corpus)
    source: Corpus = registry().get("corpus", corpus)
    whole = filters is not None
    if filters is None:
        filters = () if source.read_labelled else known_filters.DEFAULT
    for each in filters:
        known_filters.find(each)
    metrics = [*_with_corrections(name, judge or registered(name)), *more]
    parse = partial(_parsed, corpus=source, references=references, metrics=metrics)
    rows = parse(file, filters=filters, whole=whole)
    second = parse(against, filters=filters, whole=whole) if against else []
    if against:
        _check_same(rows, second)
    judgements = _judge(rows, metrics)
    if per_sample:
        with writing(per_sample):
            write_rows(per_sample, map(_described, rows, zip(*judgements, strict=True)))
    scored = _scored(rows, judgements, metrics)
    compared = _scored(second, _judge(second, metrics), metrics) if against else {}
    clusters = clusters_of(row.sample.cluster for row in rows)
    sha = digest(row.sample for row in rows)
    signed = _signature(sha, filters)
    scores = []
    for each, (column, outputs, signature) in scored.items():
        ends = _ends(each, column, clusters[outputs]) if intervals else None
        scores.append(replace(column.score(each, f"{signature}|{signed}"), interval=ends))
    differences = {
        each: statistics.difference(scored[each].column, theirs.column, clusters[theirs.outputs])
        for each, theirs in compared.items()
    }
    count = count_of(clusters)
    return Result(name, corpus, len(rows), count, sha, tuple(scores), differences)


def _signature(sha256: str, filters: Sequence[str]) -> str:
    """Return what of the samples and filters can change the scores."""
    signed = f"samples:{sha256[:16]}"
    if tuple(filters) != known_filters.DEFAULT:
        signed += f"|filter:{','.join(filters) or 'none'}"
    return signed


def _check_parent(name: str, corpus: str) -> None:
    """Refuse the PARENT of SPOR for a corpus that has another one."""
    if corpus in _WITH_OWN_PARENT and name.startswith("parent"):
        raise ConfigError(
            f"{name} is the PARENT of SPOR, which has one table; that of {corpus} has two",
            where="metric",
            remedy="Use the metric totto, or totto_real without its pads.",
        )


def _with_corrections(name: str, metric: Metric) -> Iterator[Metric]:
    """Yield the metric, and those that correct it."""
    if metric.answers != "texts":
        raise ConfigError(
            f"the metric {name} judges log likelihoods, which a file of outputs does not have",
            remedy="Evaluate a task that asks for them, such as one whose name ends in "
            "_adversarial or _ppl.",
        )
    yield metric
    corrected = {info.name for info in metric.scores}
    for each in map(registered, registry().names("metric")):
        if any(info.corrects in corrected for info in each.scores) and each is not registered(name):
            yield each


# --- What is read ---------------------------------------------------------------------------------


def _read(
    file: Path, corpus: Corpus, references: Path | None, *, whole: bool
) -> Iterator[LabelledRow]:
    """Yield the place of each row, its fields, and its sample if the fields do not contain it."""
    is_text = file.name.removesuffix(".gz").endswith(".txt")
    if not corpus.read_labelled and (references or (is_text and corpus.read_references)):
        yield from _lines(file, corpus, references)
        return
    first, rows = _rows(file, corpus)
    if {"doc", "resps"} <= first.keys():
        of_filter = (
            (place, row) for place, row in rows if row.get("filter") == first.get("filter")
        )
        for place, row in of_filter:
            sample, outputs = answered(row, place, whole=whole)
            fields = zip(output_fields(len(outputs)), outputs, strict=True)
            yield place, {**to_row(sample), **dict(fields)}, sample
    elif corpus.read_labelled:
        yield from corpus.read_labelled(rows, references)
    else:
        yield from ((*row, None) for row in rows)


def _rows(file: Path, corpus: Corpus) -> tuple[Mapping[str, Any], Rows]:
    """Return the first row, empty if there is none, and all rows.

    A corpus may also read its published format, one JSON text in a `.json` file.
    """
    if file.suffix == ".json" and corpus.read_outputs:
        return {}, corpus.read_outputs(read_json(file, CorpusError), str(file))
    rows = read_rows(file)
    try:
        first = [*islice(rows, 1)]
    except CorpusError as error:
        remedy = _LOOKS if error.where == f"{name_of(file)}:1" else error.remedy
        raise CorpusError(error.what, where=error.where, remedy=remedy) from error
    return first[0][1] if first else {}, chain(first, rows)


def _lines(file: Path, corpus: Corpus, references: Path | None) -> Iterator[LabelledRow]:
    """Yield the lines of a file as outputs for the samples that the corpus has there."""
    if corpus.read_references is None:
        raise ConfigError(
            f"the corpus {corpus.name} does not say which samples a line of text is about",
            where="references",
            remedy="Write JSON Lines: each sample with its `output`.",
        )
    place = name_of(file)
    pairs = zip_longest([*read_lines(file)], [*corpus.read_references(references)])
    for number, (line, placed) in enumerate(pairs, start=1):
        if line is None or placed is None:
            raise CorpusError(
                f"is missing: the output for {placed[0]}" if placed else "is a line too many",
                where=f"{place}:{number}",
                remedy="The file needs one line for each sample.",
            )
        try:  # only `\n` and `\r\n` end a line; editors of Windows put a mark before the first
            text = line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise CorpusError(f"is not UTF-8: {error}", where=f"{place}:{number}") from error
        _, sample = placed
        name = sample.about("name") or sample.id
        yield f"{place}:{number}, sample {name}", {"id": name, "output": text}, sample


# --- What is judged -------------------------------------------------------------------------------


class _Row(NamedTuple):
    place: str
    fields: Mapping[str, Any]
    sample: Sample
    outputs: Sequence[str]


def _parsed(
    file: Path,
    corpus: Corpus,
    references: Path | None,
    metrics: Sequence[Metric],
    filters: Sequence[str],
    *,
    whole: bool,
) -> list[_Row]:
    """Return the rows of a file with what is scored of their outputs; all have a twin or none."""
    needs_texts = any(each.needs_texts for each in metrics)
    rows: list[_Row] = []
    for place, fields, own_sample in _read(file, corpus, references, whole=whole):
        # A maker for each row, for one remembers every sample to number equal ones.
        maker = SampleMaker(corpus.name)
        try:
            sample = own_sample or from_row(fields, maker, where=place, needs_texts=needs_texts)
        except CorpusError as error:
            raise CorpusError(error.what, where=place, remedy=_LOOKS) from error
        has_twins = (rows[0].sample if rows else sample).twin is not None
        _check(sample, place, corpus.name, metrics, has_twins=has_twins)
        names = output_fields((metrics[0].outputs or 1) * len(sides(sample)))
        texts = [known_filters.apply(filters, text_of(fields, n, place)) for n in names]
        rows.append(_Row(place, fields, sample, texts))
    if not rows:
        raise CorpusError("holds no row", where=name_of(file))
    if known_filters.logicnlg_published.__name__ not in filters:
        return rows
    tables = [row.sample.cluster for row in rows]
    by_place = zip(*(row.outputs for row in rows), strict=True)
    replaced = [known_filters.without_short(texts, tables) for texts in by_place]
    by_row = zip(*replaced, strict=True)
    return [row._replace(outputs=texts) for row, texts in zip(rows, by_row, strict=True)]


def _judge(rows: Sequence[_Row], metrics: Sequence[Metric]) -> list[list[Judgement]]:
    """Return the judgements of all rows by each metric."""
    samples, outputs = [row.sample for row in rows], [row.outputs for row in rows]
    try:
        return [
            judge_all(each, samples, outputs, {info.name for info in with_groups(each.scores)})
            for each in metrics
        ]
    except CorpusError as error:
        if len(rows) == 1:
            raise CorpusError(error.what, where=rows[0].place, remedy=error.remedy) from error
        for row in rows:  # the one at fault is to be named
            _judge([row], metrics)
        raise


class _Scored(NamedTuple):
    """The values of a score, the numbers of the rows that have one, and the metric's signature."""

    column: Column
    outputs: NDArray[np.int64]
    signature: str


def _scored(
    rows: Sequence[_Row], judgements: Iterable[Sequence[Judgement]], metrics: Iterable[Metric]
) -> dict[str, _Scored]:
    """Return the values of each score."""
    scored: dict[str, _Scored] = {}
    for metric, by_row in zip(metrics, judgements, strict=True):
        tally = Tally(with_groups(metric.scores, has_twins=rows[0].sample.twin is not None))
        for judgement in by_row:
            tally.add(judgement.values)
        for name in tally.names:
            column, outputs = tally.column(name), tally.outputs(name)
            scored[name] = _Scored(column, outputs, metric.signature)
    return scored


def output_fields(count: int) -> tuple[str, ...]:
    """Return the fields of a row that so many outputs are in."""
    return ("output",) if count == 1 else tuple(f"output_{n}" for n in range(1, count + 1))


def _check(
    sample: Sample, place: str, corpus: str, metrics: Sequence[Metric], *, has_twins: bool
) -> None:
    """Refuse a sample of another kind than the corpus or the metrics are about."""
    if not isinstance(sample.units[0], _UNITS.get(corpus, tuple)):
        raise CorpusError(
            f"its units are not those of {corpus}",
            where=place,
            remedy="WebNLG's are triples, E2E's are attribute-value pairs.",
        )
    if (sample.twin is not None) != has_twins or not all(
        isinstance(side.challenge, each.challenge or object)
        for side in sides(sample)
        for each in metrics
    ):
        raise CorpusError(
            "lacks what the metric looks at",
            where=place,
            remedy="Samples of `order` have `output_order`, those of `copy_rule` have "
            "`replaced_entity` or `replaced_kv_pair`.",
        )


def text_of(row: Mapping[str, Any], field: str, where: str) -> str:
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


def _check_same(rows: Iterable[_Row], second: Iterable[_Row]) -> None:
    """Refuse two files that are not of the same samples."""
    remedy = "Two systems are compared on the same samples in the same order."
    for row, match in zip_longest(rows, second):
        if row is None or match is None:
            fault, where = "has no counterpart in the other file", (row or match).place
            raise ResultError(fault, where=where, remedy=remedy)
        if (row.sample.id, row.sample.twin is None) != (match.sample.id, match.sample.twin is None):
            fault = f"is another sample than {match.place}"
            raise ResultError(fault, where=row.place, remedy=remedy)


def _described(row: _Row, judgements: Iterable[Judgement]) -> dict[str, Any]:
    described = dict(row.fields)
    for judgement in judgements:
        described |= judgement.details
    return described


def _ends(score: str, column: Column, clusters: Clusters) -> tuple[float, float] | None:
    (scored,), clusters = common([column], clusters)
    info = score_info(score)
    estimate = statistics.estimate([[scored]], clusters, (info.low, info.high))
    interval = estimate and estimate.interval
    return (interval.low, interval.high) if interval else None
