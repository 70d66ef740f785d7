"""Twins of samples: one mapping of a corpus, and the reasons for which a sample has no twin."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, NamedTuple

from spor_tasks.aspects import order_invariance
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Challenge, DataUnit, Hidden, Json, Orders, Sample, Triple
from spor_tasks.corpora.e2e.kinds import KINDS as E2E
from spor_tasks.corpora.kinds import CorpusKinds
from spor_tasks.corpora.viggo.kinds import KINDS as VIGGO
from spor_tasks.corpora.webnlg.kinds import KINDS as WEBNLG
from spor_tasks.text.normalize import display
from spor_tasks.twins.lexicon import Lexicon, lexicon
from spor_tasks.twins.texts import UncertainError, exchange_of, exchanged_text
from spor_tasks.twins.writing import exchanged_entity

_KINDS: dict[str, CorpusKinds] = {"webnlg": WEBNLG, "e2e": E2E, "viggo": VIGGO}
CORPORA = tuple(_KINDS)
"""The corpora that have twins."""

NOTHING: Final = "nothing of it is exchanged"
UNKNOWN: Final = "an entity is not one of the corpus"
OTHER_ORDER: Final = "its texts would mention the units in another order"
OTHER_CHALLENGE: Final = "it has a false text or rivals"


class Untwinned(NamedTuple):
    """Why a sample has no twin, in plain words."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """The mapping of a corpus; equal for equal corpora and seeds."""

    lexicon: Lexicon

    def twin(self, sample: Sample) -> Sample | Untwinned:
        """Return the sample with invented entities, or why it has no twin.

        Units, references, name and challenge are exchanged alike; the id stays.
        """
        if not isinstance(sample.challenge, Orders | Hidden | None):
            return Untwinned(OTHER_CHALLENGE)
        phrases = _phrases(sample)
        try:
            units = tuple(self._unit(unit, phrases) for unit in sample.units)
            challenge = self._challenge(sample.challenge)
            context = {key: self._value(key, value) for key, value in sample.context.items()}
        except KeyError:
            return Untwinned(UNKNOWN)
        others = (_attribute(unit) for unit in sample.units)
        try:
            exchange = exchange_of(self.lexicon, _entities(sample, phrases), others)
            references = tuple(exchanged_text(exchange, text) for text in sample.references)
        except UncertainError as error:
            return Untwinned(str(error))
        if (units, context) == (sample.units, dict(sample.context)):
            return Untwinned(NOTHING)
        twin = replace(
            sample, units=units, references=references, context=context, challenge=challenge
        )
        if isinstance(challenge, Orders) and _orders(twin) != _orders(sample):
            return Untwinned(OTHER_ORDER)
        return twin

    def _unit(self, unit: DataUnit, phrases: frozenset[str]) -> DataUnit:
        if isinstance(unit, Triple):
            subject, obj = (self._end(end, phrases) for end in (unit.subject, unit.object))
            return Triple(subject, unit.predicate, obj)
        return unit._replace(value=self._end(unit.value, phrases))

    def _end(self, raw: str, phrases: frozenset[str]) -> str:
        return raw if raw in phrases else exchanged_entity(self.lexicon, raw)

    def _value(self, key: str, value: Json) -> Json:
        named = key == "name" and isinstance(value, str)
        return exchanged_entity(self.lexicon, value) if named else value

    def _challenge(self, challenge: Challenge | None) -> Challenge | None:
        if not isinstance(challenge, Hidden):
            return challenge
        return Hidden(
            tuple((self._hidden(what), phrase) for what, phrase in challenge.phrases),
            tuple(
                (what, tuple(self._hidden(value) for value in known))
                for what, known in challenge.values
            ),
        )

    def _hidden(self, what: str) -> str:
        known = display(what) in self.lexicon.kinds
        return exchanged_entity(self.lexicon, what) if known else what


def _phrases(sample: Sample) -> frozenset[str]:
    hidden = sample.challenge
    return (
        frozenset(phrase for _, phrase in hidden.phrases)
        if isinstance(hidden, Hidden)
        else frozenset()
    )


def _entities(sample: Sample, phrases: frozenset[str]) -> Iterator[str]:
    if name := sample.about("name"):
        yield name
    for unit in sample.units:
        ends = (unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,)
        yield from (end for end in ends if end not in phrases)


def _attribute(unit: DataUnit) -> str:
    return unit.predicate if isinstance(unit, Triple) else unit.attribute


def _orders(sample: Sample) -> object:
    return order_invariance.reference_orders(sample)


@cache
def twins_of(corpus: str, seed: int = 0) -> Twins:
    """Return the twins of a corpus, equal on every machine for equal seeds.

    Raises:
        ConfigError: the corpus has no twins.
        CorpusError: a file of the corpus is missing or is not the published one.
    """
    if corpus not in _KINDS:
        raise ConfigError(
            f"{corpus!r} has no twins",
            remedy=f"The corpora that have them are {', '.join(CORPORA)}.",
        )
    samples = registry().get("corpus", corpus).everything()
    return Twins(lexicon(samples, _KINDS[corpus], f"{corpus} {seed}"))
