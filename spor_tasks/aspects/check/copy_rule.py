"""The requirements of rule learnability: phrases replace what is hidden, and nothing reveals it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import TypeAlias

from spor_tasks.aspects.check.result import CheckResult, unless_none
from spor_tasks.aspects.rule_learnability import possible_values
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SplitPair, Triple
from spor_tasks.text.normalize import display


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLearnability(CheckResult):
    """Counts of a test set that hides entities or values (section 3.4)."""

    hidden: int
    """Hidden entities or values."""
    samples_without_phrase: int
    """Test samples that do not show a separate phrase for everything that they hide."""
    samples_that_tell: int
    """Test samples that reveal something that they hide."""


def rule_learnability(pair: SplitPair) -> RuleLearnability:
    """Check the test set of ``pair``.

    The sets have no references, so whether all references mention what is hidden is not checked.
    """
    test = pair.test.samples
    without = [sample for sample in test if not _shows_phrases(sample, _hidden(sample))]
    telling = [sample for sample in test if _tells(sample, _hidden(sample))]
    return RuleLearnability(
        hidden=sum(len(_hidden(sample)) for sample in test),
        samples_without_phrase=len(without),
        samples_that_tell=len(telling),
        violations=(
            *unless_none(
                without,
                "test samples do not show a phrase for everything that they hide",
                test=without,
            ),
            *unless_none(telling, "test samples reveal something that they hide", test=telling),
        ),
    )


_Hidden: TypeAlias = Sequence[tuple[str, str]]


def _hidden(sample: Sample) -> _Hidden:
    return sample.challenge.phrases if isinstance(sample.challenge, Hidden) else ()


def _shows_phrases(sample: Sample, hidden: _Hidden) -> bool:
    """Return whether everything hidden has a separate phrase, and the units show it."""
    phrases = {phrase for _, phrase in hidden}
    if not phrases or len(phrases) < len(hidden):
        return False
    if isinstance(sample.units[0], Triple):
        return phrases.issubset(_ends(sample))
    return set(sample.units).issuperset(starmap(AttributeValue, hidden))


def _tells(sample: Sample, hidden: _Hidden) -> bool:
    """Return whether any text shown contains a hidden entity, or a value that may be hidden."""
    shown = [display(text).lower() for text in (*_ends(sample), sample.about("name") or "")]
    told = [value for what, _ in hidden for value in _values(sample, what)]
    return any(value.lower() in text for value in told for text in shown)


def _values(sample: Sample, hidden: str) -> Sequence[str]:
    """Return what may not be told: the entity, or all that the attribute can be."""
    challenge = sample.challenge
    known = isinstance(challenge, Hidden) and possible_values(challenge, hidden)
    return known or (hidden,)


def _ends(sample: Sample) -> Iterator[str]:
    """Yield the subjects and objects of triples, the values of pairs."""
    for unit in sample.units:
        if isinstance(unit, Triple):
            yield unit.subject
        yield unit[-1]
