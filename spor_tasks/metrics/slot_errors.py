"""Slot errors: the values that a text leaves out, exchanges or adds, as E2E and ViGGO are scored.

Patterns find them, as in Dušek et al. (INLG 2019) and Juraska et al. (INLG 2019). They are data:
`slot_errors.toml` says how they are read.
"""

import math
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.corpora.slots import attribute_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.totals import RATIO
from spor_tasks.text.normalize import boolean

_WAYS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_WORDS: Mapping[str, str] = dict(
    reversed(_WAYS.pop("words").items())
)  # a word may have earlier ones
_BY_FORM = "*"  # stands for any value that its patterns match, such as a year
_KNOWN_VALUES = 4096  # of attributes, more than a test set has
_PLAIN = str.maketrans(dict.fromkeys("-‐‑–—_:", " ") | dict.fromkeys("’‘`", "'"))


class SlotErrors(Metric):
    """How many values a text lacks, exchanges or adds, per 100 values of the data.

    It needs no reference. Additions are found of the attributes of E2E or ViGGO alone.
    """

    scores = (
        ScoreInfo(
            "slot_errors", "Slot errors", high=math.inf, higher_is_better=False, totals=RATIO
        ),
    )
    signature = f"slot_errors|ways:2|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return 100 times the errors with the number of values, and the lists of errors.

        ``slots_missing`` and ``slots_added`` pair an attribute and a value; ``slots_wrong`` also
        has, third, the value that the text has instead.

        Raises:
            CorpusError: as :func:`slot_errors`.
        """
        found = [*slot_errors(sample, output)]
        errors = {
            "slots_missing": [[each.attribute, value] for each in found for value in each.missing],
            "slots_wrong": [[each.attribute, *pair] for each in found for pair in each.wrong],
            "slots_added": [[each.attribute, value] for each in found for value in each.added],
        }
        count = 100 * sum(map(len, errors.values()))
        values = sum(each.values for each in found)
        return Judgement({"slot_errors": (count, values)}, {"slot_errors": count / values} | errors)


class Slot(NamedTuple):
    """An attribute: the number of its values in the data, and the errors of a text."""

    attribute: str
    values: int
    missing: Sequence[str]
    wrong: Sequence[tuple[str, str]]
    added: Sequence[str]


CORPORA = frozenset(_WAYS)
"""The corpora that there are patterns for."""


def slot_errors(sample: Sample, output: str) -> Iterator[Slot]:
    """Yield the errors of a text in each attribute of the corpus.

    A value that the text has instead of a missing one makes that one wrong. An added value counts
    only in plain words: others may be about something else.

    Raises:
        CorpusError: the sample is of another corpus, or has an attribute that no sample of its
            corpus has.
    """
    if sample.corpus not in CORPORA:
        raise CorpusError(
            f"is of the corpus {sample.corpus!r}, whose ways to express values are not known",
            where=f"sample {sample.id}",
            remedy=f"Slot errors are counted for {' and '.join(_WAYS)}.",
        )
    known, name = _WAYS[sample.corpus], sample.about("name")
    attributes = registry().get("corpus", sample.corpus).attributes
    wanted: dict[str, dict[str, None]] = {}  # each value once; a list of known values is several
    for unit in (*([AttributeValue("name", name)] if name else []), *sample.units):
        attribute = attribute_of(unit[0], attributes, where=f"sample {sample.id}")
        value = _spelled(sample.corpus, attribute, unit[-1])
        listed = [_spelled(sample.corpus, attribute, each) for each in value.split(", ")]
        is_list = known.get(attribute, {}).keys() >= {*listed}
        wanted.setdefault(attribute, {}).update(dict.fromkeys(listed if is_list else [value]))
    text = folded(output)
    for attribute in dict.fromkeys((*known, *wanted)):
        values = tuple(wanted.get(attribute, ()))
        text, found = _read(text, _ways(sample.corpus, attribute, values), values)
        missing = [value for value in values if value not in found]
        others = sorted(found.keys() - {*values}, key=lambda value: (not found[value], value))
        wrong = [*zip(missing, others, strict=False)]
        added = [value for value in others[len(wrong) :] if found[value]]
        yield Slot(attribute, len(values), missing[len(wrong) :], wrong, added)


def folded(text: str) -> str:
    """Return a text as patterns see it: lower case, no accents, hyphens and colons as spaces."""
    parts = unicodedata.normalize("NFKD", text.translate(_PLAIN).lower())
    return " ".join("".join(char for char in parts if not unicodedata.combining(char)).split())


@lru_cache(maxsize=_KNOWN_VALUES)
def _spelled(corpus: str, attribute: str, value: str) -> str:
    """Return the known value that a text would not tell from this one, else the value."""
    meant = folded(boolean(value) or value)
    known = _WAYS[corpus].get(attribute, ())
    return next((each for each in known if folded(each) == meant), value)


_Patterns: TypeAlias = Mapping[str, re.Pattern[str]]


class _Ways(NamedTuple):
    """The patterns of an attribute: that of any value, those of each, and the plain ones."""

    any: re.Pattern[str]
    each: _Patterns
    plain: _Patterns


@lru_cache(maxsize=_KNOWN_VALUES)
def _ways(corpus: str, attribute: str, values: Sequence[str]) -> _Ways:
    listed: Mapping[str, Sequence[str]] = _WAYS[corpus].get(attribute, {})
    ways = {
        value: listed.get(value) or [re.escape(folded(value).removeprefix("the "))]
        for value in (*values, *listed)
    }
    plain = {value: [way for way in each if way[:1] != "~"] for value, each in ways.items()}
    return _Ways(
        _whole([way for each in ways.values() for way in each]),
        {value: _whole(each) for value, each in ways.items()},
        {value: _whole(each) for value, each in plain.items()},
    )


def _whole(ways: Sequence[str]) -> re.Pattern[str]:
    pattern = "|".join(way.removeprefix("~") for way in ways) or "(?!)"
    for word, meaning in _WORDS.items():
        pattern = pattern.replace(f"<{word}>", f"(?:{meaning})")
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")


def _read(text: str, ways: _Ways, values: Sequence[str]) -> tuple[str, dict[str, bool]]:
    """Return a text without the words of an attribute, and its values: are they in plain words?"""
    found: dict[str, bool] = {}

    def read(match: re.Match[str]) -> str:
        start, kept = match.start(), match.start(match.lastindex or 0) - match.start()
        at = [value for value, way in ways.each.items() if way.match(text, start)]
        stated = [value for value in at if value in values]
        # A looser way may end before the plain words that begin in its match.
        plain = [
            value
            for value in at
            if not stated
            and any(ways.plain[value].match(text, place) for place in range(*match.span()))
        ]
        for value in stated or (plain or at)[:1]:
            name = match[0] if value == _BY_FORM else value
            found[name] = found.get(name, False) or value in plain
        return match[0][:kept] + "_" * (len(match[0]) - kept)

    return ways.any.sub(read, text), found


SLOT_ERRORS = SlotErrors()
