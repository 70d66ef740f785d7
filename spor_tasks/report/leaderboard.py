"""Checkpoints in order, aspect by aspect: who is ahead, and who cannot be told from whom."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from string import ascii_lowercase

from spor_tasks.core.sample import ARMS
from spor_tasks.metrics.significance import holm
from spor_tasks.report.collect import read
from spor_tasks.results.comparisons import Cell, Comparison, told_apart
from spor_tasks.results.evidence import Evidence, Pair
from spor_tasks.results.reading import Problem

LEVEL = 0.05
"""Below it two systems differ, after Holm's adjustment for all pairs of their board."""

RANKED = (
    "parent",
    "parent_full_table",
    "chrf",
    "coverage",
    "facts",
    "fidelity_pbh",
    "ordering_pbh",
    "faithful_ordering_pbh",
    "copy_rule",
    "copy_rule_whole_word",
)
"""What systems are ranked by. More is better; of CWIO neither more nor less is."""

# What must be equal for two models to be on one board. How a model is prompted may differ.
_SAME_TEST = (
    "test_sha256",
    "n",
    "num_fewshot",
    "held_out_reference",
    "shown_arm",
    "demonstrations_sha256",
    "fewshot_seed",
    "generation",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One system on a board: a model ``as is``, or tuned on or shown the aspect's first arm.

    ``rank`` is one more than the number of systems that are better beyond chance, so that equals
    share it; ``groups`` are letters: two systems that share one cannot be told apart. Both are
    empty where a system has no samples to test on, and ``reason`` says so.
    """

    model: str
    arm: str | None
    cell: Cell
    rank: int | None = None
    groups: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """All systems that one metric judges on one test, the best first.

    ``apart`` says what the test differs in from that of another board of this task and metric.
    """

    aspect: str
    corpus: str
    protocol: str
    part: str | None
    variant: str
    task: str
    metric: str
    n: int
    entries: tuple[Entry, ...]
    apart: str | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards of every aspect, and what is wrong with the files they are from.

    ``rows`` are what the boards are made of.
    """

    boards: tuple[Board, ...]
    rows: tuple[Comparison, ...]
    problems: tuple[Problem, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing was left out, and all systems of a task stand on one board."""
        return not any(problem.lost for problem in self.problems)


def rank(paths: Iterable[Path], merge_by: Iterable[str] = ()) -> Leaderboard:
    """Rank all systems that result files, and all that lie in the given folders, tell of.

    Systems are ranked by what the paper judges an aspect by: the scores after the first arm, which
    lacks what the test asks for, or those of the model as it is. Results are on one board only if
    the signatures say that the test was the same.

    Raises:
        ResultError: a path is missing, or nothing of SPOR was found.
        ConfigError: results cannot be merged over what ``merge_by`` names.
    """
    rows, evidence, _, problems = read(paths, merge_by)
    by_task: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for row in rows:
        if row.metric in RANKED:
            by_task[row.task, row.metric].append(row)
    boards: list[Board] = []
    conflicts: list[Problem] = []
    for same in by_task.values():
        tests = _by_test(same)
        boards.extend(_board(tested, tests, evidence) for tested in tests)
        conflicts.extend(_conflicts(tests))
    order = {metric: number for number, metric in enumerate(RANKED)}
    aspects = tuple(ARMS)
    boards.sort(key=lambda b: (aspects.index(b.aspect), b.task, order[b.metric], b.apart or ""))
    filled = tuple(board for board in boards if board.entries)
    return Leaderboard(filled, rows, (*problems, *dict.fromkeys(conflicts)))


def _test_of(row: Comparison) -> Mapping[str, str]:
    """Return what the row's test is known by; a task's version is comparable up to its point."""
    version = row.signature["version"].partition(".")[0]
    judge = ("facts",) if row.metric == "facts" else ()
    return {"version": version} | {key: row.signature[key] for key in (*_SAME_TEST, *judge)}


def _by_test(rows: Iterable[Comparison]) -> list[list[Comparison]]:
    tests: dict[tuple[str, ...], list[Comparison]] = defaultdict(list)
    for row in rows:
        tests[tuple(_test_of(row).values())].append(row)
    return [same for _, same in sorted(tests.items())]


def _differing(tests: Sequence[Sequence[Comparison]]) -> list[str]:
    first, *others = (_test_of(same[0]) for same in tests)
    return [key for key in first if any(other[key] != first[key] for other in others)]


def _conflicts(tests: Sequence[Sequence[Comparison]]) -> Iterator[Problem]:
    keys = _differing(tests)
    for one, other in pairwise(tests):
        first, second = _test_of(one[0]), _test_of(other[0])
        details = "; ".join(f"{key}: {first[key]} against {second[key]}" for key in keys)
        what = f"is another test than that of {one[0].model}, so not on its board: {details}"
        yield Problem("incomparable", f"{other[0].task} of {other[0].model}", what)


def _board(
    rows: Sequence[Comparison], tests: Sequence[Sequence[Comparison]], evidence: Evidence
) -> Board:
    example = rows[0]
    test = _test_of(example)
    apart = told_apart(test, _differing(tests))
    # A model as it is stands in the rows of all its adapters, and once on a board.
    entries = list({(e.model, e.arm): e for row in rows for e in _entries(row)}.values())
    entries.sort(key=lambda entry: (-(entry.cell.mean or 0), entry.model, entry.arm or ""))
    return Board(
        aspect=example.aspect,
        corpus=example.corpus,
        protocol=example.protocol,
        part=example.part,
        variant=example.variant,
        task=example.task,
        metric=example.metric,
        n=example.n,
        entries=tuple(_ranked(entries, example.metric, evidence)),
        apart=apart,
    )


def _entries(row: Comparison) -> Iterator[Entry]:
    if row.arms[0].values:
        yield Entry(row.name, ARMS[row.aspect][0], row.arms[0])
    if row.as_is.values:
        yield Entry(row.name_as_is, None, row.as_is)


def _ranked(entries: Sequence[Entry], metric: str, evidence: Evidence) -> Iterator[Entry]:
    """Yield the entries, which come best first, with rank and groups."""
    numbers = range(len(entries))
    pairs = list(combinations(numbers, 2))
    compared = [Pair(entries[i].cell.runs, entries[j].cell.runs, metric) for i, j in pairs]
    found = evidence.p_values(compared, level=LEVEL)
    tested = {pair: p for pair, p in zip(pairs, found, strict=True) if p is not None}
    adjusted = dict(zip(tested, holm(tuple(tested.values())), strict=True))
    known = [i for i in numbers if evidence.is_logged(entries[i].cell.runs)]
    better = {
        (i, j): p < LEVEL and entries[i].cell.mean != entries[j].cell.mean
        for (i, j), p in adjusted.items()
    }
    alike = {
        i: {j for j in known if j != i and not better.get((min(i, j), max(i, j)))} for i in known
    }
    groups = _letters(alike)
    for i, entry in enumerate(entries):
        if i in alike:
            place = 1 + sum(better.get((j, i), False) for j in known if j < i)
            yield Entry(entry.model, entry.arm, entry.cell, place, groups[i])
        else:
            reason = "not ranked: no samples to test on"
            yield Entry(entry.model, entry.arm, entry.cell, reason=reason)


def _letters(alike: Mapping[int, set[int]]) -> dict[int, str]:
    """Return the letters of each system: one for each largest set of systems all alike.

    This is the letter display of Piepho (2004) with all maximal cliques of the graph of pairs that
    do not differ (Gramm et al., 2007), best first.
    """
    groups = sorted(sorted(group) for group in _cliques(set(), set(alike), set(), alike))
    names = dict.fromkeys(alike, "")
    for number, group in enumerate(groups):
        for i in group:
            names[i] += _letter(number)
    return names


def _letter(number: int) -> str:
    """Return a, b, …, z, then a2, b2 and so on."""
    round_, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(round_ + 1) if round_ else "")


def _cliques(
    clique: set[int], candidates: set[int], done: set[int], graph: Mapping[int, set[int]]
) -> Iterator[set[int]]:
    """Yield every maximal clique (Bron and Kerbosch, 1973, with a pivot)."""
    if not candidates and not done:
        yield clique
        return
    pivot = max(candidates | done, key=lambda i: (len(graph[i] & candidates), -i))
    for i in sorted(candidates - graph[pivot]):
        yield from _cliques(clique | {i}, candidates & graph[i], done & graph[i], graph)
        candidates = candidates - {i}
        done = done | {i}
