"""The strict sets of ViGGO and `mini`, which the paper does not have.

They are built whenever they are loaded, and each time the same. Systematicity of ViGGO is shipped
instead, as a search found it (:mod:`spor_tasks.benchmarks.spor.shipped`).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spor_tasks.aspects import build, order_invariance
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.errors import SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import CorpusSamples, SplitPair
from spor_tasks.corpora import sources

_ASPECTS = (
    ("systematicity", None),
    ("productivity", "n3"),
    ("productivity", "n4"),
    *(("order_invariance", part) for part in order_invariance.PARTS),
    ("rule_learnability", None),
)

SETS: Mapping[str, tuple[tuple[str, str | None], ...]] = {
    "mini": _ASPECTS,  # samples have at most five units
    "viggo": (*_ASPECTS[:3], ("productivity", "n5"), *_ASPECTS[3:]),
}
"""Of each corpus the aspects, each with its parts; None where it has none."""


def load(corpus: str, aspect: str, part: str | None = None) -> SplitPair:
    """Return the sets of one aspect, its part where it has several; each time the same.

    Raises:
        SplitError: there are no such sets.
        CorpusError: a file is missing or is not the published one.
    """
    if (aspect, part) not in SETS.get(corpus, ()):
        raise SplitError(
            f"there are no sets of {_words(aspect, part)!r} on {corpus!r}",
            remedy=f"There are {', '.join(_words(*name) for name in SETS[corpus])}."
            if corpus in SETS
            else f"There are sets on {', '.join(SETS)}.",
        )
    samples = _read(corpus, sources.VIGGO.data_dir())
    if aspect == "systematicity" and (corpus, None) in shipped.SETS:
        return shipped.load(corpus, samples.samples)
    return build.build(samples, aspect, part)


def _words(*name: str | None) -> str:
    return " ".join(filter(None, name))


@cache
def _read(corpus: str, _: Path) -> CorpusSamples:
    samples: CorpusSamples = registry().get("corpus", corpus).read()
    return samples
