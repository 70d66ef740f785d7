"""A leaderboard as text: for the terminal, as Markdown, CSV and JSON. Nothing is computed."""

import json
from typing import Any

from spor_tasks.report.escape import csv_table, markdown_text
from spor_tasks.report.leaderboard import LEVEL, Board, Entry, Leaderboard
from spor_tasks.report.model_card import model_index
from spor_tasks.report.render import SCHEMA, markdown_grid, plain_grid, problem_lines
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
    "one plus the number of significantly better systems. Systems that share a letter do not "
    f"differ significantly (p ≥ {LEVEL}, two-sided, with Holm's adjustment for all pairs of the "
    "board). The test is a t test that accounts for the variation between seeds if a system has "
    "several runs, and approximate randomization over the same samples otherwise."
)

_HEADER = ("rank", "group", "model", "arm", "score", "seeds")


def _grid(board: Board) -> Grid:
    notes: dict[str, int] = {}

    def line(entry: Entry) -> Line:
        reasons = [
            entry.reason,
            entry.cell.reason,
            source_text(entry.cell.interval),
            *entry.cell.notes,
        ]
        numbers = tuple(sorted(notes.setdefault(text, len(notes) + 1) for text in reasons if text))
        seeds = ", ".join(str(seed) for seed in entry.cell.seeds if seed is not None)
        score = Number(
            f"{entry.cell.mean:.2f}",
            interval_text(entry.cell.interval, board.metric),
            notes=numbers,
        )
        rank = "" if entry.rank is None else str(entry.rank)
        return rank, entry.groups, entry.model, entry.arm or "as is", score, seeds

    lines = tuple(map(line, board.entries))
    told = [full_title(board), board.apart, label(board.metric)]
    title = ", ".join(text for text in told if text)
    return Grid(title, f"n = {board.n:,}", _HEADER, lines, (), tuple(notes))


def terminal(board: Leaderboard) -> str:
    """Return the boards as aligned columns."""
    blocks = [plain_grid(_grid(each)) for each in board.boards]
    return "\n\n".join([*blocks, *problem_lines(board.problems)])


def markdown(board: Leaderboard) -> str:
    """Return the boards as Markdown."""
    problems = [f"- {markdown_text(str(problem))}" for problem in board.problems]
    named = ["\n".join(["## Problems", "", *problems])] if problems else []
    blocks = [markdown_grid(_grid(each)) for each in board.boards]
    return "\n\n".join(["# SPOR leaderboard", LEGEND, *blocks, *named]) + "\n"


_FIELDS = (
    "aspect",
    "corpus",
    "protocol",
    "part",
    "variant",
    "task",
    "apart",
    "metric",
    "n",
    "rank",
    "groups",
    "model",
    "arm",
    "value",
    "low",
    "high",
    "interval_over",
    "seeds",
    "reason",
)


def tidy_csv(board: Leaderboard) -> str:
    """Return the boards with one system per row."""
    rows = ({**_place(each), **_entry(entry)} for each in board.boards for entry in each.entries)
    return csv_table(_FIELDS, rows)


def as_json(board: Leaderboard) -> str:
    """Return the boards as JSON, with the `model_index` of every checkpoint."""
    content = {
        "schema": SCHEMA,
        "legend": LEGEND,
        "boards": [
            {**_place(each), "entries": [_json_entry(entry) for entry in each.entries]}
            for each in board.boards
        ],
        "model_index": model_index(board.rows),
        "problems": [problem._asdict() for problem in board.problems],
    }
    return json.dumps(content, indent=2) + "\n"  # ASCII only: harmless on a terminal


def _place(board: Board) -> dict[str, Any]:
    return {
        **board.spec.name._asdict(),
        "variant": board.variant,
        "task": board.task,
        "apart": board.apart,
        "metric": board.metric,
        "n": board.n,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    interval = entry.cell.interval
    return {
        "rank": entry.rank,
        "groups": entry.groups,
        "model": entry.model,
        "arm": entry.arm or "as is",
        "value": entry.cell.mean,
        "low": interval and interval.low,
        "high": interval and interval.high,
        "interval_over": interval and interval.source,
        "seeds": " ".join(str(seed) for seed in entry.cell.seeds if seed is not None),
        "reason": "; ".join(filter(None, [entry.reason, entry.cell.reason, *entry.cell.notes])),
    }


def _json_entry(entry: Entry) -> dict[str, Any]:
    files = [str(file) for file, _ in entry.cell.runs]
    reason = _entry(entry)["reason"] or None
    seeds = [seed for seed in entry.cell.seeds if seed is not None]
    return {**_entry(entry), "seeds": seeds, "reason": reason, "runs": files}
