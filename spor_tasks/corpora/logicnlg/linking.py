r"""Links the words of a sentence to the cells, the headers and the title of its table.

This is the entity linker of LogicNLG (section 3 of the paper, LINKING.md and parser.py of its
repository), which made the linked columns and the templates of the data. Sentence and table are
lower-cased, tokenized and lemmatized, and number words become digits. A run of words grows as long
as some cell has all of them. It is linked to the cell that is nearest to it in length, if that is
just as long, or if the words are rare and cover enough of it. The first of equally near cells in
the order of a Python set is taken, as published. Numbers outside of these links are counts, or are
compared with a column.

Lemmas and tags are not those of the authors' tools (:mod:`spor_tasks.text.lemmas`), so the links
are not always those of the data: use the columns and templates of the data where there are any.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, TypeAlias

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import Kind, TypedTable
from spor_tasks.text.lemmas import SIGNATURE as LEMMAS
from spor_tasks.text.lemmas import Word, words
from spor_tasks.text.tokenize import all_tokens

SIGNATURE = f"linker:1,{LEMMAS}"
"""Whatever can change a link."""

SLOT = "[ENT]"
"""Stands in a template for what is linked."""

Number: TypeAlias = int | float

_ROW_OF_NAMES = 0
_TITLE = -1  # in place of a row
_SEVERAL = -2

_COUNTING = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_YEAR = "january february march april may june july august september october november december"
_UNTOLD = (
    "the , of was is in - a and for on with has had when at than that number 's were from an there "
    "by to as time times + date are one less more only no after first which who school schools "
    "have not where be she he her his their it . also will would this these those well its 'nt "
    "make within without what during then if while appear every two over both above ( ) & : mph m "
    "n cm kg g lb ft mi s"
)
_DIGITS_OF = {word: str(number) for number, word in enumerate(_COUNTING.split(), start=1)}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_DIGITS_OF)})\b")
_MONTHS = {month[:3]: month for month in _YEAR.split()}
_IS_MONTH = frozenset([*_MONTHS, *_MONTHS.values()])
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd"} | {
    "fourth": "4th",
    "fifth": "5th",
    "sixth": "6th",
}
_LAST_DAY = 31
_STOP_WORDS = frozenset(_UNTOLD.split())  # which are never a link by themselves
_THAN = frozenset(["than", "over", "more", "less", "below", "above", "least"])
_DEGREES = frozenset(["RBR", "RBS", "JJR", "JJS"])

_VERY_COMMON = 800  # words of the list, the commonest first
_FEW_DIGITS = 2  # of a number that is not rare
_MOST_DIGITS = 18  # of a whole number


@dataclass(frozen=True, slots=True)
class Linked:
    """The mentions of a table in a sentence.

    ``sentence`` has the lemmas, and placeholders for what is linked: `<ENTITY0>` is in the table or
    its title, `<COUNT1>` is a count, `<COMPUTE2>` a number that is compared with a column.
    ``links`` shows the words of each link with its row and column, `#oslo;1,0#`. ``template`` has
    the words as they were, and :data:`SLOT` in place of cells, headers and the title. ``columns``
    are the numbers of the columns, none twice, and the first three where nothing is linked.

    ``texts`` and ``numbers`` pair the name of a column, which is None for a count, with a value;
    ``text_columns`` and ``number_columns`` are all columns mentioned, by their kind.
    """

    sentence: str
    normalized: str
    links: str
    template: str
    tags: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str | None, Number | str], ...]
    text_columns: tuple[str, ...]
    number_columns: tuple[str, ...]
    columns: tuple[int, ...]


class _Place(NamedTuple):
    row: int
    column: int


_HEADING = _Place(_TITLE, -1)


class _Cell(NamedTuple):
    """A cell as it was, and its own words by the lemmas and other forms that may stand for them."""

    text: str
    own: Mapping[str, str]


class _Span(NamedTuple):
    """Words of a sentence that are linked to a place, or are not; ``text`` is what they mention."""

    words: tuple[Word, ...]
    text: str
    place: _Place | None


@dataclass(frozen=True, slots=True)
class _Index:
    """Where the words of a table are."""

    table: TypedTable
    cells: Mapping[_Place, _Cell]
    places: Mapping[str, tuple[_Place, ...]]
    repeated: frozenset[str]  # in one cell
    spelled: Mapping[str, str]  # words with signs beyond ASCII, by how they are spelled without


class Linker:
    """Links sentences to one table."""

    def __init__(self, table: Table, typed: TypedTable, title: str) -> None:
        self._index = _index(table, typed, title)

    def link(self, sentence: str) -> Linked:
        """Return what a sentence mentions."""
        sentence_words = words(all_tokens(plain(sentence)))
        # A sentence with a link to a column needs less evidence for the other links.
        spans = _spans(sentence_words, self._index, threshold=1)
        if any(span.place and span.place.column >= 0 for span in spans):
            spans = _spans(sentence_words, self._index, threshold=0)
        spans = _merged(spans)
        normalized = " ".join(word.lemma for word in sentence_words)
        template = _template(sentence, spans)
        return _Reading(spans, normalized, self._index.table).result(template)


def plain(sentence: str) -> str:
    """Return a sentence in lower case without commas, with digits for its number words."""
    text = sentence.lower().replace(",", "")
    text = _NUMBER_WORD.sub(lambda match: _DIGITS_OF[match[1]], text)
    text = text.replace("a hundred", "100").replace("a thousand", "1000")
    text = re.sub(r"\b([0-9]+) hundred", r"\g<1>00", text)
    return re.sub(r"\b([0-9]+) thousand", r"\g<1>000", text)


# --- The words of a table -------------------------------------------------------------------------


def _index(table: Table, typed: TypedTable, title: str) -> _Index:
    cells, places = dict[_Place, _Cell](), dict[str, list[_Place]]()
    repeated = set[str]()
    for number, row in enumerate((table.header, *table.rows)):
        for column, cell in enumerate(row[: len(table.header)]):
            if not cell:
                continue
            place = _Place(number, column)
            forms, own = _forms(cell)
            cells[place] = _Cell(cell, own)
            for form in forms:
                at = places.setdefault(form, [])
                if place not in at:
                    at.append(place)
                elif form not in _IS_MONTH:
                    repeated.add(form)
            for form in cell.split(" "):
                at = places.setdefault(form, [])
                if place not in at:
                    at.append(place)
    captions = [word.lemma for word in words(all_tokens(title))]
    cells[_HEADING] = _Cell(" ".join(captions), {})
    for form in captions:
        places.setdefault(form, []).append(_HEADING)
    spelled = {_ascii(form): form for form in places if not form.isascii()}
    places_by_form = {form: tuple(dict.fromkeys(at)) for form, at in places.items()}
    return _Index(typed, cells, places_by_form, frozenset(repeated), spelled)


@lru_cache(maxsize=16384)
def _forms(cell: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the lemmas of a cell and what else may stand for them, and whose forms they are."""
    cell_words = words(all_tokens(cell))
    own = {word.lemma: word.text for word in cell_words if word.lemma != word.text}
    lemmas = [word.lemma for word in cell_words]
    other_forms = dict(_other_forms(lemmas))
    return (*lemmas, *other_forms), own | other_forms


