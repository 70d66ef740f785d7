"""The contract of a corpus: a name, its samples, and the prompt of each sample.

To add a corpus, write a module with a :class:`Corpus`, and add a line to `registry.toml`. A corpus
in a file of a usual form needs neither (:mod:`spor_tasks.corpora.own`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import JsonObject
from spor_tasks.core.sample import CorpusSamples, Sample

Style: TypeAlias = Literal["causal", "seq2seq", "instruction"]
"""How a prompt is worded (:mod:`spor_tasks.prompts.styles`)."""

UnitKind: TypeAlias = Literal["facts", "cells", "columns", "attributes"]

# The text follows the colon directly, without a space [code].
_CAUSAL_CUE = " Output:"
_INSTRUCTION = "Write a short English text that says all of these facts and nothing else."
_TEXT_CUE = "Text:"


PlacedRows: TypeAlias = Iterable[tuple[str, JsonObject]]
"""Rows of a file, each after its place."""

LabelledRow: TypeAlias = tuple[str, JsonObject, Sample | None]
"""The place of a text, its row with the text as ``output``, and its sample if that is known."""

_Folder: TypeAlias = Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus by name: its samples and their prompts; the fields after these are optional."""

    name: str
    parts: Callable[[_Folder], Mapping[str, Sequence[Sample]]]
    """Returns the samples by part, equal in each call: ``train``, ``test``, and others.

    Its argument is the folder of the corpus's files, by default that of :mod:`.sources`. It raises
    a CorpusError if a file is missing or is not the published one.
    """
    linearize: Callable[[Sample, Style], str]
    """Returns the whole prompt of a sample, with the units in its order.

    It depends on units and context alone, and raises a ConfigError if the style is unknown.
    """
    units: UnitKind = "facts"
    """The meaning of a unit.

    It is a fact that a text should state, a highlighted cell, a column of a table that a text is
    about, or an attribute that it should have.
    """
    read_all: Callable[[_Folder], Sequence[Sample]] | None = None
    """Returns every sample of the sources in a fixed order.

    By default that is the training, test and validation part.
    """
    preamble: Callable[[Style], str] = lambda _: ""
    """Returns the text before demonstrations."""
    example: Callable[[Sample, Style], str] | None = None
    """Returns the prompt of a sample among demonstrations, if that has other words."""
    read_outputs: Callable[[object, str], PlacedRows] | None = None
    """Returns the rows of outputs in a JSON file in a published form: of its content and place."""
    read_labelled: Callable[[PlacedRows, _Folder], Iterator[LabelledRow]] | None = None
    """Returns labelled texts in a published form; the path of a split may be None."""
    read_references: Callable[[_Folder], Iterator[tuple[str, Sample]]] | None = None
    """Returns the place and the sample of each line of plain texts."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Each attribute, by the letters of its names, of a corpus with no others (:mod:`.slots`)."""

    def part(self, name: str, folder: _Folder = None) -> Sequence[Sample]:
        """Return the samples of a part."""
        return self.parts(folder)[name]

    def read(self, folder: _Folder = None) -> CorpusSamples:
        """Return the training samples and those that may become test samples."""
        parts = self.parts(folder)
        return CorpusSamples(self.name, parts["train"], parts["test"])

    def everything(self, folder: _Folder = None) -> Sequence[Sample]:
        """Return every sample of the sources in a fixed order, also those that no set has."""
        if self.read_all:
            return self.read_all(folder)
        parts = self.parts(folder)
        return tuple(s for name in ("train", "test", "validation") for s in parts.get(name, ()))


def in_style(
    style: Style,
    line: str,
    facts: Iterable[str],
    *,
    before: str = "",
    instruction: str | None = None,
) -> str:
    """Return a prompt, given the units in the paper's one line and as facts in plain words.

    ``before`` is a sentence that the plain words begin with. ``instruction`` says what to write; by
    default that is an English text.

    Raises:
        ConfigError: the style is unknown.
    """
    check_style(style)
    match style:
        case "causal":
            return line + _CAUSAL_CUE
        case "seq2seq":
            return line
        case "instruction":
            request = f"{before} {instruction or _INSTRUCTION}".lstrip()
            return "\n".join([request, *(f"- {fact}" for fact in facts), _TEXT_CUE])


def check_style(style: str) -> None:
    """Check that there is such a style.

    Raises:
        ConfigError: there is not.
    """
    if style not in get_args(Style):
        raise ConfigError(
            f"unknown prompt style {style!r}",
            remedy=f"Use one of {', '.join(get_args(Style))}.",
        )
