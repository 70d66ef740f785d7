"""Comparisons as typed rows: what a model scored after each arm, and how the arms differ."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from spor_tasks.aspects.named import place_of
from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.results.evidence import Evidence, Interval, Run, SystemPair, run_of, scale_of
from spor_tasks.results.reading import Problem, TaskResult

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance; each stands where p is below its number."""

_MOST_WORDS = 32
_MOST_FACTS = 6  # that tell rows apart; the problems name all of them
_NOT_STATED = "not stated"
_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NO_SAMPLES = "no test without the same samples of both arms"
_NO_VERDICT = "no sample has a verdict in every run"
_UNPAIRED = "unpaired: the arms were trained with different seeds"
_ONE_SEED = "of these checkpoints alone: one training seed says nothing of others"

# What a row cannot be merged over: it would be another test, or no row of a table.
_IDENTITY = frozenset({"task", "version", "test_sha256", "n"})


@dataclass(frozen=True, slots=True)
class Cell:
    """What a model scored on one task, run by run; ``seeds`` and ``values`` run in parallel.

    The seeds are those of training; what was only shown, or nothing, has None. ``runs`` are the
    files and tasks that the values are from. ``reason`` says why values are missing, all or some.
    ``interval`` is that of the mean over runs. ``notes`` are what a reader must know besides.
    """

    values: tuple[float, ...] = ()
    seeds: tuple[int | None, ...] = ()
    runs: tuple[Run, ...] = ()
    interval: Interval | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean over runs, as the paper reports it; None where there is no value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over runs; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first arm's score less the second's: negative where generalization costs.

    It is on the ``n`` samples, in so many ``clusters``, that have a verdict in every run; where the
    samples are not at hand it is the difference of the means, and both are None. ``p`` is that of
    :meth:`~spor_tasks.results.evidence.Evidence.p_values`, None where it cannot be tested, and
    ``reason`` says why. ``mark`` is the paper's. ``notes`` are what a reader must know besides.
    """

    value: float
    interval: Interval | None = None
    p: float | None = None
    mark: str = ""
    reason: str | None = None
    n: int | None = None
    clusters: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What one model scored on one task by one metric, after each arm and ``as_is``, without.

    The arms are those of ``spec``; they may have been trained on or only shown. ``variant`` is how
    the task asks, such as ``beam5`` or ``icl k=3``. There is a difference where there are two arms.
    ``clusters`` counts the samples that show different units, None where the samples are not at
    hand. ``published`` rows are the paper's. Where a model has several rows for a task,
    ``evaluated`` and ``trained`` say what this one differs in, in how its results were reached and
    in how its adapters were trained; ``merged`` says what its runs differ in because a user asked
    for that. ``signature`` is that of the results.
    """

    spec: SetSpec
    variant: str
    task: str
    model: str
    metric: str
    n: int
    arms: tuple[Cell, ...]
    as_is: Cell
    difference: Difference | None
    clusters: int | None = None
    published: bool = False
    evaluated: str | None = None
    trained: str | None = None
    merged: str | None = None
    signature: Mapping[str, str] = field(default_factory=dict)

    @property
    def aspect(self) -> str:
        """What the sets are about."""
        return self.spec.name.aspect

    @property
    def part(self) -> str | None:
        """Which sets of several."""
        return self.spec.name.part

    @property
    def by_arm(self) -> tuple[tuple[str, Cell], ...]:
        """The cells with the names of their arms."""
        return tuple(zip(self.spec.arms, self.arms, strict=True))

    @property
    def apart(self) -> str | None:
        """What tells this row from the model's other rows of the task, None where it is alone."""
        return "; ".join(filter(None, [self.evaluated, self.trained, self.merged])) or None

    @property
    def name(self) -> str:
        """The model, with what tells this row from its other ones."""
        return f"{self.model} ({self.apart})" if self.apart else self.model

    @property
    def name_as_is(self) -> str:
        """The model without its adapters, of which it may have several rows."""
        return f"{self.model} ({self.evaluated})" if self.evaluated else self.model


@dataclass(frozen=True, slots=True)
class Table:
    """All comparisons of one aspect of a benchmark, its paper's own last."""

    benchmark: str
    aspect: str
    rows: tuple[Comparison, ...]


