"""Systems beside each other: intervals, tests, and rows of arms with their difference.

The same tests serve arms, checkpoints, boards and two runs of one test.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from spor_tasks.metrics.tally import Column
from spor_tasks.results import stats
from spor_tasks.results.again import training
from spor_tasks.results.facts import Declared, ScoreFacts
from spor_tasks.results.logged import AllLogged, Logged, resampled, same_samples
from spor_tasks.results.rows import Cell, Comparison, Differs, Size
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.stats import Estimate, Interval, detectable, freedom_of
from spor_tasks.results.systems import (
    Agreed,
    apart,
    declared_apart,
    merged_facts,
    separations,
    systems_of,
)

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance, each with the p below which it is printed."""

FEWEST_CLUSTERS = 30
"""A difference on fewer clusters of samples has no mark: its interval and p are too bold."""

REPEATED = "a checkpoint has several results, which are not of several runs of training"
NO_VERDICT = "no sample has a verdict in every run"
NOT_RESAMPLED = "this score is of all outputs together, and cannot be resampled"

_NORMAL = 1.959964  # 95 % of a normal distribution is within this many standard errors
_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NOT_POOLED = "splits are put together from their samples: evaluate with --log_samples"
_UNPAIRED = "unpaired: the arms were trained with different seeds"
ONE_SEED = "holds for these checkpoints only: one training seed says nothing about others"

System = Sequence[Run]
"""Runs that differ only in their training seeds."""

# --- Intervals and tests of systems ---------------------------------------------------------------


def estimate(logged: AllLogged, metric: str, *systems: System) -> Estimate | None:
    """Return the score of a system, or that of the first of two minus the second's.

    None where samples are missing or differ, or where no sample has the verdicts.
    """
    runs = [run for system in systems for run in system]
    if not (samples := same_samples(logged, runs, metric)):
        return None
    return stats.estimate(
        [[logged[run.id].columns[metric] for run in system] for system in systems],
        samples[0].clusters,
        runs[0].spec.scores[metric].scale,
        [each.resampled[metric] for each in samples if metric in each.resampled],
        are_all=all(len(system) > 1 or system[0].seed is None for system in systems),
    )


def interval(logged: AllLogged, metric: str, runs: System) -> Interval | None:
    """Return the interval of the runs' mean.

    Without logged samples, or with different ones, that of several runs is over runs only, and that
    of one run is from lm-eval's standard error.
    """
    if same_samples(logged, runs, metric):
        of_samples = estimate(logged, metric, runs)
        return of_samples.interval if of_samples else None
    if len(runs) > 1:
        return _over_seeds(runs[0].spec.scores[metric], [run.scores[metric] for run in runs])
    (run,) = runs
    if not (error := run.log.stderrs.get(metric)):  # 0 says nothing about other samples
        return None
    center, reach = run.scores[metric], _NORMAL * error
    return Interval.within(center - reach, center + reach, "stderr", run.spec.scores[metric].scale)


def _over_seeds(score: ScoreFacts, *systems: Sequence[float]) -> Interval | None:
    """Return the interval of a mean over training seeds, or of one mean less another."""
    low, high = score.scale
    student = stats.over_seeds(*systems)
    scale = (low - high, high - low) if len(systems) > 1 else (low, high)
    if not student or not student.error:  # two equal runs say nothing about a third
        return None
    return Interval.within(*student.interval(), "seeds", scale)


class SystemPair(NamedTuple):
    """Two systems and a score."""

    first: System
    second: System
    metric: str


class Compared(NamedTuple):
    """The first system's score less the second's on the samples of both, and its two-sided ``p``.

    ``reason`` says why there is neither.
    """

    difference: float = math.nan
    p: float | None = None
    reason: str | None = None


