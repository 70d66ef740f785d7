"""Systems beside each other on any task of lm-eval: paired by document, tested, and adjusted.

The first system is the one that all others are compared with. Each score is of the documents that
every system has a value for.
"""

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from statistics import fmean

from spor_tasks.core.errors import ConfigError, ResultError, SporError, advice
from spor_tasks.core.words import joined
from spor_tasks.results import stats
from spor_tasks.results.compare import (
    NO_VERDICT,
    ONE_SEED,
    SystemPair,
    holm,
    interval,
    marked,
    notes_of,
    tested,
)
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.logged import Logged
from spor_tasks.results.paired_tests import (
    OVER_RUNS,
    ScoreOfSystems,
    Tested,
    against_first,
    repeats,
    test_name,
)
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.stats import Estimate, Interval
from spor_tasks.results.tasks import TaskResult, TaskSamples, results_of, samples_of

_OF_PARTS = ("n", "limit_evenly")  # settings that say which documents a system has
_DIGITS = 2
_MORE_DIGITS = 4  # of scores from 0 to 1, as lm-eval prints them


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One score of two systems on the documents that all systems have."""

    task: str
    score: str
    facts: ScoreFacts
    systems: tuple[str, str]
    """Their names, as in :attr:`Pairing.systems`."""
    values: tuple[float, float]
    """Their scores."""
    intervals: tuple[Interval | None, Interval | None]
    difference: Estimate
    """The second less the first, with its own p; the mark is that of the adjusted p."""
    p: float | None
    """The p, adjusted for all rows being looked at (Holm, 1979)."""
    test: str
    moved: tuple[int, int]
    """The numbers of documents on which the second has a higher, and a lower, value."""
    runs: tuple[int, int]
    """The number of runs of both."""
    digits: int
    """The digits after the point that tables show."""

    def as_row(self) -> dict[str, object]:
        """Return the numbers as one row of a table, under their names."""
        found = self.difference
        ends = (found.interval.low, found.interval.high) if found.interval else (None, None)
        return {
            "task": self.task,
            "score": self.score,
            **dict(zip("ab", self.values, strict=True)),
            "difference": found.value,
            **dict(zip(("low", "high"), ends, strict=True)),
            "p": self.p,
            "n": found.n,
            "detectable": found.detectable,
            "reason": joined("; ", found.reason, *found.notes) or None,
            **dict(zip(("first", "second"), self.systems, strict=True)),
            "mark": found.mark,
            "p_alone": found.p,
            "test": test_name(self.test, found.p),
            "clusters": found.clusters,
            "runs": " and ".join(map(str, self.runs)),
            **dict(zip(("gained", "lost"), self.moved, strict=True)),
            "higher_is_better": self.facts.higher_is_better,
        }


@dataclass(frozen=True, slots=True)
class Sides:
    """One score of a document, of the first system and of another; None without a value."""

    before: float | None
    after: float | None

    @property
    def change(self) -> float:
        """The gain; zero if a score is missing before or after."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Change:
    """A document whose outputs or scores differ between two systems."""

    id: Hashable
    doc_id: object
    """The number that lm-eval gives it in the first system's file."""
    before: tuple[str, ...]
    after: tuple[str, ...]
    scores: Mapping[str, Sides]
    prompted_alike: bool
    """Whether both systems had the same prompts."""


