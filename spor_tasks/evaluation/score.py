"""Scores a file of outputs, whatever system wrote them, without the harness.

The forms of a file are in :mod:`spor_tasks.evaluation.outputs`.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import write_rows, writing
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import sides
from spor_tasks.corpora.base import Corpus
from spor_tasks.evaluation.outputs import ScoredRow, check_same, parsed
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.groups import GROUPS, TWINS, judge_all
from spor_tasks.metrics.scores import metric as registered
from spor_tasks.metrics.scores import over_groups
from spor_tasks.metrics.tally import Column, ScoreValue, columns_of
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.stats import (
    Clusters,
    Estimate,
    Scale,
    clusters_of,
    common,
    count_of,
    difference,
    estimate,
    resampled_scores,
)
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


def metric(name: str, **settings: object) -> Metric:
    """Return the registered metric with this name, with its settings, such as a ``model``.

    Raises:
        ConfigError: the metric or a setting is unknown, its first setting is missing, or its model
            cannot be loaded.
    """
    if not settings:
        return registered(name)
    from spor_tasks.metrics import learned

    prefix = _PREFIXES.get(name, name)
    if prefix not in learned.LOADERS:
        raise ConfigError(f"the metric {name} has no {min(settings)}", remedy="Leave it out.")
    return learned.load(prefix, settings)


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
    metrics = [*_with_corrections(name, judge or registered(name), source), *more]
    rows = parsed(file, source, references, metrics, filters, whole=whole)
    groups = (*([TWINS] if rows[0].sample.twin else []), *GROUPS)
    infos = [over_groups(each.scores, groups) for each in metrics]
    judgements = _judge(rows, metrics, infos)
    if per_sample:
        _write_samples(per_sample, rows, judgements)
    theirs: list[list[Judgement]] = []
    if against:
        others = parsed(against, source, references, metrics, filters, whole=whole)
        check_same(rows, others)
        theirs = _judge(others, metrics, infos)
    clusters = clusters_of(row.sample.cluster for row in rows)
    sha = digest(row.sample for row in rows)
    signed = _signed(sha, filters)
    scores: list[ScoreValue] = []
    columns: list[tuple[Column, Clusters, Scale]] = []
    differences: dict[str, Estimate | None] = {}
    for number, metric in enumerate(metrics):
        values = [each.values for each in judgements[number]]
        for info, column, named in columns_of(infos[number], values):
            of, scale = clusters[named], (info.low, info.high)
            scores.append(column.score(info.name, f"{metric.signature}|{signed}"))
            columns.append((column, of, scale))
            if theirs:
                other = Column.of([e.values.get(info.name) for e in theirs[number]], info.totals)
                differences[info.name] = difference(column, other.take(named), of, scale)
    if intervals:
        found = _intervals(columns)
        scores = [replace(value, interval=ends) for value, ends in zip(scores, found, strict=True)]
    return Result(
        metric=name,
        corpus=corpus,
        samples=len(rows),
        clusters=count_of(clusters),
        samples_sha256=sha,
        scores=tuple(scores),
        comparisons=differences,
        left_out=sum(side.left_out for row in rows for side in sides(row.sample)),
        warnings=tuple(_apart(rows, metrics)),
    )


def _intervals(
    columns: Iterable[tuple[Column, Clusters, Scale]],
) -> Iterator[tuple[float, float] | None]:
    """Yield the interval of each score; those with verdicts on the same samples share one draw."""
    judged = [(*common([column], of), scale) for column, of, scale in columns]
    same: dict[bytes, list[Column]] = defaultdict(list)
    for (column,), of, _ in judged:
        same[of.tobytes()].append(column)
    drawn: dict[bytes, Iterator[Numbers]] = {}
    for (column,), of, scale in judged:
        key = of.tobytes()
        if len(of) and key not in drawn:
            drawn[key] = iter(resampled_scores(same[key], of).T)
        found = estimate([[column]], of, scale, [next(drawn[key])] if len(of) else None)
        interval = found.interval if found else None
        yield (interval.low, interval.high) if interval else None


def _signed(sha256: str, filters: Sequence[str]) -> str:
    """Return what of the samples and the filters can change a score."""
    signed = f"samples:{sha256[:16]}"
    if tuple(filters) == known_filters.DEFAULT:
        return signed
    versions = [(name, known_filters.find(name).version) for name in filters]
    names = [f"{name}.v{version}" if version > 1 else name for name, version in versions]
    return f"{signed}|filter:{','.join(names) or 'none'}"


def _write_samples(
    path: Path, rows: Sequence[ScoredRow], judgements: Sequence[Sequence[Judgement]]
) -> None:
    """Write each row as it was, with what the metrics found."""
    written = []
    for row, of_row in zip(rows, zip(*judgements, strict=True), strict=True):
        found = dict(row.fields)
        for judgement in of_row:
            found |= judgement.details
        written.append(found)
    with writing(path):
        write_rows(path, written)


def _apart(rows: Sequence[ScoredRow], metrics: Iterable[Metric]) -> Iterator[str]:
    """Yield the warning that rows of one input have a text each, if a metric reads texts."""
    alone = [row.sample for row in rows if len(row.sample.references) == 1]
    if len(alone) <= _FEW * len(rows) or not any(each.needs_texts for each in metrics):
        return
    texts: dict[Hashable, list[str]] = defaultdict(list)
    for sample in alone:
        texts[sample.input] += sample.references
    divided = [each for each in texts.values() if len(set(each)) > 1]
    found = sum(map(len, divided))
    if found > _FEW * len(rows):
        yield (
            f"{found:,} rows are of {len(divided):,} inputs, and each is compared with its own "
            "text alone: write one row for each input, with all its texts"
        )


def _with_corrections(name: str, metric: Metric, corpus: Corpus) -> Iterator[Metric]:
    """Yield the metric, and those that correct it.

    Raises:
        ConfigError: it judges no texts, or means nothing on the corpus, as SPOR's PARENT on ToTTo.
    """
    if metric.answers != "texts":
        raise ConfigError(
            f"the metric {name} judges log likelihoods, which a file of outputs does not have",
            remedy="Evaluate a task that asks for them, such as one whose name ends in "
            "_adversarial or _ppl.",
        )
    if metric.units and corpus.units not in metric.units:
        raise ConfigError(
            f"{name} is about {' or '.join(metric.units)}; the units of {corpus.name} are "
            f"{corpus.units}",
            where="metric",
            remedy=f"`spor tasks list` names the tasks of {corpus.name}; `spor tasks show TASK` "
            "names the metrics of one.",
        )
    yield metric
    corrected = {info.name for info in metric.scores}
    for other in registry().correcting(name):
        scores = registered(other).scores
        if other != name and any(info.corrects in corrected for info in scores):
            yield registered(other)


def _judge(
    rows: Sequence[ScoredRow], metrics: Sequence[Metric], infos: Sequence[Sequence[ScoreInfo]]
) -> list[list[Judgement]]:
    """Return the judgements of all rows by each metric, also for these scores over groups."""
    samples, outputs = [row.sample for row in rows], [row.outputs for row in rows]
    try:
        return [
            judge_all(metric, samples, outputs, {info.name for info in of_metric})
            for metric, of_metric in zip(metrics, infos, strict=True)
        ]
    except CorpusError as error:
        if len(rows) == 1:
            raise CorpusError(error.what, where=rows[0].place, remedy=error.remedy) from error
        for row in rows:  # the one at fault is to be named
            _judge([row], metrics, infos)
        raise
