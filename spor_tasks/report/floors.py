"""Floors: what needs no model, scored on the samples that were logged.

Why: docs/decisions/floors.md. The scores of models as judges, and of searches for programs, are
left out: they take minutes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from operator import attrgetter

from spor_tasks.core.errors import SporError
from spor_tasks.core.sample import Sample, views, without_first_reference
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.judging import judge_all
from spor_tasks.metrics.learned import Learned
from spor_tasks.metrics.scores import metrics_for
from spor_tasks.metrics.tally import Column
from spor_tasks.models.baselines import copy_input
from spor_tasks.report.collect import Report
from spor_tasks.results.compare import comparisons
from spor_tasks.results.logged import Logged, resampled
from spor_tasks.results.runs import Log, Run
from spor_tasks.results.samples import SampleFile

MOST = 200
"""Samples that a floor is of, at most: those with the lowest ids, which are digests."""

_SLOW = {"sp_acc"}


def with_floors(report: Report) -> Report:
    """Return the report with rows of floors for each test of which samples were logged.

    A test that is read under splits has none. A floor that was evaluated stands among the runs.
    """

    def size(file: SampleFile) -> tuple[bool, int]:
        return file.run.signature["held_out_reference"] != "True", file.run.n

    largest: dict[str, SampleFile] = {}
    for file in report.samples:
        if not file.run.spec.sets.is_pooled:
            former = largest.setdefault(file.run.comparison, file)
            largest[file.run.comparison] = max(former, file, key=size)
    have = {(file.run.comparison, file.run.log.baseline) for file in report.samples}
    runs = [
        run
        for file in largest.values()
        for run in _floors(file)
        if (run[0].comparison, run[0].model) not in have
    ]
    logged = {run.id: of_run for run, of_run in runs}
    rows, _ = comparisons([run for run, _ in runs], resampled(logged))
    return replace(report, floors=tuple(replace(row, kind="floor") for row in rows))


def _floors(file: SampleFile) -> Iterator[tuple[Run, Logged]]:
    """Yield the floors on a file's samples, with their values.

    A damaged file, or foreign samples, have none.
    """
    try:
        logged = (record.sample for record in file.records() if not record.likelihoods)
        samples = nsmallest(MOST, logged, key=attrgetter("id"))
        several = [sample for sample in samples if len(sample.references) > 1]
        equal = [without_first_reference(sample) for sample in several]
        if samples:
            yield _run(file.run, "copy-input", samples, _copied(samples))
        if several:
            human = [[view.references[0] for view in views(sample)] for sample in several]
            yield _run(file.run, "copy-input, held out", equal, _copied(equal))
            yield _run(file.run, "reference, held out", equal, human)
    except SporError:  # which other parts of the report name
        return


def _suits(metric: Metric, sample: Sample) -> bool:
    """Return whether a sample has what a metric needs; those of foreign results may lack it."""
    is_of_kind = metric.challenge is None or isinstance(sample.challenge, metric.challenge)
    return is_of_kind and metric.outputs in {None, len([*views(replace(sample, twin=None))])}


def _copied(samples: Iterable[Sample]) -> list[list[str]]:
    return [[copy_input(view) for view in views(sample)] for sample in samples]


def _run(
    run: Run, name: str, samples: Sequence[Sample], outputs: Sequence[Sequence[str]]
) -> tuple[Run, Logged]:
    """Return the result of a floor's outputs, in the place of a model's, and their samples."""
    shown = [name for name in (*run.spec.reported, *run.spec.breakdown) if name not in _SLOW]
    totals = {name: run.spec.totals(name) for name in shown}
    names = [name for name in shown if totals[name].is_logged]
    values = [dict.fromkeys(names) for _ in samples]
    for metric in metrics_for(map(run.spec.score, names)):
        if not isinstance(metric, Learned) and all(_suits(metric, each) for each in samples):
            for own, judged in zip(values, judge_all(metric, samples, outputs, names), strict=True):
                own |= {score: judged.values.get(score) for score in own.keys() & judged.values}
    columns = {name: Column.of([own[name] for own in values], totals[name]) for name in names}
    ids, keys = [sample.id for sample in samples], [sample.cluster for sample in samples]
    logged = Logged.of(run.spec, ids, keys, columns)
    floor = replace(
        run,
        key=f"{run.key}, {name}",
        model=name,
        adapter=None,
        asked=run.asked._replace(shown_arm=None),
        scores={score: column.value for score, column in logged.columns.items()},
        n=len(samples),
        documents=None,
        training={},
        log=Log(),
        notes=(),
    )
    return floor, logged
