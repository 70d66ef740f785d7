"""Marks on an output: where it expresses each unit, what it leaves out, and what it leaks.

These are pure functions of a sample and its outputs; page and terminal show the same marks.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal, NamedTuple, Self

import msgspec
from rapidfuzz.distance import Levenshtein

from spor_tasks.aspects.rule_learnability import hides_values
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.references import has_words
from spor_tasks.core.sample import (
    DataUnit,
    Hidden,
    Orders,
    Sample,
    challenge_of,
    sides,
)
from spor_tasks.core.table import CellTable
from spor_tasks.metrics import copy_rule
from spor_tasks.metrics.order import is_proper, is_strict
from spor_tasks.metrics.slot_errors import CORPORA, slot_errors
from spor_tasks.results.samples import Recognized
from spor_tasks.text import align
from spor_tasks.text.filters import strip_reasoning
from spor_tasks.text.normalize import clean, find_whole, token_spans


class Fault(StrEnum):
    """A kind of error, most serious first. An output may have several, or none."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        """Return a member with a name and a sentence that says what is wrong."""
        fault = str.__new__(cls, name)
        fault._value_, fault.meaning = name, meaning
        return fault

    __hash__ = str.__hash__  # that of an enumeration is in Python, and each output asks often

    EMPTY = "empty", "The output has no words."
    LEAK = "leak", "Something hidden appears, by the published rule."
    PHRASE = "phrase missing", "A phrase for something hidden is not copied, by the published rule."
    UNIT = "unit missing", "A data unit is not located, or an attribute is judged as another."
    SLOT = "slot error", "A value is missing, wrong or added, by slot errors."
    DOUBT = "unit in doubt", "A unit is located only by similar words, or by some of its words."
    ORDER = "odd order", "All units are located, in an order with τ ≤ 0 to every reference's."
    UNEQUAL = "orders unequal", "The outputs for two input orders do not both express all units."
    REPETITION = "repetition", "Six or more words are repeated immediately."
    UNFINISHED = "unfinished", "The output does not end a sentence, as if it was cut."
    LINES = "several lines", "There is more text than was scored."


Kind = Literal["unit", "doubtful unit", "phrase", "leak", "inner leak"]
"""The kind of a mark. Doubtful units and inner leaks count in the published metrics."""


class Sign(NamedTuple):
    """The sign of a mark, and its meaning; braces stand for the number of a unit."""

    sign: str
    meaning: str


KINDS: Mapping[Kind, Sign] = {
    "unit": Sign("{}", "unit {}"),
    "doubtful unit": Sign(
        "{}?", "unit {}, in doubt: these are not its own words, or not all of them"
    ),
    "phrase": Sign("=", "copies a phrase"),
    "leak": Sign("!", "leaks"),
    "inner leak": Sign("(!)", "leaks inside a word, which counts as published"),
}


class Label(NamedTuple):
    """The meaning of a mark, and the number of the unit, hidden phrase or leak."""

    kind: Kind
    number: int


class Extent(NamedTuple):
    """A part of a text, as indices of its characters."""

    start: int
    end: int


class Mark(NamedTuple):
    """A stretch of an output, as character indices, and all its labels."""

    start: int
    end: int
    labels: tuple[Label, ...]


class Marked(msgspec.Struct, frozen=True, omit_defaults=True):
    """An output with its marks, which are ascending and do not overlap.

    ``scored`` is the part of the output that counts. ``units`` and ``phrases`` are the numbers of
    the units not located and of the phrases not copied, ``leaks`` the hidden values that appear.
    ``slots`` are slot errors in words. ``faults`` are sorted.
    """

    output: str
    scored: Extent
    marks: tuple[Mark, ...] = ()
    units: tuple[int, ...] = ()
    phrases: tuple[int, ...] = ()
    leaks: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def mark(sample: Sample, output: str, text: str, recognized: Iterable[Recognized] = ()) -> Marked:
    """Return an output with marks in the part of it that was scored.

    A text that is not a part of the output is marked alone. Units are located as fidelity does it,
    whatever the aspect, but not columns of a table or attributes, which no text needs to name.
    Some words of a highlighted cell suffice, but no other number; a cell without letters and
    digits is never missing. An attribute is missing if ``recognized`` has another value of it.
    Phrases and leaks are those of the copy rule.

    Raises:
        CorpusError: the sample hides an attribute whose possible values are not known.
    """
    if text not in output:
        output = text
    scored = _place(text, output)
    spans, words = token_spans(text), clean(text).split()
    of_cells, of_attributes = isinstance(sample.table, CellTable), sample.has_attributes
    units = sample.units if of_cells or not (of_attributes or sample.table) else ()
    strict = is_strict(sample) and not of_cells
    traces = align.trace(units, text, strict=strict, same_digits=of_cells)
    stretches = [*_located(units, traces, spans, words)]
    is_doubtful = any(label.kind == "doubtful unit" for _, _, label in stretches)
    if of_attributes:
        values = {aspect: value for aspect, value, _ in recognized}
        lacks = [values.get(unit[0], unit[-1]) != unit[-1] for unit in sample.units]
    else:
        may_lack = [of_cells and is_wordless(unit) for unit in units]
        lacks = [not (found or may) for found, may in zip(traces, may_lack, strict=True)]
    missing = tuple(number for number, is_missing in enumerate(lacks) if is_missing)
    phrases: tuple[int, ...] = ()
    leaks: tuple[str, ...] = ()
    if isinstance(sample.challenge, Hidden):
        phrases, leaks, copied = _copies(sample, text)
        stretches += copied
    slots = tuple(_slots(sample, text))
    orders, is_odd = sample.challenge, False
    if isinstance(orders, Orders) and not missing:
        positions = [max(placement[0] for placement in placements) for placements in traces]
        is_odd = not is_proper(align.order(positions), orders.references)
    # references that end no sentence excuse an output; without any it must end one
    excused = sample.references and not any(map(_ends_sentence, sample.references))
    is_whole = of_attributes or _ends_sentence(text) or excused
    faults = {
        Fault.EMPTY: not spans,
        Fault.LEAK: leaks,
        Fault.PHRASE: phrases,
        Fault.UNIT: missing,
        Fault.SLOT: slots,
        Fault.DOUBT: is_doubtful,
        Fault.ORDER: is_odd,
        Fault.REPETITION: _repeats(words),
        Fault.UNFINISHED: spans and not is_whole,
        Fault.LINES: (output[: scored.start] + output[scored.end :]).strip(),
    }
    return Marked(
        output=output,
        scored=scored,
        marks=tuple(_flat(stretches, scored.start)),
        units=missing,
        phrases=phrases,
        leaks=leaks,
        slots=slots,
        faults=tuple(fault for fault, is_there in faults.items() if is_there),
    )


def faults_of(sample: Sample, outputs: Sequence[Marked]) -> tuple[Fault, ...]:
    """Return the faults of a sample's outputs, and of those for two input orders together."""
    faults = {fault for output in outputs for fault in output.faults}
    complete = [not output.units for output in outputs]
    orders = len(complete) // len(sides(sample))
    if any(len({*complete[at : at + orders]}) > 1 for at in range(0, len(complete), orders)):
        faults.add(Fault.UNEQUAL)
    return tuple(fault for fault in Fault if fault in faults)


