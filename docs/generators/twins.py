"""Write the patches of fictional twins: `python docs/generators/twins.py [CORPUS ...] [--to DIR]`.

A twin is a sample with its entities exchanged for invented ones of the same kind. This script made
`spor_tasks/corpora/*/twins.json.gz`. It needs the real corpora (`SPOR_DATA_DIR`, `VIGGO_DATA_DIR`)
and takes three minutes. docs/data.md has the rules in words, and `twins.tsv` the lists of words.

There are four steps. `lexicon` invents a word for each word of a corpus's names. `entity_patches`
exchanges a value of a unit. `text_patches` exchanges a text, or raises `UncertainError` where a
mention is not certain. `content` collects the patches of all samples.
"""

import argparse
import gzip
import json
import random
import re
import string
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import count, groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from rapidfuzz.distance import Levenshtein

from spor_tasks.aspects.order_invariance import reference_orders
from spor_tasks.core import named
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Hidden, Sample, Triple
from spor_tasks.text.normalize import display
from spor_tasks.twins import CORPORA, FILE, FOLDER, Patches, Twins, key

T = TypeVar("T")
Kind: TypeAlias = str
KINDS = ("person", "place", "organisation", "work", "dish", "thing", "vocabulary")
"""The kinds of entities; `thing` is any other name, and `vocabulary` is not exchanged."""

OTHER_NAME = "a text names what the units do not"
OTHER_NUMBER = "a text has a number that the units do not have"
OTHER_FORM = "a text may name an entity in another form"
TWO_THINGS = "a word may stand for two things"
ORDINARY_NAME = "a name is made of ordinary words"


class UncertainError(Exception):
    """A text cannot be exchanged with certainty; its argument is the reason."""


# ---- Lists of words ----

LISTS = dict(
    line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
)
WORDS = {name: listed.split() for name, listed in LISTS.items()}
# Words that stay: in names of a kind, in all of a corpus, and in texts.
STAYING = {name: frozenset(WORDS.get(name, ())) for name in (*KINDS, "any kind", *CORPORA)}
PLAIN = frozenset(WORDS["plain"])
# Words of vocabulary that are names: of a developer they could not be exchanged, so it has no twin.
BRANDS = frozenset(WORDS["brands"])
# The words of a country or people with their endings: one invented stem serves all of them.
COUNTRIES = [
    dict(word.split("+") for word in country.split()) for country in LISTS["countries"].split(";")
]
ALIKE = {
    word: {*country, *names}
    for country in COUNTRIES
    for names in [WORDS.get(f"like {next(iter(country))}", ())]
    for word in (*country, *names)
}


def kinds_by(column: str) -> dict[str, Kind]:
    """Return the kinds of predicates or of categories."""
    lists = {kind: LISTS.get(f"{column} of {kind}", "") for kind in KINDS}
    return {name: kind for kind, listed in lists.items() for name in listed.split(", ")}


BY_PREDICATE, BY_CATEGORY = kinds_by("predicates"), kinds_by("categories")
# Their objects are of their subject's kind, as the successor of a car is a car.
OF_SUBJECT = {"full name", "successor", "related mean of transportation", "comparable"}
OF_SUBJECT |= {"alternative name"}
# A leader may be a party, and a producer a company.
ORGANISED = re.compile(
    r"(?i)(?:association|city council|club|committee|company|council|government|parliament|party|"
    r"production team|university)(?![a-z])"
)
NUMBER = re.compile(r'"?\d[\d.,]*"?( ?\(.*\))?')
OBJECT_WEIGHT = 1000  # an object says more than any number of subjects


def mentions(sample: Sample) -> Iterator[tuple[str, Kind, int]]:
    """Yield the entities of a sample, the kinds that their places say they are, and weights."""
    if name := sample.about("name"):
        yield name, "work", 1
    of_subject = BY_CATEGORY.get(str(sample.about("category")), "thing")
    for unit in sample.units:
        if not isinstance(unit, Triple):
            yield unit.value, BY_PREDICATE.get(unit.attribute, "vocabulary"), 1
            continue
        kind = BY_PREDICATE.get(unit.predicate, "thing")
        if unit.predicate in OF_SUBJECT:
            kind = of_subject
        if kind == "person" and ORGANISED.search(unit.object):
            kind = "organisation"
        elif NUMBER.fullmatch(unit.object):
            kind = "thing"
        yield unit.subject, of_subject, 1
        yield unit.object, kind, OBJECT_WEIGHT


# ---- Words and numbers, each under a key that says what it stands for ----

MONTHS = WORDS["months"]
ORDINALS = frozenset({"st", "nd", "rd", "th"})
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
UNMARKED = str.maketrans({"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i"})
HALF_TURN, RUNWAYS = 18, 36  # tens of degrees
LAST_DAY = 31


