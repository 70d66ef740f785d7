"""The filters of an output before it is scored, each by the name that settings give it.

A filter maps a text to a part of it that is in one piece, which may be the whole text or nothing.
Only ``logicnlg_published`` also changes blanks in it. Why so: docs/decisions/first-line.md.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spor_tasks.core.errors import ConfigError, advice

# How models mark that they reason before they answer: the beginning and the end.
_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
)
_REASONING_BEGINS = tuple(begin for begin, _ in _REASONING)

# A line that announces a text: it ends in a colon, or is a heading, a fence, a tag or a courtesy.
_ANNOUNCEMENT = re.compile(
    r"[^\w\n]*|.*[:：][*_\s]*|#+ .*|\s*(?:```|~~~)\s*\w*\s*|\s*<\w+>\s*"
    r"|\s*(?:sure|certainly|of course|absolutely|okay|ok)(?:, [^.!]*)?[.!]+\s*",
    re.IGNORECASE,
)

# What stands before a text in its own line.
_LABEL = re.compile(
    r"(?:[-*•] |\d+[.)] )?[*_#\s]*(?:(?:final |generated )?"
    r"(?:text|output|answer|response|sentence|description|summary)"
    r"|(?:(?:sure|certainly|of course)[,!.] ?)?here(?: is|’s|'s) [^:：\n]{0,60})[*_]*[:：][*_]*\s*"
    r"|[-*•] |1[.)] ",
    re.IGNORECASE,
)
_MOST_AROUND = 8  # things around one text; an output that repeats a bullet has no end of them
_AROUND = (
    ('"', '"'),
    ("“", "”"),
    ("«", "»"),
    ("'", "'"),
    ("`", "`"),
    ("**", "**"),
    ("__", "__"),
    ("<answer>", "</answer>"),
    ("<output>", "</output>"),
    ("<text>", "</text>"),
    ("<sentence>", "</sentence>"),
)

SEPARATOR = "[SEP]"
"""Stands between the template of a sentence and the sentence."""

END = "<|endoftext|>"
"""GPT-2's end token, as it is decoded."""

_ADDED = re.compile(r"(\[ENT\]|\[SEP\])")  # tokens that LogicNLG's code adds to GPT-2's
_CLEANED = {
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}
"""What transformers 2.5.1 replaced in decoded texts, in this order."""

_LEAST_WORDS = 6  # of a sentence of LogicNLG that is not replaced [code]


def first_line(text: str) -> str:
    """Return the first line that is not blank; empty where there is none."""
    return next((line for line in text.split("\n") if line.strip()), "")


def strip_reasoning(text: str) -> str:
    """Return what follows the last block of reasoning, such as ``<think>…</think>``.

    The block may lack its first mark, which some chat templates write at the end of the prompt. A
    text that begins to reason and never ends becomes empty.
    """
    rest = text
    for _, end in _REASONING:
        rest = rest.rpartition(end)[2]
    return "" if rest == text and text.lstrip().startswith(_REASONING_BEGINS) else rest


def strip_preamble(text: str) -> str:
    """Return the text without the lines at its start that announce it ("Here is the text:").

    Those are lines that end in a colon, headings, fences of code, tags, and "Sure!". Lines without
    a letter or digit before and between them go too; the last line that is not blank stays in any
    case.
    """
    start, end_of_said = 0, len(text.rstrip())
    while (end := text.find("\n", start, end_of_said)) >= 0:
        if _says(text[start:end]):
            break
        start = end + 1
    return text[start:]


def _says(line: str) -> bool:
    """Return whether a line is of the text itself and does not only announce it."""
    return not _ANNOUNCEMENT.fullmatch(line)


def unwrap(text: str) -> str:
    """Return a line without what stands around its text: a label ("Text:"), a bullet, quotes.

    Quotes and marks of emphasis go where they stand at both ends and nowhere between.
    """
    rest = text
    for _ in range(_MOST_AROUND):
        wrapped = rest = rest.strip()
        label = _LABEL.match(rest)
        if label and rest[label.end() :]:
            rest = rest[label.end() :]
        for begin, end in _AROUND:
            inner = rest.removeprefix(begin).removesuffix(end)
            is_around = len(rest) > len(inner) == len(rest) - len(begin) - len(end)
            if is_around and inner.strip() and begin not in inner and end not in inner:
                rest = inner
        if rest == wrapped:
            break
    return text if rest == text.strip() else rest


