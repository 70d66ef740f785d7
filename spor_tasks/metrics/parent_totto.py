"""PARENT as ToTTo reports it, of which the published code is a version of its own.

It differs from :mod:`spor_tasks.metrics.parent` in four ways [code]. The tokens are those of BLEU,
after detokenization. There are two tables: whole, with the titles and the text of the section, it
says what is entailed; the highlighted cells with the titles are what a text should mention. The
table's share in recall, λ, is what the reference does not mention of them. And precision, recall
and F are those of the reference with the largest F, the first of several.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from spor_tasks.core.sample import Sample
from spor_tasks.core.table import Cell
from spor_tasks.corpora.totto.table import table_of
from spor_tasks.metrics.parent import (
    FLOOR,
    ParentEvidence,
    combined,
    compared,
    mentioned,
    ngrams_of,
)
from spor_tasks.text.detokenize import detokenize
from spor_tasks.text.mteval import words

_MAX_ORDER = 4
_LINE_BREAK = re.compile(r"[\r\n]")

# The published tables are lines of entries, which a tab or a line break in a value breaks.
_ENTRY = re.compile(r"\t[a-z_]+\|\|\|")
_BREAKS_ENTRIES = re.compile(r"[|\t\r\n]")
_IN_AN_ENTRY = str.maketrans("|\t\r\n", "-   ")

# Two metrics that measure a batch of outputs in turn find its tables prepared.
_PREPARED_TABLES = 512


def prepared(text: str) -> str:
    """Return a text as the published evaluation prepares it: in lower case, and detokenized.

    A line break, which would make two texts of it there, counts as a blank.
    """
    return detokenize(_LINE_BREAK.sub(" ", text).lower())


def parent(
    sample: Sample, output: Sequence[str], references: Iterable[Sequence[str]]
) -> ParentEvidence:
    """Return the evidence of an output, which is compared with each reference.

    Both are given as the words (:func:`spor_tasks.text.mteval.words`) of prepared texts.

    Where the published code fails, these rules hold. A value or title without a word is ignored. If
    there is nothing to mention, all of it is mentioned. A tab or a line break in a value is a
    blank. A value ends where its cell does, whatever signs are in it.

    Raises:
        CorpusError: the sample has no table of cells.
    """
    cells, titles = table_of(sample), [*_titles(sample, "page_title", "section_title")]
    # A line is detokenized as a whole, so that a quote in one cell decides on one in the next.
    whole = _line([*_entries(cells.cells), *titles, *_titles(sample, "section_text")])
    table = _prepare(whole, _line([*_entries(cells.highlighted_cells), *titles]))
    table_recall = _mentioned(table, output) or FLOOR
    written = ngrams_of(output, _MAX_ORDER, table.lexicon)
    against = [
        combined(
            *compared(written, ngrams_of(reference, _MAX_ORDER, table.lexicon)),
            table_recall,
            1 - _mentioned(table, reference),
        )
        for reference in references
    ]
    return max(against, key=lambda evidence: evidence.f)


class _TableWords(NamedTuple):
    """The tokens that are entailed, the values to mention, and their tokens."""

    lexicon: frozenset[str]
    values: tuple[tuple[str, ...], ...]
    of_values: frozenset[str]


@lru_cache(maxsize=_PREPARED_TABLES)
def _prepare(whole: str, highlighted: str) -> _TableWords:
    divided_values = (tuple(words(value)) for value in _values(highlighted))
    values = tuple(value for value in divided_values if value)
    # Blanks divide words whatever is beside them, so that each needs to be looked at once.
    different = {*" ".join(_values(whole)).split()}
    divided = [word for word in different if not word.isalnum()]
    return _TableWords(
        frozenset(different.difference(divided).union(words(" ".join(divided)))),
        values,
        frozenset(token for value in values for token in value),
    )


def _mentioned(table: _TableWords, text: Sequence[str]) -> float:
    return mentioned(table.values, table.of_values, text) if table.values else 1.0


def _line(entries: Iterable[str]) -> str:
    return detokenize("\t".join(entries).lower())


def _entries(cells: Iterable[Cell]) -> Iterator[str]:
    for cell in cells:
        if value := cell.value.strip():
            yield f"{'header' if cell.is_header else 'cell'}|||{_inside(value)}"


def _titles(sample: Sample, *attributes: str) -> Iterator[str]:
    for attribute in attributes:
        if text := sample.about("title" if attribute == "page_title" else attribute):
            yield f"{attribute}|||{_inside(text)}"


def _inside(value: str) -> str:
    return value.translate(_IN_AN_ENTRY) if _BREAKS_ENTRIES.search(value) else value


def _values(line: str) -> list[str]:
    return _ENTRY.split(f"\t{line}")[1:]
