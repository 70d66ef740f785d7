"""Scores files of outputs, whatever systems wrote them, without the harness.

What outputs are for is in :mod:`spor_tasks.evaluation.subject`, and the forms of a file in
:mod:`spor_tasks.evaluation.outputs`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import JsonObject, name_of
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import sides
from spor_tasks.core.words import joined
from spor_tasks.evaluation import doubts, judging, subject
from spor_tasks.evaluation.judging import Judged
from spor_tasks.evaluation.outputs import ScoredRow, check_same, name_of_metric, parsed
from spor_tasks.evaluation.subject import Subject
from spor_tasks.metrics.base import Judgement, Metric
from spor_tasks.metrics.scores import metric as registered
from spor_tasks.metrics.tally import Column, ScoreValue
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.stats import (
    Clusters,
    Estimate,
    Scale,
    clusters_of,
    common,
    count_of,
    estimate,
    resampled_scores,
)
from spor_tasks.text import filters as known_filters


@dataclass(frozen=True, slots=True)
class System:
    """The outputs of one file and their scores."""

    name: str
    """The file as it was named."""
    rows: Sequence[ScoredRow]
    """The samples in their order, and what was scored of the outputs."""
    scores: tuple[ScoreValue, ...]
    judged: Mapping[str, Judged]
    """The scores by name, output by output."""
    judgements: Sequence[Sequence[Judgement]]
    """What each metric found of each row."""

    @property
    def values(self) -> dict[str, Numbers]:
        """The score of each output alone by name, NaN where it has none."""
        return {name: each.values for name, each in self.judged.items()}

    def evidence(self) -> Iterator[JsonObject]:
        """Yield each row as it was, with what the metrics found."""
        for row, of_row in zip(self.rows, zip(*self.judgements, strict=True), strict=True):
            found = dict(row.fields)
            for judgement in of_row:
                found |= judgement.details
            yield found


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of a system less that of the baseline, on the samples that both have values for."""

    score: str
    system: str
    baseline: str
    estimate: Estimate
    test: str
    """The test that its p is of, empty if there is none."""
    holm: float | None = None
    """Its p, adjusted for all differences being looked at (Holm, 1979)."""

    @property
    def is_exact(self) -> bool:
        """Whether the test and the interval are exact ones, not by resampling."""
        from spor_tasks.results.paired_tests import EXACT

        return self.test == EXACT


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of files of outputs.

    ``clusters`` counts the samples with different units, or the different tables.
    ``samples_sha256`` is the digest of the samples as the published file of them would have it,
    whatever else the rows hold: scores are of the same test set if it is the same. ``left_out``
    counts texts that are no references.
    """

    task: str | None
    metrics: tuple[str, ...]
    corpus: str
    samples: int
    clusters: int
    samples_sha256: str
    systems: tuple[System, ...]
    """In the order of the files."""
    comparisons: tuple[Difference, ...]
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
    if not takes_model(name):
        raise ConfigError(f"the metric {name} has no {min(settings)}", remedy="Leave it out.")
    from spor_tasks.metrics import learned

    return learned.load(learned.PREFIXES.get(name, name), settings)


def takes_model(name: str) -> bool:
    """Return whether a metric has settings, such as a model."""
    from spor_tasks.metrics import learned

    return learned.PREFIXES.get(name, name) in learned.LOADERS


def score(
    files: Sequence[Path],
    *,
    task: str | None = None,
    metrics: Sequence[str | Metric] = (),
    corpus: str | Path | None = None,
    references: Path | None = None,
    lang: str | None = None,
    include: Path | None = None,
    baseline: Path | None = None,
    filters: Sequence[str] | None = None,
    lowercase: bool = False,
    intervals: bool = False,
) -> Result:
    """Score files of outputs, which may be gzipped, or ``-`` for standard input.

    A file has the outputs of one system, of a ``task``, which may be of a folder to ``include``, or
    for the samples of a ``corpus``, registered or a file, or of a file of ``references``. ``lang``
    chooses among the languages of its texts. ``metrics`` are the names of registered ones, or
    metrics with a model; by default they are the task's. Those with scores that correct one of a
    named metric are measured too.

    Several systems are compared on the same samples: each with the ``baseline``, which is another
    file, or else with the first. ``filters`` are applied to each output, in this order; an empty
    list scores it whole, and None is as tasks do. ``lowercase`` is said of outputs and references.

    Raises:
        ConfigError: a name is unknown, a metric does not suit the samples or lacks a model, or
            nothing says what the outputs are for.
        CorpusError: a row cannot be read or scored; the error names the line.
        ResultError: two files are of different samples.
    """
    about = subject.find(task, corpus, references, lang=lang, include=include)
    for each in filters or ():
        known_filters.find(each)
    names, judges = _metrics(metrics, about)
    paths = [*files, *([baseline] if baseline else [])]
    rows = [parsed(file, about, judges, filters) for file in paths]
    for of_file in rows[1:]:
        check_same(rows[0], of_file)
    samples = [row.sample for row in rows[0]]
    clusters, sha = clusters_of(sample.cluster for sample in samples), digest(samples)
    signed = _signed(sha, about.filters if filters is None else filters, lowercase=lowercase)
    warnings, systems = [*about.doubts(len(samples))], dict[str, System]()
    reads_texts = any(each.needs_texts for each in judges)
    warnings += doubts.apart(samples) if reads_texts else ()
    judged, judgements = judging.judged(rows, judges, signed, lowercase=lowercase)
    of_task = () if metrics else about.scores
    shown = [{key: each[key] for key in of_task or each if key in each} for each in judged]
    scores = _scores(shown, clusters, intervals=intervals)
    for number, (file, of_file) in enumerate(zip(paths, rows, strict=True)):
        name = name_of(file)
        if name in systems:
            name = f"{name} ({1 + paths[:number].count(file)})"
        systems[name] = System(name, of_file, scores[number], shown[number], judgements[number])
        if reads_texts:
            warnings += doubts.looks(name, of_file, lowercase=lowercase)
    *_, last = systems.values()
    first = last if baseline else next(iter(systems.values()))
    others = [each for each in systems.values() if each is not first]
    return Result(
        task=about.task,
        metrics=names,
        corpus=about.corpus.name,
        samples=len(samples),
        clusters=count_of(clusters),
        samples_sha256=sha,
        systems=tuple(systems.values()),
        comparisons=tuple(_differences(others, first, clusters)) if others else (),
        left_out=sum(side.left_out for sample in samples for side in sides(sample)),
        warnings=tuple(warnings),
    )


def _metrics(asked: Sequence[str | Metric], about: Subject) -> tuple[tuple[str, ...], list[Metric]]:
    """Return the names of metrics, and these with those that correct a named one.

    Raises:
        ConfigError: none is named, or one judges no texts, or means nothing on the corpus, as
            SPOR's PARENT on ToTTo.
    """
    if not (asked or about.metrics):
        raise ConfigError("no metric is named", remedy="Name one with --metric, or a --task.")
    names, found = [], dict[str, Metric]()
    for each in asked or about.metrics:
        judge = registered(each) if isinstance(each, str) else each
        name = each if isinstance(each, str) else name_of_metric(each)
        if judge.answers != "texts":
            raise ConfigError(
                f"the metric {name} judges log likelihoods, which a file of outputs does not have",
                remedy="Evaluate a task that asks for them, such as one whose name ends in "
                "_adversarial or _ppl.",
            )
        corpus = about.corpus
        if judge.units and corpus.units not in judge.units:
            raise ConfigError(
                f"{name} is about {' or '.join(judge.units)}; the units of {corpus.name} are "
                f"{corpus.units}",
                where="metric",
                remedy=f"`spor tasks list` names the tasks of {corpus.name}; "
                "`spor tasks show TASK` names the metrics of one.",
            )
        names.append(name)
        corrected = {info.name for info in judge.scores}
        further = registry().correcting(name) if isinstance(each, str) else ()
        corrections = [
            other
            for other in map(registered, further)
            if other is not judge and any(info.corrects in corrected for info in other.scores)
        ]
        for one in (judge, *corrections):
            found.setdefault(one.signature, one)
    return tuple(names), [*found.values()]


def _scores(
    systems: Sequence[Mapping[str, Judged]], clusters: Clusters, *, intervals: bool
) -> list[tuple[ScoreValue, ...]]:
    """Return the scores of each system, with intervals if they are asked for."""
    scores = [
        tuple(each.column.score(name, each.signature) for name, each in judged.items())
        for judged in systems
    ]
    if not intervals:
        return scores
    found = _intervals(
        (each.column, clusters[each.named], (each.info.low, each.info.high))
        for judged in systems
        for each in judged.values()
    )
    return [tuple(_with_interval(value, next(found)) for value in each) for each in scores]


def _with_interval(value: ScoreValue, found: Estimate | None) -> ScoreValue:
    """Return a score with its interval, or with the reason why it has none."""
    if ends := found and found.interval:
        return replace(value, interval=(ends.low, ends.high))
    return replace(value, reason=joined("; ", *found.notes) if found else None)


def _differences(
    systems: Sequence[System], baseline: System, clusters: Clusters
) -> Iterator[Difference]:
    """Yield what each score of each system is above the baseline's, with a paired test."""
    from spor_tasks.results.compare import holm  # both are slow to import
    from spor_tasks.results.paired_tests import ScoreOfSystems, against_first, test_name

    repeated = _repeated([baseline, *systems])
    all_pairs = [
        (system, name) for system in systems for name in system.judged if name in baseline.judged
    ]
    same: dict[bytes, list[tuple[System, str]]] = defaultdict(list)
    for system, name in all_pairs:
        if name not in repeated:
            both = baseline.judged[name].named & system.judged[name].named
            same[both.tobytes()].append((system, name))
    found: dict[tuple[str, str], Difference] = {}
    for mask, pairs in same.items():
        both = np.frombuffer(mask, np.bool_)
        judged = [[each.judged[name] for each in (baseline, system)] for system, name in pairs]
        columns = [[each.column.take(both[each.named]) for each in pair] for pair in judged]
        scores = [
            ScoreOfSystems(of_pair, (first.info.low, first.info.high), name)
            for of_pair, (first, _), (_, name) in zip(columns, judged, pairs, strict=True)
        ]
        tests = against_first(scores, clusters[both])
        for (system, name), tested in zip(pairs, tests, strict=True):
            (estimate,) = tested.differences
            test = test_name(tested.test, estimate.p)
            key = system.name, name
            found[key] = Difference(name, system.name, baseline.name, estimate, test)
    p_values = {key: p for key, each in found.items() if (p := each.estimate.p) is not None}
    adjusted = dict(zip(p_values, holm([*p_values.values()]), strict=True))
    for system, name in all_pairs:
        if corrected := repeated.get(name):
            same_one = found[system.name, corrected]
            reason = f"not tested: {corrected} says the same of every sample"
            estimate = replace(same_one.estimate, p=None, reason=reason)
            yield replace(same_one, score=name, estimate=estimate, test="")
        else:
            key = system.name, name
            yield replace(found[key], holm=adjusted.get(key))


