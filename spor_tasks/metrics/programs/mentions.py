"""The runs of words in a sentence that are linked to a cell, a header or the title of its table."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from spor_tasks.core.table import Table
from spor_tasks.metrics.programs import WORDS
from spor_tasks.metrics.programs.lemmas import Word, words
from spor_tasks.metrics.programs.parse import as_number
from spor_tasks.text.tokenize import all_tokens

ROW_OF_NAMES = 0
_TITLE = -1  # in place of a row
_SEVERAL = -2

_DIGITS_OF = {word: str(number) for number, word in enumerate(WORDS["counting"].split(), start=1)}
_NUMBER_WORD = re.compile(rf"\b({'|'.join(_DIGITS_OF)})\b")
_LONG_MONTHS = {month[:3]: month for month in WORDS["months"].split()}
MONTHS = frozenset([*_LONG_MONTHS, *_LONG_MONTHS.values()])
_ORDINALS: Mapping[str, str] = WORDS["ordinals"]
_LAST_DAY = 31
_STOP_WORDS = frozenset(WORDS["stop"].split())

_COMMON = files(__package__).joinpath("common_words.txt").read_text("utf-8").split()
_RANKS = {word: rank for rank, word in enumerate(_COMMON)}  # as in the published freq_list.json
_VERY_COMMON = 800  # words of the list, the commonest first
_FEW_DIGITS = 2  # of a number that is not rare


class CellPlace(NamedTuple):
    """A place in a table: row 0 has the names of the columns, and -1 is the title."""

    row: int
    column: int


_HEADING = CellPlace(_TITLE, -1)


class _CellWords(NamedTuple):
    """A cell as it was, and its own words by the lemmas and other forms that may stand for them."""

    text: str
    own: Mapping[str, str]


class Mention(NamedTuple):
    """Words of a sentence that are linked to a place, or are not; ``text`` is what they mention."""

    words: tuple[Word, ...]
    text: str
    place: CellPlace | None


@dataclass(frozen=True, slots=True)
class Index:
    """Where the words of a table are."""

    cells: Mapping[CellPlace, _CellWords]
    places: Mapping[str, tuple[CellPlace, ...]]
    repeated: frozenset[str]  # in one cell
    spelled: Mapping[str, str]  # words with signs beyond ASCII, by how they are spelled without


def plain(sentence: str) -> str:
    """Return a sentence in lower case without commas, with digits for its number words."""
    text = sentence.lower().replace(",", "")
    text = _NUMBER_WORD.sub(lambda match: _DIGITS_OF[match[1]], text)
    text = text.replace("a hundred", "100").replace("a thousand", "1000")
    text = re.sub(r"\b([0-9]+) hundred", r"\g<1>00", text)
    return re.sub(r"\b([0-9]+) thousand", r"\g<1>000", text)


# --- The words of a table -------------------------------------------------------------------------


def index_of(table: Table, title: str) -> Index:
    """Return where the words of a table and its title are."""
    cells, places = dict[CellPlace, _CellWords](), dict[str, list[CellPlace]]()
    repeated = set[str]()
    for number, row in enumerate((table.header, *table.rows)):
        for column, cell in enumerate(row[: len(table.header)]):
            if not cell:
                continue
            place = CellPlace(number, column)
            forms, own = _forms(cell)
            cells[place] = _CellWords(cell, own)
            for form in forms:
                at = places.setdefault(form, [])
                if place not in at[-1:]:  # places come in order
                    at.append(place)
                elif form not in MONTHS:
                    repeated.add(form)
            for form in cell.split(" "):
                at = places.setdefault(form, [])
                if place not in at[-1:]:
                    at.append(place)
    captions = [word.lemma for word in words(all_tokens(title))]
    cells[_HEADING] = _CellWords(" ".join(captions), {})
    for form in captions:
        places.setdefault(form, []).append(_HEADING)
    spelled = {
        unicodedata.normalize("NFKD", form).encode("ascii", "ignore").decode("ascii"): form
        for form in places
        if not form.isascii()
    }
    places_by_form = {form: tuple(dict.fromkeys(at)) for form, at in places.items()}
    return Index(cells, places_by_form, frozenset(repeated), spelled)


@lru_cache(maxsize=16384)
def _forms(cell: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the lemmas of a cell and what else may stand for them, and whose forms they are."""
    cell_words = words(all_tokens(cell))
    own = {word.lemma: word.text for word in cell_words if word.lemma != word.text}
    lemmas = [word.lemma for word in cell_words]
    distinct, others = {*lemmas}, dict[str, str]()
    if ordinal := next((word for word in _ORDINALS if word in distinct), None):
        others[_ORDINALS[ordinal]] = ordinal
    others |= {digit: f"0{digit}" for digit in "123456789" if f"0{digit}" in distinct}
    if distinct & {"crowd", "attendance"}:
        others |= {"people": "crowd", "audience": "crowd"}
    for day in map(str, range(1, _LAST_DAY + 1) if distinct & MONTHS else ()):
        if day in distinct:
            others[day + {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th")] = day
    for short, long in _LONG_MONTHS.items():
        if short in distinct:
            others[long] = short
        if long in distinct:
            others[short] = long
    return (*lemmas, *others), own | others


# --- Runs of words that a cell has ----------------------------------------------------------------


def mentions_of(sentence_words: Sequence[Word], index: Index, threshold: float) -> list[Mention]:
    """Divide a sentence into runs of words; a link needs a score above the threshold."""
    mentions = list[Mention]()
    run, forms, at = list[Word](), list[str](), set[CellPlace]()

    def end() -> None:
        if not run:
            return
        phrase, place = " ".join(forms), None
        if phrase not in _STOP_WORDS:
            place = _nearest(phrase, tuple(at), index, threshold)
        text = phrase
        if place is not None:
            of_column = (each for each in sorted(at) if each.column == place.column)
            cell = index.cells[next(of_column) if place.row == _SEVERAL else place]
            text = " ".join(
                word if word in cell.text else cell.own.get(word, word)
                for word in phrase.split(" ")
            )
        mentions.append(Mention(tuple(run), text, place))
        run.clear()
        forms.clear()

    for word in sentence_words:
        form = index.spelled.get(word.lemma, word.lemma)
        places = index.places.get(word.lemma) or index.places.get(form)
        if places is None or (form in forms and form not in index.repeated):
            end()
            mentions.append(Mention((word,), word.lemma, None))
            continue
        if run and not at.intersection(places):
            end()
        at = set(places) & at if run else set(places)
        run.append(word)
        forms.append(form)
    end()
    return mentions


def _nearest(
    phrase: str, at: Sequence[CellPlace], index: Index, threshold: float
) -> CellPlace | None:
    """Return the place that words are linked to, if any; its row may be that of several."""
    bare = _bare(phrase)
    parts = bare.split()
    texts = {place: _bare(index.cells[place].text) for place in at}
    lacks = {place: abs(len(text.split()) - len(parts)) for place, text in texts.items()}
    least = min(lacks.values())
    nearest = [place for place in at if lacks[place] == least]
    first = nearest[0]
    if least == 0:
        return first
    cell = texts[first]
    score = len(parts) - 4 * least / (len(parts) + least)
    if not any(part.isdecimal() and len(part) <= _FEW_DIGITS for part in parts):
        ranks = [_RANKS.get(part) for part in parts]
        is_rare, is_very_rare = any(r is None or r > _VERY_COMMON for r in ranks), None in ranks
        score += (1 if is_rare else -1) + 3 * is_very_rare
    score += (len(parts) > 1) + (len(parts) > least) + 2 * ("(" in cell and ")" in cell)
    score += 5 * any(part in MONTHS for part in parts) - 5 * (bare not in cell)
    score += (len(at) == 1) + 2 * (first.row == ROW_OF_NAMES)
    if score <= threshold:
        return None
    return CellPlace(_SEVERAL, first.column) if len(nearest) > 1 and first.row > 0 else first


def _bare(text: str) -> str:
    return re.sub(r"[,./]", "", text).replace("  ", "")


def merged(mentions: Sequence[Mention]) -> list[Mention]:
    """Join two links to one cell with the word between them, unless both are numbers."""
    joined_mentions = list[Mention]()
    for mention in mentions:
        if (
            mention.place
            and len(joined_mentions) > 1
            and joined_mentions[-1].place is None
            and (before := joined_mentions[-2].place)
            and before.column == mention.place.column
            and before.row in {mention.place.row, _SEVERAL}
            and None in (as_number(mention.text), as_number(joined_mentions[-2].text))
        ):
            between = joined_mentions.pop()
            first = joined_mentions.pop()
            joined = (*first.words, *between.words, *mention.words)
            joined_mentions.append(Mention(joined, f"{first.text} {mention.text}", mention.place))
        elif mention.place is None:  # word by word
            joined_mentions += [Mention((word,), word.lemma, None) for word in mention.words]
        else:
            joined_mentions.append(mention)
    return joined_mentions
