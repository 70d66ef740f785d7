"""The requirements of order invariance and rule learnability, counted apart from the builders."""

from collections import Counter
from itertools import starmap

from spor_tasks.aspects import check
from spor_tasks.aspects.rule_learnability import hides_values, possible_values
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Triple
from spor_tasks.text import align
from spor_tasks.text.normalize import display


def broken(pair):
    """Return the requirements that sets break, those that `spor data check` knows among them."""
    words = [violation.words for violation in check.check(pair).violations]
    if pair.facts.aspect == "order_invariance":
        words += _broken_orders(pair)
    if pair.facts.aspect == "rule_learnability":
        words += [f"{s.id} shows no phrase" for s in pair.test if not _shows_phrases(s)]
        words += [f"{s.id} tells what it hides" for s in pair.test if _tells(s)]
    return words


def _broken_orders(pair):
    """Match has each reference of Original once, with its units in the order of the text."""
    original, match, test = pair.all.values()
    references = Counter(
        (sample.about("name"), _in_order_of(sample, text), text)
        for sample in original
        for text in sample.references
    )
    matches = Counter((sample.about("name"), sample.units, *sample.references) for sample in match)
    words = [f"Match differs in {key}" for key in (references - matches) | (matches - references)]
    if pair.facts.part != "performance":
        words += [f"{sample.id} has a single unit" for sample in test if len(sample.units) == 1]
    if pair.facts.part == "main":
        words += [f"{sample.id} has one order" for sample in test if not _has_two_orders(sample)]
    words += [f"{s.id} has another order of a reference" for s in test if not _reads_as_it_says(s)]
    return words


def _in_order_of(sample, text):
    places = align.locate(sample.units, text, strict=False)
    ordered = sorted(range(len(places)), key=lambda unit: (places[unit] is None, places[unit] or 0))
    return tuple(sample.units[unit] for unit in ordered)


def _has_two_orders(sample):
    return isinstance(sample.challenge, Orders) and len(set(sample.challenge.inputs)) > 1


def _reads_as_it_says(sample):
    if not isinstance(sample.challenge, Orders):
        return True
    return all(
        None not in align.locate(sample.units, text, strict=False)
        and tuple(sample.units[unit] for unit in order) == _in_order_of(sample, text)
        for text, order in zip(sample.references, sample.challenge.references, strict=True)
    )


def _hidden(sample):
    return sample.challenge if isinstance(sample.challenge, Hidden) else Hidden(())


def _shows_phrases(sample):
    """Say whether everything hidden has a separate phrase, and the sample shows it."""
    hidden = _hidden(sample)
    phrases = {phrase for _, phrase in hidden.phrases}
    if not phrases or len(phrases) < len(hidden.phrases):
        return False
    if isinstance(sample.units[0], Triple):
        return phrases.issubset(_ends(sample))
    return set(sample.units).issuperset(starmap(AttributeValue, hidden.phrases))


def _tells(sample):
    """Say whether any text shown contains a hidden entity, or a value that may be hidden."""
    hidden = _hidden(sample)
    shown = [display(text).lower() for text in (*_ends(sample), sample.about("name") or "")]
    secrets = [
        display(secret)
        for what, _ in hidden.phrases
        for secret in (hides_values(sample) and possible_values(hidden, what)) or (what,)
    ]
    return any(secret.lower() in text for secret in secrets for text in shown)


def _ends(sample):
    return [
        end
        for unit in sample.units
        for end in ((unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,))
    ]
