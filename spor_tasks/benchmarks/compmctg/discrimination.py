"""Texts that people wrote, each to be found likeliest under its own combination of attributes.

The texts are held out: those for classifiers that are not among the texts for generators, and of
the embedded corpus its part `held_out`. They are of all combinations alike, and the same for every
split of a corpus.
"""

import logging
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any

from spor_tasks.benchmarks.compmctg.protocols import Partition
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Deferred, Rivals, Sample
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import Combination, Space
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.metrics.under_splits import HALVES

PROTOCOL = "discrimination"

_SEED = 2023  # of the texts of files that are drawn
_MOST = 100  # texts of a combination
_LIKELIHOODS = 32_000  # that a task may ask for
_WORDS = 256  # that a text may have: longer ones might lose their combination in a model's window

_logger = logging.getLogger(__name__)


def judged(_: str, *, is_divided: bool) -> dict[str, Any]:
    """Return the scores of a corpus; only under a split they are also of its halves."""
    of_split = ("disc_gap", "disc_acc_within") if is_divided else ()
    reported = ("disc_acc", *of_split, "disc_aspects")
    halves = [f"{score}_{half}" for score in reported if score != "disc_gap" for half in HALVES]
    breakdown = tuple(halves) if is_divided else ()
    return {
        "scores": (*reported, *breakdown),
        "reported": reported,
        "breakdown": breakdown,
        "headline": "disc_acc",
    }


def samples(space: Space, unseen: frozenset[Combination], folder: Path) -> Sequence[Sample]:
    """Return the texts of a split, with all other combinations as rivals, read when needed.

    Raises:
        CorpusError: when they are read, a file is missing or malformed, or has no text to ask for.
    """
    return Deferred(lambda: tuple(_with_rivals(space, unseen, texts(space, folder))), None)


def _with_rivals(
    space: Space, unseen: frozenset[Combination], found: Iterable[Sample]
) -> Iterator[Sample]:
    rivals = {own: _rivals(space, own, unseen) for own in space.combinations}
    for sample in found:
        own = reader.combination_in(sample)
        context = {**sample.context, "unseen": own in unseen}
        yield replace(sample, context=context, challenge=rivals[own])


def _rivals(space: Space, own: Combination, unseen: frozenset[Combination]) -> Rivals:
    others = [each for each in space.combinations if each != own]
    return Rivals(
        tuple(reader.units_of(space, each) for each in others),
        tuple((each in unseen) == (own in unseen) for each in others),
    )


def number_of_texts(space: Space) -> int:
    """Return how many texts of each combination there should be."""
    return max(1, min(_MOST, _LIKELIHOODS // len(space.combinations) ** 2))


@cache
def texts(space: Space, folder: Path) -> tuple[Sample, ...]:
    """Return the texts of all combinations, which take turns.

    Raises:
        CorpusError: a file is missing or malformed, or has no text to ask for.
    """
    each = number_of_texts(space)
    if space.name == COMPMCTG_MINI.name:
        return tuple(COMPMCTG_MINI.part("held_out"))
    gen, cls = (reader.file_of(space.name, part, folder) for part in ("gen", "cls"))
    trained = {sample.target.strip() for sample in reader.read(gen, space)}
    short = (each for each in reader.read(cls, space) if len(each.target.split()) <= _WORDS)
    held_out = (each for each in short if each.target.strip() not in trained)
    pools = _pools(_unambiguous(held_out))
    if not pools:
        raise CorpusError(
            "has no text that is not in gen.jsonl too",
            where=cls,
            remedy="Put the files as the authors published them there: texts that a generator was "
            "trained on cannot test it.",
        )
    drawn = {own: _drawn(space, own, pools.get(own, []), each) for own in space.combinations}
    if few := [own for own, of in drawn.items() if len(of) < each]:
        _logger.warning(
            "%s: %d of %d combinations have fewer than %d held-out texts, one of them %d",
            cls,
            len(few),
            len(space.combinations),
            each,
            min(map(len, drawn.values())),
        )
    return _in_turns(space, drawn)


def _unambiguous(found: Iterable[Sample]) -> Iterator[Sample]:
    """Yield each text once, if all its rows say the same combination."""
    rows: dict[str, list[Sample]] = defaultdict(list)
    for sample in found:
        rows[sample.target.strip()].append(sample)
    for first, *others in rows.values():
        if all(other.units == first.units for other in others):
            yield first


def _pools(found: Iterable[Sample]) -> dict[Combination, list[Sample]]:
    pools: dict[Combination, list[Sample]] = defaultdict(list)
    for sample in found:
        pools[reader.combination_in(sample)].append(sample)
    return pools


def _drawn(space: Space, own: Combination, pool: Sequence[Sample], each: int) -> Sequence[Sample]:
    """Return so many of a combination, or all there are, in their order."""
    rng = random.Random(f"{_SEED} {space.name} {' '.join(own)}")
    return [pool[at] for at in sorted(rng.sample(range(len(pool)), min(each, len(pool))))]


def _in_turns(space: Space, found: Mapping[Combination, Sequence[Sample]]) -> tuple[Sample, ...]:
    turns = zip_longest(*(found.get(own, ()) for own in space.combinations))
    return tuple(sample for sample in chain.from_iterable(turns) if sample is not None)


def chances(split: Partition) -> str:
    """Return in words what a model scores that does not read its codes."""
    combinations = [each for half in split for each in half]
    by_aspect = fmean(100 / len({*values}) for values in zip(*combinations, strict=True))
    told = f"chance: accuracy {100 / len(combinations):.1f}, by aspect {by_aspect:.1f}"
    if not split.unseen:
        return told
    halves = (
        f"{100 / len(half):.1f} {name}"
        for half, name in zip(split, ("i.d.", "comp."), strict=True)
        if len(half) > 1
    )
    return f"{told}, within the half {', '.join(halves)}"
