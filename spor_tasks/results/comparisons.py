"""Comparisons as typed rows: what a model scored after each arm, and the arms' difference."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.results.evidence import Evidence, Systems, over_seeds, scale_of
from spor_tasks.results.reading import Problem, RunKey, TaskResult
from spor_tasks.results.statistics import Interval

MARKS = (("‡", 0.01), ("†", 0.05))
"""The paper's marks of significance, each with the p below which it is printed."""

_MOST_WORDS = 32
_MOST_FACTS = 6  # in the name of a row; the problems name all facts in which rows differ
_NOT_STATED = "not stated"
_LEFT_OUT = {"method": "lora", "objective": "likelihood"}  # of recipes, where it is so
_OF_OBJECTIVE = "objective_settings."
_ROUNDING = 1e-6  # a mean of scores of 100 may be a little more
_NOT_POOLED = "splits are put together from their samples: evaluate with --log_samples"
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
    runs: tuple[RunKey, ...] = ()
    interval: Interval | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean over runs, as the paper reports it; None without a value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def trained_seeds(self) -> list[int]:
        """The training seeds, in order."""
        return sorted(seed for seed in self.seeds if seed is not None)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over runs; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first arm's score minus the second's: negative where generalization costs.

    It is computed on the ``n`` samples, in ``clusters`` clusters, that have a verdict in every run.
    Without logged samples it is the difference of the means, and both counts are None. ``p`` is
    that of
    :meth:`~spor_tasks.results.evidence.Evidence.p_values`; if it is None, ``reason`` says
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
    arms: tuple[Cell, ...] = ()
    as_is: Cell = Cell()
    difference: Difference | None = None
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


_Facts = tuple[tuple[str, str], ...]
"""Sorted facts in which the results of a row agree."""

_Systems = Sequence[Sequence[TaskResult]]
"""The results of each row of a model: those of its arms and seeds, and of the model as it is."""


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
    merged = _merged_facts(results, merge_by)
    problems: list[Problem] = []
    groups: dict[tuple[str, str], list[TaskResult]] = defaultdict(list)
    for result in results:
        if fault := _fault(result):
            problems.append(fault)
        else:
            groups[result.comparison, result.model].append(result)
    rows: list[Comparison] = []
    for _, group in sorted(groups.items()):
        systems = _systems(group, merged)
        problems += _apart(systems)
        for system, row in zip(systems, _named(systems, merged), strict=True):
            arms, conflicts = _by_arm(system, merged)
            problems += conflicts
            rows += _rows(row, system, arms, evidence)
    return tuple(_tested(rows, evidence)), tuple(dict.fromkeys(problems))


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


def _fault(result: TaskResult) -> Problem | None:
    """Return why a result is left out: an arm that the sets lack, or a score off its scale."""
    where = f"{result.file}: {result.task}"
    if result.arm not in {None, *result.spec.arms}:
        what = f"{result.arm} is not an arm of {result.aspect}: left out"
        return Problem("unknown", where, what)
    for metric in result.spec.shown:
        low, high = scale_of(metric)
        value = result.scores.get(metric, low)
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            what = f"{metric} is {value}, which is not between {low} and {high}: left out"
            return Problem("schema", where, what)
    return None


# --- Which results are one row --------------------------------------------------------------------


def _systems(group: Sequence[TaskResult], merged: frozenset[str]) -> list[list[TaskResult]]:
    """Return the results of each row of one model on one task.

    A result without an adapter is part of every row that was evaluated in the same way.
    """

    def facts_of(facts: Mapping[str, str]) -> _Facts:
        return tuple(sorted((key, value) for key, value in facts.items() if key not in merged))

    evaluated: dict[_Facts, list[TaskResult]] = defaultdict(list)
    for result in group:
        evaluated[facts_of(result.signature)].append(result)
    systems: list[list[TaskResult]] = []
    for same in evaluated.values():
        trained: dict[_Facts, list[TaskResult]] = defaultdict(list)
        for result in same:
            if result.training:
                trained[facts_of(result.training)].append(result)
        untrained = [result for result in same if not result.training]
        systems += [[*runs, *untrained] for runs in trained.values()] or [untrained]
    return systems