def compare(
    pairs: Sequence[SystemPair], logged: AllLogged, *, of_board: bool = False
) -> list[Compared]:
    """Return for each pair the test that its systems do not differ.

    If a system has several runs, the test accounts for the variation between runs
    (:func:`~spor_tasks.results.stats.differences`), otherwise it is
    :func:`~spor_tasks.results.stats.randomization_p_values`. The pairs ``of_board`` are tested as
    many, and only where a difference could have a mark.
    """
    tests: dict[Hashable, Logged] = {}
    sides: dict[tuple[int, str], _Side] = {}
    for first, second, metric in pairs:
        for system in (first, second):
            if (key := (id(system), metric)) not in sides:
                sides[key] = _Side.of(system, metric, logged, tests)

    @cache
    def clusters_of(samples: Logged, mask: bytes) -> int:
        scored = samples.clusters[np.frombuffer(mask, np.bool_)]
        return int(np.count_nonzero(np.bincount(scored)))

    found: list[Compared] = []
    groups: dict[tuple[Logged, Hashable], dict[int, _Tested]] = defaultdict(dict)
    for number, (first, second, metric) in enumerate(pairs):
        one, other = sides[id(first), metric], sides[id(second), metric]
        same = one.samples if one.samples is other.samples else None
        mask = stats.both(one.mask, other.mask) if same else b""
        clusters = clusters_of(same, mask) if same else None
        reason = _why_not(one, other, clusters, mask.count(1), of_board=of_board)
        found.append(Compared(reason=reason))
        if same and not reason:
            is_single = len(first) == len(second) == 1  # these are tested together, of any score
            groups[same, is_single or (metric, mask)][number] = one, other, mask
    for (samples, _), group in groups.items():
        tested = _tests([*group.values()], samples.clusters, of_board=of_board)
        for number, (less, p) in zip(group, tested, strict=True):
            is_known = not math.isnan(p)
            found[number] = Compared(less, float(p)) if is_known else Compared(reason=NO_VERDICT)
    return found


class _Side(NamedTuple):
    """A score of a system, as it is tested against those of others."""

    samples: Logged | None
    """Those of the first system on the same samples; None where some are missing, or differ."""
    columns: list[Column]
    """The values of each run."""
    mask: bytes
    """Which samples have a verdict in every run."""
    is_resampled: bool
    repeats: bool
    is_of_one_seed: bool

    @classmethod
    def of(
        cls, system: System, metric: str, logged: AllLogged, tests: dict[Hashable, Logged]
    ) -> "_Side":
        totals = system[0].spec.totals(metric)
        own = same_samples(logged, system, metric) or []
        columns = [each.columns[metric] for each in own]
        return cls(
            samples=tests.setdefault(own[0].ids, own[0]) if own else None,
            columns=columns,
            mask=np.all([column.scored for column in columns], axis=0).tobytes(),
            is_resampled=totals.is_logged and totals.resampled,
            repeats=repeats_a_checkpoint(system),
            is_of_one_seed=is_of_one_seed(system),
        )


def _few(clusters: int | None, n: int | None) -> str:
    """Return that the clusters of ``n`` samples are too few for a mark."""
    return f"fewer than {FEWEST_CLUSTERS} {'different' if clusters == n else 'clusters of'} inputs"


_Tested = tuple[_Side, _Side, bytes]
"""Two systems on the same samples, and which of these have a verdict in every run."""


def _why_not(
    one: _Side, other: _Side, clusters: int | None, n: int, *, of_board: bool
) -> str | None:
    """Return why two systems cannot be tested on clusters of ``n`` samples; None says they can.

    Without a number of clusters, they have other samples.
    """
    runs = len(one.columns) + len(other.columns)
    # All exchanges of a single cluster of single runs are counted, and tell nothing: p is 1.
    fewest = FEWEST_CLUSTERS if of_board else min(2, runs - 1)
    few = _few(clusters, n)
    if clusters == 1:
        few = "all samples are about the same, which says nothing about others"
    reasons = {
        NOT_RESAMPLED: not one.is_resampled,
        "the samples of both are needed, and must be the same": clusters is None,
        NO_VERDICT: clusters == 0,
        REPEATED: one.repeats or other.repeats,
        "a system with one training seed cannot be compared with one of several runs": (
            runs > 2 and (one.is_of_one_seed or other.is_of_one_seed)
        ),
        few: (clusters or 0) < fewest,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)


