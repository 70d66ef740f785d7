"""A leaderboard as text: for the terminal, as Markdown, CSV and JSON. Nothing is computed."""

from typing import Any

from spor_tasks.report.formats import csv_table, json_text, markdown_tables, plain_tables
from spor_tasks.report.leaderboard import LEVEL, Board, Entry, Leaderboard
from spor_tasks.results.grid import (
    Grid,
    Line,
    Number,
    full_title,
    interval_text,
    label,
    source_text,
)

LEGEND = (
    "Systems are ranked by their score after the arm that lacks what the test needs, or as is. "
    "[low, high] is a 95 % interval: for one run a bootstrap over clusters of samples, for several "
    "runs an interval over training seeds and samples, unless a note says otherwise. The rank is "
    f"one plus the number of significantly better systems (p < {LEVEL}, two-sided, with Holm's "
    "adjustment for all pairs of the board). The test is a t test that accounts for the variation "
    "between seeds if a system has several runs, and approximate randomization over the same "
    "samples otherwise."
)

_HEADER = ("rank", "model", "arm", "score", "seeds")


def grid(board: Board) -> Grid:
    """Return a board as a table."""
    notes: dict[str, int] = {}

    def line(entry: Entry) -> Line:
        source = source_text(entry.cell.interval)
        reasons = filter(None, [entry.reason, entry.cell.reason, source, *entry.cell.notes])
        numbers = tuple(sorted(notes.setdefault(text, len(notes) + 1) for text in reasons))
        interval = interval_text(entry.cell.interval, board.metric)
        score = Number(f"{entry.cell.mean:.2f}", interval, notes=numbers)
        rank = "" if entry.rank is None else str(entry.rank)
        seeds = ", ".join(map(str, _seeds(entry)))
        return rank, entry.model, entry.arm or "as is", score, seeds

    lines = tuple(map(line, board.entries))
    title = ", ".join(filter(None, [full_title(board), board.apart, label(board.metric)]))
    return Grid(title, f"n = {board.n:,}", _HEADER, lines, (), tuple(notes))


def _seeds(entry: Entry) -> list[int]:
    return [seed for seed in entry.cell.seeds if seed is not None]


def terminal(board: Leaderboard) -> str:
    """Return the boards as aligned columns."""
    return plain_tables(map(grid, board.boards), problems=board.problems)


def markdown(board: Leaderboard) -> str:
    """Return the boards as Markdown."""
    return markdown_tables("SPOR leaderboard", LEGEND, map(grid, board.boards), board.problems)


_FIELDS = (
    *("aspect", "corpus", "protocol", "part", "variant", "task", "apart", "metric", "n"),
    *("rank", "model", "arm", "value", "low", "high", "interval_over"),
    *("seeds", "reason"),
)


def tidy_csv(board: Leaderboard) -> str:
    """Return the boards with one system per row."""
    rows = (
        {**_place(each), **_entry(entry), "seeds": " ".join(map(str, _seeds(entry)))}
        for each in board.boards
        for entry in each.entries
    )
    return csv_table(_FIELDS, rows)


def as_json(board: Leaderboard) -> str:
    """Return the boards as JSON."""
    return json_text(
        {
            "legend": LEGEND,
            "boards": [
                {**_place(each), "entries": [_json_entry(entry) for entry in each.entries]}
                for each in board.boards
            ],
            "problems": board.problems,
        }
    )


def _place(board: Board) -> dict[str, Any]:
    told = ("variant", "task", "apart", "metric", "n")
    return {**board.spec.name._asdict(), **{name: getattr(board, name) for name in told}}


def _entry(entry: Entry) -> dict[str, Any]:
    interval = entry.cell.interval
    reasons = filter(None, [entry.reason, entry.cell.reason, *entry.cell.notes])
    return {
        "rank": entry.rank,
        "model": entry.model,
        "arm": entry.arm or "as is",
        "value": entry.cell.mean,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "interval_over": interval and interval.source,
        "seeds": _seeds(entry),
        "reason": "; ".join(reasons) or None,
    }


def _json_entry(entry: Entry) -> dict[str, Any]:
    return {**_entry(entry), "runs": [file for file, _ in entry.cell.runs]}
