"""Exchange in texts: what is certainly a mention is exchanged, and what may be one is an error."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby, takewhile
from typing import Final, TypeAlias

from rapidfuzz.distance import Levenshtein

from spor_tasks.text.normalize import display
from spor_tasks.twins.lexicon import Lexicon
from spor_tasks.twins.numbers import SPELLED, mantissa, overwritten
from spor_tasks.twins.tokens import ORDINALS, Token, tokens_of
from spor_tasks.twins.vocabulary import KEPT, PLAIN, named_alike
from spor_tasks.twins.writing import like, rewritten, written_for

OTHER_NAME: Final = "a text names what the units do not"
OTHER_NUMBER: Final = "a text has a number that the units do not have"
OTHER_FORM: Final = "a text may name an entity in another form"
TWO_THINGS: Final = "a word may stand for two things"
ORDINARY_NAME: Final = "a name is made of ordinary words"

_Keys: TypeAlias = AbstractSet[str]

_NAMES = {"person", "place", "organisation", "work"}
_ENTITIES = 8192
_PREFIX = 4  # letters that a derived word begins with too
_SCALED = 3  # digits by which a number is known in another unit, such as thousands
_MISSPELT = 5  # letters of a word that may be misspelt by one letter
_LONG = 8  # letters of a word that may be misspelt by two
_FREQUENT = 20  # uses of a word that is neither derived nor misspelt
_HALF = 0.5  # of the uses of a word that is rarely part of a name
_TENS = 20  # from here on numbers are spelled in two words
_MAGNITUDES = {"dozen", "hundred", "hundreds", "thousand", "thousands", "million", "billion"}


class UncertainError(Exception):
    """A text cannot be exchanged with certainty; its argument is the reason."""


@dataclass(frozen=True)
class Exchange:
    """What is exchanged in a sample: the keys of its names' words, and the keys that stay.

    ``runs`` are the names as keys, without what is in brackets, and ``initials`` the letters that
    stand for a person's name.
    """

    lexicon: Lexicon
    keys: frozenset[str]
    kept: frozenset[str]
    runs: tuple[tuple[str, ...], ...]
    initials: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def has_numbers(self) -> bool:
        """Whether a number is exchanged that is not part of a date."""
        return any(key[0].isdigit() for key in self.keys)

    @cached_property
    def scaled(self) -> frozenset[str]:
        """The digits by which exchanged numbers are known in another unit."""
        numbers = self.lexicon.numbers
        return frozenset(
            digits
            for key in self.keys
            if key[0].isdigit() and len(digits := mantissa(key)) >= _SCALED
            if mantissa(numbers.exchange(key)) == numbers.scaled(digits)
        )

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """The exchanged words that nothing else is like."""
        lexicon = self.lexicon
        return tuple(
            key
            for key in sorted(self.keys)
            if len(key) >= _PREFIX and key.isalpha() and not lexicon.is_common(key)
        )


def exchange_of(lexicon: Lexicon, entities: Iterable[str], others: Iterable[str]) -> Exchange:
    """Return what is exchanged in a sample with these entities.

    ``others`` are texts whose words may be in references too, such as predicates.

    Raises:
        UncertainError: a name is made of ordinary words alone, or a word is exchanged in one name
            and stays in another.
        KeyError: an entity is not one of the corpus.
    """
    keys, kept, initials, runs = set[str](), set[str](), set[str](), []
    for entity in entities:
        shown = display(entity)
        exchanged, staying, letters = _parts(lexicon, shown)
        if not exchanged | letters and lexicon.kinds[shown] in _NAMES:
            raise UncertainError(ORDINARY_NAME)
        keys |= exchanged
        kept |= staying
        initials |= letters
        run = tuple(token.key for token in tokens_of(_without_brackets(shown)))
        if exchanged:
            runs.append(run)
    if any(key.isalpha() for key in keys & kept):
        raise UncertainError(TWO_THINGS)
    kept |= {token.key for other in others for token in tokens_of(other)}
    keys |= {key.removeprefix("until:") for key in keys}
    if lexicon.countries:
        keys |= {other for key in keys for other in named_alike(key)}
    return Exchange(lexicon, frozenset(keys), frozenset(kept), tuple(runs), frozenset(initials))


def _without_brackets(name: str) -> str:
    begin, end = name.find("("), name.rfind(")")
    return name[:begin] + name[end + 1 :] if 0 < begin < end else name


@lru_cache(maxsize=_ENTITIES)
def _parts(lexicon: Lexicon, shown: str) -> tuple[_Keys, _Keys, _Keys]:
    """Return the keys of an entity that are exchanged, those that stay, and its initials."""
    exchanged, staying, initials = set[str](), set[str](), set[str]()
    parts = lexicon.parts(shown)
    for token, is_exchanged in parts:
        if is_exchanged:
            is_initial = len(token.text) == 1 and token.text.isalpha()
            (initials if is_initial else exchanged).add(token.text if is_initial else token.key)
        else:
            staying.add(token.key)
            if token.text.isupper() and len(token.text) <= _PREFIX:
                staying |= set(token.key)  # `F.C.` for `FC`
    for single, group in groupby(parts, key=lambda part: len(part[0].text) == 1):
        joined = "".join(token.text for token, _ in group)
        if single and len(joined) > 1 and joined.isalpha():  # `FC` for `F.C.`
            is_initial = set(joined) <= initials
            (initials if is_initial else staying).add(joined if is_initial else joined.casefold())
    return exchanged, staying, initials


def exchanged_text(exchange: Exchange, text: str) -> str:
    """Return a text with every mention exchanged.

    Raises:
        UncertainError: something in it may be a mention and may not be, or is left of one.
    """
    tokens = tuple(_settled(exchange, text))
    reading = _Reading(exchange, text, tokens)
    written = {
        index: word for index in range(len(tokens)) if (word := reading.mention(index)) is not None
    }
    for order in (range(len(tokens)), range(len(tokens) - 1, -1, -1)):
        for index in order:
            if index not in written and reading.is_initial(index, written):
                written[index] = written_for(exchange.lexicon, tokens[index])
    for index in range(len(tokens)):
        if index not in written and (reason := reading.objection(index, written)):
            raise UncertainError(reason)
    return rewritten(text, tokens, written)


def _settled(exchange: Exchange, text: str) -> Iterator[Token]:
    """Yield the tokens of a text; of `7/11/1907` the units say which number is the month."""
    for token in tokens_of(text):
        kind, _, numbers = token.key.partition(":")
        if kind != "either" or not numbers:
            yield token
            continue
        this, other = numbers.split("/")
        is_day = {f"day:{this}", f"month:{other}"} <= exchange.keys
        is_month = {f"month:{this}", f"day:{other}"} <= exchange.keys
        if is_day is is_month and (this != other or not is_day):
            raise UncertainError(OTHER_NUMBER)
        yield token._replace(key=f"day:{this}" if is_day else f"month:{this}")


@dataclass(frozen=True)
class _Reading:
    """A text, read for a sample."""

    exchange: Exchange
    text: str
    tokens: Sequence[Token]

    @cached_property
    def sure(self) -> frozenset[int]:
        """The indices of tokens that are in a whole name, or with another word of it."""
        places: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            places.setdefault(token.key, []).append(index)
        return frozenset(
            index
            for run in self.exchange.runs
            if len(run) > 1
            for begin, key in enumerate(run)
            if begin == 0 or key in self.exchange.keys
            for start in places.get(key, ())
            for index in range(start, start + self._length(start, run, begin))
        )

    def _length(self, start: int, run: Sequence[str], begin: int) -> int:
        pairs = zip(self.tokens[start:], run[begin:], strict=False)
        keys = [key for _, key in takewhile(lambda pair: pair[0].key == pair[1], pairs)]
        are_many = sum(key in self.exchange.keys for key in keys) > 1
        is_name = len(keys) == len(run) or (are_many and self.tokens[start].is_capital)
        return len(keys) if is_name else 0

    def mention(self, index: int) -> str | None:
        """Return what is written for a token, None if it stays.

        Raises:
            UncertainError: it may be a mention and may not be.
        """
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            if index not in self.sure and token.key in exchange.kept:
                raise UncertainError(TWO_THINGS)
            if index not in self.sure and token.key.isalpha() and lexicon.is_common(token.key):
                return self._common(index)
            return written_for(lexicon, token)
        if token.is_number and not token.is_special and token.key not in exchange.kept:
            digits = mantissa(token.text)
            is_known = digits in exchange.scaled
            return overwritten(token.text, lexicon.numbers.scaled(digits)) if is_known else None
        return self._spelled(index) if SPELLED.get(token.key, 0) > 1 else None

    def _common(self, index: int) -> str | None:
        """Return what is written for a word that texts also use as an ordinary one."""
        if not self.tokens[index].is_capital:
            return None
        if self._begins(index) and not any(
            other.key in self.exchange.keys and other.is_capital for other in self._around(index)
        ):
            raise UncertainError(TWO_THINGS)
        return written_for(self.exchange.lexicon, self.tokens[index])

    def _spelled(self, index: int) -> str | None:
        """Return the words for what a spelled number becomes."""
        exchange, token = self.exchange, self.tokens[index]
        value = SPELLED[token.key]
        following = self.tokens[index + 1].key if index + 1 < len(self.tokens) else ""
        if value >= _TENS and following in SPELLED:
            raise UncertainError(OTHER_NUMBER)
        if str(value) not in exchange.keys:
            return None
        word = exchange.lexicon.numbers.spelled(value)
        if word is None or any(other.key == str(value) for other in self.tokens):
            raise UncertainError(OTHER_NUMBER)
        return like(token.text, word)

    def is_initial(self, index: int, written: Iterable[int]) -> bool:
        """Say whether a token is an initial beside an exchanged word or another initial."""
        return self.tokens[index].text in self.exchange.initials and any(
            other in written and self.tokens[other].is_capital for other in (index - 1, index + 1)
        )

    def objection(self, index: int, written: Iterable[int]) -> str | None:
        """Return why a token cannot stay, None if it can."""
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            uses = lexicon.uses.get(token.key, 0)
            is_rare = lexicon.lower.get(token.key, 0) < _HALF * uses
            return OTHER_FORM if is_rare or (token.key,) in exchange.runs else None
        if token.is_number or token.is_special:
            return None if token.key in exchange.kept else OTHER_NUMBER
        if token.key in ORDINALS and index and self.tokens[index - 1].is_number:
            return None
        if token.key in _MAGNITUDES and exchange.has_numbers and index - 1 not in written:
            return OTHER_NUMBER
        if token.key in exchange.kept or token.key in PLAIN:
            return None
        return self._objection_to_word(index, written)

    def _objection_to_word(self, index: int, written: Iterable[int]) -> str | None:
        token, lexicon = self.tokens[index], self.exchange.lexicon
        if len(token.text) == 1:
            return OTHER_NAME if self._is_letter(index) else None
        if self._is_like_a_name(token):
            return OTHER_FORM
        if not token.is_capital and token.key not in lexicon.words:
            return None
        if not lexicon.is_common(token.key):
            return OTHER_NAME
        return OTHER_NAME if self._is_in_a_title(index, written) else None

    def _is_letter(self, index: int) -> bool:
        """Say whether a letter is neither an article nor `I`, nor in lower case."""
        token = self.tokens[index]
        is_article = token.text == "A" and self.text[token.end : token.end + 1] != "."
        return token.is_capital and token.text != "I" and not is_article

    def _is_in_a_title(self, index: int, written: Iterable[int]) -> bool:
        """Say whether a capital word is beside another one and does not begin a sentence."""
        if not self.tokens[index].is_capital or self._begins(index):
            return False
        return any(
            0 <= other < len(self.tokens)
            and other not in written
            and not self._begins(max(other, index))
            and self._may_name(self.tokens[other])
            for other in (index - 1, index + 1)
        )

    def _may_name(self, token: Token) -> bool:
        known = (self.exchange.kept, KEPT, PLAIN)
        return (
            token.is_capital
            and len(token.text) > 1
            and not any(token.key in words for words in known)
        )

    def _is_like_a_name(self, token: Token) -> bool:
        """Say whether a word is derived from one of a name, or is one misspelt."""
        lexicon, key = self.exchange.lexicon, token.key
        is_frequent = lexicon.uses.get(key, 0) >= _FREQUENT
        if len(key) < _PREFIX or (is_frequent and not token.is_capital):
            return False
        if any(key[:_PREFIX] == other[:_PREFIX] for other in self.exchange.sought):
            return True
        return not is_frequent and any(
            Levenshtein.distance(key, other, score_cutoff=2) <= (1 if len(other) < _LONG else 2)
            for other in self.exchange.sought
            if len(other) >= _MISSPELT
        )

    def _begins(self, index: int) -> bool:
        """Say whether a token begins a sentence."""
        if index == 0:
            return True
        before = self.tokens[index - 1]
        gap = self.text[before.end : self.tokens[index].start]
        ends = any(mark in gap for mark in "!?\n") or ("." in gap and " " in gap)
        return ends and len(before.text) > 1

    def _around(self, index: int) -> Iterator[Token]:
        yield from (self.tokens[index - 1 : index] if index else ())
        yield from self.tokens[index + 1 : index + 2]
