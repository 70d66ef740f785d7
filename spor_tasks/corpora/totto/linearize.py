"""The text of a table in a prompt, as ToTTo's published preprocessing writes it, and as Markdown.

A sample may ask for another input (:data:`Variant`) in its context, under ``prompt``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.table import Cell, CellTable
from spor_tasks.corpora.base import Style, check_style, in_style
from spor_tasks.corpora.totto.table import Headers, headers_of, table_of

Variant: TypeAlias = Literal["subtable_metadata", "subtable", "fulltable_metadata", "fulltable"]
"""The four inputs of the paper's ablation (Table 10).

They have the highlighted cells alone or the whole table, with the titles of page and section or
without them.
"""


def variant_of(sample: Sample) -> Variant:
    """Return the input that a sample asks for; the paper's main one is the default."""
    return cast("Variant", sample.about("prompt") or "subtable_metadata")


def in_variant(sample: Sample, variant: Variant) -> Sample:
    """Return the sample with this input."""
    if variant == variant_of(sample):
        return sample
    return replace(sample, context={**sample.context, "prompt": variant})


def published(sample: Sample, variant: Variant | None = None) -> str:
    """Return the published input, in the variant that the sample asks for.

    Each tag and text is followed by one blank; texts are neither stripped nor escaped, and the text
    of the section is not in it [code].

    Raises:
        CorpusError: the sample has no table.
    """
    variant, table = variant or variant_of(sample), table_of(sample)
    cells = _full(table) if variant.startswith("fulltable") else _sub(table)
    titles = _titles(sample) if variant.endswith("metadata") else ()
    return f"{''.join(titles)}<table> {''.join(cells)}</table>"


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
    variant, table = variant_of(sample), table_of(sample)
    parts = [_metadata(sample)] if variant.endswith("metadata") else []
    if variant.startswith("fulltable"):
        parts.append("\n".join(["Table:", *_markdown(table)]))
    parts.append("\n".join(["Highlighted cells:", *_listed(table)]))
    return "\n\n".join([*filter(None, parts), f"{_REQUEST}\nSentence:"])


_REQUEST = (
    "Write one English sentence that says what the highlighted cells say, and use no facts from "
    "elsewhere."
)


def _sub(table: CellTable) -> Iterator[str]:
    headers = headers_of(table, table.highlighted)
    for cell, cell_headers in zip(table.highlighted_cells, headers, strict=True):
        yield _tagged(cell, cell_headers, "cell")


def _full(table: CellTable) -> Iterator[str]:
    highlighted = set(table.highlighted)
    places = [(row, index) for row, cells in enumerate(table.rows) for index in range(len(cells))]
    headers = zip(places, headers_of(table, places), strict=True)
    for row in table.rows:
        yield "<row> "
        for cell, (place, cell_headers) in zip(row, headers, strict=False):
            yield _tagged(
                cell, cell_headers, "highlighted_cell" if place in highlighted else "cell"
            )
        yield "</row> "


def _tagged(cell: Cell, headers: Headers, tag: str) -> str:
    columns = _each("col_header", headers.of_column)
    rows = _each("row_header", headers.of_row)
    return f"<{tag}> {cell.value} {columns}{rows}</{tag}> "


def _each(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}> {text} </{tag}> " for text in texts)


def _titles(sample: Sample) -> Iterator[str]:
    for tag, key in (("page_title", "title"), ("section_title", "section_title")):
        if text := sample.about(key):
            yield f"<{tag}> {text} </{tag}> "


# --- In plain words -------------------------------------------------------------------------------


def _metadata(sample: Sample) -> str:
    titles = (("Page", sample.about("title")), ("Section", sample.about("section_title")))
    return "\n".join(f"{name}: {_line(text)}" for name, text in titles if text)


def _markdown(table: CellTable) -> Iterator[str]:
    """Yield the rows of the table, with the highlighted cells in bold."""
    highlighted = set(table.highlighted)
    for number, row in enumerate(table.rows):
        texts = (
            f"**{_line(cell.value)}**" if (number, index) in highlighted else _line(cell.value)
            for index, cell in enumerate(row)
        )
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"


def _listed(table: CellTable) -> Iterator[str]:
    headers = headers_of(table, table.highlighted)
    for cell, cell_headers in zip(table.highlighted_cells, headers, strict=True):
        named = ", ".join(
            dict.fromkeys(filter(None, map(_line, (*cell_headers.of_column, *cell_headers.of_row))))
        )
        yield f"- {named}: {_line(cell.value)}" if named else f"- {_line(cell.value)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def attribute(headers: Headers) -> str:
    """Return a name for what a cell says: its column headers, or else its row headers."""
    named = _distinct(headers.of_column) or _distinct(headers.of_row)
    return " / ".join(named)


def units_of(table: CellTable) -> tuple[AttributeValue, ...]:
    """Return the units of a sample with this table: the highlighted cells."""
    headers = headers_of(table, table.highlighted)
    cells = zip(headers, table.highlighted_cells, strict=True)
    return tuple(
        AttributeValue(attribute(cell_headers), cell.value) for cell_headers, cell in cells
    )


def _distinct(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(_line, texts))))
