"""Systems ranked aspect by aspect, and the document that says so."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from spor_tasks.core.named import place_of
from spor_tasks.core.words import joined
from spor_tasks.report.collect import Report
from spor_tasks.report.document import Document
from spor_tasks.report.grid import (
    Grid,
    Line,
    Notes,
    Number,
    full_title,
    interval_text,
    samples_text,
    source_text,
)
from spor_tasks.report.tables import benchmarks, ends
from spor_tasks.results.compare import (
    REPEATED,
    SystemPair,
    compare,
    holm,
    is_of_one_seed,
    repeats_a_checkpoint,
)
from spor_tasks.results.logged import AllLogged
from spor_tasks.results.rows import Cell, Comparison, prompt_in_words
from spor_tasks.results.runs import Problem
from spor_tasks.results.systems import in_words

LEVEL = 0.05
"""Two systems differ if p is below this, with Holm's adjustment for all pairs of the board."""

_LEGEND = (
    "Systems are ranked by their score after the arm that lacks what the test needs, or as is. "
    "[low, high] is a 95 % interval: for one run a bootstrap over clusters of samples, for several "
    "runs an interval over training seeds and samples, unless a note says otherwise. The rank is "
    f"one plus the number of significantly better systems (p < {LEVEL}, two-sided, with Holm's "
    "adjustment for all pairs of the board). The test is a t test that accounts for the variation "
    "between seeds if a system has several runs, whose p is never smaller than that of the runs' "
    "scores alone, and approximate randomization over the same samples otherwise. A system that "
    "cannot be tested has no rank."
)

_OF_CHECKPOINTS = "; checkpoints are ranked: no system has several training seeds"