def _tests(
    pairs: Sequence[_Tested], clusters: stats.Clusters, *, of_board: bool
) -> Iterable[tuple[float, float]]:
    """Return difference and p of pairs of single runs, or of pairs with one score and mask."""
    first, second, mask = pairs[0]
    if len(first.columns) == len(second.columns) == 1:

        @cache
        def value(column: Column, mask: bytes) -> float:
            sums = column.statistics[np.frombuffer(mask, np.bool_)].sum(axis=0)
            return float(column.totals.score(sums))

        columns = [(one.columns[0], other.columns[0]) for one, other, _ in pairs]
        differences = [
            value(one, mask) - value(other, mask)
            for (one, other), (*_, mask) in zip(columns, pairs, strict=True)
        ]
        return zip(differences, stats.randomization_p_values(columns, clusters), strict=True)
    some = np.frombuffer(mask, np.bool_)
    systems = {id(side): side for pair in pairs for side in pair[:2]}
    places = {key: place for place, key in enumerate(systems)}
    values, variances = stats.differences(
        [[column.take(some) for column in side.columns] for side in systems.values()],
        np.unique(clusters[some], return_inverse=True)[1],
        np.array([[places[id(side)] for side in pair[:2]] for pair in pairs]),
        many=of_board,
    )
    return zip(values, variances.p(values, many=of_board), strict=True)


def is_of_one_seed(system: System) -> bool:
    """Return whether a system was trained, and with a single seed."""
    return len({run.seed for run in system}) == 1 and system[0].seed is not None


def repeats_a_checkpoint(system: System) -> bool:
    """Return whether some runs are of one training, merged over the type of weights, say."""
    trained = [(run.seed, run.adapter.adapter_sha256) for run in system if run.adapter]
    return len(set(trained)) < len(trained)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p adjusted for all of them being looked at (Holm, 1979), in their order.

    Calling different what is below α then errs once or more with a probability of at most α.
    """
    values = np.array(p_values)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    remaining = np.arange(len(values), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(remaining * values[order]))
    return [float(p) for p in adjusted]


# --- Rows of arms ---------------------------------------------------------------------------------


def comparisons(
    results: Iterable[Run], logged: AllLogged, merge_by: Iterable[str] = ()
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Group results by task and model into sorted comparisons, one for each reported metric.

    Results that were evaluated differently, or whose adapters were trained differently, get rows of
    their own, unless they differ only in the facts that ``merge_by`` names. If two results for the
    same cell differ, neither is used. The problems report all this.

    Raises:
        ConfigError: ``merge_by`` names a fact that no result has, or in which a row must agree.
    """
    results, logged = declared_apart(results), resampled(logged)
    merged = merged_facts(results, merge_by)
    tasks = {result.task for result in results}
    problems: list[Problem] = []
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for result in results:
        where = f"{result.file}: {result.task}"
        if result.arm not in {None, *result.spec.arms}:
            what = f"{result.arm} is not an arm of {result.spec.sets.aspect}: left out"
            problems.append(Problem("unknown", where, what))
        elif off_scale := _off_scale(result.spec, result.scores):
            problems.append(Problem("schema", where, off_scale))
        else:
            groups[result.comparison, result.model].append(result)
    rows: list[Comparison] = []
    for _, group in sorted(groups.items()):
        systems = systems_of(group, merged)
        problems += separations(systems)
        for system, differs in zip(systems, apart(systems, merged), strict=True):
            arms, conflicts = _by_arm(system, merged)
            problems += conflicts
            rows += _rows(system, differs, arms, tasks, logged)
    return _tested(rows, logged), tuple(dict.fromkeys(problems))


