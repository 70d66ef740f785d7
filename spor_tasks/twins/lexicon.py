"""The entities of a corpus, their kinds, and the invented words for theirs."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.kinds import CorpusKinds, Kind
from spor_tasks.text.normalize import display
from spor_tasks.twins.names import invent, stem
from spor_tasks.twins.numbers import Numbers
from spor_tasks.twins.tokens import ORDINALS, Token, tokens_of, words_of
from spor_tasks.twins.vocabulary import FAMILIES, KEPT, OF_DISHES, OF_PEOPLE, OF_WORKS, named_alike

_COLLIDES = 4  # letters of a word that an invented one must not be
_SEEN = 3  # times that a word was written in lower case, if it is an ordinary word
_COMMON_SHARE = 0.03  # of an ordinary word's uses are in lower case, at least
_KEPT: Mapping[Kind, frozenset[str]] = {
    "person": OF_PEOPLE,
    "work": OF_WORKS,
    "dish": OF_DISHES,
}
_INITIALLED = {"person", "place"}  # whose single letters stand for words
_ORDER_OF_KINDS: tuple[Kind, ...] = (
    *("person", "place", "organisation", "work", "dish", "thing", "vocabulary"),
)
_JOINED = re.compile(r"[^\W\d_]['’-]$")
_REALMS = ("cantons", "dominions", "marches", "palatinates", "commons")


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """One mapping of the words of a corpus's entities to invented words.

    ``kinds`` has the kind of each entity in display form, and ``in_two_kinds`` those of which the
    corpus says several. ``words`` has the invented word of each key, in lower case, and ``letters``
    the initial of each. ``small`` are keys of names that are also written in lower case. ``lower``
    and ``uses`` count how often the texts have a word in lower case, and at all.
    """

    kinds: Mapping[str, Kind]
    in_two_kinds: frozenset[str]
    words: Mapping[str, str]
    letters: Mapping[str, str]
    small: frozenset[str]
    lower: Mapping[str, int]
    uses: Mapping[str, int]
    numbers: Numbers
    kept: frozenset[str]
    countries: bool

    def parts(self, shown: str) -> Sequence[tuple[Token, bool]]:
        """Return the tokens of an entity in display form, and which of them are exchanged.

        Raises:
            KeyError: it is not an entity of the corpus.
        """
        kind = self.kinds[shown]
        tokens = tokens_of(shown)
        is_written_small = shown.islower()
        return [
            (
                token,
                self._is_exchanged(tokens, index, kind)
                and (is_written_small or not self._is_plain(token)),
            )
            for index, token in enumerate(tokens)
        ]

    def _is_plain(self, token: Token) -> bool:
        """Say whether a word of a name is an ordinary one: the `team` of `Velmor (team)`."""
        return token.text.islower() and len(token.text) > 1 and self.is_common(token.key)

    def _is_exchanged(self, tokens: Sequence[Token], index: int, kind: Kind) -> bool:
        token = tokens[index]
        if token.key in ORDINALS and index and tokens[index - 1].is_number:
            return False
        # of vocabulary, words that are only part of names elsewhere, as in `AMC V8 engine`
        if kind == "vocabulary" and token.key in self.words and not self.lower.get(token.key):
            return True
        return not _stays(token, kind, self.kept, countries=self.countries)

    def is_common(self, key: str) -> bool:
        """Say whether texts also use a word as an ordinary one.

        Names of dishes are often written in lower case, and are not.
        """
        if key in self.small:
            return False
        return self.lower.get(key, 0) >= max(_SEEN, _COMMON_SHARE * self.uses.get(key, 0))


def _stays(token: Token, kind: Kind, kept: frozenset[str], *, countries: bool) -> bool:
    if countries and _of_country(token.key):
        return False
    if kind == "vocabulary" or token.key in {"kingdom:united", "0", "1"} or token.key in kept:
        return True
    if token.is_number or ":" in token.key:
        return False
    if len(token.text) == 1:
        return kind not in _INITIALLED or not token.text.isupper() or token.text in "IVX"
    return token.key in _KEPT.get(kind, KEPT)


def _of_country(key: str) -> bool:
    return bool(named_alike(key)) and key != "kingdom:united"


def lexicon(samples: Sequence[Sample], kinds: CorpusKinds, seed: str) -> Lexicon:
    """Return the mapping of a corpus, given all its samples."""
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    for sample in samples:
        for entity, kind, weight in kinds.mentions(sample):
            votes[display(entity)][kind] += weight
    chosen = {entity: _most(votes[entity]) for entity in sorted(votes)}
    lower, uses = _counted(samples)
    sought = _sought(chosen, kinds)
    taken = {key for entity in chosen for key in _keys(entity) if len(key) >= _COLLIDES}
    words = _invented(sought, taken | uses.keys(), seed, countries=kinds.countries)
    return Lexicon(
        kinds=chosen,
        in_two_kinds=frozenset(entity for entity, told in votes.items() if _differs(told)),
        words=words,
        letters=_letters(seed),
        small=frozenset(key for key in _written_small(chosen) if key in sought),
        lower=lower,
        uses=uses,
        numbers=Numbers(seed),
        kept=kinds.kept,
        countries=kinds.countries,
    )


def _written_small(chosen: Mapping[str, Kind]) -> Iterator[str]:
    """Yield the words of names that are no ordinary words where they are in lower case."""
    for entity, kind in chosen.items():
        for token in tokens_of(entity) if kind != "vocabulary" else ():
            is_of_dish = kind == "dish" and token.key not in OF_DISHES
            if is_of_dish or entity.islower() or _is_piece(entity, token):
                yield token.key


def _is_piece(entity: str, token: Token) -> bool:
    """Say whether a word in lower case is part of a longer one, as in `Kai-shek`, or foreign."""
    is_alone = not _JOINED.search(entity, 0, token.start)
    return token.text.islower() and not (is_alone and token.text.isascii())


def _most(votes: Mapping[Kind, int]) -> Kind:
    return max(votes, key=lambda kind: (votes[kind], -_ORDER_OF_KINDS.index(kind)))


def _differs(votes: Mapping[Kind, int]) -> bool:
    most = max(votes.values())
    return sum(100 * count >= most for count in votes.values()) > 1


def _keys(entity: str) -> Iterator[str]:
    return (token.key for token in tokens_of(entity))


def _counted(samples: Iterable[Sample]) -> tuple[Counter[str], Counter[str]]:
    lower, uses = Counter[str](), Counter[str]()
    for sample in samples:
        for text in sample.references:
            for word, key in words_of(text):
                uses[key] += 1
                if word.islower():
                    lower[key] += 1
    return lower, uses


class _Word(NamedTuple):
    kind: Kind
    acronym: bool


def _sought(chosen: Mapping[str, Kind], kinds: CorpusKinds) -> dict[str, _Word]:
    """Return each word that needs an invented one, with the kind of most entities that have it."""
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    upper: dict[str, bool] = {}
    for entity, kind in chosen.items():
        for token in tokens_of(entity):
            if token.is_number or ":" in token.key or len(token.text) == 1:
                continue
            if not _stays(token, kind, kinds.kept, countries=kinds.countries):
                votes[token.key][kind] += 1
                upper[token.key] = upper.get(token.key, True) and token.text.isupper()
    return {key: _Word(_most(votes[key]), upper[key]) for key in sorted(votes)}


def _invented(
    sought: Mapping[str, _Word], taken: Iterable[str], seed: str, *, countries: bool
) -> dict[str, str]:
    used = set(taken)
    words: dict[str, str] = {}
    for family in FAMILIES if countries else ():
        beginning = stem(family[0].word, is_open=_opens(family[0].word), taken=used, seed=seed)
        for word, ending in family:
            words[word] = beginning + ending
        used |= {words[word] for word, _ in family}
    for key, (kind, acronym) in sought.items():
        if key not in words:
            words[key] = invent(
                key, kind, acronym=acronym, is_open=_opens(key), taken=used, seed=seed
            )
            used.add(words[key])
    return words | (_united(words, used, seed) if countries else {})


def _united(words: Mapping[str, str], used: set[str], seed: str) -> dict[str, str]:
    """Return the words of the United States, the United Kingdom and their abbreviations."""
    united = words.get("united") or invent(
        "united", "place", acronym=False, is_open=False, taken=used, seed=seed
    )
    realm = random.Random(f"{seed} realm").choice([word for word in _REALMS if word not in used])
    first, second, third = united[0], realm[0], words["america"][0]
    return {
        "united": united,
        "united:states": united,
        "united:kingdom": united,
        "states:united": realm,
        "US:initials": first + second,
        "USA:initials": first + second + third,
        "UK:initials": f"{first}k",
        "U:S": first,
        "S:U": second,
        "A:US": third,
        "U:K": first,
        "K:U": "k",
    }


def _letters(seed: str) -> dict[str, str]:
    """Return another initial for each, of the same sound before which `a` or `an` stands."""
    rng = random.Random(f"{seed} initials")
    changed: dict[str, str] = {}
    for letters in ("AEFHLMNORS", "BCDGJKPQTUWYZ"):
        shuffled = rng.sample(letters, len(letters))
        changed |= dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))
    return changed


def _opens(key: str) -> bool:
    return key[0] in "aeio" and not key.startswith(("eu", "one", "once"))
