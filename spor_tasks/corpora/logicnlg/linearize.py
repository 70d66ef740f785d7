"""The text of a table in a prompt, as the published code writes it, and as Markdown.

The published prompt has the linked columns row by row. Its tokenizer of 2020 dropped the blank at
the end of a text, so the three parts of a prompt were joined without one. A sample may ask for
another prompt (:data:`Variant`) in its context, under ``prompt``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, TypeAlias, cast

from spor_tasks.core.sample import Column, Contrast, Sample
from spor_tasks.core.table import Table
from spor_tasks.corpora import tables
from spor_tasks.corpora.base import Style, check_style
from spor_tasks.corpora.logicnlg.columns import ColumnType, TypedTable, typed
from spor_tasks.text.filters import SEPARATOR
from spor_tasks.text.gpt2 import first_tokens

Variant: TypeAlias = Literal["published", "spaced", "full_table", "coarse_to_fine"]
"""How a prompt differs from the published one.

``spaced`` keeps the blank at the end of each part, as a tokenizer of today would see it;
``full_table`` shows all columns, not the linked ones; ``coarse_to_fine`` asks for the template
before the sentence, and has no suffix (section 5 of the paper).
"""

SUFFIX = "Start describing : "
MOST_TOKENS = 800
"""Of GPT-2, in what is shown of a table."""

_REQUEST = (
    "Write one English sentence that follows from this table. It may compare, count or calculate. "
    "Use {columns}, and no facts from elsewhere."
)
_COARSE_REQUEST = (
    " First write a template: the sentence with [ENT] in place of every name and number. Then "
    f"write {SEPARATOR}, and then the sentence, all in one line."
)


def prefix(title: str) -> str:
    """Return what comes before the table."""
    return f'Given the table title of "{title}" . '


def body(table: TypedTable, columns: Sequence[int]) -> str:
    """Return the cells of some columns, row by row, with their names."""
    names = [table.columns[column].name for column in columns]
    cells_by_column = [
        cells_of(table, column, lambda text: " ".join(map(str.capitalize, text.split(" "))))
        for column in columns
    ]
    return "".join(
        f"In row {number} , "
        + " , ".join(f"the {name} is {cell}" for name, cell in zip(names, cells, strict=True))
        + " . "
        for number, cells in enumerate(zip(*cells_by_column, strict=True), start=1)
    )


def cells_of(table: TypedTable, column: int, write: Callable[[str], str] = str) -> list[str]:
    """Return the cells of a column as the published code prints them, their texts by ``write``.

    It reads a table row by row, and a row of numbers is of one type: a whole number becomes a real
    one if another column has real ones.
    """
    typed_column = table.columns[column]
    if typed_column.kind is not ColumnType.NUMBER:
        return ["nan" if cell is None else write(str(cell)) for cell in typed_column.values]
    numbers = all(each.kind is ColumnType.NUMBER for each in table.columns)
    real = numbers and any(isinstance(c, float) for each in table.columns for c in each.values)
    return [
        str(float(cell) if real and isinstance(cell, int) else cell) for cell in typed_column.values
    ]


def cells_of_columns(sample: Sample) -> Iterator[tuple[str, ...]]:
    """Yield the name of each linked column, and its cells as they are written.

    Raises:
        CorpusError: the sample has no table.
    """
    rows = table_of(sample).rows
    for unit in sample.units:
        if isinstance(unit, Column):
            yield unit.attribute, *(row[unit.number] for row in rows if unit.number < len(row))


def variant_of(sample: Sample) -> Variant:
    """Return the prompt that a sample asks for."""
    return cast("Variant", sample.about("prompt") or "published")


def in_variant(sample: Sample, variant: Variant) -> Sample:
    """Return the sample with another prompt, and with what is to be written after that."""
    changes: dict[str, str] = {"prompt": variant}
    if variant == "coarse_to_fine":
        changes["target"] = f"{sample.about('template')} {SEPARATOR} {sample.target}"
    return replace(sample, context={**sample.context, **changes})


def published(sample: Sample) -> str:
    """Return the published prompt, in the variant that the sample asks for.

    The text of the table ends after 800 tokens of GPT-2, whatever model reads it. The two
    prompts of a pair that asks for templates are cut as a whole, with the blank before the table.

    Raises:
        CorpusError: the sample has no table.
        ConfigError: the table may be too long, and a package that counts is not installed.
    """
    variant, table = variant_of(sample), typed_table(sample)
    full = variant == "full_table"
    columns = range(len(table.columns)) if full else linked_columns(sample)
    before, cells = prefix(str(sample.about("title"))), body(table, columns)
    if variant == "spaced":
        return before + first_tokens(cells, MOST_TOKENS) + SUFFIX
    if variant != "coarse_to_fine":
        return before.rstrip() + first_tokens(cells.rstrip(), MOST_TOKENS) + SUFFIX.rstrip()
    if isinstance(sample.challenge, Contrast):
        return first_tokens(f"{before}{cells}".rstrip(), MOST_TOKENS)
    return before.rstrip() + first_tokens(cells.rstrip(), MOST_TOKENS)


def linearize(sample: Sample, style: Style) -> str:
    """Return the prompt of a sample; for models that follow instructions, with a Markdown table.

    Raises:
        ConfigError: the style is unknown.
    """
    check_style(style)
    return instruction(sample) if style == "instruction" else published(sample)


def instruction(sample: Sample) -> str:
    """Return the table as Markdown, its linked columns, and what to write about them."""
    table = table_of(sample)
    names = [table.header[column] for column in linked_columns(sample)]
    is_coarse = variant_of(sample) == "coarse_to_fine"
    *first, last = [f'"{name}"' for name in dict.fromkeys(names)]
    named = f"the columns {', '.join(first)} and {last}" if first else f"the column {last}"
    lines = [f"A table about {sample.about('title')}:", ""]
    for row in (table.header, ["---"] * len(table.header), *table.rows):
        cells = [" ".join(text.replace("|", "\\|").split()) for text in row]
        lines.append(f"| {' | '.join(cells)} |")
    request = _REQUEST + _COARSE_REQUEST if is_coarse else _REQUEST
    last_line = "Template:" if is_coarse else "Sentence:"
    return "\n".join([*lines, "", request.format(columns=named), last_line])


def linked_columns(sample: Sample) -> tuple[int, ...]:
    """Return the numbers of the columns that a sample is linked to, in its order."""
    return tuple(unit.number for unit in sample.units if isinstance(unit, Column))


def table_of(sample: Sample) -> Table:
    """Return the table of a sample.

    Raises:
        CorpusError: it has none of named columns.
    """
    return tables.table_of(sample, Table)


_typed = lru_cache(maxsize=64)(typed)  # a table has several samples, one after another


def typed_table(sample: Sample) -> TypedTable:
    """Return the table of a sample with the types of its columns."""
    return _typed(table_of(sample))
