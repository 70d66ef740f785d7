"""From files to a report: what they hold, how sure it is, and what is wrong with them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spor_tasks.benchmarks.spor.paper import beside
from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import is_folder
from spor_tasks.results import reading
from spor_tasks.results.comparisons import Comparison, Table, comparisons, metrics_of, tables
from spor_tasks.results.evidence import Evidence, Logged, Run, read_values, run_of
from spor_tasks.results.logged import SampleFile, find, orphans
from spor_tasks.results.reading import Problem, TaskResult


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report shows.

    ``samples`` are the sample files behind the results, of every result that has one.
    """

    tables: tuple[Table, ...]
    problems: tuple[Problem, ...]
    samples: tuple[SampleFile, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing was left out, and nothing stands apart that was to be compared."""
        return not any(problem.lost for problem in self.problems)


class Material(NamedTuple):
    """What files hold: rows of every model and task, how sure they are, and what is wrong."""

    rows: tuple[Comparison, ...]
    evidence: Evidence
    samples: tuple[SampleFile, ...]
    problems: tuple[Problem, ...]


def collect(paths: Iterable[Path], merge_by: Iterable[str] = ()) -> Report:
    """Return the report of result files and of all that lie in the given folders.

    What is wrong with some files is among the problems; the rest is reported nevertheless. Results
    that differ only in the facts that ``merge_by`` names stand in one row.

    Raises:
        ResultError: a path is missing, or nothing of SPOR was found.
        ConfigError: results cannot be merged over what ``merge_by`` names.
    """
    rows, _, files, problems = read(paths, merge_by)
    return Report(tables([*rows, *beside(rows)]), problems, files)


def read(paths: Iterable[Path], merge_by: Iterable[str] = ()) -> Material:
    """Read result files and all that lie in the given folders, with the samples beside them.

    Raises:
        ResultError, ConfigError: as :func:`collect`.
    """
    given = tuple(paths)
    found = reading.collect(given)
    files = tuple(filter(None, map(find, found.results)))
    logged, faults = _log(files)
    evidence = Evidence(logged)
    rows, conflicts = comparisons(found.results, evidence, merge_by)
    problems = (
        *found.problems,
        *conflicts,
        *faults,
        *_cut(found.results),
        *_without_samples(found.results, files),
        *_without_results(given),
    )
    return Material(rows, evidence, files, problems)


def _log(files: Iterable[SampleFile]) -> tuple[dict[Run, Logged], tuple[Problem, ...]]:
    """Return the values of all samples, and what is wrong with the files that have none."""
    logged, problems = {}, []
    for file in files:
        metrics = metrics_of(file.run.aspect, file.run.part)
        known = [metric for metric in metrics if metric in file.run.scores]
        try:
            logged[run_of(file.run)] = read_values(file, known)
        except ResultError as error:
            what = f"{error.what}: no interval or test from these samples"
            problems.append(Problem("samples", error.where or str(file.path), what))
    return logged, tuple(problems)


def _cut(found: Iterable[TaskResult]) -> Iterator[Problem]:
    for result in found:
        if result.prompts_cut:
            what = (
                f"{result.prompts_cut:,} prompts of {result.task} were longer than the model takes "
                "and cut: these samples were not asked about in full"
            )
            yield Problem("cut", str(result.file), what, lost=False)


def _without_samples(found: Sequence[TaskResult], files: Iterable[SampleFile]) -> Iterator[Problem]:
    have = {run_of(file.run) for file in files}
    for result in found:
        if run_of(result) not in have:
            what = f"{result.task} has no sample file: its scores alone are reported"
            yield Problem("scores-only", str(result.file), what, lost=False)


def _without_results(paths: Iterable[Path]) -> Iterator[Problem]:
    for path in paths:
        for orphan in orphans(path) if is_folder(path) else ():
            yield Problem("samples-only", str(orphan), "has no result file beside it: left out")