def _apart(systems: _Systems) -> Iterator[Problem]:
    """Yield that rows were evaluated or trained differently from the first."""
    first = systems[0][0]
    for later, *_ in systems[1:]:
        keys = _distinguishing([first, later])
        details = "; ".join(
            f"{key}: {_stated(first, key)} against {_stated(later, key)}" for key in keys
        )
        what = f"is in another row than {first.file}: they differ in {details}"
        evaluated = any(key in first.signature for key in keys)
        yield Problem("incomparable", f"{later.file}: {later.task}", what, lost=evaluated)


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
    """Return the keys in which rows differ; no settings that follow from another objective."""
    alike: dict[str | None, list[TaskResult]] = defaultdict(list)
    for result in results:
        alike[result.training.get("objective")].append(result)
    own = {key for same in alike.values() for key in differing(same)}
    return tuple(
        key for key in differing(results) if key in own or not key.startswith(_OF_OBJECTIVE)
    )


def _stated(result: TaskResult, key: str) -> str | None:
    return result.facts.get(key, _LEFT_OUT.get(key))


def _named(systems: _Systems, merged: Iterable[str]) -> list[Comparison]:
    """Return a row for each system, with its facts in which the model's rows differ."""
    keys = _distinguishing([system[0] for system in systems])
    rows = [_row(system, keys, merged, whole=False) for system in systems]
    if len({(row.name, row.merged) for row in rows}) < len(rows):  # only omitted facts differ
        rows = [_row(system, keys, merged, whole=True) for system in systems]
    return rows


def _row(
    results: Sequence[TaskResult], keys: Sequence[str], merged: Iterable[str], *, whole: bool
) -> Comparison:
    first = results[0]
    evaluated = [key for key in keys if key in first.signature]
    trained = {
        key: first.training.get(key, _LEFT_OUT.get(key, _NOT_STATED))
        for key in keys
        if key not in first.signature
        and first.training
        and (key in first.training or not key.startswith(_OF_OBJECTIVE))
    }
    return Comparison(
        spec=first.spec,
        variant=first.variant,
        task=first.comparison,
        model=first.model,
        metric="",
        n=max(result.n for result in results),
        evaluated=in_words(first.signature, evaluated, whole=whole),
        trained=in_words(trained, [*trained], whole=whole),
        merged=_merged_over(results, merged),
        signature=first.signature,
        splits=max(len(result.splits) for result in results),
    )


def in_words(facts: Mapping[str, str], keys: Sequence[str], *, whole: bool = False) -> str | None:
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


def _merged_over(results: Sequence[TaskResult], merged: Iterable[str]) -> str | None:
    """Return in what the results of a row differ because a user merged them."""
    differences = []
    for key in sorted(merged):
        values = sorted({result.facts[key] for result in results if key in result.facts})
        if len(values) > 1:
            differences.append(f"{key} {', '.join(map(_short, values))}")
    return f"merged over {'; '.join(differences)}" if differences else None


# --- The cells of a row ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Runs:
    """The results of one arm, and why others are left out."""

    used: list[TaskResult] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


_Arms = Mapping[str | None, _Runs]