def word_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern that begins and ends where words do."""
    return re.compile(rf"(?<![^\W\d_]){pattern}(?![^\W\d_])")


ISO_DATE = re.compile(r"(?<!\d)\d{4}([-/])(\d{1,2})\1(\d{1,2})(?!\d)")
SHORT_DATE = re.compile(r"(?<![\d/-])(\d{1,2})([-/.])(\d{1,2})\2\d{4}(?!\d)")
SPAN = re.compile(r"(?<!\d)(1\d{3}|20\d\d)[-–/](\d\d)(?![\d-])")
RUNWAY = re.compile(r"(?<!\d)(\d{1,2})[LRC]?/(\d{1,2})[LRC]?(?![\d/])")
UNITED_NAME = word_pattern(r"((?i:united))[\W_]+((?i:states|kingdom))")
INITIALS = word_pattern(r"(U)[\W_]+(S|K)(?:(?<=S)[\W_]+(A))?")
ACRONYM = word_pattern(r"(?:USA?|UK)")
SHORT_MONTHS = [month[:3] for month in MONTHS]
MONTH = word_pattern(rf"(?=[A-Z])(?i:{'|'.join([*MONTHS, 'sept', *SHORT_MONTHS])})")
DAY_BEFORE = re.compile(
    r"(?<!\d)(?<!\d[.,])(\d{1,2})[\W_]*(?:(?<![^\W\d_])(?i:st|nd|rd|th|of)[\W_]*)*\Z"
)
NUMBER_AFTER = re.compile(r"[\W_]*(?:the[\W_]+)?(\d+(?:[.,]\d+)*)")
BEFORE_MONTH = word_pattern(r"(?i:in|of|since|until|during|by|from|early|late|mid)[\W_]*\Z")


class Token(NamedTuple):
    """A word or number with its place in a string.

    The key of a word is the word without case and accents, that of a number its value. Parts of
    dates, runways and the names of two countries have keys of their own, with a colon: the 7 of
    `7 May 1907` is another 7 than that of `7 floors`.
    """

    text: str
    start: int
    end: int
    key: str

    @property
    def is_number(self) -> bool:
        """True if it is made of digits."""
        return self.text[0].isdigit()

    @property
    def is_capital(self) -> bool:
        """True if it begins with a capital letter."""
        return self.text[0].isupper()

    @property
    def is_special(self) -> bool:
        """True if it is part of a date, a season, a runway's or one of two countries' names."""
        return ":" in self.key


def fold(word: str) -> str:
    """Return a word without case and accents."""
    marked = unicodedata.normalize("NFKD", word.translate(UNMARKED))
    return "".join(char for char in marked if not unicodedata.combining(char)).casefold()


@cache
def key_of(word: str) -> str:
    """Return the key of a word or number that stands alone."""
    if word[0].isalpha():
        return fold(word)
    whole, point, fraction = word.replace(",", "").partition(".")
    decimals = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")


@cache
def tokens_of(text: str) -> Sequence[Token]:
    """Return the words and numbers of a text."""
    keys = dict(special_keys(text))
    return [
        Token(match[0], *match.span(), keys.get(match.start(), key_of(match[0])))
        for match in TOKEN.finditer(text)
    ]


def special_keys(text: str) -> Iterator[tuple[int, str]]:
    """Yield where parts of dates, seasons, runways and two countries start, and their keys."""
    for match in ISO_DATE.finditer(text):
        yield match.start(2), f"month:{int(match[2])}"
        yield match.start(3), f"day:{int(match[3])}"
    for match in SHORT_DATE.finditer(text):
        yield match.start(1), f"either:{int(match[1])}/{int(match[3])}"
        yield match.start(3), f"either:{int(match[3])}/{int(match[1])}"
    for match in SPAN.finditer(text):
        if int(match[2]) == (int(match[1]) + 1) % 100:
            yield match.start(2), f"until:{int(match[1]) + 1}"
    for match in RUNWAY.finditer(text):
        if abs(int(match[1]) - int(match[2])) == HALF_TURN:
            yield match.start(1), f"runway:{int(match[1])}"
            yield match.start(2), f"runway:{int(match[2])}"
    for match in MONTH.finditer(text):
        yield from keys_of_date(text, match)
    yield from keys_of_countries(text)


def keys_of_date(text: str, month: re.Match[str]) -> Iterator[tuple[int, str]]:
    """Yield the keys of a month and of its day, if the word is a month."""
    before = DAY_BEFORE.search(text, 0, month.start())
    if before and int(before[1]) > LAST_DAY:
        before = None
    day = before or NUMBER_AFTER.match(text, month.end())
    if day or BEFORE_MONTH.search(text, 0, month.start()):
        yield month.start(), f"month:{SHORT_MONTHS.index(month[0][:3].casefold()) + 1}"
    if day and re.fullmatch(r"\d\d?", day[1]) and int(day[1]) <= LAST_DAY:
        yield day.start(1), f"day:{int(day[1])}"


def keys_of_countries(text: str) -> Iterator[tuple[int, str]]:
    """Yield the keys of the names and initials of the United States and the Kingdom."""
    for match in UNITED_NAME.finditer(text):
        yield match.start(1), f"united:{match[2].casefold()}"
        yield match.start(2), f"{match[2].casefold()}:united"
    for match in ACRONYM.finditer(text):
        yield match.start(), f"{match[0]}:initials"
    for match in INITIALS.finditer(text):
        yield match.start(1), f"U:{match[2]}"
        yield match.start(2), f"{match[2]}:U"
        if match[3]:
            yield match.start(3), "A:US"


# ---- Invented words ----

ONSETS, CODAS = WORDS["onsets"], WORDS["codas"]
NUCLEI = "aeiouaeo"
FIRST_VOWELS = "aeio"
SHORT, LONG = 4, 8  # letters of a word that gets one syllable, and more than which get three
ATTEMPTS = 50  # after which an acronym gets another letter, as all short ones may be taken


def invent(own: str, kind: Kind, *, is_acronym: bool, used: Collection[str], seed: str) -> str:
    """Return a word in lower case that is not taken, about as long as a key."""
    rng = random.Random(f"{seed} {kind} {own}")
    is_open = opens(own)
    if kind == "work" and not is_acronym:
        for word in rng.sample(WORDS["titles"], len(WORDS["titles"])):
            form = plural(word) if is_plural(own) else word
            if (word[0] in FIRST_VOWELS) is is_open and form not in used:
                return form
    for attempt in count():
        if is_acronym:
            word = acronym(len(own) + attempt // ATTEMPTS, rng, is_open=is_open)
        else:
            word = pseudoword(own, kind, rng, is_open=is_open)
        if word not in used:
            break
    return word


def opens(own: str) -> bool:
    """Say whether a word begins with the sound of a vowel."""
    return own[0] in FIRST_VOWELS and not own.startswith(("eu", "one", "once"))


def is_plural(own: str) -> bool:
    """Say whether a word looks like a plural."""
    return len(own) > SHORT and own.endswith("s") and not own.endswith(("ss", "is", "us", "as"))


def plural(word: str) -> str:
    """Return the plural of a word of a title."""
    if word.endswith(("s", "x", "sh", "ch")):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


def pseudoword(own: str, kind: Kind, rng: random.Random, *, is_open: bool) -> str:
    """Return a word of one, two or three syllables."""
    middle = "".join(syllable(rng) for _ in range(2 if len(own) > LONG else 1))
    begin = rng.choice(FIRST_VOWELS) if is_open else ""
    ends = WORDS.get(f"ends of {kind}", WORDS["ends of others"])
    if len(own) <= SHORT:
        return begin + rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(CODAS)
    return begin + middle + rng.choice(ONSETS) + rng.choice(ends)


def syllable(rng: random.Random) -> str:
    """Return a syllable; half of them are open."""
    return rng.choice(ONSETS) + rng.choice(NUCLEI) + rng.choice(["", "", "", *CODAS[:4]])


def acronym(length: int, rng: random.Random, *, is_open: bool) -> str:
    """Return vowels and consonants in turn, whose first letter takes the same article."""
    first = rng.choice("AEIO" if is_open else "BCDGKPTVZ")
    letters = (
        rng.choice("BDGKLMNPRTVZ" if (place % 2 == 1) == is_open else "AEIOU")
        for place in range(1, length)
    )
    return (first + "".join(letters)).casefold()


# ---- Invented numbers and dates ----

YEARS = range(1000, 2100)
SPELLED = {word: number for number, word in enumerate(WORDS["numbers"])}
SPELLED |= {word: 10 * number for number, word in enumerate(WORDS["tens"], start=2)}
SPELLING = {number: word for word, number in SPELLED.items()}


def integer(number: str) -> int | None:
    """Return the value of digits such as `3,500.0`; None if it is not whole."""
    whole, _, fraction = number.replace(",", "").partition(".")
    return None if fraction.strip("0") else int(whole)


def mantissa(number: str) -> str:
    """Return the digits from the first to the last that is not zero."""
    return "".join(filter(str.isdigit, number)).strip("0")


class Numbers:
    """One mapping from numbers to others, and from dates to others; each is one to one.

    A year is some years earlier. Another number keeps its first digit, its zeros at the end and how
    many digits it has, since its digits are replaced where they are. 0 and 1 stay, and so may a
    number from 2100 to 2999 that would have become a year. A month becomes another one as long,
    except February, and a day from 1 to 28 another day with as many digits. A runway's name is
    turned by the same angle as all runways.
    """

    def __init__(self, seed: str) -> None:
        rng = random.Random(f"{seed} dates")
        years_back = rng.choice((4, 8))  # of four, so that 29 February stays
        angle = rng.randrange(1, HALF_TURN)
        self._of_kind = {
            "until": {year: (year - 1000 - years_back) % len(YEARS) + 1000 for year in YEARS},
            "runway": {name: (name - 1 + angle) % RUNWAYS + 1 for name in range(1, RUNWAYS + 1)},
            "month": shuffled((1, 3, 5, 7, 8, 10, 12), rng) | shuffled((4, 6, 9, 11), rng),
            "day": shuffled(range(1, 10), rng) | shuffled(range(10, 29), rng),
        }
        self._digit = shuffled(string.digits[1:], rng)
        self._small = shuffled(string.digits[2:], rng)
        # `an 11` and `an 18` stay so.
        self._last = shuffled("2345679", rng) | {"1": "8", "8": "1"}
        rng = random.Random(f"{seed} digits")
        # Factors without a common divisor with 10, which make a permutation, and offsets.
        self._steps = [
            (10 * rng.randrange(1, 10**6) + rng.choice((1, 3, 7, 9)), rng.randrange(10**6))
            for _ in range(5)
        ]

    def of_key(self, kind: str, number: int) -> int:
        """Return another month, day, runway or year."""
        return self._of_kind[kind].get(number, number)

    def exchange(self, number: str) -> str:
        """Return other digits in the form of a number such as `3,500.0`."""
        value = integer(number)
        if value is not None and value in YEARS:
            return overwritten(number, str(self.of_key("until", value)))
        digits = mantissa(number)
        is_small = len(digits) == 1 and value == int(digits)
        changed = overwritten(number, self._small[digits] if is_small else self.scaled(digits))
        while integer(changed) in YEARS:  # which only years become
            changed = overwritten(changed, self.scaled(mantissa(changed)))
        return changed

    def scaled(self, digits: str) -> str:
        """Return the digits that replace these, without zeros around them."""
        if len(digits) == 1:
            return self._digit[digits]
        first, middle, last = digits[0], digits[1:-1], digits[-1]
        if middle:
            factor, offset = self._steps[len(middle) % len(self._steps)]
            middle = str((int(middle) * factor + offset) % 10 ** len(middle)).zfill(len(middle))
        return f"{first}{middle}{self._last[last]}"


def shuffled(values: Sequence[T], rng: random.Random) -> dict[T, T]:
    """Return a mapping of the values onto themselves that keeps none in its place."""
    order = list(values)
    rng.shuffle(order)
    return turned(order)


def turned(order: Sequence[T]) -> dict[T, T]:
    """Return a mapping of each value to the next one."""
    return dict(zip(order, [*order[1:], order[0]], strict=True))


def overwritten(number: str, digits: str) -> str:
    """Return a number with these digits over its own, from the first that is not zero."""
    new = iter(digits)
    start = len(number) - len(number.lstrip("0.,"))
    return number[:start] + re.sub(r"\d", lambda digit: next(new, digit[0]), number[start:])


# ---- The lexicon: entities, their kinds, and the invented words for theirs ----

COLLIDES = 4  # letters of a word that an invented one must not be
LOWER_CASE_USES = 3  # times that a word was written in lower case, if it is an ordinary word
COMMON_SHARE = 0.03  # of an ordinary word's uses are in lower case, at least
JOINED = re.compile(r"[^\W\d_]['’-]$")
REALMS = ("cantons", "dominions", "marches", "palatinates", "commons")


@dataclass(frozen=True, eq=False)
class Lexicon:
    """One mapping of the words of a corpus's entities to invented words.

    `kinds` has the kind of each entity in display form. `words` has the invented word of each key,
    in lower case, and `letters` the initial of each. `small` are keys of names that are also
    written in lower case. `lower` and `uses` count how often the texts have a word in lower case,
    and at all.
    """

    corpus: str
    kinds: Mapping[str, Kind]
    words: Mapping[str, str]
    letters: Mapping[str, str]
    small: frozenset[str]
    lower: Mapping[str, int]
    uses: Mapping[str, int]
    numbers: Numbers

    @cache  # noqa: B019 - one a corpus
    def parts(self, entity: str) -> Sequence[tuple[Token, bool]]:
        """Return the tokens of an entity in display form, and which of them are exchanged."""
        tokens = tokens_of(entity)
        return [
            (token, self._is_exchanged(entity, token, tokens[index - 1 : index]))
            for index, token in enumerate(tokens)
        ]

    def _is_exchanged(self, entity: str, token: Token, before: Sequence[Token]) -> bool:
        if token.key in ORDINALS and before and before[0].is_number:
            return False
        # the `team` of `Velmor (team)`
        if token.text.islower() and self.is_common(token.key) and not entity.islower():
            return False
        # of vocabulary, words that are only part of names elsewhere, as in `AMC V8 engine`
        kind = self.kinds[entity]
        if kind == "vocabulary" and token.key in self.words and not self.lower.get(token.key):
            return True
        return not stays(token, kind, self.corpus)

    def is_common(self, own: str) -> bool:
        """Say whether texts also use a word as an ordinary one.

        Names of dishes are often written in lower case, and are not.
        """
        lower, uses = self.lower.get(own, 0), self.uses.get(own, 0)
        return own not in self.small and lower >= max(LOWER_CASE_USES, COMMON_SHARE * uses)


def stays(token: Token, kind: Kind, corpus: str) -> bool:
    """Say whether a word of a name stays."""
    if token.key == "kingdom:united":
        return True
    if corpus == "webnlg" and token.key in ALIKE:
        return False
    if kind == "vocabulary" or token.key in {"0", "1"} or token.key in STAYING[corpus]:
        return True
    if token.is_number or token.is_special:
        return False
    if len(token.text) == 1:  # single letters stand for words of people and places
        return kind not in {"person", "place"} or not token.is_capital or token.text in "IVX"
    return token.key in (STAYING[kind] or STAYING["any kind"])


def lexicon(samples: Sequence[Sample]) -> Lexicon:
    """Return the mapping of a corpus, given all its samples."""
    corpus = samples[0].corpus
    seed = f"{corpus} 0"
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    for sample in samples:
        for entity, kind, weight in mentions(sample):
            votes[display(entity)][kind] += weight
    kinds = {entity: most_votes(votes[entity]) for entity in sorted(votes)}
    lower, uses = Counter[str](), Counter[str]()
    for text in (text for sample in samples for text in sample.references):
        words = TOKEN.findall(text)
        uses.update(map(key_of, words))
        lower.update(key_of(word) for word in words if word.islower())
    needed = needed_words(kinds, corpus)
    keys = {token.key for entity in kinds for token in tokens_of(entity)}
    used_words = {own for own in keys if len(own) >= COLLIDES} | uses.keys()
    rng = random.Random(f"{seed} initials")
    return Lexicon(
        corpus=corpus,
        kinds=kinds,
        words=invented_words(needed, used_words, seed, corpus),
        # of the same sound before which `a` or `an` stands
        letters=turned(rng.sample("AEFHLMNORS", 10)) | turned(rng.sample("BCDGJKPQTUWYZ", 13)),
        small=frozenset(words_in_lower_case(kinds)) & needed.keys(),
        lower=lower,
        uses=uses,
        numbers=Numbers(seed),
    )


def most_votes(votes: Mapping[Kind, int]) -> Kind:
    """Return the kind with most votes."""
    return max(votes, key=lambda kind: (votes[kind], -KINDS.index(kind)))


def words_in_lower_case(kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Yield the words of names that are no ordinary words where they are in lower case."""
    for entity, kind in kinds.items():
        for token in tokens_of(entity) if kind != "vocabulary" else ():
            is_of_dish = kind == "dish" and token.key not in STAYING["dish"]
            # part of a longer word in lower case, as in `Kai-shek`, or foreign
            is_joined = JOINED.search(entity, 0, token.start) or not token.text.isascii()
            if is_of_dish or entity.islower() or (token.text.islower() and is_joined):
                yield token.key


