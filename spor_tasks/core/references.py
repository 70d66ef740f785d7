"""Which texts of a source are references."""

from dataclasses import replace
from itertools import compress

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Orders, Sample, SampleMaker

_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters of Hangul that look like nothing


def has_words(text: str) -> bool:
    """Return whether a text has a letter or a digit, of any script."""
    return any(char.isalnum() and char not in _FILLERS for char in text)


def with_references(
    sample: Sample, make: SampleMaker | None = None, *, where: str | None = None
) -> Sample:
    """Return the sample without the texts that have no letter or digit: these are no references.

    Every reader of samples calls it. ``make`` gives an id to a sample that lost a text; by default
    it keeps its own.

    Raises:
        CorpusError: there are texts, but none has a letter or digit; the error names ``where``.
    """
    keeps, challenge = [*map(has_words, sample.references)], sample.challenge
    if all(keeps) and not sample.twin:
        return sample
    if keeps and not any(keeps):
        raise CorpusError("none of its texts has a letter or digit", where=where)
    references = tuple(compress(sample.references, keeps))
    if isinstance(challenge, Orders):
        challenge = replace(challenge, references=tuple(compress(challenge.references, keeps)))
    kept = replace(
        sample, references=references, challenge=challenge, left_out=keeps.count(False), twin=None
    )
    if make and kept.left_out:
        kept = replace(kept, id=make(kept.units, references, **kept.context).id)
    if sample.twin is None:
        return kept
    return replace(kept, twin=replace(with_references(sample.twin, where=where), id=kept.id))