def _off_scale(spec: Declared, scores: Mapping[str, float]) -> str | None:
    """Return that a score is not one that its scale has, if so."""
    for metric in spec.displayed:
        low, high = spec.scores[metric].scale
        value = scores.get(metric, low)
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            return f"{metric} is {value}, which is not between {low} and {high}: left out"
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
    same: dict[tuple[str | None, int | None, Agreed], list[Run]] = defaultdict(list)
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
    results: Sequence[Run],
    differs: Differs,
    arms: _Arms,
    tasks: Container[str],
    logged: AllLogged,
) -> Iterator[Comparison]:
    """Yield the row of each score that the results have; without any, that of the main one."""
    first, n = results[0], max(result.n for result in results)
    spec = Declared.together([result.spec for result in results])
    asked, commands = first.asked, dict[str, str]()
    shown = dict[str, str]()  # the task of each arm that has no result at all, and may be shown
    for arm in spec.arms:  # what would give a result of it, tuned on or shown as the first is
        if first.adapter or not spec.sets.in_context:
            commands[arm] = training(first.adapter, arm, spec.task, first.log.options)
            continue
        task = spec.task_name(arm)
        if asked.shown_arm:
            is_ours = asked.task == spec.task_name(asked.shown_arm, asked.decoding)
            task = spec.task_name(arm, asked.decoding) if is_ours else asked.task
        commands[arm] = ""
        if task not in tasks:
            shown[arm] = task
    commands |= dict.fromkeys(shown, first.log.options.command(",".join(shown.values())))
    main, *further = spec.displayed
    compared = {*spec.reported, *(gap.name for gap in spec.gaps)}
    for metric in (main, *(m for m in further if any(m in result.scores for result in results))):
        cells = tuple(_cell(arms[arm], metric, arm, commands[arm], logged) for arm in spec.arms)
        task = spec.task if asked.shown_arm else asked.task
        command = first.log.options.as_is(first.adapter).command(task)
        as_is = _cell(arms[None], metric, "the model as it is", command, logged)
        counted = next((cell.runs for cell in (*cells, as_is) if cell.runs), ())
        samples = same_samples(logged, counted)
        is_compared = len(cells) == 2 and metric in compared
        difference = _difference(metric, cells, n, logged) if is_compared else None
        if as_is.values and sum(bool(cell.values) for cell in cells) == 1:  # read as a gain
            cells = tuple(
                replace(cell, notes=(*cell.notes, ONE_SEED)) if is_of_one_seed(cell.runs) else cell
                for cell in cells
            )
        yield Comparison(
            spec=spec,
            variant=first.variant,
            task=first.comparison,
            model=first.model,
            metric=metric,
            size=Size(
                n,
                first.documents,
                clusters=len(np.unique(samples[0].clusters)) if samples else None,
                splits=max(len(result.log.splits) for result in results),
            ),
            arms=cells,
            as_is=as_is,
            difference=difference,
            differs=differs,
            signature=first.signature,
        )


def _difference(metric: str, cells: Sequence[Cell], n: int, logged: AllLogged) -> Estimate | None:
    """Return the first of two cells less the second, before it is tested; None without values."""
    one, other = cells
    if not (one.values and other.values):
        return None
    difference = estimate(logged, metric, one.runs, other.runs)
    notes = [] if one.seeds == other.seeds else [_UNPAIRED]
    if (one.seeds or other.seeds) and 1 in {len(one.values), len(other.values)}:
        notes.append(ONE_SEED)
    if difference is None:
        value = statistics.fmean(one.values) - statistics.fmean(other.values)
        score = one.runs[0].spec.scores[metric]
        difference = Estimate(value, _over_seeds(score, one.values, other.values))
    elif (judged := difference.n or 0) < n:
        notes.append(f"on the {judged:,} of {n:,} samples that every run has a verdict on")
    return replace(difference, notes=(*difference.notes, *notes))


def _cell(runs: _Runs, metric: str, name: str, command: str, logged: AllLogged) -> Cell:
    scored = [result for result in runs.used if metric in result.scores]
    if runs.left_out and not scored:
        return Cell(reason="; ".join(runs.left_out))
    if not scored and not runs.used:
        return Cell(reason=f"no result of {name}", command=command)
    if not scored:
        first = runs.used[0]
        return Cell(reason=_NOT_POOLED if first.log.splits else f"no {metric} in {first.file.name}")
    counts: list[int] = []
    if metric in scored[0].spec.breakdown:
        columns = (logged[run.id].columns.get(metric) for run in scored if run.id in logged)
        counts = [int(column.scored.sum()) for column in columns if column]
    found = estimate(logged, metric, scored)
    notes = *notes_of(scored, metric, logged), *(found.notes if found else ())
    return Cell(
        values=tuple(result.scores[metric] for result in scored),
        runs=tuple(scored),
        interval=found.interval if found else interval(logged, metric, scored),
        reason="; ".join(runs.left_out) or None,
        notes=tuple(dict.fromkeys(notes)),
        counts=tuple(counts),
    )


