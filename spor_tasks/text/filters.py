"""The filters of an output before it is scored: filters, each by the name that settings give it.

A filter maps a text to a part of it that is in one piece, which may be the whole text or nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from spor_tasks.core.errors import ConfigError

# How models mark that they reason before they answer.
_REASONING_BEGINS, _REASONING_ENDS = "<think>", "</think>"

SEPARATOR = "[SEP]"
"""Stands between the template of a sentence and the sentence."""


def first_line(text: str) -> str:
    """Return the first line that is not blank; empty where there is none."""
    return next((line for line in text.split("\n") if line.strip()), "")


def strip_reasoning(text: str) -> str:
    """Return what follows the last block of reasoning, ``<think>…</think>``.

    The block may lack its first mark, which some chat templates write at the end of the prompt. A
    text that begins to reason and never ends becomes empty.
    """
    _, end, rest = text.rpartition(_REASONING_ENDS)
    return "" if not end and text.lstrip().startswith(_REASONING_BEGINS) else rest


def strip_preamble(text: str) -> str:
    """Return the text without the lines at its start that announce it ("Here is the text:").

    Those are lines that end in a colon. Blank lines before and between them go too; the last line
    that is not blank stays in any case.
    """
    start, end_of_said = 0, len(text.rstrip())
    while (end := text.find("\n", start, end_of_said)) >= 0:
        if _says(text[start:end]):
            break
        start = end + 1
    return text[start:]


def after_separator(text: str) -> str:
    """Return what follows the first ``[SEP]``; nothing where there is none.

    Before it a model writes the template of its sentence (LogicNLG, section 5).
    """
    return text.partition(SEPARATOR)[2].strip()


FILTERS: Mapping[str, Callable[[str], str]] = {
    "first_line": first_line,
    "strip_reasoning": strip_reasoning,
    "strip_preamble": strip_preamble,
    "after_separator": after_separator,
}
"""All filters by name."""

DEFAULT = ("first_line",)
"""What is applied to outputs of tuned models, which write one line."""

UNTUNED = ("strip_reasoning", "strip_preamble", "first_line")
"""What is applied to outputs of models that were not tuned on the task, in this order."""


def apply(names: Iterable[str], text: str) -> str:
    """Return what filters leave of a text, applied in this order.

    Raises:
        ConfigError: a name is not that of a filter.
    """
    for name in names:
        text = find(name)(text)
    return text


def find(name: str) -> Callable[[str], str]:
    """Return the filter of a name.

    Raises:
        ConfigError: no filter has it.
    """
    if name not in FILTERS:
        raise ConfigError(f"unknown filter {name!r}", remedy=f"Use {', '.join(FILTERS)}.")
    return FILTERS[name]


def is_complete(names: Sequence[str], text: str) -> bool:
    """Return whether what the filters leave of a text stays the same however the text goes on.

    It is so once a line break follows the line that ``first_line`` takes. It is never so after
    ``strip_reasoning``, as a block of reasoning may end at any time, nor of filters that are
    unknown here.
    """
    for name in names:
        ended = text.split("\n")[:-1]
        match name:
            case "first_line":
                return any(map(str.strip, ended))
            case "strip_preamble" if any(map(_says, ended)):
                text = strip_preamble(text)
            case _:
                return False
    return False


def _says(line: str) -> bool:
    """Return whether a line is part of the text: neither blank nor an announcement of it."""
    return bool(line.strip()) and not line.rstrip().endswith(":")