def _by_arm(
    results: Sequence[TaskResult], merged: frozenset[str]
) -> tuple[_Arms, tuple[Problem, ...]]:
    """Return the results by arm, one for each seed, and the problems with several results."""
    arms = {arm: _Runs() for arm in (None, *results[0].spec.arms)}
    problems = list[Problem]()
    same: dict[tuple[str | None, int | None, _Facts], list[TaskResult]] = defaultdict(list)
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
    row: Comparison, results: Sequence[TaskResult], arms: _Arms, evidence: Evidence
) -> Iterator[Comparison]:
    """Yield the row of each score that the results have; without any, that of the main one."""
    spec = row.spec
    main, *further = spec.shown
    compared = {*spec.reported, *(gap.name for gap in spec.gaps)}
    for metric in (main, *(m for m in further if any(m in result.scores for result in results))):
        cells = tuple(_cell(arms[arm], metric, arm, evidence) for arm in spec.arms)
        as_is = _cell(arms[None], metric, "the model as it is", evidence)
        counted = next((cell.runs for cell in (*cells, as_is) if cell.runs), ())
        logged = evidence.logged(counted[0]) if evidence.has_samples(counted) else None
        is_pair = len(cells) == 2 and all(cell.values for cell in cells)  # noqa: PLR2004
        yield replace(
            row,
            metric=metric,
            arms=cells,
            as_is=as_is,
            difference=_difference(row, metric, cells, evidence)
            if is_pair and metric in compared
            else None,
            clusters=len({*logged.keys}) if logged else None,
        )


def _cell(runs: _Runs, metric: str, name: str, evidence: Evidence) -> Cell:
    scored = [result for result in runs.used if metric in result.scores]
    if not scored:
        missing = f"no result of {name}"
        if runs.used:
            first = runs.used[0]
            missing = _NOT_POOLED if first.splits else f"no {metric} in {first.file.name}"
        return Cell(reason="; ".join(runs.left_out) or missing)
    counts: list[int] = []
    if metric in scored[0].spec.breakdown:
        logged = filter(None, (evidence.logged(result.id) for result in scored))
        counts = [int(e.columns[metric].scored.sum()) for e in logged if metric in e.columns]
    return Cell(
        values=tuple(result.scores[metric] for result in scored),
        seeds=tuple(result.seed for result in scored),
        runs=tuple(result.id for result in scored),
        interval=evidence.interval(scored, metric),
        reason="; ".join(runs.left_out) or None,
        notes=tuple(dict.fromkeys(_notes(scored))),
        counts=tuple(counts),
    )


def _notes(results: Sequence[TaskResult]) -> Iterator[str]:
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


def _difference(
    row: Comparison, metric: str, arms: Sequence[Cell], evidence: Evidence
) -> Difference:
    first, second = arms
    notes = [] if first.trained_seeds == second.trained_seeds else [_UNPAIRED]
    is_trained = bool(first.trained_seeds or second.trained_seeds)
    if is_trained and 1 in {len(first.values), len(second.values)}:
        notes.append(_ONE_SEED)
    if (estimate := evidence.estimate(metric, first.runs, second.runs)) is None:
        interval = over_seeds(metric, first.values, second.values)
        value = statistics.fmean(first.values) - statistics.fmean(second.values)
        return Difference(value, interval, notes=tuple(notes))
    if estimate.n < row.n:
        notes.append(f"on the {estimate.n:,} of {row.n:,} samples that every run has a verdict on")
    return Difference(
        estimate.value,
        estimate.interval,
        n=estimate.n,
        clusters=estimate.clusters,
        notes=tuple(notes),
    )


def _tested(rows: Iterable[Comparison], evidence: Evidence) -> Iterator[Comparison]:
    """Yield the rows, their differences with p and mark; tests of all rows run together."""
    rows = tuple(rows)
    compared = [
        Systems(row.arms[0].runs, row.arms[1].runs, row.metric) for row in rows if row.difference
    ]
    p_values = iter(evidence.p_values(compared))
    for row in rows:
        if (difference := row.difference) is None:
            yield row
            continue
        p, reason = next(p_values), None
        if p is None and difference.n is None:
            runs = [run for cell in row.arms for run in cell.runs]
            reason = _NO_VERDICT if evidence.has_samples(runs, row.metric) else _NO_SAMPLES
        elif p is None:
            reason = _ONE_CLUSTER if difference.clusters == 1 else _NO_VERDICT
        mark = next((mark for mark, level in MARKS if p is not None and p < level), "")
        yield replace(row, difference=replace(difference, p=p, mark=mark, reason=reason))