def notes_of(results: Sequence[Run], metric: str, logged: AllLogged) -> Iterator[str]:
    """Yield what a reader must know about the results of a cell."""
    for result in results:
        yield from result.log.notes
        if result.adapter and result.adapter.is_from_elsewhere:
            yield "trained elsewhere: only the adapter's record says on what"
    for package in sorted({name for result in results for name in result.log.versions}):
        versions = sorted({result.log.versions.get(package, "none") for result in results})
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
    if samples := same_samples(logged, results, metric):
        column = samples[0].columns[metric]
        shares = column.scored.astype(np.float64), column.shares
        alike, equal = (1 + freedom_of(samples[0].clusters, each) for each in shares)
        if equal < min(FEWEST_CLUSTERS, alike / 2):  # such as those with most of the words
            yield f"a few outputs count most: they say as much as {equal:.0f} equal clusters would"


def _tested(rows: Sequence[Comparison], logged: AllLogged) -> tuple[Comparison, ...]:
    """Return the rows, their differences with p and mark, or the reason why one is missing.

    Tests of all rows run together. A difference that is 0 as it is printed has no mark, and two
    seeds never have two. The smallest difference that tests would find is one for each table, whose
    rows are other models and parts: the variance of few runs says little, so those of rows with as
    many runs are pooled.
    """
    differing = {n: row.difference for n, row in enumerate(rows) if row.difference}
    pairs = [
        SystemPair(rows[n].arms[0].runs, rows[n].arms[1].runs, rows[n].metric) for n in differing
    ]
    tables: dict[object, list[int]] = defaultdict(list)
    for (number, found), (_, p, why) in zip(
        [*differing.items()], compare(pairs, logged), strict=True
    ):
        row, runs = rows[number], tuple(len(cell.runs) for cell in rows[number].arms)
        differing[number] = marked(found, p, why, runs)
        if differing[number].reason is None:
            sets = row.spec.sets
            table = sets.aspect, sets.corpus, sets.protocol, row.variant, row.metric, runs
            tables[table].append(number)
    for numbers in tables.values():
        variances = [known for number in numbers if (known := differing[number].variances)]
        smallest = detectable(variances) if variances else None
        for number in numbers:
            differing[number] = replace(differing[number], detectable=smallest)
    return tuple(replace(row, difference=differing.get(n)) for n, row in enumerate(rows))


def marked(
    found: Estimate, p: float | None, why: str | None, runs: Collection[int], digits: int = 2
) -> Estimate:
    """Return a difference of systems of so many runs with its p and mark, or why it has none.

    A difference that is 0 with so many digits has no mark.
    """
    mark, reason = "", why and f"not tested: {why}"
    if p is not None and (found.clusters or 0) < FEWEST_CLUSTERS:
        reason = f"no mark: {_few(found.clusters, found.n)}"
    elif p is not None and round(found.value, digits):
        marks = MARKS[1:] if 2 in runs else MARKS
        mark = next((mark for mark, level in marks if p < level), "")
    return replace(found, p=p, mark=mark, reason=reason)


def tested(pairs: Sequence[SystemPair], logged: AllLogged) -> list[Estimate | None]:
    """Return each first system's score less the second's, with its p and mark.

    None where one of them has no run, or their samples differ.
    """
    found = [
        estimate(logged, metric, first, second) if first and second else None
        for first, second, metric in pairs
    ]
    known = [pair for pair, each in zip(pairs, found, strict=True) if each]
    tests = iter(compare(known, logged))
    return [
        each and marked(each, test.p, test.reason, (len(pair.first), len(pair.second)))
        for pair, each in zip(pairs, found, strict=True)
        for test in [next(tests) if each else Compared()]
    ]
