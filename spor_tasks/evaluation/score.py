"""Scores a file of outputs, whatever system wrote them, without the harness.

The forms of a file are in :mod:`spor_tasks.evaluation.outputs`.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from spor_tasks.aspects import references as of_references
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import write_rows, writing
from spor_tasks.core.registry import registry
from spor_tasks.corpora import own
from spor_tasks.corpora.base import Corpus
from spor_tasks.evaluation.outputs import Row, check_same, parsed
from spor_tasks.metrics import learned
from spor_tasks.metrics.base import Judgement, Metric
from spor_tasks.metrics.judging import judge_all
from spor_tasks.metrics.scores import metric as registered
from spor_tasks.metrics.scores import with_groups
from spor_tasks.metrics.tally import Column, ScoreValue, Tally
from spor_tasks.results import stats
from spor_tasks.results.evidence import scale_of
from spor_tasks.results.stats import Clusters, Estimate, clusters_of, common, count_of
from spor_tasks.text import filters as known_filters

_FEW = 0.01  # WebNLG's test set has four samples of 2,179 that share two inputs

_PREFIXES = {"nli_acc": "nli", "mctg_ppl": "ppl", "compmctg": "aspects"}
"""The prefixes of metrics by a model, where they are not the metric's own name."""


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of a file of outputs.

    ``clusters`` counts the samples with different units, or the different tables.
    ``samples_sha256`` is the digest of the samples as the published file of them would have it,
    whatever else the rows hold: scores are of the same test set if it is the same. ``comparisons``
    are by score, where another file was given. ``left_out`` counts texts that are no references.
    """

    metric: str
    corpus: str
    samples: int
    clusters: int
    samples_sha256: str
    scores: tuple[ScoreValue, ...]
    comparisons: Mapping[str, Estimate | None]
    left_out: int
    warnings: tuple[str, ...]


def metric(name: str, **settings: Any) -> Metric:
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
    source: Corpus = registry().get("corpus", corpus)
    whole = filters is not None
    if filters is None:
        filters = () if source.read_labelled else known_filters.DEFAULT
    for each in filters:
        known_filters.find(each)
    metrics = [*_with_corrections(name, judge or registered(name)), *more]
    _check_units(name, metrics[0], source)
    parse = partial(parsed, corpus=source, references=references, metrics=metrics)
    rows = parse(file, filters=filters, whole=whole)
    second = parse(against, filters=filters, whole=whole) if against else []
    if against:
        check_same(rows, second)
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
        each: stats.difference(
            scored[each].column, theirs.column, clusters[theirs.outputs], scale_of(each)
        )
        for each, theirs in compared.items()
    }
    count = count_of(clusters)
    left_out = of_references.left_out(row.sample for row in rows)
    warnings = tuple(_apart(rows, metrics))
    return Result(
        name, corpus, len(rows), count, sha, tuple(scores), differences, left_out, warnings
    )


def _apart(rows: Sequence[Row], metrics: Iterable[Metric]) -> Iterator[str]:
    """Yield the warning that rows of one input have a text each, if a metric reads texts."""
    texts: dict[Hashable, list[str]] = defaultdict(list)
    for sample in (row.sample for row in rows if len(row.sample.references) == 1):
        texts[own.input_of(sample)] += sample.references
    divided = [each for each in texts.values() if len(set(each)) > 1]
    found = sum(map(len, divided))
    if any(each.needs_texts for each in metrics) and found > _FEW * len(rows):
        yield (
            f"{found:,} rows are of {len(divided):,} inputs, and each is compared with its own "
            "text alone: write one row for each input, with all its texts"
        )


def _signature(sha256: str, filters: Sequence[str]) -> str:
    """Return what of the samples and filters can change the scores."""
    signed = f"samples:{sha256[:16]}"
    if tuple(filters) != known_filters.DEFAULT:
        versions = known_filters.VERSIONS
        names = [f"{each}.v{versions[each]}" if each in versions else each for each in filters]
        signed += f"|filter:{','.join(names) or 'none'}"
    return signed


def _check_units(name: str, metric: Metric, corpus: Corpus) -> None:
    """Refuse a metric that means nothing on a corpus, such as the PARENT of SPOR on ToTTo."""
    if metric.units and corpus.units not in metric.units:
        raise ConfigError(
            f"{name} is about {' or '.join(metric.units)}; the units of {corpus.name} are "
            f"{corpus.units}",
            where="metric",
            remedy=f"`spor tasks list` names the tasks of {corpus.name}; `spor tasks show TASK` "
            "names the metrics of one.",
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


def _judge(rows: Sequence[Row], metrics: Sequence[Metric]) -> list[list[Judgement]]:
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
    rows: Sequence[Row], judgements: Iterable[Sequence[Judgement]], metrics: Iterable[Metric]
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


def _described(row: Row, judgements: Iterable[Judgement]) -> dict[str, Any]:
    described = dict(row.fields)
    for judgement in judgements:
        described |= judgement.details
    return described


def _ends(score: str, column: Column, clusters: Clusters) -> tuple[float, float] | None:
    (scored,), clusters = common([column], clusters)
    estimate = stats.estimate([[scored]], clusters, scale_of(score))
    interval = estimate and estimate.interval
    return (interval.low, interval.high) if interval else None