def comparisons(
    results: Iterable[TaskResult], evidence: Evidence, merge_by: Iterable[str] = ()
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Group results by task and model into comparisons, sorted so; one for each main metric.

    Results that differ in how they were evaluated, or whose adapters differ in how they were
    trained, stand in rows of their own, but for the facts that ``merge_by`` names. Of two different
    results for the same cell neither is used. The problems say all this.

    Raises:
        ConfigError: ``merge_by`` names something that results have not, or must agree in.
    """
    results = tuple(results)
    builder = _Builder(evidence, _merged_facts(results, merge_by))
    groups: dict[tuple[str, str], list[TaskResult]] = defaultdict(list)
    for result in results:
        if builder.is_known(result) and builder.is_sound(result):
            groups[result.comparison, result.model].append(result)
    drafts = [draft for _, group in sorted(groups.items()) for draft in builder.drafts(group)]
    p_values = evidence.p_values(draft.pair for draft in drafts if draft.pair)
    rows = tuple(
        _tested(draft.row, draft.pair, next(p_values), evidence) if draft.pair else draft.row
        for draft in drafts
    )
    return rows, tuple(dict.fromkeys(builder.problems))


def _merged_facts(results: Sequence[TaskResult], merge_by: Iterable[str]) -> frozenset[str]:
    known = {key for result in results for key in result.facts} - _IDENTITY
    asked = frozenset(merge_by)
    if unknown := sorted(asked - known):
        raise ConfigError(
            f"results cannot be merged over {', '.join(unknown)}",
            where="--merge-by",
            remedy=f"Name some of {', '.join(sorted(known))}.",
        )
    return asked


_Key = tuple[tuple[str, str], ...]
"""Facts, sorted: what results of one row agree in."""


class _Draft(NamedTuple):
    """A row before its test, for tests of many rows together are hardly slower than one."""

    row: Comparison
    pair: SystemPair | None


class _Place(NamedTuple):
    """The results of one arm by seed, and why others are left out."""

    used: list[TaskResult]
    left_out: list[str]


_Places = Mapping[str | None, _Place]


@dataclass(slots=True)
class _Builder:
    """Fills cells, and notes what is wrong with those it cannot fill.

    ``merged`` are the facts in which the results of one row may differ.
    """

    evidence: Evidence
    merged: frozenset[str]
    problems: list[Problem] = field(default_factory=list)

    def is_known(self, result: TaskResult) -> bool:
        """Tell whether the sets have the arm; a result of another is left out, and noted."""
        if result.arm in {None, *result.spec.arms}:
            return True
        what = f"{result.arm} is not an arm of {result.aspect}: left out"
        self.problems.append(Problem("unknown", f"{result.file}: {result.task}", what))
        return False

    def is_sound(self, result: TaskResult) -> bool:
        """Tell whether every score is on its scale; what is not is left out, and noted."""
        for metric in result.spec.reported:
            low, high = scale_of(metric)
            value = result.scores.get(metric, low)
            if not low - _ROUNDING <= value <= high + _ROUNDING:
                what = f"{metric} is {value}, which is not from {low} to {high}: left out"
                self.problems.append(Problem("schema", f"{result.file}: {result.task}", what))
                return False
        return True

    def drafts(self, group: Sequence[TaskResult]) -> Iterator[_Draft]:
        """Yield the rows of one model on one task: for each metric as many as ways to get there.

        A result without an adapter stands in every row of results that were evaluated as it was.
        """
        evaluated: dict[_Key, list[TaskResult]] = defaultdict(list)
        for result in group:
            evaluated[self._key(result.signature)].append(result)
        rows: list[list[TaskResult]] = []
        for same in evaluated.values():
            trained: dict[_Key, list[TaskResult]] = defaultdict(list)
            for result in same:
                if result.training:
                    trained[self._key(result.training)].append(result)
            others = [result for result in same if not result.training]
            rows += [[*runs, *others] for runs in trained.values()] or [others]
        self._note_apart(rows)
        keys = differing([row[0] for row in rows])
        for row in rows:
            places = self._places(row)
            main, *beside = row[0].spec.reported
            # Earlier versions have fewer scores. Where there is none at all, one row says so.
            known = [name for name in beside if any(name in result.scores for result in row)]
            for metric in (main, *known):
                draft = self._draft(places, metric, row[0])
                yield draft._replace(row=_told_apart(draft.row, row, keys, self.merged))

    def _key(self, facts: Mapping[str, str]) -> _Key:
        return tuple(sorted((k, v) for k, v in facts.items() if k not in self.merged))

    def _note_apart(self, rows: Sequence[Sequence[TaskResult]]) -> None:
        """Note rows that were evaluated in another way, or trained in another way."""
        first = rows[0][0]
        for other, *_ in rows[1:]:
            keys = differing([first, other])
            details = "; ".join(
                f"{key}: {first.facts.get(key)} against {other.facts.get(key)}" for key in keys
            )
            what = f"stands apart from {first.file}, they differ in {details}"
            evaluated = any(key in first.signature for key in keys)
            where = f"{other.file}: {other.task}"
            self.problems.append(Problem("incomparable", where, what, lost=evaluated))

    def _places(self, results: Sequence[TaskResult]) -> _Places:
        """Return the results by arm and seed; one result in each place."""
        places = {arm: _Place([], []) for arm in (None, *results[0].spec.arms)}
        same: dict[tuple[str | None, int | None, _Key], list[TaskResult]] = defaultdict(list)
        for result in results:
            facts = {key: value for key, value in result.facts.items() if key in self.merged}
            same[result.arm, result.seed, tuple(sorted(facts.items()))].append(result)
        for place in sorted(same, key=lambda place: (place[0] or "", place[1] or 0, place[2])):
            arm, seed, _ = place
            first, *others = same[place]
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

    def _draft(self, places: _Places, metric: str, example: TaskResult) -> _Draft:
        arms = example.spec.arms
        cells = tuple(self._cell(places[arm], metric, arm) for arm in arms)
        as_is = self._cell(places[None], metric, "the model as it is")
        pair = difference = None
        if len(arms) == 2:  # noqa: PLR2004 - one against the other
            one, other = cells
            if one.values and other.values:
                pair = SystemPair(one.runs, other.runs, metric)
                difference = self._difference(one, other, pair)
        counted = next((cell.runs for cell in (*cells, as_is) if cell.runs), ())
        counts = self.evidence.counts(counted) if counted else None
        row = Comparison(
            spec=example.spec,
            variant=example.variant,
            task=example.comparison,
            model=example.model,
            metric=metric,
            n=example.n,
            arms=cells,
            as_is=as_is,
            difference=difference,
            clusters=counts and counts[1],
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
            notes=tuple(_notes(scored)),
        )

    def _difference(self, one: Cell, other: Cell, pair: SystemPair) -> Difference:
        notes = [_UNPAIRED] if sorted_seeds(one) != sorted_seeds(other) else []
        if {len(one.values), len(other.values)} & {1} and sorted_seeds(one) + sorted_seeds(other):
            notes.append(_ONE_SEED)
        if (gap := self.evidence.gap(pair)) is not None:
            counts = self.evidence.counts(pair.runs)
            if counts and gap.n < counts[0]:
                notes.append(
                    f"on the {gap.n:,} of {counts[0]:,} samples that every run has a verdict on"
                )
            return Difference(
                gap.value, gap.interval, n=gap.n, clusters=gap.clusters, notes=tuple(notes)
            )
        interval = self.evidence.interval_without_samples(pair.metric, one.values, other.values)
        value = statistics.fmean(one.values) - statistics.fmean(other.values)
        return Difference(value, interval, notes=tuple(notes))


def sorted_seeds(cell: Cell) -> list[int]:
    """Return the training seeds of a cell, in order."""
    return sorted(seed for seed in cell.seeds if seed is not None)


def _notes(results: Sequence[TaskResult]) -> Iterator[str]:
    """Yield what a reader must know of the results of one cell."""
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


def _merged_over(results: Sequence[TaskResult], merged: Iterable[str]) -> str | None:
    """Say in what the results of a row differ because a user merged them."""
    told = []
    for key in sorted(merged):
        values = sorted({result.facts[key] for result in results if key in result.facts})
        if len(values) > 1:
            told.append(f"{key} {', '.join(map(_short, values))}")
    return f"merged over {'; '.join(told)}" if told else None


def _tested(row: Comparison, pair: SystemPair, p: float | None, evidence: Evidence) -> Comparison:
    if row.difference is None:
        return row
    reason = None
    if p is None:
        reason = _NO_VERDICT if evidence.has_samples(pair) else _NO_SAMPLES
    mark = next((mark for mark, level in MARKS if p is not None and p < level), "")
    return replace(row, difference=replace(row.difference, p=p, mark=mark, reason=reason))


def tables(rows: Iterable[Comparison]) -> tuple[Table, ...]:
    """Return the rows by benchmark and aspect, in their order; what has no rows is left out."""
    found: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for row in rows:
        found[row.spec.benchmark, row.aspect].append(row)
    return tuple(
        Table(*key, tuple(found[key])) for key in sorted(found, key=lambda key: place_of(*key))
    )


def differing(results: Sequence[TaskResult]) -> tuple[str, ...]:
    """Return the keys of the facts that the results do not agree in.

    What is said of training is asked of those alone that were trained.
    """
    trained = [result for result in results if result.training]
    return tuple(
        key
        for key in dict.fromkeys(key for result in results for key in result.facts)
        if len(
            {
                result.facts.get(key, _NOT_STATED)
                for result in (results if key in results[0].signature else trained)
            }
        )
        > 1
    )


def _told_apart(
    row: Comparison, results: Sequence[TaskResult], keys: Sequence[str], merged: Iterable[str]
) -> Comparison:
    """Return the row with what tells it from the model's other ones, which differ in the keys."""
    first = results[0]
    evaluated = [key for key in keys if key in first.signature]
    trained = [key for key in keys if key not in first.signature and first.training]
    facts = {key: first.training.get(key, _NOT_STATED) for key in trained}
    return replace(
        row,
        evaluated=told_apart(first.signature, evaluated),
        trained=told_apart(facts, trained),
        merged=_merged_over(results, merged),
    )


def told_apart(facts: Mapping[str, str], keys: Sequence[str]) -> str | None:
    """Return these facts in a few words, digests cut short; None where there are no keys."""
    told = [_short(f"{key} {facts[key]}") for key in keys]
    if len(told) > _MOST_FACTS:
        told[_MOST_FACTS - 1 :] = [f"and {len(told) - _MOST_FACTS + 1} more"]
    return ", ".join(told) or None


def _short(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}…"
