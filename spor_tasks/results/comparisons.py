"""Comparisons as typed rows: what a model scored after each arm, and the arms' difference."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.results.evidence import (
    Evidence,
    Interval,
    Run,
    SystemPair,
    over_seeds,
    run_of,
    scale_of,
)
from spor_tasks.results.reading import Problem, TaskResult

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance, each with the p below which it is printed."""

_MOST_WORDS = 32
_MOST_FACTS = 6  # in the name of a row; the problems name all facts in which rows differ
_NOT_STATED = "not stated"
_LEFT_OUT = {"method": "lora", "objective": "likelihood"}  # of recipes, where it is so
_OF_OBJECTIVE = "objective_settings."
_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NO_SAMPLES = "not tested: the samples of both arms are needed, and must be the same"
_NO_VERDICT = "not tested: no sample has a verdict in every run"
_ONE_CLUSTER = "not tested: all samples are about the same, which says nothing about others"
_UNPAIRED = "unpaired: the arms were trained with different seeds"
_ONE_SEED = "holds for these checkpoints only: one training seed says nothing about others"

# Results that differ in one of these cannot be merged into one row.
_IDENTITY = frozenset({"task", "version", "test_sha256", "n"})


@dataclass(frozen=True, slots=True)
class Cell:
    """The scores of a model on one task: a value and a training seed for each run.

    The seed is None where the model was not trained on an arm. ``runs`` are the files and tasks
    that the values are from. ``reason`` says why values are missing. ``interval`` is that of the
    mean over runs. ``notes`` are other things that a reader must know. ``counts`` are the samples
    that each value is of, where the score is of some samples only and they were logged.
    """

    values: tuple[float, ...] = ()
    seeds: tuple[int | None, ...] = ()
    runs: tuple[Run, ...] = ()
    interval: Interval | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean over runs, as the paper reports it; None without a value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over runs; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first arm's score minus the second's: negative where generalization costs.

    It is computed on the ``n`` samples, in ``clusters`` clusters, that have a verdict in every run.
    Without logged samples it is the difference of the means, and both counts are None. ``p`` is
    that of :meth:`~spor_tasks.results.evidence.Evidence.p_values`; if it is None, ``reason`` says
    why. ``mark`` is the paper's. ``notes`` are other things that a reader must know.
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
    """The scores of one model on one task by one metric, of each arm and ``as_is`` (without one).

    The arms are those of ``spec``; the model was trained on them, or they were only shown to it.
    ``variant`` is how the task asks, such as ``beam5`` or ``icl k=3``. There is a difference if
    there are two arms. ``clusters`` counts the samples with different units; it is None without
    logged samples. ``published`` rows are the paper's. If a model has several rows for a task,
    ``evaluated`` says how this one was evaluated differently, and ``trained`` how its adapters were
    trained. ``merged`` says in what its runs differ because a user merged them.
    ``signature`` is that of the results. ``splits`` counts those that are put together.
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
    splits: int = 0

    @property
    def aspect(self) -> str:
        """The aspect of the sets."""
        return self.spec.name.aspect

    @property
    def part(self) -> str | None:
        """The part of the sets, None where there is one."""
        return self.spec.name.part

    @property
    def is_tested(self) -> bool:
        """True for scores that compare systems; parts of a score are not tested."""
        return self.metric in self.spec.reported

    @property
    def by_arm(self) -> tuple[tuple[str, Cell], ...]:
        """The cells with the names of their arms."""
        return tuple(zip(self.spec.arms, self.arms, strict=True))

    @property
    def apart(self) -> str | None:
        """How this row differs from the model's other rows of the task; None without others."""
        return "; ".join(filter(None, [self.evaluated, self.trained, self.merged])) or None

    @property
    def name(self) -> str:
        """The model, and how this row differs from its other rows."""
        return f"{self.model} ({self.apart})" if self.apart else self.model

    @property
    def name_as_is(self) -> str:
        """The model without adapters, which may also have several rows."""
        return f"{self.model} ({self.evaluated})" if self.evaluated else self.model


@dataclass(frozen=True, slots=True)
class Table:
    """All comparisons of one aspect of a benchmark, its paper's own last.

    ``rows`` has a row for each split, and ``pooled`` one for all splits together.
    """

    benchmark: str
    aspect: str
    rows: tuple[Comparison, ...]
    pooled: tuple[Comparison, ...]


