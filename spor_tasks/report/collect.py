"""From files to a report: results, their intervals and tests, and problems with the files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from spor_tasks.core.errors import ResultError, SporError
from spor_tasks.core.files import is_folder
from spor_tasks.report.sections import AspectTable, tables
from spor_tasks.report.shipped import contradiction
from spor_tasks.results import runs
from spor_tasks.results.compare import comparisons
from spor_tasks.results.logged import AllLogged, Reader
from spor_tasks.results.pooling import pooled
from spor_tasks.results.rows import Comparison
from spor_tasks.results.runs import Collected, Problem, Run, RunKey
from spor_tasks.results.samples import SampleFile, find, orphans

if TYPE_CHECKING:
    from spor_tasks.report.browser import Browser

T = TypeVar("T")

TRIAL = "trial"
"""The kind of problem of results that are of a part of their test only."""


@dataclass(frozen=True, slots=True)
class Report:
    """The content of files: rows of each model and task, and problems.

    ``pooled`` are the rows of all splits together, of tasks that are read under splits. ``samples``
    are the sample files of the results in the rows, and ``logged`` the values in all sample files.
    ``browser`` has the samples in the rows for a page, if one is made. ``floors`` are rows of no
    model.
    """

    rows: tuple[Comparison, ...]
    pooled: tuple[Comparison, ...]
    samples: tuple[SampleFile, ...]
    logged: AllLogged
    problems: tuple[Problem, ...]
    browser: "Browser | None" = None
    floors: tuple[Comparison, ...] = ()

    @property
    def tables(self) -> tuple[AspectTable, ...]:
        """The rows by aspect, with floors and those of the papers."""
        return tables(self.rows, (*self.pooled, *self.floors))

    @property
    def measured(self) -> tuple[Comparison, ...]:
        """The rows of the tables without those of the papers."""
        return tuple(row for table in self.tables for row in table.rows if row.kind != "published")


def made_of(
    paths: Iterable[Path],
    make: Callable[[Report], T],
    merge_by: Iterable[str] = (),
    *,
    with_browser: bool = False,
) -> T:
    """Return what ``make`` makes of the report of result files, and of those in folders.

    No schema says all that tables, boards and pages need. So where they fail, each result from
    which alone they cannot be made is left out, like a file that cannot be read: it is a problem.
    ``make`` must change nothing but what it returns.

    Raises:
        SporError: as :func:`collect` and ``make``.
    """
    sources = tuple(paths)
    report = partial(_report, merge_by=tuple(merge_by), with_browser=with_browser)
    collected = _checked(runs.collect(sources), sources)

    def fault(*of: Run) -> Exception | None:
        try:
            make(report(Collected(of, ()), ()))
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            return error
        return None

    try:
        return make(report(collected, sources))
    except Exception as error:
        told = isinstance(error, SporError)  # another may be that one result alone is too little
        faults: dict[RunKey, Exception] = {}
        for run in collected.runs:
            alone = fault(run)
            if alone and (str(alone) == str(error) if told else not isinstance(alone, SporError)):
                faults[run.id] = alone
        for run in () if faults or told else collected.runs:  # one that makes another fail
            if not faults and not fault(*(each for each in collected.runs if each is not run)):
                faults[run.id] = error
        if not faults or (told and len(faults) == len(collected.runs)):
            raise
        problems = [
            Problem("schema", f"{file}: {key}", f"cannot be reported: {type(why).__name__}: {why}")
            for (file, key), why in faults.items()
        ]
        sound = tuple(run for run in collected.runs if run.id not in faults)
        if not sound:
            raise _no_results(sources, problems) from error
    rest = Collected(sound, (*collected.problems, *problems))
    return make(report(rest, sources))


def collect(paths: Iterable[Path], merge_by: Iterable[str] = ()) -> Report:
    """Return the report of result files, and of all result files in the given folders.

    A file that cannot be read is listed as a problem; the others are still reported. Results that
    differ only in the facts that ``merge_by`` names are put into one row.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
        ConfigError: results cannot be merged by what ``merge_by`` names.
    """
    return made_of(paths, lambda report: report, merge_by)


def _report(
    collected: Collected, sources: Sequence[Path], *, merge_by: Iterable[str], with_browser: bool
) -> Report:
    files = tuple(file for run in collected.runs if (file := find(run)))
    reader, browser = Reader(), None
    if with_browser:
        from spor_tasks.report.browser import browse

        without_values, _ = comparisons(collected.runs, {}, merge_by)  # to see what is in rows
        browser = browse(_in_rows(files, without_values), reader.records)
    logged, faults = reader.read(collected.runs)
    rows, conflicts = comparisons(collected.runs, logged, merge_by)
    of_splits = (run for run in collected.runs if run.spec.sets.is_pooled)
    pooled_runs, of_pooled, incomplete = pooled(of_splits, logged)
    facts = {fact for run in pooled_runs for fact in run.facts}
    pooled_rows, _ = comparisons(pooled_runs, of_pooled, facts.intersection(merge_by))
    notices = _notices(collected.runs, files, sources)
    problems = (*collected.problems, *conflicts, *incomplete, *faults, *notices)
    samples = _in_rows(files, rows)
    return Report(rows, pooled_rows, samples, {**logged, **of_pooled}, problems, browser)


def _in_rows(files: Iterable[SampleFile], rows: Iterable[Comparison]) -> tuple[SampleFile, ...]:
    runs = {run.id for row in rows for cell in (*row.arms, row.as_is) for run in cell.runs}
    return tuple(file for file in files if file.run.id in runs)


def _checked(collected: Collected, paths: Iterable[Path]) -> Collected:
    """Leave out the results that contradict the shipped task that they name.

    Raises:
        ResultError: no other results are left.
    """
    whys = {run.id: contradiction(run) for run in collected.runs}
    problems = [
        Problem("test", f"{run.file}: {run.task}", why)
        for run in collected.runs
        if (why := whys[run.id])
    ]
    sound = tuple(run for run in collected.runs if not whys[run.id])
    if not sound:
        raise _no_results(paths, problems)
    return Collected(sound, (*collected.problems, *problems))


def _no_results(paths: Iterable[Path], problems: Iterable[Problem]) -> ResultError:
    return ResultError(
        "has no results of the shipped test sets",
        each=tuple(map(str, problems)),
        where=", ".join(map(str, paths)),
        remedy="Evaluate again with the task files of this package.",
    )


def _notices(
    results: Sequence[Run], files: Iterable[SampleFile], paths: Iterable[Path]
) -> Iterator[Problem]:
    """Yield what a reader must know of files that could be read."""
    have = {file.run.id for file in files}
    if trials := sum(result.n < (result.documents or 0) for result in results):
        where = f"{trials:,} of {len(results):,} results"
        what = "trials on a part of the test only, whose numbers say little"
        yield Problem(TRIAL, where, what, lost=False)
    for result in results:
        log, told = result.log, {}
        if log.prompts_cut:
            told["cut"] = (
                f"{log.prompts_cut:,} prompts of {result.task} were truncated to the model's "
                "context length"
            )
        if log.failures:
            counts = ", ".join(f"{count:,} {why}" for why, count in log.failures.items())
            told["unanswered"] = (
                f"{sum(log.failures.values()):,} answers of {result.task} were not given by the "
                f"server, and are scored as they are: {counts}"
            )
        if result.id not in have:
            told["scores-only"] = f"{result.task} has no sample file: only its scores are reported"
        for kind, what in told.items():
            yield Problem(kind, str(result.file), what, lost=False)
    for path in paths:
        for orphan in orphans(path) if is_folder(path) else ():
            yield Problem(
                "samples-only", str(orphan), "has no result file beside it and is left out"
            )
