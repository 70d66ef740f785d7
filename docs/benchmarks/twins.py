"""Twins: how long invented names are, and what systems without memory score and seem to have.

The tables of `docs/validity.md` are from here. The data of all three corpora must be at hand.
"""

import re
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from docs.benchmarks.measure import show
from spor_tasks.core import named
from spor_tasks.core.sample import Names, Sample
from spor_tasks.metrics.parent import PARENT
from spor_tasks.metrics.tally import Column
from spor_tasks.results import stats
from spor_tasks.results.stats import Clusters, clusters_of, count_of
from spor_tasks.text.gpt2 import tokenizer
from spor_tasks.twins import CORPORA

RATES = (0.05, 0.1, 0.2, 0.4)
"""How often a subword of a name is wrong."""

TRIALS = 1000


def names(sample: Sample, other: Sample) -> set[str]:
    """Return the values of a sample that its twin, or the sample of a twin, does not share."""
    pairs = zip(sample.units, other.units, strict=True)
    values = {
        mine for units in pairs for mine, theirs in zip(*units, strict=True) if mine != theirs
    }
    return values | ({sample.about("name") or ""} - {other.about("name")})


def subwords(text: str) -> int:
    """Return the number of GPT-2's tokens of a text after a blank."""
    return len(tokenizer().encode(f" {text}").ids)


def miswritten(text: str, words: set[str], rate: float, rng: np.random.Generator) -> str:
    """Return a text whose words of names are spelled wrong if any of their subwords is."""

    def spelled(match: re.Match[str]) -> str:
        word = match[0]
        is_right = word not in words or rng.random() < (1 - rate) ** subwords(word)
        return word if is_right else word[::-1] + "q"

    return re.sub(r"\w+", spelled, text)


def score(sides: list[Sample], others: list[Sample], rate: float) -> float:
    """Return the PARENT of first references that are written so."""
    rng = np.random.default_rng(0)
    texts = []
    for side, other in zip(sides, others, strict=True):
        words = {word for name in names(side, other) for word in re.findall(r"\w+", name)}
        texts.append((miswritten(side.target, words, rate, rng),))
    return Column.of([each.values["parent"] for each in PARENT.judge(sides, texts)]).value


def left_out(names: Sequence[Names], clusters: Clusters, effect: float) -> float:
    """Return how often an interval of the mean difference leaves out 0, where the true one is 0.

    Each name is harder or easier on its own, with a standard deviation of ``effect`` points, and
    the difference of a sample is the mean over its names, with noise of 20 points.
    """
    rng, found = np.random.default_rng(0), 0
    all_names = sorted(frozenset[str]().union(*names))
    for _ in range(TRIALS):
        effects = dict(zip(all_names, rng.normal(0, effect, len(all_names)), strict=True))
        values = [fmean(effects[each] for each in of) + rng.normal(0, 20) for of in names]
        result = stats.estimate([[Column.of(values)]], clusters)
        found += bool(
            result and result.interval and not result.interval.low <= 0 <= result.interval.high
        )
    return found / TRIALS


def tokens_and_null(corpus: str) -> None:
    """Print the tokens of names and references, and the difference without memory."""
    sides = list(named.load("systematicity", corpus, "twin").test)
    twins = [side.twin for side in sides if side.twin]
    pairs = [(sides, twins), (twins, sides)]
    lengths = [
        fmean(subwords(name) for one in zip(*each, strict=True) for name in names(*one))
        for each in pairs
    ]
    texts = [fmean(subwords(side.target) for side in each) for each, _ in pairs]
    show(f"{corpus}, tokens of a name and of a reference", f"{lengths}, {texts}")
    for rate in RATES:
        original, twin = (score(*each, rate) for each in pairs)
        show(
            f"{corpus}, {rate:.0%} of subwords wrong",
            f"{original:.2f} - {twin:.2f} = {original - twin:+.2f}",
        )


def recurring_names(corpus: str, part: str | None) -> None:
    """Print how often intervals leave out 0, where samples that share a name form a cluster."""
    aspect = "productivity" if part else "systematicity"
    samples = [*named.load(aspect, corpus, "twin", part).test]
    keys = [sample.cluster for sample in samples]
    exchanged = [key if isinstance(key, Names) else Names() for key in keys]
    clusters = clusters_of(keys)
    rates = [left_out(exchanged, clusters, effect) for effect in (5, 10)]
    show(f"{corpus} {part or ''}, {count_of(clusters)} clusters", f"{rates}")


if __name__ == "__main__":
    for corpus in CORPORA:
        tokens_and_null(corpus)
        for part in (None, "n3"):
            recurring_names(corpus, part)