def comparisons(
    results: Iterable[TaskResult], evidence: Evidence, merge_by: Iterable[str] = ()
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Group results by task and model into sorted comparisons, one for each reported metric.

    Results that were evaluated differently, or whose adapters were trained differently, get rows of
    their own, unless they differ only in the facts that ``merge_by`` names. If two results for the
    same cell differ, neither is used. The problems report all this.

    Raises:
        ConfigError: ``merge_by`` names a fact that no result has, or in which a row must agree.
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
    mergeable = {key for result in results for key in result.facts} - _IDENTITY
    requested = frozenset(merge_by)
    if unknown := sorted(requested - mergeable):
        raise ConfigError(
            f"results cannot be merged over {', '.join(unknown)}",
            where="--merge-by",
            remedy=f"Name some of {', '.join(sorted(mergeable))}.",
        )
    return requested


_Key = tuple[tuple[str, str], ...]
"""Sorted facts in which the results of a row agree."""


class _Draft(NamedTuple):
    """A row before its test: testing many rows together takes hardly longer than testing one."""

    row: Comparison
    pair: SystemPair | None


class _Place(NamedTuple):
    """The results of one arm, and why others are left out."""

    used: list[TaskResult]
    left_out: list[str]


_Places = Mapping[str | None, _Place]


@dataclass(slots=True)
class _Builder:
    """Fills cells, and collects the problems.

    ``merged`` are the facts in which the results of one row may differ.
    """

    evidence: Evidence
    merged: frozenset[str]
    problems: list[Problem] = field(default_factory=list)

    def is_known(self, result: TaskResult) -> bool:
        """Return whether the sets have the result's arm; if not, note that it is left out."""
        if result.arm in {None, *result.spec.arms}:
            return True
        what = f"{result.arm} is not an arm of {result.aspect}: left out"
        self.problems.append(Problem("unknown", f"{result.file}: {result.task}", what))
        return False

    def is_sound(self, result: TaskResult) -> bool:
        """Return whether every score is on its scale; if not, note that the result is left out."""
        for metric in result.spec.shown:
            low, high = scale_of(metric)
            value = result.scores.get(metric, low)
            if not low - _ROUNDING <= value <= high + _ROUNDING:
                what = f"{metric} is {value}, which is not between {low} and {high}: left out"
                self.problems.append(Problem("schema", f"{result.file}: {result.task}", what))
                return False
        return True

    def drafts(self, group: Sequence[TaskResult]) -> Iterator[_Draft]:
        """Yield the rows of one model on one task: per metric one for each way to get results.

        A result without an adapter is part of every row that was evaluated in the same way.
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
            untrained = [result for result in same if not result.training]
            rows += [[*runs, *untrained] for runs in trained.values()] or [untrained]
        self._note_apart(rows)
        keys = _distinguishing([row[0] for row in rows])
        names = [_Names.from_results(row, keys, self.merged) for row in rows]
        if len({*names}) < len(rows):  # what was cut off is what tells them apart
            names = [_Names.from_results(row, keys, self.merged, whole=True) for row in rows]
        for row, named in zip(rows, names, strict=True):
            places = self._places(row)
            main, *further = row[0].spec.shown
            # Results of earlier versions have fewer scores. Without any, the main one says so.
            scored = [name for name in further if any(name in result.scores for result in row)]
            for metric in (main, *scored):
                draft = self._draft(places, metric, row[0])
                yield draft._replace(row=replace(draft.row, **named._asdict()))

    def _key(self, facts: Mapping[str, str]) -> _Key:
        return tuple(sorted((k, v) for k, v in facts.items() if k not in self.merged))

    def _note_apart(self, rows: Sequence[Sequence[TaskResult]]) -> None:
        """Note rows that were evaluated or trained differently from the first."""
        first = rows[0][0]
        for later, *_ in rows[1:]:
            keys = _distinguishing([first, later])
            details = "; ".join(
                f"{key}: {_stated(first, key)} against {_stated(later, key)}" for key in keys
            )
            what = f"is in another row than {first.file}: they differ in {details}"
            evaluated = any(key in first.signature for key in keys)
            where = f"{later.file}: {later.task}"
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
            original, *duplicates = same[place]
            copies = all(copy.scores == original.scores for copy in duplicates)
            if copies:
                places[arm].used.append(original)
            else:
                places[arm].left_out.append(f"files differ on seed {seed}")
            verdict = "the same scores, used once" if copies else "other scores, none is used"
            for copy in duplicates:
                what = f"is a result of the same run as {original.file}: {verdict}"
                where = f"{copy.file}: {copy.task}"
                self.problems.append(Problem("duplicate", where, what, lost=not copies))
        return places

    def _draft(self, places: _Places, metric: str, example: TaskResult) -> _Draft:
        arms = example.spec.arms
        cells = tuple(self._cell(places[arm], metric, arm) for arm in arms)
        as_is = self._cell(places[None], metric, "the model as it is")
        pair = difference = None
        is_pair = len(arms) == 2  # noqa: PLR2004 - one against the other
        gaps = {gap.name for gap in example.spec.gaps}
        if is_pair and metric in {*example.spec.reported, *gaps}:
            first, second = cells
            if first.values and second.values:
                pair = SystemPair(first.runs, second.runs, metric)
                difference = self._difference(first, second, pair, example.n)
        counted = next((cell.runs for cell in (*cells, as_is) if cell.runs), ())
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
            clusters=self.evidence.clusters_of_each(counted),
            signature=example.signature,
        )
        return _Draft(row, pair)

    def _cell(self, place: _Place, metric: str, name: str) -> Cell:
        scored = [result for result in place.used if metric in result.scores]
        if not scored:
            no_score = f"no {metric} in {place.used[0].file.name}" if place.used else None
            return Cell(reason="; ".join(place.left_out) or no_score or f"no result of {name}")
        values = tuple(result.scores[metric] for result in scored)
        is_of_some = metric in scored[0].spec.breakdown
        counts = (self.evidence.scored(run_of(each), metric) for each in scored)
        return Cell(
            values=values,
            seeds=tuple(result.seed for result in scored),
            runs=tuple(map(run_of, scored)),
            interval=self.evidence.interval(scored, metric),
            reason="; ".join(place.left_out) or None,
            notes=tuple(_notes(scored)),
            counts=tuple(n for n in counts if n is not None) if is_of_some else (),
        )

    def _difference(self, first: Cell, second: Cell, pair: SystemPair, n: int) -> Difference:
        notes = [_UNPAIRED] if sorted_seeds(first) != sorted_seeds(second) else []
        if {len(first.values), len(second.values)} & {1} and sorted_seeds(first) + sorted_seeds(
            second
        ):
            notes.append(_ONE_SEED)
        if (estimate := self.evidence.difference(pair)) is None:
            interval = over_seeds(pair.metric, first.values, second.values)
            value = statistics.fmean(first.values) - statistics.fmean(second.values)
            return Difference(value, interval, notes=tuple(notes))
        if estimate.n < n:
            notes.append(f"on the {estimate.n:,} of {n:,} samples that every run has a verdict on")
        return Difference(
            estimate.value,
            estimate.interval,
            n=estimate.n,
            clusters=estimate.clusters,
            notes=tuple(notes),
        )


def sorted_seeds(cell: Cell) -> list[int]:
    """Return the training seeds of a cell, in order."""
    return sorted(seed for seed in cell.seeds if seed is not None)


def _notes(results: Sequence[TaskResult]) -> Iterator[str]:
    """Yield what a reader must know about the results of a cell."""
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
    """Return in what the results of a row differ because a user merged them."""
    differences = []
    for key in sorted(merged):
        values = sorted({result.facts[key] for result in results if key in result.facts})
        if len(values) > 1:
            differences.append(f"{key} {', '.join(map(_short, values))}")
    return f"merged over {'; '.join(differences)}" if differences else None


def _tested(row: Comparison, pair: SystemPair, p: float | None, evidence: Evidence) -> Comparison:
    if row.difference is None:
        return row
    reason = None
    if p is None:
        reason = _why_untested(pair, evidence)
    mark = next((mark for mark, level in MARKS if p is not None and p < level), "")
    return replace(row, difference=replace(row.difference, p=p, mark=mark, reason=reason))


def _why_untested(pair: SystemPair, evidence: Evidence) -> str:
    if not evidence.has_samples(pair):
        return _NO_SAMPLES
    difference = evidence.difference(pair)
    return _ONE_CLUSTER if difference and difference.clusters == 1 else _NO_VERDICT


def differing(results: Sequence[TaskResult]) -> tuple[str, ...]:
    """Return the keys of the facts in which the results differ.

    Facts of training are compared among the trained results only.
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


def _distinguishing(results: Sequence[TaskResult]) -> tuple[str, ...]:
    """Return the keys that tell results apart; no settings that follow from another objective."""
    alike: dict[str | None, list[TaskResult]] = defaultdict(list)
    for result in results:
        alike[result.training.get("objective")].append(result)
    own = {key for same in alike.values() for key in differing(same)}
    return tuple(
        key for key in differing(results) if key in own or not key.startswith(_OF_OBJECTIVE)
    )


def _stated(result: TaskResult, key: str) -> str | None:
    return result.facts.get(key, _LEFT_OUT.get(key))


class _Names(NamedTuple):
    """The fields of a row with its values of the keys in which the model's rows differ."""

    evaluated: str | None
    trained: str | None
    merged: str | None

    @classmethod
    def from_results(
        cls,
        results: Sequence[TaskResult],
        keys: Sequence[str],
        merged: Iterable[str],
        *,
        whole: bool = False,
    ) -> Self:
        first = results[0]
        evaluated = [key for key in keys if key in first.signature]
        trained = [key for key in keys if key not in first.signature and first.training]
        facts = {
            key: first.training.get(key, _LEFT_OUT.get(key, _NOT_STATED))
            for key in trained
            if key in first.training or not key.startswith(_OF_OBJECTIVE)
        }
        return cls(
            told_apart(first.signature, evaluated, whole=whole),
            told_apart(facts, [*facts], whole=whole),
            _merged_over(results, merged),
        )


def told_apart(facts: Mapping[str, str], keys: Sequence[str], *, whole: bool = False) -> str | None:
    """Return these facts in a few words, with digests cut short; None without keys.

    ``whole`` leaves nothing out.
    """
    texts = [f"{key} {facts[key]}" for key in keys]
    if not whole:
        texts = list(map(_short, texts))
        if len(texts) > _MOST_FACTS:
            texts[_MOST_FACTS - 1 :] = [f"and {len(texts) - _MOST_FACTS + 1} more"]
    return ", ".join(texts) or None


def _short(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}…"
