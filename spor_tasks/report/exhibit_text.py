"""One sample with its marks, as text for the terminal. Nothing is computed."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spor_tasks.core.sample import Hidden, Orders, Sample
from spor_tasks.core.visible import visible
from spor_tasks.metrics.totals import Value
from spor_tasks.report.exhibit import Exhibit, Told
from spor_tasks.report.marking import Kind, Marked, faults_of
from spor_tasks.results.reading import TaskResult

WIDTH = 100

_SHOWN: dict[Kind, tuple[str, str]] = {  # a sign, and colours with underlines
    "unit": ("{}", "36;4"),
    "doubtful unit": ("{}?", "33;4"),
    "phrase": ("=", "32;4"),
    "leak": ("!", "31;7"),
    "inner leak": ("(!)", "31;4"),
}
_SOFT, _BOLD, _BAD, _GOOD = "2", "1", "31", "32"
_COLORS = re.compile(r"\x1b\[[\d;]*m")


def terminal(shown: Exhibit, *, color: bool = False, width: int = WIDTH) -> str:
    """Return the sample, then each run's outputs.

    Marks are brackets: ``[0: words]`` expresses unit 0, ``[0?: words]`` may express it,
    ``[=: words]`` copies a phrase, ``[!: words]`` leaks, and ``[(!): words]`` counts as a leak
    inside a word. With ``color`` the words are coloured as well.
    """
    first = shown.told[0].record
    task = _paint(visible(first.run.comparison), _BOLD)
    place = f"sample {shown.index}, {visible(first.sample.id)}"
    lines = [f"{task} {first.run.protocol}: {place}", *_sample(first.sample, width)]
    for told in shown.told:
        lines += ["", *_told(told, width)]
    text = "\n".join(lines)
    return text if color else _COLORS.sub("", text)  # what others wrote holds no such codes


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text and style else text


def _sample(sample: Sample, width: int) -> Iterator[str]:
    said = (sample.about(key) for key in ("name", "category"))
    about = ", ".join(visible(text) for text in said if text)
    if about:
        yield f"{'':<8}{about}"
    for number, unit in enumerate(sample.units):
        yield f"    {f'[{number}]':<4}{visible(' | '.join(unit))}"
    if isinstance(sample.challenge, Hidden):
        for what, phrase in sample.challenge.phrases:
            yield f"        {visible(phrase)} hides {visible(what)}"
    for text in sample.references:
        yield from _wrapped([_Piece(visible(text))], width)


def _told(told: Told, width: int) -> Iterator[str]:
    record, sample = told.record, told.record.sample
    yield _paint(run_name(record.run), _BOLD)
    scores = (f"{visible(name)} {_number(value)}" for name, value in record.scores.items())
    for line in _wrapped([_Piece("  ".join(scores))], width, indent=4):
        yield _paint(line, _SOFT)
    for number, output in enumerate(told.outputs):
        if isinstance(sample.challenge, Orders):
            order = " ".join(map(str, sample.challenge.inputs[number]))
            yield _paint(f"    input order {order}:", _SOFT)
        yield from _wrapped(_pieces(output), width)
        yield from _said(output, sample)
    found = faults_of(told.outputs)
    names = [_paint(fault.value, _BAD) for fault in found] or [_paint("fine", _GOOD)]
    yield f"        → {', '.join(names)}"


def run_name(run: TaskResult) -> str:
    """Return what identifies a run within its task: model, arm and seed."""
    seed = None if run.seed is None else f"seed {run.seed}"
    return visible(", ".join(filter(None, [run.model, run.arm or "as is", seed])))


def _said(output: Marked, sample: Sample) -> Iterator[str]:
    if output.units:
        yield f"        not located: {' '.join(f'[{number}]' for number in output.units)}"
    if output.phrases and isinstance(sample.challenge, Hidden):
        phrases = (visible(sample.challenge.phrases[number][1]) for number in output.phrases)
        yield f"        not copied: {', '.join(phrases)}"
    if output.leaks:
        yield f"        leaked: {', '.join(map(visible, output.leaks))}"


class _Piece(NamedTuple):
    text: str
    style: str = ""


def _pieces(output: Marked) -> Iterator[_Piece]:
    """Yield the parts of the output in order, marked ones in brackets."""
    if not output.output.strip():
        yield _Piece("no output", _SOFT)
        return
    text, (at, end_of_scored) = output.output, output.scored
    if before := text[:at].strip():
        yield _Piece(f"(not scored: {visible(before)}) ", _SOFT)
    for start, end, labels in output.marks:
        yield _Piece(visible(text[at:start]))
        signs = " ".join(_SHOWN[label.kind][0].format(label.number) for label in labels)
        yield _Piece(f"[{signs}: {visible(text[start:end])}]", _SHOWN[labels[-1].kind][1])
        at = end
    yield _Piece(visible(text[at:end_of_scored]))
    if rest := text[end_of_scored:].strip():
        yield _Piece(f" (not scored: {visible(rest)})", _SOFT)


def _wrapped(pieces: Iterable[_Piece], width: int, *, indent: int = 8) -> Iterator[str]:
    """Yield lines of the pieces' words, broken at white space and painted word by word."""
    words: list[list[_Piece]] = [[]]
    for text, style in pieces:
        for part in re.split(r"( +)", text):
            if part.isspace():
                words.append([])
            elif part:
                words[-1].append(_Piece(part, style))
    line, used = "", 0
    for word in filter(None, words):
        length = sum(len(text) for text, _ in word)
        painted = "".join(_paint(text, style) for text, style in word)
        if used and indent + used + 1 + length > width:
            yield " " * indent + line
            line, used = "  " + painted, 2 + length
        else:
            line, used = (f"{line} {painted}", used + 1 + length) if used else (painted, length)
    yield " " * indent + line


def _number(value: Value) -> str:
    number = value[-1] if isinstance(value, tuple) else value
    return "–" if number is None else f"{number:.2f}"
