"""Builds the strict sets of any aspect from any corpus."""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from spor_tasks.aspects import (
    check,
    order_invariance,
    productivity,
    rule_learnability,
    systematicity,
)
from spor_tasks.aspects.arms import ARMS, lacking
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import CorpusSamples, Sample, Sets, with_known_units
from spor_tasks.core.words import joined

DEFAULT_PARTS = {"productivity": "n3", "order_invariance": "main"}
"""The part that is built if none is named, of the aspects that have several."""

_MOST_TRIED = 20  # thresholds; each takes a build

PARTS: Mapping[str, tuple[str, ...]] = {
    "productivity": ("n2", "n3", "n4", "n5"),
    "order_invariance": order_invariance.PARTS,
}
"""The parts that are asked of a corpus of one's own; the other aspects have none."""


def build(
    corpus: CorpusSamples,
    aspect: str,
    part: str | None = None,
    *,
    seed: int = 0,
    restarts: int = systematicity.RESTARTS,
    hide: Sequence[str] = (),
) -> Sets:
    """Build the sets of an aspect; ``part`` names which, if the aspect has several parts.

    Systematicity uses all samples for anything. The other aspects train on the training samples,
    and test on the test samples all of whose units occur in training samples.

    ``seed`` is the seed of all random choices; productivity makes none. Systematicity keeps the
    best of ``restarts`` runs of Algorithm 1. ``hide`` names the attributes whose values rule
    learnability hides if units are attribute-value pairs; if it is empty, what references copy, or
    as in the paper if they are those of E2E.

    Raises:
        ConfigError: a setting is out of range.
        SplitError: the aspect or part is unknown, or the corpus is too small for it; the error
            says what it lacks.
    """
    part = part or DEFAULT_PARTS.get(aspect)
    threshold_of(aspect, part)
    rng = random.Random(seed)
    if aspect == "systematicity":
        pair = systematicity.build(corpus.samples, rng, restarts)
        if not check.shown_pairs(pair).shown:
            raise SplitError(
                "Combination cannot show two units of a test sample together, so it would not "
                "differ from Atom",
                where=pair.facts.corpus,
                remedy="Give more samples that share two or more units.",
            )
        return pair
    test = _testable(corpus)
    match aspect:
        case "productivity":
            train, threshold = tuple(corpus.train), productivity.threshold_of(part)
            try:
                pair = productivity.build(train, test, threshold)
            except SplitError as error:
                work = ", ".join(f"n{n}" for n in _possible_thresholds(train, test))
                remedy = f"Use {work}" if work else "No threshold works: use another corpus"
                raise SplitError(error.what, remedy=f"{remedy}, or a larger corpus.") from error
        case "order_invariance":
            pair = order_invariance.build(corpus.train, test, str(part), rng)
        case _:
            pair = rule_learnability.build(corpus.train, test, rng, hide)
    unknown = len(corpus.test) - len(test)
    more = (("a unit is in no training sample", unknown),) if unknown else ()
    return replace(pair, untested=(*pair.untested, *more))


def threshold_of(aspect: str, part: str | None) -> int | None:
    """Return the N of a part of productivity, None of any other aspect.

    Raises:
        SplitError: there is no such aspect or part.
    """
    if aspect == "productivity":
        return productivity.threshold_of(part)
    if aspect not in ARMS or part not in PARTS.get(aspect, (None,)):
        raise SplitError(
            f"unknown aspect or part {joined(' ', aspect, part)!r}",
            remedy=f"The aspects are {', '.join(ARMS)}. The parts of productivity are n1, n2 and "
            f"so on, those of order_invariance are {', '.join(order_invariance.PARTS)}; the other "
            "aspects have no parts.",
        )
    return None


@cache  # the parts of a corpus are tried one after the other
def _possible_thresholds(train: tuple[Sample, ...], test: tuple[Sample, ...]) -> list[int]:
    """Return the thresholds that sets can be built with, of the smallest that differ."""
    possible = []
    largest = max(len(sample.units) for sample in test)
    sizes = {len(sample.units) for sample in (*train, *test)}
    for n in sorted(size for size in sizes if size < largest)[:_MOST_TRIED]:
        with suppress(SplitError):
            productivity.build(train, test, n)
            possible.append(n)
    return possible


def _testable(corpus: CorpusSamples) -> tuple[Sample, ...]:
    """Return the test samples all of whose units occur in training samples."""
    if not corpus.train:
        raise SplitError(
            "there are no training samples",
            where=corpus.name,
            remedy="Give a corpus with a training part. Only systematicity chooses its own.",
        )
    if not corpus.test:
        raise SplitError(
            "has no test samples",
            where=corpus.name,
            remedy='Give a folder with files named train and test, or rows with "split": "train" '
            'or "test". Only systematicity chooses its own test samples.',
        )
    testable = with_known_units(corpus.test, corpus.train)
    if not testable:
        raise SplitError(
            "has no test sample all of whose units occur in training samples: "
            + lacking(corpus.test, corpus.train),
            where=corpus.name,
            remedy="Add training samples with these units.",
        )
    return testable
