"""Texts shown with some of their values only, to ask whether a model can combine more at once."""

import random
from collections.abc import Collection, Iterator, Sequence

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import CorpusSamples, Sample, SampleMaker
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import Combination, Space

_SHARE = 4  # one combination of so many is left for the test
_TRIES = 1000


def with_fewer_codes(corpus: CorpusSamples, space: Space) -> CorpusSamples:
    """Return training texts with some of their values, and test samples with all of theirs.

    A quarter of the combinations, drawn at random, are for the test, and no text of them is for
    training; each value is in one of the others. Of the others, each text stays as it is, but is
    shown with a random number of its values, from one to all, and these at random. The seed is the
    name of the space.

    Raises:
        ConfigError: there are too few combinations.
    """
    rng = random.Random(space.name)
    asked = _left_out(space, rng)
    train = [sample for sample in corpus.train if combination_in(sample) not in asked]
    test = [s for s in corpus.test or corpus.train if combination_in(s) in asked]
    shown = _with_fewer(train, SampleMaker(corpus.name), rng)
    return CorpusSamples(corpus.name, tuple(shown), tuple(test))


def _with_fewer(
    samples: Sequence[Sample], make: SampleMaker, rng: random.Random
) -> Iterator[Sample]:
    for sample in samples:
        size = len(sample.units)
        shown = sorted(rng.sample(range(size), rng.randint(1, size)))
        yield make((sample.units[i] for i in shown), sample.references, **sample.context)


def _left_out(space: Space, rng: random.Random) -> Collection[Combination]:
    combinations = list(space.combinations)
    number = len(combinations) // _SHARE
    for _ in range(_TRIES):
        rng.shuffle(combinations)
        shown = map(set, zip(*combinations[number:], strict=True))
        if number and all(map(set.issuperset, shown, space.aspects.values())):
            return frozenset(combinations[:number])
    raise ConfigError(
        f"has {len(combinations)} combinations, too few to leave some out",
        where=space.name,
        remedy="Productivity needs two aspects or more.",
    )
