"""Rule learnability of tables: phrases in place of titles and cells that all references copy."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from spor_tasks.core.sample import Hidden, Sample, SampleMaker
from spor_tasks.corpora.own import word
from spor_tasks.corpora.tables import pointed, shown_texts, written
from spor_tasks.text.whole import find_whole

_LETTERS = 3  # that a name has at least
_NAME, _NUMBER = "Entity", "Value"
_REVEALED = "what would be hidden is shown elsewhere"


def hide_cells(samples: Sequence[Sample]) -> list[Sample | str]:
    """Return each sample with a phrase for what it hides, or why there is nothing to hide.

    Hidden is what every reference has as whole words, and no other text of the table contains: of a
    sample with highlighted cells its title, their names (three letters and more, no digit) and
    their numbers, which stand in one cell only; of another one the names in its linked columns. A
    name becomes ``Entity 1`` and so on, a number ``Value 1``. Case does not matter.
    """
    make = SampleMaker(samples[0].corpus if samples else "")
    outcomes: list[Sample | str] = []
    for sample in samples:
        copied = _copied(sample)
        if phrases := _phrases(sample, copied):
            known = {_plain(text): phrase for text, phrase in phrases.items()}
            units, context = written(sample, lambda text: known.get(_plain(text), text))  # noqa: B023 - called at once
            made = make(units, (), **context)
            prompt = word(made, "causal")  # may show only the beginning of a table
            is_shown = all(phrase in prompt for phrase in phrases.values())
            hidden = replace(made, challenge=Hidden(tuple(phrases.items())))
            outcomes.append(hidden if is_shown else "the prompt ends before what would be hidden")
        else:
            outcomes.append(_REVEALED if copied else "no name or number is in all references")
    return outcomes


def _copied(sample: Sample) -> dict[str, str]:
    """Return what is a name or a number, and in all references, with its kind."""
    texts = [_plain(text) for text in sample.references]
    found: dict[str, tuple[str, str]] = {}
    for text, kind in _candidates(sample):
        if all(find_whole(reference, _plain(text)) >= 0 for reference in texts):
            found.setdefault(_plain(text), (text, kind))
    return dict(found.values())


def _phrases(sample: Sample, copied: Mapping[str, str]) -> dict[str, str]:
    """Return the phrase for each string to hide, names and numbers each in their order.

    No text of the table may contain what is hidden, nor may a phrase.
    """
    shown = Counter(map(_plain, shown_texts(sample)))
    given = range(1, len(copied) + 1)
    phrases = [f"{kind} {number}".lower() for kind in (_NAME, _NUMBER) for number in given]
    counts: Counter[str] = Counter()
    found = {}
    for text, kind in copied.items():
        plain = _plain(text)
        others = (other for other in (*shown, *phrases) if other != plain)
        if not any(plain in other for other in others) and (kind == _NAME or shown[plain] == 1):
            counts[kind] += 1
            found[text] = f"{kind} {counts[kind]}"
    return found


def _candidates(sample: Sample) -> Iterator[tuple[str, str]]:
    strings, are_told = pointed(sample)
    title = sample.about("title")
    for text in (*([title] if title and are_told else []), *strings):
        if not any(map(str.isdigit, text)):
            if sum(map(str.isalpha, text)) >= _LETTERS:
                yield text, _NAME
        elif are_told and not any(map(str.isalpha, text)):
            yield text, _NUMBER


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
