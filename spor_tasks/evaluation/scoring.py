"""Scores a file of outputs, whatever system wrote them, without the harness.

Each row is a sample in the published field names (:mod:`spor_tasks.core.codec`) with its
``output`` or, under the metric ``order``, ``output_1`` and ``output_2``. If it has a twin, the
outputs for that follow, numbered on. Scored is what filters (:mod:`spor_tasks.text.filters`) leave
of an output. A file is read in batches of rows, of which
only numbers are kept.

A corpus with a method ``references`` also takes plain texts, one output a line, in the order of its
samples: ``references(path)`` yields where each sample stands, and the sample. One with a method
``labelled`` also takes generated texts in its own form: ``labelled(rows, path)`` yields where each
text stands, its row with an ``output``, and its sample. No filter is applied to these by default.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedReader
from itertools import chain, islice, zip_longest
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.core.codec import from_row, to_row
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import (
    encode_row,
    open_lines,
    read_json,
    read_rows,
    stream_lines,
    stream_rows,
    write_rows,
    writing,
)
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Triple, sides
from spor_tasks.corpora.base import Corpus
from spor_tasks.metrics.base import (
    Column,
    Judgement,
    Metric,
    Score,
    Tally,
    Texts,
    judged,
    with_groups,
)
from spor_tasks.metrics.base import metric as registered
from spor_tasks.metrics.learned import FACTS, Learned
from spor_tasks.results import statistics
from spor_tasks.results.statistics import Clusters, Estimate
from spor_tasks.text import filters as known_filters

STANDARD_INPUT = Path("-")

_UNITS = {"webnlg": Triple, "e2e": AttributeValue}

_AT_ONCE = 256  # rows that are measured together
_LONGEST = 1_000_000  # characters of a text
_Metrics: TypeAlias = Sequence[Metric]


@dataclass(frozen=True, slots=True)
class Result:
    """What the outputs of a file come to.

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


def score(
    file: Path,
    name: str,
    corpus: str,
    *,
    references: Path | None = None,
    per_sample: Path | None = None,
    against: Path | None = None,
    intervals: bool = False,
    judge: Learned | None = None,
    beside: Sequence[Metric] = (),
    filters: Sequence[str] | None = None,
) -> Result:
    """Score the outputs in ``file``, which may be :data:`STANDARD_INPUT` and gzipped.

    ``name`` is that of a registered metric; those with scores that correct one of its scores are
    measured too, and so are those ``beside`` it. ``judge`` is the metric of this name with its
    classifier or other settings.
    ``references`` is a file of samples in the corpus's own format, to which the outputs are plain
    texts, one a line; those in a `.txt` file are for what is scored of the corpus. ``per_sample``
    is written each row as it was, with what the metrics found. ``against`` holds another system's
    outputs for the same samples in the same order. ``filters`` are applied to each output, in this
    order; an empty list scores it whole, and None is as tasks of the corpus do.

    Raises:
        ConfigError: the metric, corpus or a filter is unknown, the metric lacks a classifier or
            needs none, or ``per_sample`` cannot be written.
        CorpusError: a row cannot be read or scored; the error names the line.
        ResultError: ``against`` is of other samples.
    """
    metrics: _Metrics = (*_metrics(name, judge), *beside)
    of_corpus: Corpus = registry().get("corpus", corpus)
    labelled = of_corpus.read_labelled
    if filters is None:
        filters = () if labelled else known_filters.DEFAULT
    for each in filters:
        known_filters.find(each)
    cut = partial(known_filters.apply, filters)

    def rows_of(path: Path) -> Iterator[_Given]:
        is_text = path.name.removesuffix(".gz").endswith(".txt")
        plain = is_text and of_corpus.read_references is not None
        if labelled:
            yield from labelled(_read(path, of_corpus), references)
        elif references or plain:
            yield from _paired_with(path, of_corpus, references)
        else:
            yield from ((*row, None) for row in _read(path, of_corpus))

    rows, has_twins = _with_twins(rows_of(file))
    kind = _Kind(metrics, corpus, has_twins)
    own, other = _Summary(kind, filters), _Summary(kind, filters)
    scored = own.counted(_judge(rows, kind, cut))
    if against:
        others = _judge(rows_of(against), kind, cut)
        scored = _paired(scored, other.counted(others))
    if per_sample:
        with writing(per_sample):
            write_rows(per_sample, map(_described, scored))
    else:
        for _ in scored:
            pass
    if not own.samples:
        raise CorpusError("holds no row", where=file)
    return Result(
        name,
        corpus,
        own.samples,
        len(set(own.keys)),
        own.sha.hexdigest(),
        tuple(own.scores(intervals=intervals)),
        dict(own.compared(other)) if against else {},
    )


