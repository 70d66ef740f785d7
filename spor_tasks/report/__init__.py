"""Reports: from files to tables that people read. Reads files only, no model or corpus.

First :func:`collect` reads everything there is and builds the typed rows; then each writer makes
one file of the report and computes nothing.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from spor_tasks.report import render
from spor_tasks.report.collect import Report, collect
from spor_tasks.store import atomic_write

__all__ = ["Report", "collect", "write"]

_TEXTS: tuple[tuple[str, Callable[[Report], str]], ...] = (
    ("report.md", render.markdown),
    ("report.tex", render.latex),
    ("report.csv", render.tidy_csv),
    ("report.json", render.as_json),
)


def write(paths: Sequence[Path], out: Path | None = None) -> Report:
    """Report the results that lie in files and folders; with ``out`` as files there, too.

    Raises:
        ResultError: a path is missing, or nothing of SPOR was found.
    """
    report = collect(paths)
    if out is not None:
        for name, text in _TEXTS:
            with atomic_write(out / name) as file:
                file.write(text(report).encode(errors="backslashreplace"))
    return report