# The facts that must be equal on one board. How a model is prompted may differ.
_SAME_TEST = (
    "test_sha256",
    "n",
    "num_fewshot",
    "held_out_reference",
    "limit_evenly",
    "shown_arm",
    "demonstrations_sha256",
    "fewshot_seed",
    "generation",
)


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system on a board: a model ``as is``, or tuned on or shown the aspect's first arm.

    ``rank`` is one plus the number of significantly better systems, None if the system cannot be
    tested; ``reason`` then says why.
    """

    model: str
    arm: str | None
    cell: Cell
    rank: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All systems with a score of one metric on one test, best first.

    ``row`` is one of the rows that the systems are from. ``apart`` says how the test differs from
    that of another board of this task and metric.
    """

    row: Comparison
    entries: tuple[RankedSystem, ...]
    apart: str | None = None

    @property
    def ranks_checkpoints(self) -> bool:
        """True if no system has several runs, so that ranks say nothing about other seeds."""
        return not any(len(entry.cell.runs) > 1 for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards of every aspect, and problems with the files."""

    boards: tuple[Board, ...]
    problems: tuple[Problem, ...]


def rank(report: Report) -> Leaderboard:
    """Rank all systems of a report.

    Systems are ranked by scores of which more is better: those after the first arm, which lacks
    what the test needs, or those of the model as it is. Results are on one board only if their
    signatures say that the test was the same.
    """
    by_task: dict[tuple[str, str], dict[tuple[str, ...], list[Comparison]]]
    by_task = defaultdict(lambda: defaultdict(list))
    for row in report.rows:
        if row.is_tested and row.score.higher_is_better:
            by_task[row.task, row.metric][tuple(_test_of(row).values())].append(row)
    boards: list[Board] = []
    conflicts: list[Problem] = []
    for tests in by_task.values():
        tested = [rows for _, rows in sorted(tests.items())]
        facts = [_test_of(rows[0]) for rows in tested]
        differing = [key for key in facts[0] if any(test[key] != facts[0][key] for test in facts)]
        for rows, test in zip(tested, facts, strict=True):
            if entries := _entries(rows):
                ranked = _ranked(entries, rows[0].metric, report.logged)
                apart = in_words({key: test[key] for key in differing})
                boards.append(Board(row=rows[0], entries=ranked, apart=apart))
        for (first, former), (second, latter) in pairwise(
            (test, rows[0]) for test, rows in zip(facts, tested, strict=True)
        ):
            details = "; ".join(f"{key}: {first[key]} against {second[key]}" for key in differing)
            what = f"has a different test than {former.model}, so it is on another board: {details}"
            where = f"{latter.task} of {latter.model}"
            conflicts.append(Problem("incomparable", where, what))

    def place(board: Board) -> tuple[tuple[int, int], str, int, str]:
        row, spec = board.row, board.row.spec
        first = place_of(spec.benchmark, spec.sets.aspect)
        return first, row.task, spec.reported.index(row.metric), board.apart or ""

    problems = (*report.problems, *dict.fromkeys(conflicts))
    return Leaderboard(tuple(sorted(boards, key=place)), problems)


def _test_of(row: Comparison) -> Mapping[str, str]:
    """Return the facts that identify the row's test; of a version, the number before the point."""
    version = row.signature["version"].partition(".")[0]
    facts = (*_SAME_TEST, row.score.judge) if row.score.judge else _SAME_TEST
    return {"version": version} | {key: row.signature.get(key, "None") for key in facts}


def _entries(rows: Iterable[Comparison]) -> list[RankedSystem]:
    """Return the systems of one test, best first."""
    systems: dict[tuple[str, str | None], RankedSystem] = {}
    for row in rows:
        if row.arms and row.arms[0].values:
            arm = row.spec.arms[0]
            systems[row.name, arm] = RankedSystem(row.name, arm, row.arms[0])
        if row.as_is.values:  # it occurs in the rows of all its adapters
            name = row.named(row.differs._replace(trained=None, merged=None))
            systems[name, None] = RankedSystem(name, None, row.as_is)
    return sorted(
        systems.values(), key=lambda entry: (-(entry.cell.mean or 0), entry.model, entry.arm or "")
    )


def _ranked(
    entries: Sequence[RankedSystem], metric: str, logged: AllLogged
) -> tuple[RankedSystem, ...]:
    """Return the entries, given best first, with their ranks or why they have none."""
    systems = [entry.cell.runs for entry in entries]
    several = any(len({run.seed for run in system}) > 1 for system in systems)
    untested: dict[int, str] = {}
    for i, system in enumerate(systems):
        if not all(run.id in logged for run in system):
            untested[i] = "there are no samples to test with"
        elif several and is_of_one_seed(system):
            why = "one training seed says nothing about others, and other systems have several"
            untested[i] = why
        elif repeats_a_checkpoint(system):
            untested[i] = REPEATED
    numbers = [i for i in range(len(entries)) if i not in untested]
    pairs = list(combinations(numbers, 2))
    compared = [SystemPair(entries[i].cell.runs, entries[j].cell.runs, metric) for i, j in pairs]
    tests = dict(zip(pairs, compare(compared, logged, of_board=True), strict=True))
    # A system that cannot be tested against another one is left out, those with most such first.
    while missing := {pair: test.reason for pair, test in tests.items() if test.reason}:
        counts = Counter(i for pair in missing for i in pair)
        most = max(counts.values())
        out = {i: reason for pair, reason in missing.items() for i in pair if counts[i] == most}
        untested |= out
        tests = {pair: test for pair, test in tests.items() if out.keys().isdisjoint(pair)}
    adjusted = holm([test.p or 0.0 for test in tests.values()])
    worse = Counter(
        j if test.difference > 0 else i
        for ((i, j), test), p in zip(tests.items(), adjusted, strict=True)
        if p < LEVEL
    )
    return tuple(
        replace(entry, reason=f"not ranked: {untested[i]}")
        if i in untested
        else replace(entry, rank=1 + worse[i])
        for i, entry in enumerate(entries)
    )


# --- As a document --------------------------------------------------------------------------------


def document(leaderboard: Leaderboard) -> Document:
    """Return the boards as tables; JSON also has the runs of each system."""
    rows = [
        {
            **board.row.spec.sets.named,
            **{name: getattr(board.row, name) for name in ("variant", "task")},
            "apart": board.apart,
            "metric": board.row.metric,
            "n": board.row.size.n,
            "rank_of": "checkpoint" if board.ranks_checkpoints else "system",
            "rank": entry.rank,
            "model": entry.model,
            "arm": entry.arm or "as is",
            "value": entry.cell.mean,
            **ends(entry.cell.interval),
            "seeds": " ".join(map(str, entry.cell.seeds)),
            "reason": joined("; ", entry.reason, entry.cell.reason, *entry.cell.notes) or None,
            "runs": [run.file for run in entry.cell.runs],
        }
        for board in leaderboard.boards
        for entry in board.entries
    ]
    title = f"Leaderboard of {benchmarks(board.row for board in leaderboard.boards)}"
    grids = tuple(map(_grid, leaderboard.boards))
    return Document(title, grids, _LEGEND, leaderboard.problems, rows=tuple(rows))


def _grid(board: Board) -> Grid:
    """Return a board as a table."""
    notes = Notes()
    prompts = {prompt_in_words(entry.cell.runs[0].signature) for entry in board.entries}

    def line(entry: RankedSystem) -> Line:
        source = source_text(entry.cell.interval)
        prompt = [prompt_in_words(entry.cell.runs[0].signature)] if len(prompts) > 1 else []
        letters = notes.letters(entry.reason, entry.cell.reason, source, *entry.cell.notes)
        interval = interval_text(entry.cell.interval, board.row.score)
        score = Number(f"{entry.cell.mean:.2f}", interval, notes=letters)
        rank = "" if entry.rank is None else str(entry.rank)
        seeds = ", ".join(map(str, entry.cell.seeds))
        return rank, entry.model, *prompt, entry.arm or "as is", score, seeds

    lines = tuple(map(line, board.entries))
    title = joined(", ", full_title(board.row), board.apart, board.row.score.label)
    header = ("rank", "model", *(["prompt"] if len(prompts) > 1 else []), "arm", "score", "seeds")
    of = _OF_CHECKPOINTS if board.ranks_checkpoints else ""
    return Grid(title, f"n = {samples_text(board.row)}{of}", header, {"run": lines}, notes.texts)