def _metrics(name: str, judge: Learned | None) -> _Metrics:
    """Return the metric, and those that correct it."""
    plain = registered(name)
    if not isinstance(judge, type(plain) if isinstance(plain, Learned) else NoneType):
        example = plain if isinstance(plain, Learned) else FACTS
        raise ConfigError(
            f"only a metric such as {example.name} needs a classifier, and must have one",
            remedy=f"Name one with `--metric {example.name} {example.option}`.",
        )
    chosen: Metric = judge or plain
    if chosen.answers != "texts":
        raise ConfigError(
            f"the metric {name} judges log likelihoods, which a file of outputs does not have",
            remedy="Evaluate a task that asks for them, such as one whose name ends in "
            "_adversarial or _ppl.",
        )
    corrected = {info.name for info in chosen.scores}
    others = (registered(other) for other in registry().names("metric") if other != name)
    return chosen, *(
        other for other in others if any(info.corrects in corrected for info in other.scores)
    )


class _Row(NamedTuple):
    where: str
    fields: Mapping[str, Any]
    sample: Sample
    texts: Texts


_Given: TypeAlias = tuple[str, Mapping[str, Any], Sample | None]
"""Where a row stands, its fields, and its sample if the fields do not say what it is."""


class _Kind(NamedTuple):
    """The metrics of a file and the samples that they take: of a corpus, all with twins or none."""

    metrics: _Metrics
    corpus: str
    has_twins: bool


def _with_twins(rows: Iterator[_Given]) -> tuple[Iterator[_Given], bool]:
    """Return the rows, and whether the first has a twin."""
    first = list(islice(rows, 1))
    return chain(first, rows), any("twin" in fields for _, fields, _ in first)


class _Judged(NamedTuple):
    row: _Row
    judgements: tuple[Judgement, ...]


def _described(scored: _Judged) -> dict[str, Any]:
    described = dict(scored.row.fields)
    for judgement in scored.judgements:
        described |= judgement.details
    return described


class _Summary:
    """What is kept of the rows of one file."""

    def __init__(self, kind: _Kind, filters: Sequence[str]) -> None:
        self.tallies = [
            (metric, Tally(with_groups(metric.scores, has_twins=kind.has_twins)))
            for metric in kind.metrics
        ]
        self.keys: list[int] = []  # hashes of clusters
        self.sha = hashlib.sha256()
        self.samples = 0
        named = ",".join(filters) or "none"
        self._filter = "" if tuple(filters) == known_filters.DEFAULT else f"|filter:{named}"

    @property
    def clusters(self) -> Clusters:
        """Which samples depend on each other."""
        return statistics.clusters_of(self.keys)

    def counted(self, scored: Iterable[_Judged]) -> Iterator[_Judged]:
        """Yield what comes, and keep its numbers."""
        for each in scored:
            for (_, tally), judgement in zip(self.tallies, each.judgements, strict=True):
                tally.add(judgement.values)
            self.keys.append(hash(each.row.sample.cluster))
            self.sha.update(encode_row(to_row(each.row.sample)))
            self.samples += 1
            yield each

    def scores(self, *, intervals: bool) -> Iterator[Score]:
        clusters = self.clusters
        for metric, tally in self.tallies:
            signature = f"{metric.signature}|samples:{self.sha.hexdigest()[:16]}{self._filter}"
            for name in tally.names:
                column = tally.column(name)
                found = column.score(name, signature)
                yield (
                    replace(
                        found,
                        interval=_ends(column, clusters[tally.outputs(name)]),
                    )
                    if intervals
                    else found
                )

    def compared(self, other: "_Summary") -> Iterator[tuple[str, Estimate | None]]:
        clusters = self.clusters
        for (_, tally), (_, theirs) in zip(self.tallies, other.tallies, strict=True):
            for name in tally.names:
                pair = tally.column(name), theirs.column(name)
                of_column = clusters[tally.outputs(name)]
                yield name, statistics.difference(*pair, of_column)


def _ends(column: Column, clusters: Clusters) -> tuple[float, float] | None:
    (scored,), clusters = statistics.common([column], clusters)
    estimate = statistics.estimate([[scored]], clusters)
    return (
        (estimate.interval.low, estimate.interval.high) if estimate and estimate.interval else None
    )


