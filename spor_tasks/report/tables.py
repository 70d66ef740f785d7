"""The comparison that every aspect of SPOR makes, as typed rows: one arm against the other."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from spor_tasks.report.evidence import Evidence, Interval, Pair, Run, run_of, scale_of
from spor_tasks.results import Problem, TaskResult
from spor_tasks.samples import ARMS

METRICS: Mapping[tuple[str, str | None], tuple[str, ...]] = {
    ("order_invariance", "main"): (
        "fidelity_pbh",
        "fidelity_poh",
        "ordering_pbh",
        "ordering_poh",
        "faithful_ordering_pbh",
        "faithful_ordering_poh",
    ),
    ("order_invariance", "cwio"): ("cwio", "cwio_located", "cwio_located_share"),
    ("rule_learnability", None): (
        "copy_rule_00",
        "copy_rule_01",
        "copy_rule",
        "copy_rule_11",
        "copy_rule_whole_word",
    ),
}
"""What a task is judged by, the paper's metrics before what corrects them."""

_PARENT = ("parent", "parent_full_table")

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance; each stands where p is below its number."""

_MOST_WORDS = 32
_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NO_SAMPLES = "no test without the same samples of both arms"


def metrics_of(aspect: str, part: str | None) -> tuple[str, ...]:
    """Return what the tasks of an aspect are judged by, the paper's own metrics first."""
    return METRICS.get((aspect, part), _PARENT)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a model scored on one task, seed by seed; ``seeds`` and ``values`` run in parallel.

    The seeds are those of training; what was only shown, or nothing, has None. ``runs`` are the
    files and tasks that the values are from. ``reason`` says why values are missing, all or some.
    ``interval`` is that of the mean over seeds.
    """

    values: tuple[float, ...] = ()
    seeds: tuple[int | None, ...] = ()
    runs: tuple[Run, ...] = ()
    interval: Interval | None = None
    reason: str | None = None

    @property
    def mean(self) -> float | None:
        """The mean over seeds, as the paper reports it; None where there is no value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over seeds; None for a single seed."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first arm's mean less the second's: negative where generalization costs.

    ``p`` is that of :func:`~spor_tasks.metrics.significance.arms_over_seeds`; None where the
    samples of an arm are not at hand, and ``reason`` says so. ``mark`` is the paper's.
    """

    value: float
    interval: Interval | None = None
    p: float | None = None
    mark: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What one model scored on one task by one metric, after either arm and ``as_is``, without.

    The arms may have been trained on or only shown. ``variant`` is what the task's name says
    beside aspect, corpus, part and sets, such as ``beam5`` or ``icl k=3``. Rule learnability has
    one arm, and no difference. ``published`` rows are the paper's. ``apart`` says what the row
    differs in from the other row of the same model and task, where there are several.
    ``signature`` is that of the results.
    """

    aspect: str
    corpus: str
    protocol: str
    part: str | None
    variant: str
    task: str
    model: str
    metric: str
    n: int
    arms: tuple[Cell, ...]
    as_is: Cell
    difference: Difference | None
    published: bool = False
    apart: str | None = None
    signature: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """One of the paper's tables: all comparisons of an aspect, the paper's own last."""

    aspect: str
    rows: tuple[Comparison, ...]