def _repeated(systems: Sequence[System]) -> dict[str, str]:
    """Return the scores that say the same as the ones they correct, which are the values."""
    from spor_tasks.results.paired_tests import repeats  # slow to import

    values = [each.values for each in systems]
    infos = {name: each.info for name, each in systems[0].judged.items()}
    return {
        name: corrected
        for name, info in infos.items()
        if (corrected := info.corrects) in infos
        and not infos[corrected].corrects
        and all({name, corrected} <= of.keys() for of in values)
        and repeats((of[name], of[corrected]) for of in values)
    }


def _intervals(
    columns: Iterable[tuple[Column, Clusters, Scale]],
) -> Iterator[Estimate | None]:
    """Yield each score with its interval; those on the same samples share one draw."""
    judged = [(*common([column], of), scale) for column, of, scale in columns]
    same: dict[bytes, list[Column]] = defaultdict(list)
    for (column,), of, _ in judged:
        same[of.tobytes()].append(column)
    drawn: dict[bytes, Iterator[Numbers]] = {}
    for (column,), of, scale in judged:
        key = of.tobytes()
        if len(of) and key not in drawn:
            drawn[key] = iter(resampled_scores(same[key], of).T)
        yield estimate([[column]], of, scale, [next(drawn[key])] if len(of) else None)


def _signed(sha256: str, filters: Sequence[str], *, lowercase: bool) -> str:
    """Return what of the samples and the filters can change a score."""
    signed = f"samples:{sha256[:16]}{'|lowercase:yes' if lowercase else ''}"
    if tuple(filters) == known_filters.DEFAULT:
        return signed
    versions = [(name, known_filters.find(name).version) for name in filters]
    names = [f"{name}.v{version}" if version > 1 else name for name, version in versions]
    return f"{signed}|filter:{','.join(names) or 'none'}"