def _read(file: Path, corpus: Corpus) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield rows; a corpus may also read its published format, one JSON text in a `.json` file."""
    if file.suffix == ".json" and corpus.read_outputs:
        return iter(corpus.read_outputs(read_json(file, CorpusError), str(file)))
    if file != STANDARD_INPUT:
        return read_rows(file)
    return stream_rows(_standard_input(), "standard input")


def _standard_input() -> BufferedReader:
    return open(0, "rb", closefd=False)


def _paired_with(file: Path, corpus: Corpus, references: Path | None) -> Iterator[_Given]:
    """Yield the lines of a file as outputs for the samples that the corpus has there."""
    if corpus.read_references is None:
        raise ConfigError(
            f"the corpus {corpus.name} does not say which samples a line of text is about",
            where="--references",
            remedy="Write JSON Lines: each sample with its `output`.",
        )
    named = "standard input" if file == STANDARD_INPUT else str(file)
    with _standard_input() if file == STANDARD_INPUT else open_lines(file) as opened:
        pairs = zip_longest(stream_lines(opened, named), corpus.read_references(references))
        for number, (line, known) in enumerate(pairs, start=1):
            place = f"{named}:{number}"
            if line is None or known is None:
                fault = f"is missing: the output for {known[0]}" if known else "is a line too many"
                remedy = "The file needs one line for each sample."
                raise CorpusError(fault, where=place, remedy=remedy)
            sample: Sample = known[1]
            name = sample.about("name") or sample.id
            row = {"id": name, "output": _decoded(line, place)}
            yield f"{place}, sample {name}", row, sample


def _decoded(line: bytes, where: str) -> str:
    try:  # only `\n` and `\r\n` end a line; editors of Windows put a mark before the first
        return line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise CorpusError(f"is not UTF-8: {error}", where=where) from error


def _judge(
    rows: Iterable[_Given],
    kind: _Kind,
    cut: Callable[[str], str],
) -> Iterator[_Judged]:
    checked = (_row(row, kind, cut) for row in rows)
    while batch := list(islice(checked, _AT_ONCE)):
        try:
            judgements = _measure(batch, kind.metrics)
        except CorpusError:
            for each in batch:  # the one at fault is to be named
                try:
                    _measure([each], kind.metrics)
                except CorpusError as error:
                    raise CorpusError(error.what, where=each.where, remedy=error.remedy) from error
            raise
        yield from map(_Judged, batch, judgements)


def _measure(batch: Sequence[_Row], metrics: _Metrics) -> list[tuple[Judgement, ...]]:
    samples, outputs = [row.sample for row in batch], [row.texts for row in batch]
    by_metric = (
        judged(each, samples, outputs, {info.name for info in with_groups(each.scores)})
        for each in metrics
    )
    return list(zip(*by_metric, strict=True))


def _row(given: _Given, kind: _Kind, cut: Callable[[str], str]) -> _Row:
    where, fields, known = given
    sample = _sample(fields, where, kind) if known is None else known
    _refuse_other(sample, where, kind)
    names = output_fields((kind.metrics[0].outputs or 1) * len(sides(sample)))
    return _Row(where, fields, sample, [cut(text_of(fields, name, where)) for name in names])


def output_fields(count: int) -> tuple[str, ...]:
    """Return the fields of a row that so many outputs are in."""
    return ("output",) if count == 1 else tuple(f"output_{n}" for n in range(1, count + 1))


def _sample(row: Mapping[str, Any], where: str, kind: _Kind) -> Sample:
    # A maker for each row, for one remembers every sample to number equal ones.
    needs_texts = any(each.needs_texts for each in kind.metrics)
    return from_row(row, SampleMaker(kind.corpus), where=where, needs_texts=needs_texts)


def _refuse_other(sample: Sample, where: str, kind: _Kind) -> None:
    """Refuse a sample of another kind than the corpus or the metrics are about."""
    if not isinstance(sample.units[0], _UNITS.get(kind.corpus, tuple)):
        raise CorpusError(
            f"its units are not those of {kind.corpus}",
            where=where,
            remedy="WebNLG's are triples, E2E's are attribute-value pairs.",
        )
    has_twin = sample.twin is not None
    needed = [each.challenge or object for each in kind.metrics]
    challenges = [side.challenge for side in sides(sample)]
    if has_twin != kind.has_twins or not all(
        isinstance(challenge, each) for challenge in challenges for each in needed
    ):
        raise CorpusError(
            "lacks what the metric looks at",
            where=where,
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
        fault = (
            f"`{field}` is {type(text).__name__}, not text" if field in row else f"has no `{field}`"
        )
        raise CorpusError(fault, where=where)
    if len(text) > _LONGEST:
        raise CorpusError(
            f"`{field}` has {len(text):,} characters, more than {_LONGEST:,}",
            where=where,
            remedy="Did the system not stop? Score the beginning of the text.",
        )
    return text


def _paired(ones: Iterable[_Judged], others: Iterable[_Judged]) -> Iterator[_Judged]:
    """Yield the first file's rows while the second has the same samples."""
    remedy = "Two systems are compared on the same samples in the same order."
    for one, other in zip_longest(ones, others):
        if one is None or other is None:
            raise ResultError(
                "has no counterpart in the other file",
                where=(one or other).row.where,
                remedy=remedy,
            )
        if one.row.sample.id != other.row.sample.id:
            raise ResultError(
                f"is another sample than {other.row.where}",
                where=one.row.where,
                remedy=remedy,
            )
        yield one
