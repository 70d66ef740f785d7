"""Answers: a sentence for each question that the results of a report can answer.

The questions are about the score that a task is read by: whether its arms differ, what training
gained over the base, whether a model is above the floor, and which system is the best.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from spor_tasks.report.collect import Report
from spor_tasks.report.grid import full_title, p_text, repeated, samples_text
from spor_tasks.report.leaderboard import Board
from spor_tasks.results.compare import MARKS, ONE_SEED, SystemPair, holm, is_of_one_seed, tested
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.logged import AllLogged
from spor_tasks.results.pairs import Paired, Pairing
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.stats import Estimate

_FLOOR = "copy-input"
_BASE = "the base"
_ADAPTER = "the adapter"
_PERCENT = 100
_LEVEL = MARKS[-1][1]
_CHECKPOINTS = " One training seed: this holds for these checkpoints only."


class Answers(NamedTuple):
    """The sentences about a test."""

    title: str
    sentences: Sequence[str]


def answers(report: Report, boards: Sequence[Board]) -> tuple[Answers, ...]:
    """Return the answers about each test of a report, whose systems ``boards`` rank."""
    rows = [row for table in report.tables for row in table.pooled if row.kind == "run"]
    floors = {(row.task, row.metric): row for row in report.floors if row.model == _FLOOR}
    names: dict[str, set[str]] = defaultdict(set)
    same = repeated(rows)
    rows = [row for row in rows if row.metric not in same]
    for row in rows:
        names[_title(row)].add(row.name)
    found: dict[str, list[str]] = defaultdict(list)
    told = [*_differences(rows, report.logged)]
    told += [
        (row, text) for row in rows for text in _above(row, floors.get((row.task, row.metric)))
    ]
    told += [(row, text) for row in rows for text in _gap(row)]
    for row, text in told:
        name = f"{row.name}: " if len(names[_title(row)]) > 1 else ""
        found[_title(row)].append(f"{name}{text[0].upper()}{text[1:]}")
    for board in boards:
        found[_title(board.row)] += _ranks(board)
    return tuple(Answers(title, texts) for title, texts in found.items() if texts)


def of_pairs(pairing: Pairing) -> tuple[Answers, ...]:
    """Return the answers about each task of a comparison: of the first score, and marked ones."""
    found = []
    tests = sum(row.p is not None for row in pairing.rows)
    for task in pairing.tasks:
        main = next((row.score for row in task.rows), "")
        sentences = [
            _of_pair(row, tests) for row in task.rows if row.score == main or row.difference.mark
        ]
        whole = next((size for each in task.samples if (size := each.result.trial_of)), None)
        of = f" of {whole:,}: a trial" if whole else ""
        found.append(Answers(f"{task.task} (n = {len(task.ids):,}{of})", sentences))
    return tuple(each for each in found if each.sentences)


def _of_pair(row: Paired, tests: int) -> str:
    """Return the verdict about two systems by the p that is adjusted for so many tests.

    Interval and detectable difference are of one test alone, so an adjusted p stands in its place.
    """
    found = replace(row.difference, p=row.p)
    adjusted = ""
    if row.p != row.difference.p:
        alone = p_text(row.difference.p)
        adjusted = f", {_p(found)}, adjusted for {tests:,} tests (alone {alone})"
    names = row.systems[::-1]
    verdict = _verdict(found, row.facts, *names, digits=row.digits, adjusted=adjusted)
    return verdict + (_CHECKPOINTS if ONE_SEED in found.notes and not found.reason else "")


def _title(row: Comparison) -> str:
    """Return the title of a test with its size, so that a trial is called one."""
    return f"{full_title(row)} (n = {samples_text(row)})"


def _differences(rows: Sequence[Comparison], logged: AllLogged) -> Iterator[tuple[Comparison, str]]:
    """Yield whether arms differ, and what training gained, each with the row that it is about."""
    asked = [(row, *each) for row in rows if row.is_tested for each in _gains(row, rows)]
    gains = tested([pair for _, pair, *_ in asked], logged)
    pairs: dict[tuple[str, ...], list[tuple[Comparison, Estimate]]] = defaultdict(list)
    for row in rows:
        if row.difference:
            note = _CHECKPOINTS if all(is_of_one_seed(cell.runs) for cell in row.arms) else ""
            arms = map(str.capitalize, row.spec.arms)
            pairs[row.task, row.name, *arms, note].append((row, row.difference))
    for (row, _, first, second), gain in zip(asked, gains, strict=True):
        if gain:
            pairs[row.task, row.name, first, second, ""].append((row, gain))
    for (_, _, first, second, note), scores in pairs.items():
        yield from ((scores[0][0], text) for text in _verdicts(scores, first, second, note))


def _gains(row: Comparison, rows: Sequence[Comparison]) -> Iterator[tuple[SystemPair, str, str]]:
    """Yield what is compared with the base: each arm, or the row itself.

    An adapter of no known arm is another model, whose base is in another row. It is compared only
    with a base that was evaluated as it was.
    """
    for arm, cell in row.by_arm:
        pair = SystemPair(cell.runs, row.as_is.runs, row.metric)
        is_one = is_of_one_seed(cell.runs)
        first = "this checkpoint, trained on {}," if is_one else "training on {}"
        yield pair, first.format(arm.capitalize()), _BASE
    base = _base_of(row)
    for other in rows:
        is_same = (other.task, other.metric) == (row.task, row.metric)
        if is_same and other.model == base != row.model and _are_evaluated_alike(row, other):
            pair = SystemPair(row.as_is.runs, other.as_is.runs, row.metric)
            yield pair, _ADAPTER, "its base"
            return  # rows of other adapters repeat the base


def _base_of(row: Comparison) -> str | None:
    """Return the base of an adapter of no known arm; None of another model."""
    return next((run.log.options.tuned for run in row.as_is.runs), None)


def _are_evaluated_alike(row: Comparison, other: Comparison) -> bool:
    """Return whether both models as they are have runs, all with one signature."""
    one, another = ([run.signature for run in each.as_is.runs] for each in (row, other))
    return bool(one and another) and all(each == one[0] for each in (*one, *another))


def _verdicts(
    scores: Sequence[tuple[Comparison, Estimate]], first: str, second: str, note: str
) -> Iterator[str]:
    """Yield whether two systems differ by the main score, and by which further ones they do.

    Further ones have p adjusted for all scores that are tested. Those that contradict the main one
    are named first. A ``note`` follows each verdict.
    """
    is_gain = False
    for row, found in scores:
        if row.metric == row.spec.headline:
            is_gain = _is_gain(found, row.score)
            yield _verdict(found, row.score, first, second) + (note if not found.reason else "")
    known = [(row, found, found.p) for row, found in scores if found.p is not None]
    further = [
        (replace(found, p=p), row.score)
        for (row, found, _), p in zip(known, holm([p for *_, p in known]), strict=True)
        if row.metric != row.spec.headline and found.mark and p < _LEVEL
    ]
    further.sort(key=lambda each: _is_gain(*each) == is_gain)
    if further:
        changes = ", ".join(_change(*each) for each in further)
        largest = max((found for found, _ in further), key=lambda found: found.p or 0)
        p = f"{'the largest ' if len(further) > 1 else ''}{_p(largest)}"
        yield f"{first} {changes} against {second}, {p}, adjusted for {len(known)} scores.{note}"


def _is_gain(found: Estimate, score: ScoreFacts) -> bool:
    return (found.value > 0) == (score.higher_is_better is not False)


def _change(found: Estimate, score: ScoreFacts) -> str:
    """Return a marked difference in a few words."""
    sign = 1 if found.value > 0 else -1
    size = f"{_number(sign * found.value, score)} {score.title}{_around(found, score, sign)}"
    if score.higher_is_better:
        return f"{'gains' if sign > 0 else 'loses'} {size}"
    return f"is {'higher' if sign > 0 else 'lower'} by {size}"


def _verdict(
    found: Estimate,
    score: ScoreFacts,
    first: str,
    second: str,
    *,
    digits: int | None = None,
    adjusted: str = "",
) -> str:
    """Return whether a score differs, by how much, and how large a difference would be found.

    Without a mark, a p that is ``adjusted`` is told in place of that.
    """
    sign = -1 if found.mark and found.value < 0 else 1
    number = _number(sign * found.value, score, digits)
    around = _around(found, score, sign, digits)
    size = f"{number} {score.title}{around}"
    if found.mark and score.higher_is_better:
        verb, than = ("gains", "over") if sign > 0 else ("loses", "against")
        return f"{first} {verb} {size} {than} {second}, {_p(found)}."
    if found.mark:
        side = "higher" if sign > 0 else "lower"
        than = f"with {first} than with {second}"
        return f"{score.title} is {number}{around} {side} {than}, {_p(found)}."
    if found.reason:
        _, _, why = found.reason.partition(": ")
        return f"{first} less {second} is {size}. There is no verdict: {why or found.reason}."
    power = found.detectable and (
        f"; {_number(found.detectable, score, digits)} would have been found with 80 % power"
    )
    end = adjusted or power or ""
    return f"No difference between {first} and {second} was found: {size}{end}."


def _above(row: Comparison, floor: Comparison | None) -> Iterator[str]:
    """Yield which arms are above or below the floor that repeats its input, by intervals.

    Without arms, the model as it is. Of further scores, only the arms below it are told.
    """
    held_out = row.signature.get("held_out_reference") == "True"
    copied = floor.as_is.interval if floor else None
    if not (row.is_tested and row.score.higher_is_better and floor and copied) or held_out:
        return
    arms = [(name.capitalize(), cell) for name, cell in row.by_arm if cell.interval]
    places: dict[str, list[str]] = defaultdict(list)
    for name, cell in arms or [(_ADAPTER if _base_of(row) else _BASE, row.as_is)]:
        if interval := cell.interval:
            is_above, is_below = interval.low > copied.high, interval.high < copied.low
            place = "above" if is_above else "below" if is_below else "not clearly above or below"
            places[place].append(name)
    size = f"{_number(floor.as_is.mean or 0, row.score)} {row.score.title}"
    for place, names in places.items():
        if row.metric == row.spec.headline or place == "below":
            are = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {place}"
            yield f"{are} copied inputs, which have {size}."


def _gap(row: Comparison) -> Iterator[str]:
    """Yield how much the main score differs between two kinds of samples."""
    name = row.spec.score(row.spec.headline).name
    for gap in row.spec.gaps:
        if gap.name != row.metric or row.spec.score(gap.score).name != name:
            continue
        one, other = (row.spec.scores[key].title for key in gap)
        for arm, cell in (*row.by_arm, ("", row.as_is)):
            if cell.mean is not None:
                size = f"{_number(cell.mean, row.score)}{_around(cell, row.score)}"
                yield f"{one} less {other} is {size}{arm and f' with {arm.capitalize()}'}."


def _ranks(board: Board) -> Iterator[str]:
    """Yield which systems are the best by the main score, if there are several models."""
    ranked = [entry for entry in board.entries if entry.rank]
    if board.row.metric != board.row.spec.headline or len({each.model for each in ranked}) < 2:
        return
    best = [f"{each.model} ({each.arm or 'as is'})" for each in ranked if each.rank == 1]
    if len(best) == len(ranked):
        yield f"No system of {len(ranked)} is better than another one by {board.row.score.title}."
    else:
        verb = "has" if len(best) == 1 else "share"
        of = f"the first rank of {len(ranked)} systems by {board.row.score.title}"
        yield f"{', '.join(best)} {verb} {of}."


def _number(value: float, score: ScoreFacts, digits: int | None = None) -> str:
    digits = digits or (1 if score.high == _PERCENT else 2)
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # without -0.0


def _around(
    found: Estimate | Cell, score: ScoreFacts, sign: int = 1, digits: int | None = None
) -> str:
    if not (interval := found.interval):
        return ""
    ends = sorted((sign * interval.low, sign * interval.high))
    return f" [{', '.join(_number(end, score, digits) for end in ends)}]"


def _p(found: Estimate) -> str:
    text = p_text(found.p)
    return f"p {text.replace('<', '< ')}" if text.startswith("<") else f"p = {text}"