def needed_words(kinds: Mapping[str, Kind], corpus: str) -> dict[str, tuple[Kind, bool]]:
    """Return each word that needs an invented one, its usual kind, and if it is an acronym."""
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    in_lower_case = set[str]()
    for entity, kind in kinds.items():
        for token in tokens_of(entity):
            is_word = len(token.text) > 1 and not token.is_number and not token.is_special
            if is_word and not stays(token, kind, corpus):
                votes[token.key][kind] += 1
                if not token.text.isupper():
                    in_lower_case.add(token.key)
    return {own: (most_votes(votes[own]), own not in in_lower_case) for own in sorted(votes)}


def invented_words(
    needed: Mapping[str, tuple[Kind, bool]], used_words: Iterable[str], seed: str, corpus: str
) -> dict[str, str]:
    """Return the invented word of each word; those of WebNLG's countries share their stems."""
    used = set(used_words)
    words: dict[str, str] = {}
    for country in COUNTRIES if corpus == "webnlg" else ():
        stem = country_stem(next(iter(country)), used, seed)
        words |= {word: stem + ending for word, ending in country.items()}
        used |= {words[word] for word in country}
    for own, (kind, is_acronym) in needed.items():
        if own not in words:
            words[own] = invent(own, kind, is_acronym=is_acronym, used=used, seed=seed)
            used.add(words[own])
    if corpus != "webnlg":
        return words
    united, realm = words["united"], random.Random(f"{seed} realm").choice(REALMS)
    u, s, a = united[0], realm[0], words["america"][0]
    return words | {
        "united:states": united,
        "united:kingdom": united,
        "states:united": realm,
        "US:initials": u + s,
        "USA:initials": u + s + a,
        "UK:initials": f"{u}k",
        "U:S": u,
        "S:U": s,
        "A:US": a,
        "U:K": u,
        "K:U": "k",
    }


