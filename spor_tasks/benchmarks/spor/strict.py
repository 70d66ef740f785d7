"""The strict sets, which fulfil the requirements of the paper.

Those of systematicity on WebNLG, E2E and ViGGO are shipped, as a search found them. All others are
built when they are loaded, each time the same. On WebNLG the released sets of order invariance and
rule learnability test triples that no training sample has. The strict ones leave these samples out
and keep the drawn orders, so that one run of a model gives both scores.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

from spor_tasks.aspects import build, rule_learnability
from spor_tasks.benchmarks.spor import released, shipped
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, Split, SplitPair


def load(
    aspect: str, corpus: str, folder: Path | None = None, *, part: str | None = None
) -> SplitPair:
    """Return the strict sets of one aspect, its part where it has several, and corpus.

    ``folder`` holds the repository that was published with SPOR, which has WebNLG and E2E.

    Raises:
        SplitError: the shipped sets are damaged.
        CorpusError: a file is missing or is not the published one.
    """
    if corpus == "webnlg" and aspect in {"order_invariance", "rule_learnability"}:
        return _of_known_units(released.load(aspect, corpus, folder, part=part), folder)
    samples = _read(corpus, folder if corpus in released.CORPORA else None)
    if aspect == "systematicity" and corpus != "mini":
        return shipped.load(corpus, samples.samples, part)
    return build.build(samples, aspect, part)


@cache  # several sets are made of it
def _read(corpus: str, folder: Path | None) -> CorpusSamples:
    samples: CorpusSamples = registry().get("corpus", corpus).read(folder)
    return samples


def _of_known_units(pair: SplitPair, folder: Path | None) -> SplitPair:
    """Return released sets of WebNLG with the test samples whose triples training samples have."""
    samples = _read("webnlg", folder).test
    if pair.aspect == "rule_learnability":
        samples = rule_learnability.hide_entities(samples)
    ids = {sample.id for sample in samples}
    test = tuple(sample for sample in pair.test.samples if sample.id in ids)
    return replace(pair, protocol="strict", test=Split("test", test))
