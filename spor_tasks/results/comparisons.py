"""Comparisons: results by task and model, with the arms beside each other and their difference."""

import statistics
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spor_tasks.results import evidence
from spor_tasks.results.evidence import (
    FEW_CLUSTERS,
    FEWEST_CLUSTERS,
    SystemPair,
    over_seeds,
    same_samples,
)
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.stats import Estimate, Variances, detectable, freedom_of
from spor_tasks.results.systems import Facts, merged_facts, named_rows, separations, systems_of

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance, each with the p below which it is printed."""

_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NOT_POOLED = "splits are put together from their samples: evaluate with --log_samples"
_UNPAIRED = "unpaired: the arms were trained with different seeds"
_ONE_SEED = "holds for these checkpoints only: one training seed says nothing about others"


def comparisons(
    results: Iterable[Run], merge_by: Iterable[str] = ()
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Group results by task and model into sorted comparisons, one for each reported metric.

    Results that were evaluated differently, or whose adapters were trained differently, get rows of
    their own, unless they differ only in the facts that ``merge_by`` names. If two results for the
    same cell differ, neither is used. The problems report all this.

    Raises:
        ConfigError: ``merge_by`` names a fact that no result has, or in which a row must agree.
    """
    results = tuple(results)
    merged = merged_facts(results, merge_by)
    tasks = {result.task for result in results}
    problems: list[Problem] = []
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for result in results:
        if fault := _fault(result):
            problems.append(fault)
        else:
            groups[result.comparison, result.model].append(result)
    rows: list[Comparison] = []
    for _, group in sorted(groups.items()):
        systems = systems_of(group, merged)
        problems += separations(systems)
        for system, row in zip(systems, named_rows(systems, merged), strict=True):
            arms, conflicts = _by_arm(system, merged)
            problems += conflicts
            rows += _rows(row, system, arms, tasks)
    return _with_detectable([*_tested(rows)]), tuple(dict.fromkeys(problems))


def _fault(result: Run) -> Problem | None:
    """Return why a result is left out: an arm that the sets lack, or a score off its scale."""
    where = f"{result.file}: {result.task}"
    if result.arm not in {None, *result.spec.arms}:
        what = f"{result.arm} is not an arm of {result.aspect}: left out"
        return Problem("unknown", where, what)
    for metric in result.spec.displayed:
        low, high = result.spec.scores[metric].scale
        value = result.scores.get(metric, low)
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            what = f"{metric} is {value}, which is not between {low} and {high}: left out"
            return Problem("schema", where, what)
    return None


@dataclass(frozen=True, slots=True)
class _Runs:
    """The results of one arm, and why others are left out."""

    used: list[Run] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


_Arms = Mapping[str | None, _Runs]


def _by_arm(results: Sequence[Run], merged: frozenset[str]) -> tuple[_Arms, tuple[Problem, ...]]:
    """Return the results by arm, one for each seed, and the problems with several results."""
    arms = {arm: _Runs() for arm in (None, *results[0].spec.arms)}
    problems = list[Problem]()
    same: dict[tuple[str | None, int | None, Facts], list[Run]] = defaultdict(list)
    for result in results:
        facts = {key: value for key, value in result.facts.items() if key in merged}
        same[result.arm, result.seed, tuple(sorted(facts.items()))].append(result)
    for place in sorted(same, key=lambda place: (place[0] or "", place[1] or 0, place[2])):
        arm, seed, _ = place
        original, *duplicates = same[place]
        copies = all(copy.scores == original.scores for copy in duplicates)
        if copies:
            arms[arm].used.append(original)
        else:
            arms[arm].left_out.append(f"files differ on seed {seed}")
        verdict = "the same scores, used once" if copies else "other scores, none is used"
        for copy in duplicates:
            what = f"is a result of the same run as {original.file}: {verdict}"
            where = f"{copy.file}: {copy.task}"
            problems.append(Problem("duplicate", where, what, lost=not copies))
    return arms, tuple(problems)


def _rows(
    row: Comparison, results: Sequence[Run], arms: _Arms, tasks: Container[str]
) -> Iterator[Comparison]:
    """Yield the row of each score that the results have; without any, that of the main one."""
    spec = row.spec
    main, *further = spec.displayed
    compared = {*spec.reported, *(gap.name for gap in spec.gaps)}
    for metric in (main, *(m for m in further if any(m in result.scores for result in results))):
        cells = tuple(
            _cell(arms[arm], metric, arm, _command(results[0], arm, tasks)) for arm in spec.arms
        )
        as_is = _cell(arms[None], metric, "the model as it is", f"spor eval --tasks {spec.task}")
        counted = next((cell.runs for cell in (*cells, as_is) if cell.runs), ())
        samples = same_samples(counted)
        is_pair = len(cells) == 2 and all(cell.values for cell in cells)
        yield replace(
            row,
            metric=metric,
            arms=cells,
            as_is=as_is,
            difference=_difference(row, metric, cells) if is_pair and metric in compared else None,
            clusters=len(np.unique(samples.clusters)) if samples else None,
        )


def _command(example: Run, arm: str, tasks: Container[str]) -> str:
    """Return what would give a result of an arm, tuned on or shown as the example is.

    Empty if the arm's task with demonstrations is among the tasks.
    """
    spec = example.spec
    if example.adapter or not spec.in_context:
        return f"python -m training train CONFIG data.arm={arm}"
    task = spec.task_name(arm)
    if example.shown_arm:
        task = example.task.replace(f"_icl_{example.shown_arm}", f"_icl_{arm}")
    return "" if task in tasks else f"spor eval --tasks {task}"