def country_stem(country: str, used: Collection[str], seed: str) -> str:
    """Return the beginning of a country's words."""
    rng = random.Random(f"{seed} country {country}")
    while True:
        begin = rng.choice(FIRST_VOWELS) if opens(country) else ""
        word = begin + syllable(rng) + rng.choice(ONSETS)
        if not any(name.startswith(word) for name in used):
            return word


# ---- Entities and texts with invented words in the places of their own ----

BARE_POSSESSIVE = re.compile(r"[sS]['’](?!\w)")
OPENING_QUOTE = re.compile(r"(?<!\w)['‘](?=\w)")
EIGHT = re.compile(r"8|1[18](?:\d\d(?!\.\d)|(?:,\d{3})+)?(?![\d,])")  # eight, eleven or eighteen
NAMED_OPEN = "AEFHILMNORSX"  # letters whose names begin with a vowel
BETWEEN = " \"'“‘("  # what may stand between an article and its word


def entity_patches(lexicon: Lexicon, raw: str) -> Patches:
    """Return the patches of an entity in its raw form."""
    tokens = tokens_of(raw)
    parts = zip(tokens, lexicon.parts(display(raw)), strict=True)
    return patches(
        raw,
        tokens,
        {
            index: written(lexicon, token)
            for index, (token, (_, is_exchanged)) in enumerate(parts)
            if is_exchanged
        },
    )