@dataclass(frozen=True, slots=True)
class TaskPairs:
    """One task of all systems."""

    task: str
    samples: tuple[TaskSamples, ...]
    """Those of each system, with the values on the documents that every system has."""
    rows: tuple[Paired, ...] = ()

    @property
    def logged(self) -> tuple[Logged, ...]:
        """The values of each system, of several runs those of the first."""
        return tuple(each.logged for each in self.samples)

    @property
    def ids(self) -> tuple[Hashable, ...]:
        """The documents that every system has."""
        return self.logged[0].ids

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores that every system has."""
        known = [run.logged.columns for each in self.samples for run in each.runs]
        return tuple(name for name in known[0] if all(name in columns for columns in known))

    def changes(self, system: int) -> list[Change]:
        """Return the changes from the first system to that of this number.

        Those of most change in the first score come first, then in the next.
        """
        first, other = (self.samples[number].answers for number in (0, system))
        values = {
            score: [self.logged[number].columns[score].each.tolist() for number in (0, system)]
            for score in self.scores
        }
        found = []
        for place, id_ in enumerate(self.ids):
            one, two = first[id_], other[id_]
            scores = {
                score: Sides(*(None if math.isnan(side[place]) else side[place] for side in sides))
                for score, sides in values.items()
            }
            moved = any(sides.before != sides.after for sides in scores.values())
            if moved or one.outputs != two.outputs:
                alike = one.prompts_sha == two.prompts_sha
                found.append(Change(id_, one.doc_id, one.outputs, two.outputs, scores, alike))
        found.sort(key=lambda each: [-abs(sides.change) for sides in each.scores.values()])
        return found


@dataclass(frozen=True, slots=True)
class Pairing:
    """Systems beside each other, task by task, and what could not be compared."""

    systems: tuple[str, ...]
    tasks: tuple[TaskPairs, ...]
    problems: tuple[Problem, ...]

    @property
    def rows(self) -> tuple[Paired, ...]:
        """The rows of all tasks."""
        return tuple(row for task in self.tasks for row in task.rows)


def pair(
    paths: Sequence[Path], *, cluster: str | None = None, scores: Collection[str] = ()
) -> Pairing:
    """Compare systems, the first of them with each other one, on the tasks that all have.

    A path is a result file of lm-eval, its file of samples, or a folder with one run of each task.
    ``cluster`` is a field of the documents that those of a cluster share; tasks of ours have
    clusters of their own. ``scores`` are the scores to compare, by default all.

    Raises:
        ConfigError: fewer than two systems are named, or no task has a score of ``scores``.
        ResultError: a path is missing, or no task can be compared.
    """
    if len(paths) < 2:
        raise ConfigError("compares two systems or more", remedy="Name a folder for each system.")
    systems, tasks, problems = labels(paths), list[TaskPairs](), list[Problem]()
    by_task: dict[str, list[list[TaskResult]]] = {}
    for number, path in enumerate(paths):
        results, faults = results_of(path)
        problems += faults
        for result in results:
            by_task.setdefault(result.task, [[] for _ in paths])[number].append(result)
    for task, found in _by_arm(by_task):
        have = [name for name, of_system in zip(systems, found, strict=True) if of_system]
        if len(have) < len(paths):
            problems.append(Problem("one-sided", task, f"is only in {', '.join(have)}", lost=False))
            continue
        try:
            of_task, told = _paired(task, found, systems, cluster)
        except SporError as error:
            what = joined(". ", error.what, error.remedy)
            problems.append(Problem("not-compared", error.where or task, what))
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            what = f"cannot be compared: {type(error).__name__}: {error}"
            problems.append(Problem("not-compared", task, what))
        else:
            tasks.append(of_task)
            problems += told
    if not any(task.rows for task in tasks):
        what, remedy = (
            ("score", "A score must be in every system, and the mean of its samples.")
            if tasks
            else (
                "task",
                None
                if any(each.kind == "not-compared" for each in problems)
                else "All systems need logged samples of the same task (--log_samples).",
            )
        )
        raise ResultError(
            f"no {what} can be compared",
            each=tuple(dict.fromkeys(map(str, problems))),
            where=", ".join(map(str, paths)),
            remedy=remedy,
        )
    return Pairing(systems, _adjusted(_chosen(tasks, scores)), tuple(dict.fromkeys(problems)))


def _by_arm(
    by_task: Mapping[str, Sequence[Sequence[TaskResult]]],
) -> Iterator[tuple[str, Sequence[Sequence[TaskResult]]]]:
    """Yield the results of each task, those of several arms by arm."""
    for task, found in by_task.items():
        arms = dict.fromkeys(each.arm for results in found for each in results)
        if all(len({each.arm for each in results}) < 2 for results in found):
            yield task, found
            continue
        for arm in arms:
            of_arm = [[each for each in results if each.arm == arm] for results in found]
            yield joined(", ", task, arm), of_arm


def _chosen(tasks: Sequence[TaskPairs], scores: Collection[str]) -> Sequence[TaskPairs]:
    """Return the tasks with the rows of these scores alone, or of all.

    Raises:
        ConfigError: no task has one of them.
    """
    known = dict.fromkeys(row.score for task in tasks for row in task.rows)
    for score in scores:
        if score not in known:
            what = f"no task has the score {score}"
            raise ConfigError(what, where="--score", remedy=advice(score, known))
    return [
        replace(
            task,
            rows=tuple(
                row
                for row in task.rows
                if (row.score in scores if scores else not _repeats(task, row.score))
            ),
        )
        for task in tasks
    ]


def _repeats(pairs: TaskPairs, score: str) -> bool:
    """Return whether a score is the one that it corrects on every document."""
    corrected = pairs.samples[0].scores[score].corrects
    return corrected in pairs.scores and repeats(
        [[of.columns[name].each for name in (score, corrected)] for of in pairs.logged]
    )


def labels(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the shortest ends of paths that tell them apart; all of each path if none does."""
    alike = takewhile(
        lambda names: len({*names}) == 1, zip(*(path.parts for path in paths), strict=False)
    )
    shared = len([*alike])
    ends = tuple(str(Path(*path.parts[shared:])) for path in paths)
    return ends if len({*ends, "."}) > len(paths) else tuple(map(str, paths))


