"""What of a model's output is scored: its first line, without what models write around a text."""

from typing import NamedTuple

# How models mark that they reason before they answer. Some templates open the block in the prompt.
_REASONING_BEGINS, _REASONING_ENDS = "<think>", "</think>"


class Span(NamedTuple):
    """A part of an output, as indices of its characters."""

    start: int
    end: int


def answer(output: str) -> str:
    """Return what of an output is scored.

    It is the first line that is not empty, after a block of reasoning, if there is one, and after
    lines that only announce the text ("Here is the text:"), if any line follows them. A text of one
    line is its own answer, unchanged, as is a text that never says anything else.
    """
    start, end = answer_span(output)
    return output[start:end]


def answer_span(output: str) -> Span:
    """Return where in an output its :func:`answer` stands; empty where there is none."""
    rest = _after_reasoning(output)
    if rest is None:
        return Span(len(output), len(output))
    found = Span(rest, rest)
    for start, end in _lines(output, rest):
        line = output[start:end].strip()
        if line:
            found = Span(start, end)
            if not _announces(line):
                break
    return found


def is_complete(output: str) -> bool:
    """Tell whether the answer of an output cannot change, however the output goes on.

    It is so once a line break follows the line that is the answer; an output without a line break
    may still be announcing it. (A block of reasoning that the prompt has opened is not seen before
    its end.)
    """
    rest = _after_reasoning(output)
    if rest is None:
        return False
    lines = [output[start:end].strip() for start, end in _lines(output, rest)]
    return any(line and not _announces(line) for line in lines[:-1])


def _after_reasoning(output: str) -> int | None:
    """Return where the output begins to answer, None where it is still reasoning."""
    closed = output.rfind(_REASONING_ENDS)
    if closed >= 0:
        return closed + len(_REASONING_ENDS)
    return None if output.lstrip().startswith(_REASONING_BEGINS) else 0


def _announces(line: str) -> bool:
    return line.endswith(":")


def _lines(output: str, start: int) -> list[Span]:
    """Return the lines from ``start`` on; there is one at least, which may be empty."""
    spans = []
    while (end := output.find("\n", start)) >= 0:
        spans.append(Span(start, end))
        start = end + 1
    return [*spans, Span(start, len(output))]