def after_separator(text: str) -> str:
    """Return what follows the first ``[SEP]``; nothing where there is none.

    Before it a model writes the template of its sentence (LogicNLG, section 5).
    """
    return text.partition(SEPARATOR)[2].strip()


def logicnlg_published(text: str) -> str:
    """Return what LogicNLG's published code takes for the sentence of a decoded text.

    The text is first as transformers 2.5.1 decoded it: with blanks between added tokens and words,
    and without those before marks and contractions. The sentence begins one character after
    ``[SEP]``, or at the fifth without one, and goes to the end token. Without that token the last
    character is lost [code]. :func:`without_short` is the second step.
    """
    text = " ".join(part for part in _ADDED.split(text) if part)
    for clumsy, clean in _CLEANED.items():
        text = text.replace(clumsy, clean)
    return text[text.find(SEPARATOR) + len(SEPARATOR) + 1 : text.find(END)].strip()


def without_short(texts: Sequence[str], tables: Sequence[Hashable]) -> list[str]:
    """Return what LogicNLG's published code scores of the texts about these tables.

    In place of a text of fewer than six words it takes the previous one about the table, if there
    is one [code]. This is the second step after :func:`logicnlg_published`.
    """
    previous: dict[Hashable, str] = {}
    replaced: list[str] = []
    for text, table in zip(texts, tables, strict=True):
        is_short = len(text.split()) < _LEAST_WORDS
        previous[table] = previous.get(table, text) if is_short else text
        replaced.append(previous[table])
    return replaced


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter."""

    cut: Callable[[str], str]
    """Returns what is left of a text."""
    fixes: Callable[[str], bool] = lambda _: False
    """Whether a line, once it has ended, fixes where the part that is left begins."""
    is_one_line: bool = False
    """Whether that part ends with the line."""
    over_all: Callable[[Sequence[str], Sequence[Hashable]], list[str]] | None = None
    """A second step over the texts of all samples, in order, and the tables that they are about."""
    version: int = 1
    """The version of a filter that has changed, which signatures state."""


FILTERS: Mapping[str, Filter] = {
    "first_line": Filter(first_line, fixes=lambda line: bool(line.strip()), is_one_line=True),
    "strip_reasoning": Filter(strip_reasoning),  # a block of reasoning may end at any time
    "strip_preamble": Filter(strip_preamble, fixes=_says),
    "unwrap": Filter(unwrap),
    "after_separator": Filter(after_separator),
    "logicnlg_published": Filter(logicnlg_published, over_all=without_short, version=2),
}
"""All filters by name."""

DEFAULT = ("first_line",)
"""What is applied to outputs of tuned models, which write one line."""

UNTUNED = ("strip_reasoning", "strip_preamble", "first_line", "unwrap")
"""What is applied to outputs of models that were not tuned on the task, in this order."""


def apply(names: Iterable[str], text: str) -> str:
    """Return what filters leave of a text, applied in this order.

    Raises:
        ConfigError: a name is not that of a filter.
    """
    for name in names:
        text = find(name).cut(text)
    return text


def over_all(
    names: Iterable[str], texts: Sequence[str], tables: Sequence[Hashable]
) -> Sequence[str]:
    """Return what the second steps of filters make of the texts of all samples, in their order."""
    for name in names:
        if name in FILTERS and (step := FILTERS[name].over_all):
            texts = step(texts, tables)
    return texts


def find(name: str) -> Filter:
    """Return the filter of a name.

    Raises:
        ConfigError: no filter has it.
    """
    if name not in FILTERS:
        raise ConfigError(f"there is no filter {name!r}", remedy=advice(name, FILTERS))
    return FILTERS[name]


def is_complete(names: Iterable[str], text: str) -> bool:
    """Return whether what the filters leave of a text stays the same however the text goes on.

    It is so once a line break follows the line that ``first_line`` takes. It is never so of filters
    that are unknown here.
    """
    for name in names:
        step = FILTERS.get(name)
        if step is None or not any(step.fixes(line) for line in text.split("\n")[:-1]):
            return False
        if step.is_one_line:
            return True
        text = step.cut(text)
    return False