def _paired(
    task: str, found: Sequence[Sequence[TaskResult]], systems: Sequence[str], cluster: str | None
) -> tuple[TaskPairs, list[Problem]]:
    """Compare one task, before its rows are adjusted.

    Raises:
        SporError: a system has several runs, no samples or damaged samples, or the documents
            differ.
    """
    found = [_once(results) for results in found]
    for results in found:
        if len(results) > 1 and not _are_seeds([each.run for each in results]):
            files = ", ".join(str(result.file) for result in results)
            raise ResultError(f"there are several runs of {task} ({files}); give one file")
    first, *others = (result for results in found for result in results)
    for result in others:
        if result.version != first.version:
            what = f"{task} has another version in {result.file}: {result.version}, {first.version}"
            raise ResultError(what, where=first.file)
    read = [[samples_of(result, cluster) for result in results] for results in found]
    for other, *_ in read[1:]:
        _check_numbers(read[0][0], other)
    shared = set.intersection(*({*each.answers} for of_system in read for each in of_system))
    if not shared:
        raise ResultError(f"{task} has no document that is in every run", where=first.file)
    ids = tuple(sorted(shared, key=str))
    shown = [[replace(e, logged=e.logged.take(ids)) for e in of_system] for of_system in read]
    samples = tuple(replace(one, others=tuple(others)) for one, *others in shown)
    pairs = TaskPairs(task, samples)
    problems = [
        Problem("notice", joined(" in ", task, name), what, lost=False)
        for of_system, each in zip(systems, samples, strict=True)
        for name, what in _notices(of_system, each, pairs, cluster)
    ]
    if any(each.others for each in samples):
        of_scores = [_over_runs(pairs, score) for score in pairs.scores]
    else:
        compared = (
            ScoreOfSystems(
                [each.columns[score] for each in pairs.logged],
                samples[0].scores[score].scale,
                score if samples[0].result.run else "",
            )
            for score in pairs.scores
        )
        of_scores = against_first(compared, pairs.logged[0].clusters)
    rows = [
        row
        for score, of_score in zip(pairs.scores, of_scores, strict=True)
        for row in _rows(pairs, score, of_score, systems)
    ]
    return TaskPairs(task, samples, tuple(rows)), problems


def _once(results: Sequence[TaskResult]) -> Sequence[TaskResult]:
    """Return results of ours without the copies of one, which have the same scores."""
    found, known = list[TaskResult](), list[object]()
    for each in results:
        key = each.run and (each.model, each.n, each.run.seed, each.run.facts, each.totals)
        if not key or key not in known:
            found.append(each)
            known.append(key)
    return found


def _are_seeds(runs: Sequence[Run | None]) -> bool:
    """Return whether these are runs of one system, which differ in the training seed alone."""
    facts = [run.facts for run in runs if run and run.seed is not None]
    seeds = {run.seed for run in runs if run}
    return len(facts) == len(runs) == len(seeds) and all(each == facts[0] for each in facts)


def _check_numbers(first: TaskSamples, other: TaskSamples) -> None:
    """Check that no number of a document stands for another document elsewhere.

    Raises:
        ResultError: one does: the data are others.
    """
    of_first, of_other = (
        {each.doc_id for id_, each in one.answers.items() if id_ not in two.answers}
        for one, two in ((first, other), (other, first))
    )
    if not first.result.run and (both := (of_first & of_other) - {None}):
        raise ResultError(
            f"{first.result.task} has other documents than {other.result.path}: {len(both):,} "
            f"differ under one doc_id, such as {min(both, key=str)}",
            where=first.result.path,
            remedy="Evaluate all systems on the same data",
        )