def written(lexicon: Lexicon, token: Token) -> str:
    """Return what is written for an exchanged word or number."""
    kind, _, number = token.key.partition(":")
    if number.isdigit() and (token.text.isdigit() or not token.is_number):
        new = lexicon.numbers.of_key(kind, int(number))
        if kind == "until":
            return str(new)[-2:]
        if token.is_number:
            return str(new).zfill(len(token.text))
        name = MONTHS[new - 1]
        is_full = len(token.text) > len("sept") or fold(token.text) in MONTHS
        return in_case(token.text, name if is_full else name[:3])
    if token.is_number:
        return lexicon.numbers.exchange(token.text)
    if word := lexicon.words.get(token.key):
        return in_case(token.text, word)
    return "".join(lexicon.letters.get(letter, letter) for letter in token.text)


def in_case(old: str, word: str) -> str:
    """Return a word with the capitals of another."""
    if old.isupper():
        return word.upper()
    return word if old.islower() else word.capitalize()


def patches(text: str, tokens: Sequence[Token], new: Mapping[int, str]) -> Patches:
    """Return the patches for the new words of some tokens.

    Ordinals, articles and possessives agree with them.
    """
    agreeing = dict[int, str]()
    for index, word in new.items():
        if form := ending(tokens, index, word):
            agreeing[index + 1] = form
        if form := article(text, tokens, index, word):
            agreeing[index - 1] = form
    listed = []
    for index, word in sorted({**agreeing, **new}.items()):
        start, end = tokens[index].start, tokens[index].end
        # The apostrophe at the end of a word in s now stands after another letter.
        is_bare = BARE_POSSESSIVE.match(text, end - 1) and not OPENING_QUOTE.search(text, 0, end)
        if is_bare and word[-1] not in "sS":
            listed.append((start, end + 1, f"{word}{text[end]}s"))
        elif word != text[start:end]:
            listed.append((start, end, word))
    return listed


