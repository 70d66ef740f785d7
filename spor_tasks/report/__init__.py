"""Reports: from result files to tables. Only files are read, no model and no corpus.

:func:`collect` reads all files and builds typed rows; then each writer makes one file of the report
and computes nothing. Leaderboards and comparisons of two runs work in the same way.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from spor_tasks.core.files import atomic_write, writing
from spor_tasks.report import browser, diff_text, leaderboard_text, page, plots, render
from spor_tasks.report.collect import Report, collect
from spor_tasks.report.diff import Diff, diff
from spor_tasks.report.leaderboard import Leaderboard, rank
from spor_tasks.report.model_card import model_index_yaml
from spor_tasks.results.logged import SampleFile

__all__ = [
    "PAGE",
    "Diff",
    "Leaderboard",
    "Report",
    "collect",
    "diff",
    "rank",
    "write",
    "write_diff",
    "write_leaderboard",
]

_MANY_BYTES = 30_000_000

PAGE = "page.html"
"""The file of a report that shows everything."""

_REPORT: tuple[tuple[str, Callable[[Report], str]], ...] = (
    ("report.md", render.markdown),
    ("report.tex", render.latex),
    ("report.csv", render.tidy_csv),
    ("report.json", render.as_json),
)


_LEADERBOARD: tuple[tuple[str, Callable[[Leaderboard], str]], ...] = (
    ("leaderboard.md", leaderboard_text.markdown),
    ("leaderboard.csv", leaderboard_text.tidy_csv),
    ("leaderboard.json", leaderboard_text.as_json),
    ("model-index.yaml", lambda board: model_index_yaml(board.rows)),
)


def write(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    merge_by: Sequence[str] = (),
    jobs: int = 1,
) -> Report:
    """Report the results in files and folders; with ``out``, also write the report there.

    Results that differ only in the facts that ``merge_by`` names are put into one row. If there are
    many samples, ``jobs`` processes read them.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
        ConfigError: ``out`` cannot be written, or results cannot be merged so.
    """
    report = collect(paths, merge_by)
    if out is not None:
        for name, text in _REPORT:
            _write_text(out / name, text(report))
        browsed = browser.browse(report.samples, jobs=_useful(jobs, report.samples))
        drawn = plots.draw(report, browsed.outcomes)
        for plot in drawn:
            _write_text(out / "plots" / f"{plot.name}.svg", plot.svg)
            _write(out / "plots" / f"{plot.name}.png", plot.png)
        _write_text(out / PAGE, page.page(report, browsed, drawn))
    return report


def write_leaderboard(
    paths: Sequence[Path], out: Path | None = None, *, merge_by: Sequence[str] = ()
) -> Leaderboard:
    """Rank the systems in result files and folders; with ``out``, also write the boards there.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
        ConfigError: ``out`` cannot be written, or results cannot be merged over ``merge_by``.
    """
    board = rank(paths, merge_by)
    if out is not None:
        for name, text in _LEADERBOARD:
            _write_text(out / name, text(board))
    return board


def write_diff(before: Path, after: Path, out: Path | None = None) -> Diff:
    """Compare two runs sample by sample; with ``out``, also write all changes there.

    Raises:
        ResultError: a path is missing or has no results of our tasks, or no task can be compared.
        ConfigError: ``out`` cannot be written.
    """
    found = diff(before, after)
    if out is not None:
        _write_text(out / "diff.json", diff_text.as_json(found))
    return found


def _useful(jobs: int, files: Sequence[SampleFile]) -> int:
    """Return the number of processes: starting them takes as long as reading some megabytes."""
    return jobs if sum(file.path.stat().st_size for file in files) > _MANY_BYTES else 1


def _write_text(path: Path, text: str) -> None:
    _write(path, text.encode(errors="backslashreplace"))


def _write(path: Path, content: bytes) -> None:
    with writing(path), atomic_write(path) as file:
        file.write(content)
