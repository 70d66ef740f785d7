r"""Links the words of a sentence to the cells, the headers and the title of its table.

This is the entity linker of LogicNLG (section 3 of the paper, LINKING.md and parser.py of its
repository), which made the linked columns and the templates of the data. Sentence and table are
lower-cased, tokenized and lemmatized, and number words become digits. A run of words grows as long
as some cell has all of them. It is linked to the cell that is nearest to it in length, if that is
just as long, or if the words are rare and cover enough of it. The first of equally near cells in
the order of a Python set is taken, as published. Numbers outside of these links are counts, or are
compared with a column.

Lemmas and tags are not those of the authors' tools (:mod:`.lemmas`), so the links are not always
those of the data: use the columns and templates of the data where there are any.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import ColumnType, TypedTable
from spor_tasks.metrics.programs import lemmas
from spor_tasks.metrics.programs.mentions import (
    MONTHS,
    ROW_OF_NAMES,
    Mention,
    index_of,
    mentions_of,
    merged,
    plain,
)
from spor_tasks.metrics.programs.parse import as_number
from spor_tasks.text.tokenize import all_tokens

SLOT = "[ENT]"
"""Stands in a template for what is linked."""

Numeric: TypeAlias = int | float

_THAN = frozenset(["than", "over", "more", "less", "below", "above", "least"])
DEGREES = frozenset(["RBR", "RBS", "JJR", "JJS"])
_MOST_DIGITS = 18  # of a whole number


@dataclass(frozen=True, slots=True)
class Linked:
    """The mentions of a table in a sentence."""

    sentence: str
    """The lemmas, and placeholders for what is linked.

    `<ENTITY0>` is in the table or its title, `<COUNT1>` is a count, `<COMPUTE2>` a number that is
    compared with a column.
    """
    normalized: str
    """The lemmas alone."""
    links: str
    """The words of each link with its row and column, `#oslo;1,0#`."""
    template: str
    """The words as they were, and :data:`SLOT` in place of cells, headers and the title."""
    tags: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    """The name of a column and a value, as in ``numbers``."""
    numbers: tuple[tuple[str | None, Numeric | str], ...]
    """The name of a column, None for a count, and a value."""
    text_columns: tuple[str, ...]
    """All columns of texts that are mentioned."""
    number_columns: tuple[str, ...]
    columns: tuple[int, ...]
    """The numbers of the columns, none twice, and the first three where nothing is linked."""


class Linker:
    """Links sentences to one table."""

    def __init__(self, table: Table, typed: TypedTable, title: str) -> None:
        self._index = index_of(table, title)
        self._table = typed

    def link(self, sentence: str) -> Linked:
        """Return what a sentence mentions."""
        sentence_words = lemmas.words(all_tokens(plain(sentence)))
        # A sentence with a link to a column needs less evidence for the other links.
        mentions = mentions_of(sentence_words, self._index, threshold=1)
        if any(mention.place and mention.place.column >= 0 for mention in mentions):
            mentions = mentions_of(sentence_words, self._index, threshold=0)
        mentions = merged(mentions)
        normalized = " ".join(word.lemma for word in sentence_words)
        template = _template(sentence, mentions)
        return _LinkedSentence(mentions, normalized, self._table).result(template)


class _LinkedSentence:
    """Tells cells, counts and compared numbers apart, in a sentence whose cells are linked."""

    def __init__(self, mentions: Sequence[Mention], normalized: str, table: TypedTable) -> None:
        self.table = table
        self.mentions = mentions
        self.normalized = normalized
        self.tags = tuple(mention.words[0].tag for mention in mentions if mention.place is None)
        self.texts = dict[tuple[str, str], None]()
        self.numbers = list[tuple[str | None, Numeric | str]]()
        self.text_columns, self.number_columns = dict[str, None](), dict[str, None]()
        self.contents = dict[str, str]()  # of the placeholders

    def result(self, template: str) -> Linked:
        last_number = [
            column.name for column in self.table.columns if column.kind is ColumnType.NUMBER
        ][-1:]
        tokens = [self._linked(mention) for mention in self.mentions]
        self._read_numbers(tokens, last_number)
        self._correct_counts(tokens)
        self.number_columns |= dict.fromkeys(name for name, _ in self.numbers if name is not None)
        self.text_columns |= dict.fromkeys(name for name, _ in self.texts)
        if DEGREES.intersection(self.tags) and not self.number_columns:
            self.number_columns |= dict.fromkeys(last_number)
        named = {self.table.numbers[name] for name in self.text_columns | self.number_columns}
        return Linked(
            " ".join(tokens),
            self.normalized,
            " ".join(
                f"#{each.text};{each.place.row},{each.place.column}#" if each.place else each.text
                for each in self.mentions
            ),
            template,
            self.tags,
            tuple(self.texts),
            tuple(self.numbers),
            tuple(self.text_columns),
            tuple(self.number_columns),
            tuple(sorted(named)) or tuple(range(len(self.table.columns)))[:3],
        )

    def _linked(self, mention: Mention) -> str:
        """Return a placeholder for what is linked, else the words."""
        text, place = mention.text, mention.place
        if place is None:
            return text
        if place.column >= 0:
            column = self.table.columns[place.column]
            of_numbers = column.kind is ColumnType.NUMBER
            if place.row == ROW_OF_NAMES:
                columns = self.number_columns if of_numbers else self.text_columns
                columns.setdefault(column.name)
            elif not of_numbers:
                self.texts.setdefault((column.name, text))
            elif (pair := (column.name, _value(text))) not in self.numbers:
                self.numbers.append(pair)
        return self._placeholder("ENTITY", text)

    def _placeholder(self, kind: str, content: str) -> str:
        placeholder = f"<{kind}{len(self.contents)}>"
        self.contents[placeholder] = content
        return placeholder

    def _read_numbers(self, tokens: list[str], last_number: Sequence[str]) -> None:
        """Put placeholders for compared numbers and for counts."""
        for i, token in enumerate(tokens):
            number = _value(token) if token.isdecimal() or "." in token else token
            if isinstance(number, str):
                continue
            valued = {column for column, _ in self.numbers}
            lacking = [name for name in self.number_columns if name not in valued]
            compared, counted = self._likely(number, tokens, i)
            compared += 2 * bool(lacking)
            if compared >= counted and compared > 0:
                tokens[i] = self._placeholder("COMPUTE", token)
                names = lacking if self.number_columns else last_number
                self.number_columns |= dict.fromkeys(names)
                self.numbers += [(name, number) for name in names]
            elif counted > max(compared, 0):
                tokens[i] = self._placeholder("COUNT", token)
                self.numbers.append((None, number))

    def _likely(self, number: Numeric, tokens: Sequence[str], i: int) -> tuple[int, int]:
        """Return what speaks for a number that is compared, and what for a count."""
        votes = [
            (-6, -6) if tokens[i - 1] in MONTHS else (0, 0),
            (2 if _THAN.intersection(tokens) else -2, 0),
            (2 if {"RBR", "JJR"}.intersection(self.tags) else -2, 0),
            (0, 0) if isinstance(number, int) else (4, -6),
        ]
        if number > 50:
            votes.append((-2 if 1900 < number < 2020 else 2, -4))
        else:
            votes.append((2, -4) if number > self.table.size else (-1, 2))
        after_there_be = i > 1 and tokens[i - 2] == "there" and tokens[i - 1] in {"be", "are", "is"}
        before_of = tokens[i + 1 : i + 2] == ["of"]
        votes.append((-4, 4) if after_there_be or before_of else (1, -1))
        compared, counted = zip(*votes, strict=True)
        return sum(compared), sum(counted)

    def _correct_counts(self, tokens: list[str]) -> None:
        """Take a small number as a count, whatever it is linked to, where the words say so."""
        for i, (column, value) in enumerate(self.numbers):
            if column is None or not isinstance(value, int) or value >= 10:
                continue
            counts = (f"there {be} {value} " for be in ("be", "are", "is"))
            says = any(phrase in self.normalized for phrase in (*counts, f" {value} of "))
            if says or self.normalized.startswith(f"{value} "):
                self.numbers[i] = (None, value)
                # The first placeholder of the number is one of a count, too.
                same = (each for each, text in self.contents.items() if text == str(value))
                if (placeholder := next(same, None)) is not None:
                    count = re.sub("[A-Z]+", "COUNT", placeholder)
                    tokens[tokens.index(placeholder)] = count
                    del self.contents[placeholder]


def signature() -> str:
    """Return whatever can change a link."""
    return f"linker:1,{lemmas.signature()}"


def _template(sentence: str, mentions: Sequence[Mention]) -> str:
    """Return a sentence as it was, with :data:`SLOT` in place of each link."""
    links = [
        i if mention.place else None for i, mention in enumerate(mentions) for _ in mention.words
    ]
    parts = [(part, len(all_tokens(plain(part)))) for part in sentence.split()]
    if sum(count for _, count in parts) != len(links):  # words that depend on each other
        return " ".join(SLOT if mention.place else mention.words[0].text for mention in mentions)
    template, start, last = list[str](), 0, None
    for part, count in parts:
        if count:
            linked = [link for link in links[start : start + count] if link is not None]
        else:  # a comma
            linked = [last] if last is not None and links[start : start + 1] == [last] else []
        start += count
        if linked:
            template += [SLOT] * len(set(linked) - {last})
        else:
            template.append(part)
        if count:
            last = links[start - 1]
    return " ".join(template)


def _value(text: str) -> Numeric | str:
    """Return the number that a text is, or the text."""
    if text.isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    number = as_number(text)
    return text if number is None else number
