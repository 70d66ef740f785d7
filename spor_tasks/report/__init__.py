"""Reports: from result files to tables. Only files are read, no model and no corpus.

:func:`collect` reads all files and builds typed rows; then each writer makes one file of the report
and computes nothing. Leaderboards and comparisons of systems work in the same way.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spor_tasks.report import leaderboard, pairs, tables
from spor_tasks.report.collect import Report, collect, made_of
from spor_tasks.report.document import Document, json_text, save
from spor_tasks.report.exports import ExportSettings, export
from spor_tasks.report.floors import with_floors
from spor_tasks.report.leaderboard import Leaderboard, rank
from spor_tasks.results.pairs import pair

__all__ = [
    "PAGE",
    "ExportSettings",
    "Leaderboard",
    "Report",
    "collect",
    "rank",
    "write",
    "write_compare",
    "write_leaderboard",
]

PAGE = "page.html"
"""The file of a report that shows everything."""


def write(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    merge_by: Sequence[str] = (),
) -> Document:
    """Report the results in files and folders; with ``out``, also write the report there.

    Results that differ only in the facts that ``merge_by`` names are put into one row.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
        ConfigError: ``out`` cannot be written, or results cannot be merged so.
    """

    def make(collected: Report) -> tuple[Document, Mapping[str, str], Iterable[str]]:
        report = with_floors(collected)
        document = tables.document(report)
        if report.browser is None:
            return document, {}, ()
        from spor_tasks.report import answers, page, plots

        rows, ranked = report.measured, rank(report)
        drawn = plots.draw(rows, report.browser.outcomes)
        shown = page.page(
            document,
            ranking=leaderboard.document(ranked),
            rows=rows,
            browser=report.browser,
            drawn=drawn,
            answers=answers.answers(report, ranked.boards),
        )
        pictures = {plot.file: plot.svg for plot in drawn}
        files = {PAGE: shown, **pictures, **document.files("report")}
        return document, files, plots.FILES - pictures.keys()

    return _saved(out, *made_of(paths, make, merge_by, with_browser=out is not None))


def write_leaderboard(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    merge_by: Sequence[str] = (),
    settings: ExportSettings | None = None,
) -> Document:
    """Rank the systems in result files and folders; with ``out``, also write the boards there.

    With the boards go the files for public leaderboards; the problems say what is not in them.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
        ConfigError: ``out`` cannot be written, or the settings do not fit the results.
    """

    def make(report: Report) -> tuple[Document, Mapping[str, str], Iterable[str]]:
        board = rank(report)
        if out is None:
            return leaderboard.document(board), {}, ()
        exported = export(report, out, settings or ExportSettings())
        problems = (*board.problems, *exported.problems)
        document = leaderboard.document(replace(board, problems=problems))
        return document, {**exported.files, **document.files("leaderboard")}, exported.outdated

    return _saved(out, *made_of(paths, make, merge_by))


def _saved(
    out: Path | None, document: Document, files: Mapping[str, str], outdated: Iterable[str]
) -> Document:
    if out is not None:
        save(out, files, outdated)
    return document


def write_compare(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    cluster: str | None = None,
    scores: Collection[str] = (),
    most: int = 0,
) -> Document:
    """Compare systems with the first, on any task; with ``out``, also write the comparison there.

    The document has the ``most`` changed documents of each task; JSON has all of them.

    Raises:
        ConfigError: ``out`` cannot be written, or as :func:`~spor_tasks.results.pairs.pair`.
        ResultError: as :func:`~spor_tasks.results.pairs.pair`.
    """
    pairing = pair(paths, cluster=cluster, scores=scores)
    shown = pairs.document(pairing, most)
    if out is not None:
        content = {
            "legend": shown.legend,
            "rows": shown.rows,
            "problems": [problem._asdict() for problem in shown.problems],
            "changes": pairs.changes_of(pairing),
        }
        from spor_tasks.report.pair_page import pair_page

        files = {**shown.files("compare"), "compare.json": json_text(**content)}
        save(out, {PAGE: pair_page(pairing, shown), **files})
    return shown