def ending(tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the `nd` that makes a number an ordinal; None if it is not one."""
    if not tokens[index].is_number or index + 1 == len(tokens):
        return None
    number, after = integer(word), tokens[index + 1]
    if number is None or after.key not in ORDINALS or after.start > tokens[index].end:
        return None
    is_tenth = number // 10 % 10 == 1
    form = "th" if is_tenth else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return in_case(after.text, form)


def article(text: str, tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the article for a word; None if none stands before it."""
    if not index or tokens[index - 1].text not in {"a", "an", "A", "An"}:
        return None
    gap = text[tokens[index - 1].end : tokens[index].start]
    if " " not in gap or gap.strip(BETWEEN):
        return None
    if word[0].isdigit():
        is_open = EIGHT.match(word) is not None
    else:
        are_initials = word.isupper() and (tokens[index].is_special or len(word) == 1)
        is_open = word[0] in (NAMED_OPEN if are_initials else "aeioAEIO")
    form = "an" if is_open else "a"
    return form if tokens[index - 1].text[0] == "a" else form.capitalize()


# ---- Texts: what is certainly a mention is exchanged, and what may be one is an error ----

PREFIX = 4  # letters that a derived word begins with too
SCALED = 3  # digits by which a number is recognized in another unit, such as thousands
MISSPELT = 5  # letters of a word that may be misspelt by one letter
MISSPELT_TWICE = 8  # letters of a word that may be misspelt by two
FREQUENT = 20  # uses of a word that is neither derived nor misspelt
HALF = 0.5  # of the uses of a word that is rarely part of a name
MAGNITUDES = {"dozen", "hundred", "hundreds", "thousand", "thousands", "million", "billion"}


@dataclass(frozen=True)
class Exchange:
    """The exchange in a sample: the keys of its names' words, and the keys that stay.

    `runs` are the names as keys, without what is in brackets, and `initials` the letters that stand
    for a person's name.
    """

    lexicon: Lexicon
    keys: frozenset[str]
    staying: frozenset[str]
    runs: Sequence[Sequence[str]]
    initials: frozenset[str]

    @cached_property
    def scaled(self) -> frozenset[str]:
        """The digits by which exchanged numbers are recognized in another unit."""
        numbers = self.lexicon.numbers
        exchanged = {own: mantissa(own) for own in self.keys if own[0].isdigit()}
        return frozenset(
            digits
            for own, digits in exchanged.items()
            if len(digits) >= SCALED and mantissa(numbers.exchange(own)) == numbers.scaled(digits)
        )

    @cached_property
    def unlike(self) -> Sequence[str]:
        """The exchanged words that no ordinary word is like."""
        words = [own for own in self.keys if len(own) >= PREFIX and own.isalpha()]
        return [own for own in words if not self.lexicon.is_common(own)]


def exchange_of(lexicon: Lexicon, entities: Iterable[str], attributes: Iterable[str]) -> Exchange:
    """Return what is exchanged in a sample with these entities.

    Raises:
        UncertainError: a name is made of ordinary words alone, or a word is exchanged in one name
            and stays in another, or a brand stays in a name.
    """
    keys, staying, initials, runs = set[str](), set[str](), set[str](), []
    for entity in map(display, entities):
        words, rest, letters = parts_of(lexicon, entity)
        if not words | letters and lexicon.kinds[entity] in KINDS[:4]:
            raise UncertainError(ORDINARY_NAME)
        if lexicon.kinds[entity] != "vocabulary" and not rest.isdisjoint(BRANDS):
            raise UncertainError(TWO_THINGS)
        keys |= words
        staying |= rest
        initials |= letters
        if words:
            without_brackets = re.sub(r"(?s)(?<=.)\(.*\)", "", entity)
            runs.append([token.key for token in tokens_of(without_brackets)])
    if any(own.isalpha() for own in keys & staying):
        raise UncertainError(TWO_THINGS)
    staying |= {token.key for attribute in attributes for token in tokens_of(attribute)}
    keys |= {own.removeprefix("until:") for own in keys}
    if lexicon.corpus == "webnlg":
        keys |= {alike for own in keys for alike in ALIKE.get(own, ())}
    return Exchange(lexicon, frozenset(keys), frozenset(staying), runs, frozenset(initials))


@cache
def parts_of(lexicon: Lexicon, entity: str) -> tuple[set[str], set[str], set[str]]:
    """Return the keys of an entity that are exchanged, those that stay, and its initials."""
    exchanged, staying, initials = set[str](), set[str](), set[str]()
    parts = lexicon.parts(entity)
    for token, is_exchanged in parts:
        if not is_exchanged:
            staying.add(token.key)
            if token.text.isupper() and len(token.text) <= PREFIX:
                staying |= set(token.key)  # `F.C.` for `FC`
        elif len(token.text) == 1 and token.text.isalpha():
            initials.add(token.text)
        else:
            exchanged.add(token.key)
    for is_single, group in groupby(parts, key=lambda part: len(part[0].text) == 1):
        joined = "".join(token.text for token, _ in group)
        if is_single and len(joined) > 1 and joined.isalpha():  # `FC` for `F.C.`
            if set(joined) <= initials:
                initials.add(joined)
            else:
                staying.add(joined.casefold())
    return exchanged, staying, initials


def text_patches(exchange: Exchange, text: str) -> Patches:
    """Return the patches that exchange every mention of a text.

    Raises:
        UncertainError: something in it may be a mention, and is not certainly one.
    """
    tokens = list(with_dates(exchange, text))
    reading = Reading(exchange, text, tokens)
    mentioned = ((index, reading.mention(index)) for index in range(len(tokens)))
    new = {index: word for index, word in mentioned if word is not None}
    for order in (range(len(tokens)), range(len(tokens) - 1, -1, -1)):
        for index in order:
            if index not in new and reading.is_initial(index, new):
                new[index] = written(exchange.lexicon, tokens[index])
    for index in range(len(tokens)):
        if index not in new and (reason := reading.objection(index, new)):
            raise UncertainError(reason)
    return patches(text, tokens, new)


def with_dates(exchange: Exchange, text: str) -> Iterator[Token]:
    """Yield the tokens of a text; of `7/11/1907` the units say which number is the month."""
    for token in tokens_of(text):
        if not token.key.startswith("either:"):
            yield token
            continue
        first, second = token.key.removeprefix("either:").split("/")
        is_day = {f"day:{first}", f"month:{second}"} <= exchange.keys
        is_month = {f"month:{first}", f"day:{second}"} <= exchange.keys
        if is_day is is_month and first != second:
            raise UncertainError(OTHER_NUMBER)
        yield token._replace(key=f"day:{first}" if is_day else f"month:{first}")


@dataclass(frozen=True)
class Reading:
    """A text, read for a sample."""

    exchange: Exchange
    text: str
    tokens: Sequence[Token]

    @cached_property
    def certain(self) -> frozenset[int]:
        """The indices of tokens that are in a whole name, or with another word of it."""
        indices = set[int]()
        for run in self.exchange.runs:
            for begin, own in enumerate(run):
                if len(run) > 1 and (begin == 0 or own in self.exchange.keys):
                    for start, token in enumerate(self.tokens):
                        if token.key == own:
                            length = self._length(start, run[begin:], len(run))
                            indices |= {*range(start, start + length)}
        return frozenset(indices)

    def _length(self, start: int, rest: Sequence[str], whole: int) -> int:
        """Return how many words of a name, from one of them on, begin at a token."""
        pairs = zip(self.tokens[start:], rest, strict=False)
        keys = [own for _, own in takewhile(lambda pair: pair[0].key == pair[1], pairs)]
        are_many = sum(own in self.exchange.keys for own in keys) > 1
        is_name = len(keys) == whole or (are_many and self.tokens[start].is_capital)
        return len(keys) if is_name else 0

    def mention(self, index: int) -> str | None:
        """Return what is written for a token, None if it stays.

        Raises:
            UncertainError: it may be a mention, and is not certainly one.
        """
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            if index in self.certain:
                return written(lexicon, token)
            if token.key in exchange.staying:
                raise UncertainError(TWO_THINGS)
            is_common = token.key.isalpha() and lexicon.is_common(token.key)
            return self._common(index) if is_common else written(lexicon, token)
        if token.is_number and not token.is_special and token.key not in exchange.staying:
            digits = mantissa(token.text)
            is_scaled = digits in exchange.scaled
            return overwritten(token.text, lexicon.numbers.scaled(digits)) if is_scaled else None
        return self._spelled(index) if SPELLED.get(token.key, 0) > 1 else None

    def _common(self, index: int) -> str | None:
        """Return what is written for a word that texts also use as an ordinary one."""
        if not self.tokens[index].is_capital:
            return None
        around = (*self.tokens[max(index - 1, 0) : index], *self.tokens[index + 1 : index + 2])
        if self._begins(index) and not any(
            neighbour.key in self.exchange.keys and neighbour.is_capital for neighbour in around
        ):
            raise UncertainError(TWO_THINGS)
        return written(self.exchange.lexicon, self.tokens[index])

    def _spelled(self, index: int) -> str | None:
        """Return the word for what a spelled number becomes."""
        exchange, token = self.exchange, self.tokens[index]
        value = str(SPELLED[token.key])
        if token.key in WORDS["tens"] and any(
            each.key in SPELLED for each in self.tokens[index + 1 :][:1]
        ):
            raise UncertainError(OTHER_NUMBER)
        if value not in exchange.keys:
            return None
        if any(each.key == value for each in self.tokens):
            raise UncertainError(OTHER_NUMBER)
        return in_case(token.text, SPELLING[int(exchange.lexicon.numbers.exchange(value))])

    def is_initial(self, index: int, new: Collection[int]) -> bool:
        """Say whether a token is an initial beside an exchanged word or another initial."""
        return self.tokens[index].text in self.exchange.initials and any(
            place in new and self.tokens[place].is_capital for place in (index - 1, index + 1)
        )

    def objection(self, index: int, new: Collection[int]) -> str | None:
        """Return why a token cannot stay, None if it can."""
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            is_rare = lexicon.lower.get(token.key, 0) < HALF * lexicon.uses.get(token.key, 0)
            return OTHER_FORM if is_rare or [token.key] in exchange.runs else None
        if token.key in exchange.staying:
            return None
        if token.is_number or token.is_special:
            return OTHER_NUMBER
        if token.key in ORDINALS and index and self.tokens[index - 1].is_number:
            return None
        if token.key in MAGNITUDES and index - 1 not in new:
            return OTHER_NUMBER
        return None if token.key in PLAIN else self._objection_to_word(index, new)

    def _objection_to_word(self, index: int, new: Collection[int]) -> str | None:
        token, lexicon = self.tokens[index], self.exchange.lexicon
        if len(token.text) == 1:  # neither an article nor in lower case
            is_article = token.text == "A" and self.text[token.end : token.end + 1] != "."
            return OTHER_NAME if token.is_capital and not is_article else None
        if self._is_like_a_name(token):
            return OTHER_FORM
        if not token.is_capital and token.key not in lexicon.words:
            return None
        is_title = not lexicon.is_common(token.key) or self._is_in_a_title(index, new)
        return OTHER_NAME if is_title else None

    def _is_in_a_title(self, index: int, new: Collection[int]) -> bool:
        """Say whether a capital word is beside another one and does not begin a sentence."""
        if not self.tokens[index].is_capital or self._begins(index):
            return False
        return any(
            0 <= place < len(self.tokens)
            and place not in new
            and not self._begins(max(place, index))
            and self._may_name(self.tokens[place])
            for place in (index - 1, index + 1)
        )

    def _may_name(self, token: Token) -> bool:
        stay = self.exchange.staying | STAYING["any kind"] | PLAIN
        return token.is_capital and len(token.text) > 1 and token.key not in stay

    def _is_like_a_name(self, token: Token) -> bool:
        """Say whether a word is derived from one of a name, or is one misspelt."""
        own, names = token.key, self.exchange.unlike
        is_frequent = self.exchange.lexicon.uses.get(own, 0) >= FREQUENT
        if len(own) < PREFIX or (is_frequent and not token.is_capital):
            return False
        if any(own[:PREFIX] == name[:PREFIX] for name in names):
            return True
        return not is_frequent and any(
            Levenshtein.distance(own, name, score_cutoff=2) <= 1 + (len(name) >= MISSPELT_TWICE)
            for name in names
            if len(name) >= MISSPELT
        )

    def _begins(self, index: int) -> bool:
        """Say whether a token begins a sentence."""
        if index == 0:
            return True
        before = self.tokens[index - 1]
        gap = self.text[before.end : self.tokens[index].start]
        return len(before.text) > 1 and re.search(r"[!?\n]|\..* | .*\.", gap) is not None


# ---- The samples of a corpus, and its file ----


def content(corpus: str) -> dict[str, Any]:
    """Return the patches of all samples of a corpus and of its test sets."""
    samples = registry().get("corpus", corpus).everything()
    words = lexicon(samples)
    sets = [spec.sets for spec in named.available() if spec.sets.corpus == corpus]
    tested = [
        sample
        for each in sets
        if each.protocol != "twin"
        for sample in named.load(**each.named).test
    ]
    entities = {key(entity): entity_patches(words, entity) for entity in words.kinds}
    texts: dict[str, Patches | str] = {}
    reordered = set[str]()
    for sample in [*samples, *tested]:
        values = list(values_of(sample))
        entities |= {key(entity): entity_patches(words, entity) for entity in values}
        for text in sample.references or ("",):
            alone = replace(sample, references=(text,), challenge=None)
            own = key(text, alone.units, alone.about("name"))
            if own in texts:
                continue
            try:
                attributes = (unit[-2] for unit in sample.units)
                texts[own] = text_patches(exchange_of(words, values, attributes), text)
            except UncertainError as error:
                texts[own] = str(error)
            twin = Twins(entities, texts, frozenset()).twin(alone)
            if not text or not isinstance(twin, Sample):
                continue
            if reference_orders(twin) != reference_orders(alone):
                reordered.add(own)
    return {
        "entities": dict(sorted(entities.items())),
        "texts": dict(sorted(texts.items())),
        "reordered": sorted(reordered),
    }


def values_of(sample: Sample) -> Iterator[str]:
    """Yield the entities of a sample, without the phrases that stand for hidden ones."""
    hidden = sample.challenge
    phrases = {phrase for _, phrase in hidden.phrases} if isinstance(hidden, Hidden) else set()
    if name := sample.about("name"):
        yield name
    for unit in sample.units:
        ends = (unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,)
        yield from (end for end in ends if end not in phrases)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the patches of fictional twins.")
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", default=CORPORA)
    parser.add_argument("--to", type=Path, metavar="DIR", default=FOLDER)
    options = parser.parse_args()
    for corpus in options.corpora:
        path = options.to / corpus / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        dumped = json.dumps(content(corpus), ensure_ascii=False, separators=(",", ":"))
        path.write_bytes(gzip.compress(dumped.encode(), mtime=0))
