"""Builds the strict sets of any aspect from any corpus."""

import random
from dataclasses import dataclass

from spor_tasks.aspects import (
    check,
    order_invariance,
    productivity,
    rule_learnability,
    systematicity,
)
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import ARMS, Corpus, Sample, SplitPair
from spor_tasks.corpora.webnlg import reader as webnlg

DEFAULT_PARTS = {"productivity": "n3", "order_invariance": "main"}
"""The part that an aspect of several is built in where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a build depends on, beside the corpus.

    ``seed`` starts the random numbers, and ``restarts`` is how many runs of Algorithm 1
    systematicity chooses from; productivity is not random.
    """

    seed: int = 0
    restarts: int = systematicity.Settings().restarts


def build(
    corpus: Corpus, aspect: str, part: str | None = None, settings: Settings | None = None
) -> SplitPair:
    """Build the sets of an aspect, the named part of it where it has several.

    Systematicity is built from all samples. The other aspects train on the training samples and
    are tested on those test samples of which a training sample has every unit.

    Raises:
        ConfigError: a setting is out of its range.
        SplitError: there is no such aspect or part, or the corpus is too small for it; the error
            says in what.
    """
    settings = settings or Settings()
    part = part or DEFAULT_PARTS.get(aspect)
    rng = random.Random(settings.seed)
    match aspect:
        case "systematicity" if part is None:
            runs = systematicity.Settings(restarts=settings.restarts)
            pair = systematicity.build(corpus.samples, runs, rng)
            refuse_equal_arms(pair)
            return pair
        case "productivity":
            chosen = productivity.Settings(threshold=productivity.threshold_of(part))
            return productivity.build(corpus.train, _testable(corpus), chosen)
        case "order_invariance" if part in order_invariance.PARTS:
            ordered = order_invariance.Settings(part=part)
            return order_invariance.build(corpus.train, _testable(corpus), ordered, rng)
        case "rule_learnability" if part is None:
            return rule_learnability.build(corpus.train, _testable(corpus), rng)
    raise SplitError(
        f"there is nothing called {' '.join(filter(None, [aspect, part]))!r} to build",
        remedy=f"The aspects are {', '.join(ARMS)}; productivity has the parts n1, n2 and so on, "
        f"order_invariance {', '.join(order_invariance.PARTS)}, and the others have none.",
    )


def refuse_equal_arms(pair: SplitPair) -> None:
    """Refuse sets of systematicity whose Combination shows no more than Atom.

    Raises:
        SplitError: it holds no two units of a test sample together.
    """
    if not check.systematicity(pair).pairs_in_combination:
        raise SplitError(
            "Combination can show no two units of a test sample together, so that it would be no "
            "other than Atom",
            where=pair.corpus,
            remedy="Give more samples that share two units or more.",
        )


def _testable(corpus: Corpus) -> tuple[Sample, ...]:
    """Return the test samples of which a training sample has every unit."""
    if not corpus.test:
        raise SplitError(
            "has no test samples",
            where=corpus.name,
            remedy='Mark some rows with "split": "test" and all others with "split": "train". Only '
            "systematicity finds its test samples itself.",
        )
    known = webnlg.keep_known(corpus.test, corpus.train, "strict")
    if not known:
        raise SplitError(
            "has no test sample all of whose units occur in training samples", where=corpus.name
        )
    return known
