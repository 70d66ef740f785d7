"""Floors: what needs no model, scored on the samples that were logged.

Why: docs/decisions/floors.md. The scores of models as judges, and of searches for programs, are
left out: they take minutes. Those of whole shipped tests are in `floors.json`, which
docs/generators/floors.py makes; those of other samples are computed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from heapq import nsmallest
from operator import attrgetter
from pathlib import Path

import msgspec

from spor_tasks.core.errors import SporError
from spor_tasks.core.sample import Sample, views, without_first_reference
from spor_tasks.report.collect import Report
from spor_tasks.results.facts import Declared
from spor_tasks.results.rows import Cell, Comparison, Size
from spor_tasks.results.runs import Log, Run
from spor_tasks.results.samples import SampleFile

MOST = 200
"""Samples that a floor is of, at most: those with the lowest ids, which are digests."""

_SLOW = {"sp_acc"}


class Floor(msgspec.Struct, frozen=True):
    """A floor on a shipped test: its samples and their clusters, and its scores by metric."""

    n: int
    clusters: int
    cells: dict[str, Cell]


class TestFloors(msgspec.Struct, frozen=True):
    """The floors on a shipped test, of which a run must have all samples."""

    test_sha256: str
    samples: int
    floors: dict[str, Floor]


def with_floors(report: Report) -> Report:
    """Return the report with rows of floors for each test of which samples were logged.

    A test that is read under splits has none. A floor that was evaluated stands among the runs.
    """

    def size(file: SampleFile) -> tuple[bool, int]:
        return file.run.signature["held_out_reference"] != "True", file.run.n

    by_test: dict[str, list[SampleFile]] = defaultdict(list)
    for file in report.samples:
        if not file.run.spec.sets.is_pooled:
            by_test[file.run.comparison].append(file)
    have = {(file.run.comparison, file.run.log.baseline) for file in report.samples}
    rows = list[Comparison]()
    for _, files in sorted(by_test.items()):
        largest = max(files, key=size)
        specs = [file.run.spec for file in (largest, *files)]
        run = replace(largest.run, spec=Declared.together(specs))
        found = _floors(replace(largest, run=run))
        rows += [row for row in found if (row.task, row.model) not in have]
    return replace(report, floors=tuple(rows))


@cache
def shipped() -> Mapping[str, TestFloors]:
    """Return the floors on shipped tests, by their tasks."""
    content = Path(__file__).with_name("floors.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, TestFloors])


def _floors(file: SampleFile) -> Sequence[Comparison]:
    """Return the floors on a file's samples; those of added scores are computed."""
    run, known = file.run, shipped().get(file.run.spec.task)
    test = run.signature["test_sha256"], run.n, run.signature["held_out_reference"]
    if known is None or test != (known.test_sha256, known.samples, str(False)):
        return _computed(file, run.spec)
    added = {name for name in run.spec.displayed if run.spec.scores[name].added}
    gaps = tuple(gap for gap in run.spec.gaps if gap.name in added)
    own = tuple(name for name in run.spec.reported if name in added)
    only_added = replace(run.spec, reported=own, breakdown=(), gaps=gaps)
    shipped_floors = [
        Comparison(
            spec=run.spec,
            variant=run.variant,
            task=run.comparison,
            model=name,
            metric=metric,
            size=Size(floor.n, clusters=floor.clusters),
            arms=tuple(Cell(command="") for _ in run.spec.arms),
            as_is=floor.cells[metric],
            kind="floor",
            signature=run.signature,
        )
        for name, floor in known.floors.items()
        for metric in run.spec.displayed
        if metric in floor.cells
    ]
    return [*shipped_floors, *(_computed(file, only_added) if added else ())]


def _computed(file: SampleFile, spec: Declared) -> Sequence[Comparison]:
    """Return the floors by the scores of a declaration; damaged or foreign samples have none."""
    try:
        logged = (record.sample for record in file.records() if not record.likelihoods)
        samples = nsmallest(MOST, logged, key=attrgetter("id"))
        rows = scored(replace(file.run, spec=spec), samples)
    except SporError:  # which other parts of the report name
        return ()
    return [replace(row, spec=file.run.spec) for row in rows]


def scored(run: Run, samples: Sequence[Sample]) -> Sequence[Comparison]:
    """Return the floors on samples, in the place of the model of a run.

    Raises:
        SporError: a metric lacks what it needs.
    """
    # What whole shipped tests need not have.
    from spor_tasks.metrics.groups import judge_all
    from spor_tasks.metrics.learned import Learned
    from spor_tasks.metrics.scores import metrics_for
    from spor_tasks.metrics.tally import Column
    from spor_tasks.models.baselines import copy_input
    from spor_tasks.results.compare import comparisons
    from spor_tasks.results.logged import Logged

    def copied(samples: Iterable[Sample]) -> list[list[str]]:
        return [[copy_input(view) for view in views(sample)] for sample in samples]

    several = [sample for sample in samples if len(sample.references) > 1]
    equal = [without_first_reference(sample) for sample in several]
    human = [[view.references[0] for view in views(sample)] for sample in several]
    shown = [name for name in (*run.spec.reported, *run.spec.breakdown) if name not in _SLOW]
    totals = {name: run.spec.totals(name) for name in shown}
    names = [name for name in shown if totals[name].is_logged]
    runs, logged = [], {}
    for floor_name, own, outputs in (
        ("copy-input", samples, copied(samples)),
        ("copy-input, held out", equal, copied(equal)),
        ("reference, held out", equal, human),
    ):
        if not own:
            continue
        values = [dict.fromkeys(names) for _ in own]
        for metric in metrics_for(map(run.spec.score, names)):
            # Those of foreign results may lack what a metric needs.
            is_of_kind = all(
                (metric.challenge is None or isinstance(sample.challenge, metric.challenge))
                and metric.outputs in {None, len([*views(replace(sample, twin=None))])}
                for sample in own
            )
            if is_of_kind and not isinstance(metric, Learned):
                judgements = judge_all(metric, own, outputs, names)
                for of_sample, judged in zip(values, judgements, strict=True):
                    known = of_sample.keys() & judged.values
                    of_sample |= {score: judged.values.get(score) for score in known}
        columns = {name: Column.of([each[name] for each in values], totals[name]) for name in names}
        ids, keys = [sample.id for sample in own], [sample.cluster for sample in own]
        of_floor = Logged.of(run.spec, ids, keys, columns)
        floor = replace(
            run,
            key=f"{run.key}, {floor_name}",
            model=floor_name,
            adapter=None,
            asked=run.asked._replace(shown_arm=None),
            scores={score: column.value for score, column in of_floor.columns.items()},
            n=len(own),
            documents=None,
            training={},
            log=Log(),
        )
        runs.append(floor)
        logged[floor.id] = of_floor
    rows, _ = comparisons(runs, logged)
    return [replace(row, kind="floor") for row in rows]