def comparisons(
    results: Iterable[TaskResult], evidence: Evidence
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Group results by task and model into comparisons, sorted so; one for each main metric.

    Results that differ in something besides the checkpoint stand in rows of their own, and of two
    different ones for the same cell neither is used; the problems say so.
    """
    builder = _Builder(evidence)
    groups: dict[tuple[str, str], list[TaskResult]] = defaultdict(list)
    for result in results:
        if builder.is_sound(result):
            groups[result.comparison, result.model].append(result)
    drafts = [draft for _, group in sorted(groups.items()) for draft in builder.drafts(group)]
    p_values = evidence.p_values(draft.pair for draft in drafts if draft.pair)
    rows = tuple(
        _tested(draft.row, draft.pair, next(p_values), evidence) if draft.pair else draft.row
        for draft in drafts
    )
    return rows, tuple(builder.problems)


class _Draft(NamedTuple):
    """A row before its test, for tests of many rows together are hardly slower than one."""

    row: Comparison
    pair: Pair | None


class _Place(NamedTuple):
    """The results of one arm by seed, and why others are left out."""

    used: list[TaskResult]
    left_out: list[str]


_Places = Mapping[str | None, _Place]


@dataclass(slots=True)
class _Builder:
    """Fills cells, and notes what is wrong with those it cannot fill."""

    evidence: Evidence
    problems: list[Problem] = field(default_factory=list)

    def is_sound(self, result: TaskResult) -> bool:
        """Tell whether every score is on its scale; what is not is left out, and noted."""
        for metric in metrics_of(result.aspect, result.part):
            low, high = scale_of(metric)
            value = result.scores.get(metric, low)
            if not low - _ROUNDING <= value <= high + _ROUNDING:
                what = f"{metric} is {value}, which is not from {low} to {high}: left out"
                self.problems.append(Problem("schema", f"{result.file}: {result.task}", what))
                return False
        return True

    def drafts(self, group: Sequence[TaskResult]) -> Iterator[_Draft]:
        """Yield the rows of one model on one task: as many for each metric as signatures."""
        alike: dict[tuple[tuple[str, str], ...], list[TaskResult]] = defaultdict(list)
        for result in group:
            alike[tuple(sorted(result.signature.items()))].append(result)
        examples = [same[0] for same in alike.values()]
        for other in examples[1:]:
            self._note_apart(examples[0], other)
        for same in alike.values():
            apart = told_apart(same[0].signature, differing(examples))
            places = self._places(same)
            for metric in metrics_of(same[0].aspect, same[0].part):
                yield self._draft(places, metric, same[0], apart)

    def _note_apart(self, one: TaskResult, other: TaskResult) -> None:
        details = "; ".join(
            f"{key}: {one.signature[key]} against {other.signature[key]}"
            for key in differing([one, other])
        )
        what = f"stands apart from {one.file}, they differ in {details}"
        self.problems.append(Problem("incomparable", f"{other.file}: {other.task}", what))

    def _places(self, results: Sequence[TaskResult]) -> _Places:
        """Return the results by arm and seed; one result in each place."""
        places = {arm: _Place([], []) for arm in (None, *ARMS[results[0].aspect])}
        same: dict[tuple[str | None, int | None], list[TaskResult]] = defaultdict(list)
        for result in results:
            if result.arm in places:
                same[result.arm, result.seed].append(result)
            else:
                what = f"{result.arm} is no arm of {result.aspect}: left out"
                self.problems.append(Problem("unknown", f"{result.file}: {result.task}", what))
        for arm, seed in sorted(same, key=lambda place: (place[0] or "", place[1] or 0)):
            first, *others = same[arm, seed]
            copies = all(other.scores == first.scores for other in others)
            if copies:
                places[arm].used.append(first)
            else:
                places[arm].left_out.append(f"files differ on seed {seed}")
            verdict = "the same scores, used once" if copies else "not the same, none is used"
            for other in others:
                what = f"holds the same cell as {first.file}: {verdict}"
                where = f"{other.file}: {other.task}"
                self.problems.append(Problem("duplicate", where, what, lost=not copies))
        return places

    def _draft(
        self, places: _Places, metric: str, example: TaskResult, apart: str | None
    ) -> _Draft:
        arms = ARMS[example.aspect]
        cells = tuple(self._cell(places[arm], metric, arm) for arm in arms)
        pair = difference = None
        if len(arms) > 1:
            one, other = cells
            if one.values and other.values:
                pair = Pair(one.runs, other.runs, metric)
                difference = self._difference(one, other, pair)
        row = Comparison(
            aspect=example.aspect,
            corpus=example.corpus,
            protocol=example.protocol,
            part=example.part,
            variant=variant_of(example),
            task=example.comparison,
            model=example.model,
            metric=metric,
            n=example.n,
            arms=cells,
            as_is=self._cell(places[None], metric, "the model as it is"),
            difference=difference,
            apart=apart,
            signature=example.signature,
        )
        return _Draft(row, pair)

    def _cell(self, place: _Place, metric: str, name: str) -> Cell:
        scored = [result for result in place.used if metric in result.scores]
        if not scored:
            no_score = f"no {metric} in {place.used[0].file.name}" if place.used else None
            return Cell(reason="; ".join(place.left_out) or no_score or f"no result of {name}")
        values = tuple(result.scores[metric] for result in scored)
        return Cell(
            values=values,
            seeds=tuple(result.seed for result in scored),
            runs=tuple(map(run_of, scored)),
            interval=self.evidence.interval(scored, metric),
            reason="; ".join(place.left_out) or None,
        )

    def _difference(self, one: Cell, other: Cell, pair: Pair) -> Difference:
        value = statistics.fmean(one.values) - statistics.fmean(other.values)
        interval = self.evidence.interval_of_difference(pair, one.values, other.values)
        return Difference(value, interval)


def _tested(row: Comparison, pair: Pair, p: float | None, evidence: Evidence) -> Comparison:
    if row.difference is None:
        return row
    reason = None
    if p is None:
        logged = evidence.has_samples(pair)
        reason = "no sample has a verdict in every run" if logged else _NO_SAMPLES
    mark = next((mark for mark, level in MARKS if p is not None and p < level), "")
    return replace(row, difference=replace(row.difference, p=p, mark=mark, reason=reason))


def tables(rows: Iterable[Comparison]) -> tuple[Table, ...]:
    """Return the rows in the paper's tables, those of an aspect without rows left out."""
    by_aspect: dict[str, list[Comparison]] = {aspect: [] for aspect in ARMS}
    for row in rows:
        by_aspect[row.aspect].append(row)
    return tuple(Table(aspect, tuple(found)) for aspect, found in by_aspect.items() if found)


def differing(results: Sequence[TaskResult]) -> tuple[str, ...]:
    """Return the keys of the signature that the results do not agree in."""
    first, *others = (result.signature for result in results)
    return tuple(key for key in first if any(other[key] != first[key] for other in others))


def told_apart(facts: Mapping[str, str], keys: Iterable[str]) -> str | None:
    """Return these facts in a few words, digests cut short; None where there are no keys."""
    told = (f"{key} {facts[key]}" for key in keys)
    words = [text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}…" for text in told]
    return ", ".join(words) or None


def variant_of(result: TaskResult) -> str:
    """Return what the task's name says beside aspect, corpus, part and sets."""
    prefix = f"spor_{result.aspect}_{result.corpus}"
    if not result.comparison.startswith(prefix):
        return result.comparison
    rest = result.comparison.removeprefix(prefix).removeprefix(f"_{result.part}")
    return rest.removeprefix("_strict").removeprefix("_").replace("_", " ")
