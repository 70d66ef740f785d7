"""What rule learnability requires: phrases for what is hidden, and nothing that tells it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

from spor_tasks.aspects.check.report import Report, unless_none
from spor_tasks.aspects.rule_learnability import POSSIBLE_VALUES
from spor_tasks.core.sample import AttributeValue, CopySample, SplitPair, Triple
from spor_tasks.text.normalize import display


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLearnability(Report):
    """What was counted in the test set that hides entities or values (section 3.4)."""

    hidden: int
    """Entities or values that are hidden."""
    samples_without_phrase: int
    """Test samples that do not show, for all they hide, a phrase of its own."""
    samples_that_tell: int
    """Test samples that show something they hide."""


def rule_learnability(pair: SplitPair) -> RuleLearnability:
    """Count what the test set of ``pair`` is required to be.

    Whether all references mention what is hidden cannot be told from the sets, which have none.
    """
    test = pair.test.samples
    hiding = [sample for sample in test if isinstance(sample, CopySample)]
    without = [s for s in test if not isinstance(s, CopySample) or not _shows_phrases(s)]
    telling = [sample for sample in hiding if _tells(sample)]
    return RuleLearnability(
        hidden=sum(len(sample.hidden) for sample in hiding),
        samples_without_phrase=len(without),
        samples_that_tell=len(telling),
        violations=(
            *unless_none(
                without, "test samples do not show a phrase for all they hide", test=without
            ),
            *unless_none(telling, "test samples show something they hide", test=telling),
        ),
    )


def _shows_phrases(sample: CopySample) -> bool:
    """Return whether each thing hidden has a phrase of its own, which the units show."""
    phrases = {phrase for _, phrase in sample.hidden}
    if not phrases or len(phrases) < len(sample.hidden):
        return False
    if isinstance(sample.units[0], Triple):
        return phrases.issubset(_ends(sample))
    return set(sample.units).issuperset(starmap(AttributeValue, sample.hidden))


def _tells(sample: CopySample) -> bool:
    """Return whether anything shown contains a hidden entity, or a possible hidden value."""
    shown = [display(text).lower() for text in (*_ends(sample), sample.name or "")]
    told = [value for what, _ in sample.hidden for value in POSSIBLE_VALUES.get(what, (what,))]
    return any(value.lower() in text for value in told for text in shown)


def _ends(sample: CopySample) -> Iterator[str]:
    """Yield the subjects and objects of triples, the values of pairs."""
    for unit in sample.units:
        if isinstance(unit, Triple):
            yield unit.subject
        yield unit[-1]
