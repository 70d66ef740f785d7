"""The requirements of rule learnability: phrases replace what is hidden, and nothing reveals it."""

from dataclasses import dataclass
from itertools import starmap
from typing import Annotated

from spor_tasks.aspects.check.result import CheckResult, unless_none
from spor_tasks.aspects.rule_learnability import hides_values, possible_values
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SplitPair, Triple
from spor_tasks.text.normalize import display


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLearnability(CheckResult):
    """Counts of a test set that hides entities or values (section 3.4)."""

    hidden: Annotated[int, "hidden entities or values"]
    samples_without_phrase: Annotated[int, "test samples without a phrase for each of them"]
    samples_that_tell: Annotated[int, "test samples that reveal one of them"]


def rule_learnability(pair: SplitPair) -> RuleLearnability:
    """Check the test set of ``pair``.

    The sets have no references, so whether all references mention what is hidden is not checked.
    """
    test = [(sample, _hidden(sample)) for sample in pair.test.samples]
    without = [sample for sample, hidden in test if not _shows_phrases(sample, hidden)]
    telling = [sample for sample, hidden in test if _tells(sample, hidden)]
    return RuleLearnability(
        hidden=sum(len(hidden.phrases) for _, hidden in test),
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


def _hidden(sample: Sample) -> Hidden:
    return sample.challenge if isinstance(sample.challenge, Hidden) else Hidden(())


def _shows_phrases(sample: Sample, hidden: Hidden) -> bool:
    """Return whether everything hidden has a separate phrase, and the sample shows it."""
    phrases = {phrase for _, phrase in hidden.phrases}
    if not phrases or len(phrases) < len(hidden.phrases):
        return False
    if isinstance(sample.units[0], Triple):
        return phrases.issubset(_ends(sample))
    return set(sample.units).issuperset(starmap(AttributeValue, hidden.phrases))


def _tells(sample: Sample, hidden: Hidden) -> bool:
    """Return whether any text shown contains a hidden entity, or a value that may be hidden."""
    shown = [display(text).lower() for text in (*_ends(sample), sample.about("name") or "")]
    secrets = [
        display(secret)
        for what, _ in hidden.phrases
        for secret in (hides_values(sample) and possible_values(hidden, what)) or (what,)
    ]
    return any(secret.lower() in text for secret in secrets for text in shown)


def _ends(sample: Sample) -> list[str]:
    """Return the subjects and objects of triples, the values of pairs."""
    return [
        end
        for unit in sample.units
        for end in ((unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,))
    ]
