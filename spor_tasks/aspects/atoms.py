"""What is composed: the units of a sample as they are, or more coarsely, as a corpus says.

The requirements of systematicity and productivity are about atoms that recur: a triple, a value. A
cell of a table hardly recurs, but its header does. A corpus may say what its atoms are, by
*granularity*: ``atoms`` is then a mapping of names to functions from a sample to its atoms, the
default first. Sets over atoms are built and checked on stand-ins, samples with the same ids and
their atoms as units, so that every aspect knows units only.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Contrast, CorpusSamples, DataUnit, Sample, Split, SplitPair
from spor_tasks.corpora.base import units

LITERAL = "literal"
"""The granularity at which atoms are the units themselves."""

Atoms: TypeAlias = Callable[[Sample], tuple[DataUnit, ...]]
"""The atoms of a sample; two samples share what is equal."""


def granularities(corpus: str) -> Mapping[str, Atoms]:
    """Return the granularities of a corpus, the default first; only ``literal`` for most."""
    known = registry().names("corpus")
    found = registry().get("corpus", corpus) if corpus in known else None
    return getattr(found, "atoms", {LITERAL: units})


def atoms_of(pair: SplitPair) -> Atoms:
    """Return what says the atoms of samples of these sets."""
    return granularities(pair.corpus)[pair.granularity]


def resolve(corpus: str, granularity: str | None) -> str:
    """Return the granularity asked for, or the default of the corpus.

    Raises:
        ConfigError: the corpus has no such granularity.
    """
    known = granularities(corpus)
    if granularity is None:
        return next(iter(known))
    if granularity not in known:
        raise ConfigError(
            f"{corpus} has no granularity {granularity!r}",
            where="granularity",
            remedy=f"Use {' or '.join(known)}, or leave it out.",
        )
    return granularity


def part_name(corpus: str, part: str | None, granularity: str) -> str | None:
    """Return the name of a part: with its granularity, if the corpus has a choice of these."""
    named = None if list(granularities(corpus)) == [LITERAL] else granularity
    return "_".join(filter(None, [part, named])) or None


def bare_part(corpus: str, part: str | None) -> tuple[str | None, str]:
    """Return a part without its granularity, and that: the inverse of :func:`part_name`."""
    for granularity in granularities(corpus):
        if part == part_name(corpus, None, granularity):
            return None, granularity
        bare = (part or "").removesuffix(f"_{granularity}")
        if bare and part == part_name(corpus, bare, granularity):
            return bare, granularity
    return part, LITERAL


def abstracted(samples: Iterable[Sample], granularity: str) -> tuple[Sample, ...]:
    """Return the stand-ins of samples of one corpus: their atoms in place of their units."""
    if granularity == LITERAL:
        return tuple(samples)
    return tuple(
        _abstracted(sample, granularities(sample.corpus)[granularity]) for sample in samples
    )


def _abstracted(sample: Sample, atoms: Atoms) -> Sample:
    """Return the stand-in of a sample, and of what it is contrasted with."""
    other = sample.challenge
    if isinstance(other, Contrast):
        other = replace(other, units=atoms(replace(sample, units=other.units)))
    return replace(sample, units=atoms(sample), challenge=other)


def abstracted_corpus(corpus: CorpusSamples, granularity: str) -> CorpusSamples:
    """Return a corpus of stand-ins."""
    parts = (abstracted(part, granularity) for part in (corpus.train, corpus.test))
    return CorpusSamples(corpus.name, *parts)


def pool_and_asked(
    stand_ins: CorpusSamples,
) -> tuple[Sequence[Sample], Sequence[Sample] | None]:
    """Return the stand-ins that systematicity draws from, and those it may ask if not these.

    The paper draws everything from one pool. But samples of one table share what is true of it, and
    a text of a training sample may be a reference of a test sample. So where a corpus says what its
    atoms are, the arms have training samples, and test samples are asked.
    """
    if list(granularities(stand_ins.name)) == [LITERAL]:
        return stand_ins.samples, None
    return stand_ins.train, stand_ins.test


def abstracted_pair(pair: SplitPair) -> SplitPair:
    """Return sets with stand-ins for their samples, as they were built."""
    if pair.granularity == LITERAL:
        return pair
    arms, test = pair.arms, pair.test
    return replace(
        pair,
        arms=tuple(Split(arm.name, abstracted(arm.samples, pair.granularity)) for arm in arms),
        test=Split(test.name, abstracted(test.samples, pair.granularity)),
    )


def restored(pair: SplitPair, samples: Iterable[Sample], granularity: str) -> SplitPair:
    """Return sets with the samples that their stand-ins are of, named by their granularity."""
    part = part_name(pair.corpus, pair.part, granularity)
    if granularity == LITERAL:
        return replace(pair, part=part)
    of_id = {sample.id: sample for sample in samples}

    def original(split: Split) -> Split:
        return Split(split.name, tuple(of_id[sample.id] for sample in split.samples))

    return replace(
        pair,
        arms=tuple(map(original, pair.arms)),
        test=original(pair.test),
        part=part,
        granularity=granularity,
    )
