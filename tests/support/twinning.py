"""A stand-in for fictional twins: the names in the units, spelt backwards everywhere."""

import re
from dataclasses import replace

from spor_tasks.core.sample import Hidden, Sample, Split, SplitPair
from spor_tasks.twins import Untwinned

_NAME = re.compile(r"[A-Z][a-z]+")


def names_in(sample: Sample) -> set[str]:
    """Return the names of a sample, which its twin must not have."""
    ends = [part for unit in sample.units for part in (unit[0], unit[-1])]
    hidden = sample.challenge.phrases if isinstance(sample.challenge, Hidden) else ()
    texts = [*ends, *(what for what, _ in hidden)]
    return {name for text in texts for name in _NAME.findall(text)} - {"Entity"}


class BackwardTwins:
    """Every fourth sample has no twin."""

    def twin(self, sample: Sample) -> Sample | Untwinned:
        if sample.id[0] in "048c":
            return Untwinned("its id")
        return backward(sample)


def backward(sample: Sample) -> Sample:
    names = names_in(sample)

    def spelt(text: str) -> str:
        return _NAME.sub(lambda found: _back(found[0]) if found[0] in names else found[0], text)

    challenge = sample.challenge
    if isinstance(challenge, Hidden):
        phrases = tuple((spelt(what), phrase) for what, phrase in challenge.phrases)
        challenge = replace(challenge, phrases=phrases)
    units = tuple(type(unit)(*map(spelt, unit)) for unit in sample.units)
    texts = tuple(map(spelt, sample.references))
    return replace(sample, units=units, references=texts, challenge=challenge)


def _back(name: str) -> str:
    return f"{name[::-1].capitalize()}x"  # "Anna" too is another name


def twinned(pair: SplitPair) -> SplitPair:
    """Return the sets with test samples that have twins."""
    both = ((sample, BackwardTwins().twin(sample)) for sample in pair.test.samples)
    test = tuple(replace(one, twin=twin) for one, twin in both if isinstance(twin, Sample))
    return replace(pair, name=pair.name._replace(protocol="twin"), test=Split("test", test))