def _slots(sample: Sample, text: str) -> Iterator[str]:
    """Yield the slot errors of a text; none of names of attributes that the corpus lacks.

    A hidden value has no way of expression.
    """
    if sample.corpus in CORPORA and text.strip() and not isinstance(sample.challenge, Hidden):
        try:
            slots = [*slot_errors(sample, text)]
        except CorpusError:
            return
        for slot in slots:
            yield from (f"{slot.attribute} {value} is missing" for value in slot.missing)
            yield from (f"{slot.attribute} {has}, not {value}" for value, has in slot.wrong)
            yield from (f"{slot.attribute} {value} is added" for value in slot.added)


def is_wordless(unit: DataUnit) -> bool:
    """Return whether a unit has no letter or digit that a text could have too."""
    return not has_words(unit[-1])


def _place(text: str, output: str) -> Extent:
    """Return where in an output a part of it was scored: after reasoning, as lines if it can be."""
    after = len(output) - len(strip_reasoning(output))
    for edge in ("\n", ""):
        for start in (after, 0):
            place = f"{edge}{output[start:]}{edge}".find(f"{edge}{text}{edge}")
            if place >= 0:
                return Extent(start + place, start + place + len(text))
    return Extent(0, len(output))


# --- Stretches of text -----------------------------------------------------------------------


_Stretch = tuple[int, int, Label]

_KNOWN_UNITS = 16384  # more than a few test sets have
_INFLECTED = 4  # letters of a token that may be a word with one letter more, less or changed