def _other_forms(lemmas: Sequence[str]) -> Iterator[tuple[str, str]]:
    distinct = set(lemmas)
    if ordinal := next((word for word in _ORDINALS if word in distinct), None):
        yield _ORDINALS[ordinal], ordinal
    for digit in map(str, range(1, 10)):
        if f"0{digit}" in distinct:
            yield digit, f"0{digit}"
    if distinct & {"crowd", "attendance"}:
        yield from (("people", "crowd"), ("audience", "crowd"))
    if distinct & _IS_MONTH:
        yield from _other_dates(distinct)


def _other_dates(lemmas: set[str]) -> Iterator[tuple[str, str]]:
    for day in filter(lemmas.__contains__, map(str, range(1, _LAST_DAY + 1))):
        yield day + {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th"), day
    for short, long in _MONTHS.items():
        if short in lemmas:
            yield long, short
        if long in lemmas:
            yield short, long


def _ascii(text: str) -> str:
    """Return a text without its accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


# --- Runs of words that a cell has ----------------------------------------------------------------


def _spans(sentence_words: Sequence[Word], index: _Index, threshold: float) -> list[_Span]:
    spans = list[_Span]()
    run, forms, at = list[Word](), list[str](), set[_Place]()

    def end() -> None:
        if run:
            spans.append(_linked(tuple(run), " ".join(forms), at, index, threshold))
        run.clear()
        forms.clear()

    for word in sentence_words:
        form = index.spelled.get(word.lemma, word.lemma)
        places = index.places.get(word.lemma) or index.places.get(form)
        if places is None or (form in forms and form not in index.repeated):
            end()
            spans.append(_Span((word,), word.lemma, None))
            continue
        if run and not at.intersection(places):
            end()
        at = set(places) & at if run else set(places)
        run.append(word)
        forms.append(form)
    end()
    return spans


def _linked(
    run: tuple[Word, ...], mention: str, at: set[_Place], index: _Index, threshold: float
) -> _Span:
    place = _nearest(mention, tuple(at), index, threshold)
    if place is None:
        return _Span(run, mention, None)
    if place.row == _SEVERAL:
        cell = next(index.cells[each] for each in sorted(at) if each.column == place.column)
    else:
        cell = index.cells[place]
    return _Span(
        run,
        " ".join(
            word if word in cell.text else cell.own.get(word, word) for word in mention.split(" ")
        ),
        place,
    )


def _nearest(mention: str, at: Sequence[_Place], index: _Index, threshold: float) -> _Place | None:
    """Return the place that words are linked to, if any; its row may be that of several."""
    if mention in _STOP_WORDS:
        return None
    bare = _bare(mention)
    parts = bare.split()
    texts = {place: _bare(index.cells[place].text) for place in at}
    lacks = {place: abs(len(text.split()) - len(parts)) for place, text in texts.items()}
    least = min(lacks.values())
    nearest = [place for place in at if lacks[place] == least]
    first = nearest[0]
    if least == 0:
        return first
    score = _score(bare, parts, least, texts[first])
    score += (len(at) == 1) + 2 * (first.row == _ROW_OF_NAMES)
    if score <= threshold:
        return None
    return _Place(_SEVERAL, first.column) if len(nearest) > 1 and first.row > 0 else first


def _score(bare: str, parts: Sequence[str], lacks: int, cell: str) -> float:
    """Return how much speaks for a link to a cell that has more words, or fewer."""
    score = len(parts) - 4 * lacks / (len(parts) + lacks)
    if not any(part.isdecimal() and len(part) <= _FEW_DIGITS for part in parts):
        ranks = [_ranks().get(part) for part in parts]
        is_rare, is_very_rare = any(r is None or r > _VERY_COMMON for r in ranks), None in ranks
        score += (1 if is_rare else -1) + 3 * is_very_rare
    score += (len(parts) > 1) + (len(parts) > lacks) + 2 * ("(" in cell and ")" in cell)
    return score + 5 * any(part in _IS_MONTH for part in parts) - 5 * (bare not in cell)


@cache
def _ranks() -> Mapping[str, int]:
    """Return the place of each common word; they are the first of the published freq_list.json."""
    text = files(__package__).joinpath("common_words.txt").read_text("utf-8")
    return {word: rank for rank, word in enumerate(text.split())}


def _bare(text: str) -> str:
    return re.sub(r"[,./]", "", text).replace("  ", "")


def _merged(spans: Sequence[_Span]) -> list[_Span]:
    """Join two links to one cell with the word between them, unless both are numbers."""
    merged = list[_Span]()
    for span in spans:
        if (
            span.place
            and len(merged) > 1
            and merged[-1].place is None
            and (before := merged[-2].place)
            and before.column == span.place.column
            and before.row in {span.place.row, _SEVERAL}
            and not (_is_number(span.text) and _is_number(merged[-2].text))
        ):
            between = merged.pop()
            first = merged.pop()
            joined = (*first.words, *between.words, *span.words)
            merged.append(_Span(joined, f"{first.text} {span.text}", span.place))
        elif span.place is None:  # word by word
            merged += [_Span((word,), word.lemma, None) for word in span.words]
        else:
            merged.append(span)
    return merged


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --- What is mentioned ----------------------------------------------------------------------------


class _Reading:
    """Tells cells, counts and compared numbers apart, in a sentence whose cells are linked."""

    def __init__(self, spans: Sequence[_Span], normalized: str, table: TypedTable) -> None:
        self.table = table
        self.spans = spans
        self.normalized = normalized
        self.tags = tuple(span.words[0].tag for span in spans if span.place is None)
        self.texts = dict[tuple[str, str], None]()
        self.numbers = list[tuple[str | None, Number | str]]()
        self.text_columns, self.number_columns = dict[str, None](), dict[str, None]()
        self.contents = dict[int, str]()  # of the placeholders
        self.tokens = list[str]()

    def result(self, template: str) -> Linked:
        self._read_links()
        self._read_numbers()
        self._correct_counts()
        for column, _ in self.numbers:
            if column is not None:
                self.number_columns.setdefault(column)
        for column, _ in self.texts:
            self.text_columns.setdefault(column)
        if _DEGREES.intersection(self.tags) and not self.number_columns:
            self.number_columns.update(dict.fromkeys(self._last_number()))
        numbered = self.table.numbers
        names = (*self.text_columns, *self.number_columns)
        width = len(self.table.columns)
        return Linked(
            " ".join(self.tokens),
            self.normalized,
            " ".join(map(_link_text, self.spans)),
            template,
            self.tags,
            tuple(self.texts),
            tuple(self.numbers),
            tuple(self.text_columns),
            tuple(self.number_columns),
            tuple(sorted({numbered[name] for name in names})) or tuple(range(min(width, 3))),
        )

    def _read_links(self) -> None:
        for span in self.spans:
            if span.place is None:
                self.tokens.append(span.text)
                continue
            if span.place.column >= 0:
                self._read_link(span.text, span.place)
            self._add_placeholder("ENTITY", span.text)

    def _read_link(self, text: str, place: _Place) -> None:
        column = self.table.columns[place.column]
        is_number = column.kind is Kind.NUMBER
        if place.row == _ROW_OF_NAMES:
            (self.number_columns if is_number else self.text_columns).setdefault(column.name)
        elif not is_number:
            self.texts.setdefault((column.name, text))
        elif (pair := (column.name, _value(text))) not in self.numbers:
            self.numbers.append(pair)

    def _add_placeholder(self, kind: str, content: str) -> None:
        self.tokens.append(f"<{kind}{len(self.contents)}>")
        self.contents[len(self.contents)] = content

    def _read_numbers(self) -> None:
        tokens, self.tokens = self.tokens, []
        for i, token in enumerate(tokens):
            number = _value(token) if token.isdecimal() or "." in token else token
            if isinstance(number, str):
                self.tokens.append(token)
                continue
            compared, counted = self._likely(number, tokens, i)
            if compared >= counted and compared > 0:
                self._add_placeholder("COMPUTE", token)
                self._compare(number)
            elif counted > max(compared, 0):
                self._add_placeholder("COUNT", token)
                self.numbers.append((None, number))
            else:
                self.tokens.append(token)

    def _likely(self, number: Number, tokens: Sequence[str], i: int) -> tuple[int, int]:
        """Return what speaks for a number that is compared, and what for a count."""
        votes = [
            (-6, -6) if tokens[i - 1] in _IS_MONTH else (0, 0),
            (2 if _THAN.intersection(tokens) else -2, 0),
            (2 if {"RBR", "JJR"}.intersection(self.tags) else -2, 0),
            (0, 0) if isinstance(number, int) else (4, -6),
        ]
        if number > 50:  # noqa: PLR2004
            votes.append((-2 if 1900 < number < 2020 else 2, -4))  # noqa: PLR2004 - a year
        else:
            votes.append((2, -4) if number > self.table.size else (-1, 2))
        after_there_be = i > 1 and tokens[i - 2] == "there" and tokens[i - 1] in {"be", "are", "is"}
        before_of = tokens[i + 1 : i + 2] == ["of"]
        votes.append((-4, 4) if after_there_be or before_of else (1, -1))
        valued = {column for column, _ in self.numbers}
        votes.append((2 if set(self.number_columns) - valued else 0, 0))
        compared, counted = zip(*votes, strict=True)
        return sum(compared), sum(counted)

    def _compare(self, number: Number) -> None:
        if not self.number_columns:
            for column in self._last_number():
                self.number_columns[column] = None
                self.numbers.append((column, number))
            return
        valued = {column for column, _ in self.numbers}
        self.numbers += [(name, number) for name in self.number_columns if name not in valued]

    def _last_number(self) -> list[str]:
        return [column.name for column in self.table.columns if column.kind is Kind.NUMBER][-1:]

    def _correct_counts(self) -> None:
        """Take a small number as a count, whatever it is linked to, where the words say so."""
        for i, (column, value) in enumerate(self.numbers):
            if column is None or not isinstance(value, int) or value >= 10:  # noqa: PLR2004
                continue
            counts = (f"there {be} {value} " for be in ("be", "are", "is"))
            says = any(phrase in self.normalized for phrase in (*counts, f" {value} of "))
            if says or self.normalized.startswith(f"{value} "):
                self.numbers[i] = (None, value)
                self._rename(str(value))

    def _rename(self, content: str) -> None:
        """Mark the first placeholder of a number as a count."""
        numbers = (number for number, each in self.contents.items() if each == content)
        if (number := next(numbers, None)) is not None:
            kinds = (f"<{kind}{number}>" for kind in ("ENTITY", "COMPUTE", "COUNT"))
            old = next(kind for kind in kinds if kind in self.tokens)
            self.tokens[self.tokens.index(old)] = f"<COUNT{number}>"
            del self.contents[number]


def _template(sentence: str, spans: Sequence[_Span]) -> str:
    """Return a sentence as it was, with :data:`SLOT` in place of each link."""
    links = [i if span.place else None for i, span in enumerate(spans) for _ in span.words]
    parts = [(part, len(all_tokens(plain(part)))) for part in sentence.split()]
    if sum(count for _, count in parts) != len(links):  # words that depend on each other
        return " ".join(SLOT if span.place else span.words[0].text for span in spans)
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


def _value(text: str) -> Number | str:
    """Return the number that a text is, or the text."""
    if text.isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    return float(text) if _is_number(text) else text


def _link_text(span: _Span) -> str:
    return f"#{span.text};{span.place.row},{span.place.column}#" if span.place else span.text