def _notices(
    name: str, samples: TaskSamples, pairs: TaskPairs, cluster: str | None
) -> Iterator[tuple[str, str]]:
    """Yield what a reader must know of a system's samples, after its name if others differ."""
    result = samples.result
    if others := len(samples.answers) - len(pairs.ids):
        yield name, f"{others:,} documents are left out, which not every system has"
    if whole := result.trial_of:
        yield name, f"a trial on {result.n:,} of {whole:,} documents"
    first = pairs.samples[0]
    same = (first.answers[id_].prompts_sha == samples.answers[id_].prompts_sha for id_ in pairs.ids)
    if differ := len(pairs.ids) - sum(same):
        count = f"{differ:,} of {len(pairs.ids):,} documents"
        yield name, f"has other prompts than the first system on {count}"
    arm, of_first = (each or "none" for each in (result.arm, first.result.arm))
    if arm != of_first:
        yield name, f"has the arm {arm}, and the first system has {of_first}"
    mine, theirs = result.settings, first.result.settings
    details = [
        f"{key} {mine.get(key)}, not {theirs.get(key)}"
        for key in dict.fromkeys((*mine, *theirs))
        if mine.get(key) != theirs.get(key) and key not in _OF_PARTS
    ]
    if details:
        yield name, f"has other settings than the first system: {'; '.join(details)}"
    if result.run and cluster:
        yield "", "--cluster is not used, for this task has clusters of its own"
    for score, why in samples.left_out.items():
        yield "", f"{score} is left out: {why}"
    for score in samples.scores:
        if score not in pairs.scores:
            yield name, f"{score} is left out: not every system has it"


def _rows(pairs: TaskPairs, score: str, tested: Tested, systems: Sequence[str]) -> Iterator[Paired]:
    """Yield the row of each further system by one score; none where nothing has a value."""
    facts = pairs.samples[0].scores[score]
    is_small = not pairs.samples[0].result.run and max(map(abs, tested.values)) <= 1
    sides = [each.columns[score].each for each in pairs.logged]
    notes = [
        [f"{name}: {note}" for note in notes_of([each.result.run], score, {each.result.run.id: of})]
        if each.result.run
        else []
        for name, each, of in zip(systems, pairs.samples, pairs.logged, strict=True)
    ]
    seeds = [{one.result.run.seed for one in each.runs if one.result.run} for each in pairs.samples]
    once = [len(of_system - {None}) == 1 for of_system in seeds]
    for number, found in enumerate(tested.differences, start=1):
        moved = sides[number] - sides[0]
        of_seeds = [ONE_SEED] if once[0] or once[number] else []
        yield Paired(
            task=pairs.task,
            score=score,
            facts=facts,
            systems=(systems[0], systems[number]),
            values=(tested.values[0], tested.values[number]),
            intervals=(tested.intervals[0], tested.intervals[number]),
            difference=replace(found, notes=(*found.notes, *notes[0], *notes[number], *of_seeds)),
            p=None,
            test=tested.test,
            moved=(int((moved > 0).sum()), int((moved < 0).sum())),
            runs=(len(pairs.samples[0].runs), len(pairs.samples[number].runs)),
            digits=_MORE_DIGITS if is_small else _DIGITS,
        )


def _over_runs(pairs: TaskPairs, score: str) -> Tested:
    """Test systems of several runs, as a report tests arms that were trained with several seeds."""
    logged = {
        run.id: one.logged for each in pairs.samples for one in each.runs if (run := one.result.run)
    }
    systems = [[run for one in each.runs if (run := one.result.run)] for each in pairs.samples]
    values = [fmean(logged[run.id].columns[score].value for run in runs) for runs in systems]
    found = tested([SystemPair(runs, systems[0], score) for runs in systems[1:]], logged)
    differences = (
        each or Estimate(value - values[0], reason=f"not tested: {NO_VERDICT}")
        for each, value in zip(found, values[1:], strict=True)
    )
    intervals = (interval(logged, score, runs) for runs in systems)
    return Tested(tuple(values), tuple(intervals), tuple(differences), OVER_RUNS)


def _adjusted(tasks: Sequence[TaskPairs]) -> tuple[TaskPairs, ...]:
    """Return the tasks with adjusted p, marks, and the smallest differences that a test finds."""
    p_values = [row.difference.p for task in tasks for row in task.rows]
    adjusted = iter(holm([p for p in p_values if p is not None]))

    def of(row: Paired) -> Paired:
        found = row.difference
        if found.p is None:
            return row
        p, pooled = next(adjusted), [found.variances] if found.variances else []
        smallest = stats.detectable(pooled) if pooled else None
        mark = marked(found, p, None, row.runs, row.digits)
        return replace(row, difference=replace(mark, p=found.p, detectable=smallest), p=p)

    return tuple(replace(task, rows=tuple(map(of, task.rows))) for task in tasks)
