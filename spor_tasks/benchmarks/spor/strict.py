"""Sets of the real corpora that meet the paper's stated requirements."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from spor_tasks.aspects import order_invariance, productivity, rule_learnability
from spor_tasks.benchmarks.spor import released, shipped
from spor_tasks.core.errors import SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, Sample, Split, SplitPair

_THRESHOLDS: Mapping[str | None, int] = {f"n{n}": n for n in productivity.THRESHOLDS}

SETS = (
    *(
        ("systematicity", corpus, part)
        for corpus, part in shipped.SETS
        if corpus in released.CORPORA
    ),
    *(("productivity", corpus, part) for corpus in released.CORPORA for part in _THRESHOLDS),
    *(("order_invariance", "webnlg", part) for part in order_invariance.PARTS),
    ("rule_learnability", "webnlg", None),
)
"""Every aspect and corpus with each of its parts; None where it has none."""


def load(
    aspect: str, corpus: str, folder: Path | None = None, *, part: str | None = None
) -> SplitPair:
    """Return the strict sets of one aspect, its part where it has several, and corpus.

    Those of systematicity were searched once, and are the same for everyone. Order invariance and
    rule learnability have such sets on WebNLG, where the released ones test triples that no
    training sample has. They are those without such samples, with the same orders drawn, so that
    one run of a model gives both scores. ``folder`` holds the published repository's tree; by
    default it is ``SPOR.data_dir()``.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    if (aspect, corpus, part) not in SETS:
        requested = " ".join(filter(None, [aspect, part]))
        raise SplitError(
            f"there are no strict sets of {requested!r} on {corpus!r}",
            remedy=f"There are {', '.join(' '.join(filter(None, names)) for names in SETS)}.",
        )
    if aspect == "systematicity":
        return shipped.load(corpus, _read(corpus, folder).samples, part=part)
    if aspect == "productivity":
        return _productivity(corpus, _THRESHOLDS[part], folder)
    pair = released.load(aspect, corpus, folder, part=part)
    return replace(pair, protocol="strict", test=Split("test", _of_known_units(pair, folder)))


def _read(corpus: str, folder: Path | None) -> CorpusSamples:
    samples: CorpusSamples = registry().get("corpus", corpus).read(folder)
    return samples


def _productivity(corpus: str, threshold: int, folder: Path | None) -> SplitPair:
    read = _read(corpus, folder)
    return productivity.build(read.train, read.test, threshold)


def _of_known_units(pair: SplitPair, folder: Path | None) -> tuple[Sample, ...]:
    """Return the samples of a WebNLG test set whose triples all occur in the training set."""
    samples = _read("webnlg", folder).test
    if pair.aspect == "rule_learnability":
        samples = rule_learnability.hide_entities(samples)
    ids = {sample.id for sample in samples}
    return tuple(sample for sample in pair.test.samples if sample.id in ids)