def _located(
    units: Sequence[DataUnit],
    traces: Sequence[Sequence[align.Placement]],
    spans: Sequence[tuple[int, int]],
    words: Sequence[str],
) -> Iterator[_Stretch]:
    """Yield what expresses each unit, adjacent tokens together.

    A unit is in doubt unless the words found are all words of it.
    """
    for number, placements in enumerate(traces):
        for placement in placements:
            found = [words[position] for position in placement]
            known = _wordings(units[number])
            is_whole = found in known or any(
                len(found) == len(tokens) and all(map(_is_same, tokens, found)) for tokens in known
            )
            label = Label("unit" if is_whole else "doubtful unit", number)
            positions = enumerate(sorted(set(placement)))
            for _, adjacent in groupby(positions, key=lambda each: each[1] - each[0]):
                run = [position for _, position in adjacent]
                yield spans[run[0]][0], spans[run[-1]][1], label


@lru_cache(maxsize=_KNOWN_UNITS)
def _wordings(unit: DataUnit) -> tuple[list[str], ...]:
    return tuple(wording.split() for end in unit for wording in align.wordings(end))


def _is_same(token: str, word: str) -> bool:
    """Return whether a word is the token, or an inflection of it."""
    return token == word or (
        len(token) >= _INFLECTED
        and not any(map(str.isdigit, token))
        and Levenshtein.distance(token, word, score_cutoff=1) <= 1
    )


def _flat(stretches: Sequence[_Stretch], by: int) -> Iterator[Mark]:
    """Yield the stretches, moved by so many characters, each piece with all its labels.

    They are split where others begin or end.
    """
    edges = sorted({edge for start, end, _ in stretches for edge in (start, end)})
    for start, end in pairwise(edges):
        labels = {label for low, high, label in stretches if low <= start and end <= high}
        if labels:
            yield Mark(start + by, end + by, tuple(sorted(labels)))


# --- The copy rule -----------------------------------------------------------------------------


def _copies(
    sample: Sample, text: str
) -> tuple[tuple[int, ...], tuple[str, ...], Iterator[_Stretch]]:
    """Return the phrases that are not copied, what leaks, and where both stand in the text."""
    hidden = challenge_of(sample, Hidden).phrases
    published, _ = copy_rule.verdicts(sample, text)
    leaks = tuple(leak.value for leak in published.leaks)
    missing = tuple(
        number for number, (_, phrase) in enumerate(hidden) if phrase in published.missing
    )
    normalized, origins = copy_rule.normalized(text), copy_rule.origins(text)
    found: list[_Stretch] = []
    for number, (_, phrase) in enumerate(hidden):
        if number not in missing:
            copies = copy_rule.copies_of(phrase, hides_values=hides_values(sample))
            copied = next((copy for copy in copies if copy in normalized), None)
            # Without any, punctuation splits the phrase from its symbol.
            symbol = re.escape(phrase[-1:] if copied is None else copied)
            bare = rf"(?<!\w){symbol}(?!\w)" if copied is None else symbol
            if place := re.search(bare, normalized):
                found.append((*place.span(), Label("phrase", number)))
    for number, leak in enumerate(map(str.lower, leaks)):
        anywhere, whole = normalized.find(leak), find_whole(normalized, leak)
        if whole >= 0:
            found.append((whole, whole + len(leak), Label("leak", number)))
        if anywhere != whole:  # its first appearance is inside a word
            found.append((anywhere, anywhere + len(leak), Label("inner leak", number)))
    stretches = ((origins[start], origins[end - 1] + 1, label) for start, end, label in found)
    return missing, leaks, stretches


# --- The run of a text ---------------------------------------------------------------------------


_RUN = 6  # words that nobody says again at once on purpose
_CLOSING = "\"'”’»)]*"
_STOPS = (".", "!", "?", "…", "。", "！", "？")


def _ends_sentence(text: str) -> bool:
    return text.rstrip().rstrip(_CLOSING).endswith(_STOPS)


def _repeats(tokens: Sequence[str]) -> bool:
    """Return whether six or more words are repeated immediately."""
    runs = list(zip(*(tokens[start:] for start in range(_RUN)), strict=False))
    if len({*runs}) == len(runs):  # as most often
        return False
    last: dict[tuple[str, ...], int] = {}
    period = streak = 0
    for place, run in enumerate(runs):
        distance = place - last.get(run, place)  # 0 where it is new
        last[run] = place
        streak = streak + 1 if distance == period else 1
        period = distance
        if 0 < distance < streak + _RUN:
            return True
    return False
