"""Texts that people wrote, each to be found likeliest under its own combination of attributes.

The texts are held out: those for classifiers that are not among the texts for generators, and of
the embedded corpus its part `held_out`. They are of all combinations alike, and the same for every
split of a corpus.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from statistics import fmean

from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Deferred, Rivals, Sample
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import Combination, Space
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.corpora.sources import COMPMCTG

PROTOCOL = "discrimination"

_SEED = 2023  # of the texts of files that are drawn
_MOST = 100  # texts of a combination
_LIKELIHOODS = 32_000  # that a task may ask for
_WORDS = 256  # that a text may have: longer ones might lose their combination in a model's window


def samples(space: Space, unseen: frozenset[Combination]) -> Sequence[Sample]:
    """Return the texts of a split, with all other combinations as rivals, read when needed.

    Raises:
        CorpusError: when they are read, a file is missing or malformed, or has no text to ask for.
    """
    folder = COMPMCTG.data_dir()
    return Deferred(lambda: tuple(_with_rivals(space, unseen, texts(space, folder))), None)


def _with_rivals(
    space: Space, unseen: frozenset[Combination], held_out: Iterable[Sample]
) -> Iterator[Sample]:
    for sample in held_out:
        own = reader.combination_in(sample)
        rivals = [each for each in space.combinations if each != own]
        units = tuple(reader.units_of(space, each) for each in rivals)
        alike = tuple((each in unseen) == (own in unseen) for each in rivals)
        context = {**sample.context, "unseen": own in unseen}
        yield replace(sample, context=context, challenge=Rivals(units, alike))


def number_of_texts(space: Space) -> int:
    """Return how many texts of each combination there should be."""
    return max(1, min(_MOST, _LIKELIHOODS // len(space.combinations) ** 2))


@cache
def texts(space: Space, folder: Path) -> tuple[Sample, ...]:
    """Return the texts of all combinations, which take turns.

    Raises:
        CorpusError: a file is missing or malformed, or has no text to ask for.
    """
    if space.name == COMPMCTG_MINI.name:
        return tuple(COMPMCTG_MINI.part("held_out"))
    gen, cls = (reader.file_of(space.name, part, folder) for part in ("gen", "cls"))
    trained = {sample.target.strip() for sample in reader.read(gen, space)}
    short = (each for each in reader.read(cls, space) if len(each.target.split()) <= _WORDS)
    pools = _by_combination(each for each in short if each.target.strip() not in trained)
    if not pools:
        raise CorpusError(
            "has no text that is not in gen.jsonl too",
            where=cls,
            remedy="Put the files as the authors published them there: texts that a generator was "
            "trained on cannot test it.",
        )
    count = number_of_texts(space)
    drawn = [_drawn(space, own, pools[own], count) for own in space.combinations]
    return tuple(filter(None, chain.from_iterable(zip_longest(*drawn))))


def _by_combination(held_out: Iterable[Sample]) -> dict[Combination, list[Sample]]:
    """Return each text once by its combination, if all its rows say the same one."""
    rows: dict[str, list[Sample]] = defaultdict(list)
    for sample in held_out:
        rows[sample.target.strip()].append(sample)
    pools: dict[Combination, list[Sample]] = defaultdict(list)
    for first, *repeats in rows.values():
        if all(each.units == first.units for each in repeats):
            pools[reader.combination_in(first)].append(first)
    return pools


def _drawn(space: Space, own: Combination, pool: Sequence[Sample], count: int) -> Sequence[Sample]:
    """Return so many texts of a combination, or all there are, in their order."""
    rng = random.Random(f"{_SEED} {space.name} {' '.join(own)}")
    return [pool[at] for at in sorted(rng.sample(range(len(pool)), min(count, len(pool))))]


def chances(split: Partition) -> str:
    """Return in words what a model scores that does not read its codes."""
    combinations = [each for half in split for each in half]
    by_aspect = fmean(100 / len({*values}) for values in zip(*combinations, strict=True))
    text = f"chance: accuracy {100 / len(combinations):.1f}, by aspect {by_aspect:.1f}"
    if not split.unseen:
        return text
    halves = (
        f"{100 / len(half):.1f} {name}"
        for half, name in zip(split, ("i.d.", "comp."), strict=True)
        if len(half) > 1
    )
    return f"{text}, within the half {', '.join(halves)}"