def _cell(runs: _Runs, metric: str, name: str, command: str) -> Cell:
    scored = [result for result in runs.used if metric in result.scores]
    if runs.left_out and not scored:
        return Cell(reason="; ".join(runs.left_out))
    if not scored and not runs.used:
        return Cell(reason=f"no result of {name}", command=command)
    if not scored:
        first = runs.used[0]
        return Cell(reason=_NOT_POOLED if first.splits else f"no {metric} in {first.file.name}")
    counts: list[int] = []
    if metric in scored[0].spec.breakdown:
        columns = (run.logged.columns.get(metric) for run in scored if run.logged)
        counts = [int(column.scored.sum()) for column in columns if column]
    return Cell(
        values=tuple(result.scores[metric] for result in scored),
        runs=tuple(scored),
        interval=evidence.interval(scored, metric),
        reason="; ".join(runs.left_out) or None,
        notes=tuple(dict.fromkeys((*_notes(scored), *_on_sizes(scored, metric)))),
        counts=tuple(counts),
    )


def _notes(results: Sequence[Run]) -> Iterator[str]:
    """Yield what a reader must know about the results of a cell."""
    for result in results:
        yield from result.notes
    for package in sorted({name for result in results for name in result.versions}):
        versions = sorted({result.versions.get(package, "none") for result in results})
        if len(versions) > 1:
            yield f"runs with different versions of {package}: {', '.join(versions)}"
    for trained in sorted(
        {result.training.get("model.quantization", "None") for result in results}
    ):
        evaluated = {result.signature["quantization"] for result in results} - {trained}
        if trained != "None" and evaluated:
            yield (
                f"trained on the base in four bits ({trained}), and evaluated on it with "
                f"quantization {', '.join(sorted(evaluated))}"
            )
    empty = statistics.fmean(result.scores.get("empty", 0.0) for result in results)
    if empty > 0:
        yield f"{empty:.1f} % of the outputs are empty"


def _on_sizes(results: Sequence[Run], metric: str) -> Iterator[str]:
    """Yield that a few outputs count for most of a score, such as those with most of the words."""
    if samples := same_samples(results, metric):
        column = samples.columns[metric]
        shares = column.scored.astype(np.float64), column.shares
        alike, equal = (1 + freedom_of(samples.clusters, each) for each in shares)
        if equal < min(FEWEST_CLUSTERS, alike / 2):
            yield f"a few outputs count most: they say as much as {equal:.0f} equal clusters would"


def _difference(row: Comparison, metric: str, arms: Sequence[Cell]) -> Estimate:
    first, second = arms
    notes = [] if first.trained_seeds == second.trained_seeds else [_UNPAIRED]
    is_trained = bool(first.trained_seeds or second.trained_seeds)
    if is_trained and 1 in {len(first.values), len(second.values)}:
        notes.append(_ONE_SEED)
    if (estimate := evidence.estimate(metric, first.runs, second.runs)) is None:
        value = statistics.fmean(first.values) - statistics.fmean(second.values)
        estimate = Estimate(value, over_seeds(row.spec.scores[metric], first.values, second.values))
    elif (estimate.n or 0) < row.n:
        notes.append(f"on the {estimate.n:,} of {row.n:,} samples that every run has a verdict on")
    return replace(estimate, notes=(*estimate.notes, *notes))


def _tested(rows: Iterable[Comparison]) -> Iterator[Comparison]:
    """Yield the rows, their differences with p and mark; tests of all rows run together."""
    rows = tuple(rows)
    compared = [
        SystemPair(row.arms[0].runs, row.arms[1].runs, row.metric) for row in rows if row.difference
    ]
    tested = iter(evidence.compare(compared))
    for row in rows:
        if (difference := row.difference) is None:
            yield row
            continue
        _, p, reason = next(tested)
        reason = reason and f"not tested: {reason}"
        mark = "" if p is None else _mark(row, p)
        if p is not None and (difference.clusters or 0) < FEWEST_CLUSTERS:
            mark, reason = "", f"no mark: {FEW_CLUSTERS}"
        yield replace(row, difference=replace(difference, p=p, mark=mark, reason=reason))


def _with_detectable(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return the rows with the smallest differences that tests would find: one for each table.

    Rows of a table are other models and parts. Their variances are pooled where they have as many
    runs, since that of few runs says little.
    """
    tables: dict[object, list[Variances]] = defaultdict(list)

    def table(row: Comparison) -> object:
        runs = tuple(len(cell.runs) for cell in row.arms)
        return row.spec.name._replace(part=None), row.variant, row.metric, runs

    for row in rows:
        if row.difference and row.difference.variances and row.difference.reason is None:
            tables[table(row)].append(row.difference.variances)
    smallest = {key: detectable(variances) for key, variances in tables.items()}
    return tuple(
        replace(row, difference=replace(row.difference, detectable=smallest.get(table(row))))
        if row.difference and row.difference.reason is None
        else row
        for row in rows
    )


def _mark(row: Comparison, p: float) -> str:
    """Return the mark of a difference that is not 0 as it is printed; two seeds never have two."""
    if row.difference is None or not round(row.difference.value, 2):
        return ""
    has_two_seeds = any(len(cell.runs) == 2 for cell in row.arms)
    marks = MARKS[1:] if has_two_seeds else MARKS
    return next((mark for mark, level in marks if p < level), "")
