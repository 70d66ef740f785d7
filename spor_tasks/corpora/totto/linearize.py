"""The text of a table in a prompt, as ToTTo's published preprocessing writes it, and as Markdown.

A sample may ask for another input (:data:`TableInput`) in its context, under ``prompt``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias, cast

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.table import Cell, CellTable
from spor_tasks.corpora.base import Style, check_style, in_style
from spor_tasks.corpora.totto.table import Headers, headers_of, table_of

TableInput: TypeAlias = Literal["subtable_metadata", "subtable", "fulltable_metadata", "fulltable"]
"""The four inputs of the paper's ablation (Table 10)."""


class _Shown(NamedTuple):
    titles: bool
    """Whether the titles of page and section are shown."""
    whole: bool
    """Whether the whole table is shown, or the highlighted cells alone."""


_SHOWN: Mapping[TableInput, _Shown] = {
    "subtable_metadata": _Shown(titles=True, whole=False),
    "subtable": _Shown(titles=False, whole=False),
    "fulltable_metadata": _Shown(titles=True, whole=True),
    "fulltable": _Shown(titles=False, whole=True),
}


def variant_of(sample: Sample) -> TableInput:
    """Return the input that a sample asks for; the paper's main one is the default."""
    return cast("TableInput", sample.about("prompt") or "subtable_metadata")


def in_variant(sample: Sample, variant: TableInput) -> Sample:
    """Return the sample with this input."""
    if variant == variant_of(sample):
        return sample
    return replace(sample, context={**sample.context, "prompt": variant})


def published(sample: Sample, variant: TableInput | None = None) -> str:
    """Return the published input, in the variant that the sample asks for.

    Each tag and text is followed by one blank; texts are neither stripped nor escaped, and the text
    of the section is not in it [code].

    Raises:
        CorpusError: the sample has no table.
    """
    shown, table = _SHOWN[variant or variant_of(sample)], table_of(sample)
    parts = []
    if shown.titles:
        for tag, key in (("page_title", "title"), ("section_title", "section_title")):
            if text := sample.about(key):
                parts.append(f"<{tag}> {text} </{tag}> ")
    parts.append("<table> ")
    if shown.whole:
        highlighted = set(table.highlighted)
        places = [(i, j) for i, cells in enumerate(table.rows) for j in range(len(cells))]
        headers = zip(places, headers_of(table, places), strict=True)
        for row in table.rows:
            parts.append("<row> ")
            for cell, (place, cell_headers) in zip(row, headers, strict=False):
                tag = "highlighted_cell" if place in highlighted else "cell"
                parts.append(_tagged(cell, cell_headers, tag))
            parts.append("</row> ")
    else:
        for cell, cell_headers in _highlighted(table):
            parts.append(_tagged(cell, cell_headers, "cell"))
    return f"{''.join(parts)}</table>"


def linearize(sample: Sample, style: Style) -> str:
    """Return the prompt of a sample; for models that follow instructions, in plain words.

    Raises:
        CorpusError: the sample has no table.
        ConfigError: the style is unknown.
    """
    check_style(style)
    return instruction(sample) if style == "instruction" else in_style(style, published(sample), ())


def instruction(sample: Sample) -> str:
    """Return what the variant shows, in plain words, and what to write about it."""
    shown, table = _SHOWN[variant_of(sample)], table_of(sample)
    parts = []
    if shown.titles:
        titles = (("Page", sample.about("title")), ("Section", sample.about("section_title")))
        parts.append("\n".join(f"{name}: {_line(text)}" for name, text in titles if text))
    if shown.whole:
        highlighted = set(table.highlighted)
        lines = ["Table:"]
        for number, row in enumerate(table.rows):
            texts = (
                f"**{_line(cell.value)}**" if (number, i) in highlighted else _line(cell.value)
                for i, cell in enumerate(row)
            )
            lines.append(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |")
        parts.append("\n".join(lines))
    lines = ["Highlighted cells:"]
    for cell, headers in _highlighted(table):
        named = ", ".join(_distinct((*headers.of_column, *headers.of_row)))
        lines.append(f"- {named}: {_line(cell.value)}" if named else f"- {_line(cell.value)}")
    parts.append("\n".join(lines))
    return "\n\n".join([*(part for part in parts if part), f"{_REQUEST}\nSentence:"])


_REQUEST = (
    "Write one English sentence that says what the highlighted cells say, and use no facts from "
    "elsewhere."
)


def _highlighted(table: CellTable) -> Iterator[tuple[Cell, Headers]]:
    headers = headers_of(table, table.highlighted)
    return zip(table.highlighted_cells, headers, strict=True)


def _tagged(cell: Cell, headers: Headers, tag: str) -> str:
    columns = "".join(f"<col_header> {text} </col_header> " for text in headers.of_column)
    rows = "".join(f"<row_header> {text} </row_header> " for text in headers.of_row)
    return f"<{tag}> {cell.value} {columns}{rows}</{tag}> "


def _line(text: str) -> str:
    return " ".join(text.split())


def attribute(headers: Headers) -> str:
    """Return a name for what a cell says: its column headers, or else its row headers."""
    named = _distinct(headers.of_column) or _distinct(headers.of_row)
    return " / ".join(named)


def units_of(table: CellTable) -> tuple[AttributeValue, ...]:
    """Return the units of a sample with this table: the highlighted cells."""
    return tuple(
        AttributeValue(attribute(headers), cell.value) for cell, headers in _highlighted(table)
    )


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the texts that are not blank, each once and in one line."""
    return list(dict.fromkeys(line for line in map(_line, texts) if line))
