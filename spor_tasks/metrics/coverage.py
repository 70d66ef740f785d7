"""Coverage: the share of a sample's units that the alignment finds in an output."""

from typing import Any

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric, Texts
from spor_tasks.text import align

Located = tuple[int | None, ...]
"""The token index at which an output mentions each unit, None where it does not."""


class Coverage(SimpleMetric[Located]):
    """How many of the units an output mentions, each by those of its words that the output has.

    Units of E2E are located leniently too, unlike for fidelity: of people's judgements of what is
    missing that tells more (``docs/metrics.md``). It needs no reference, and says nothing about
    what is wrong in an output or added to it.
    """

    scores = (ScoreInfo("coverage", "Coverage"),)
    signature = f"coverage|align:lenient|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> Located:
        """Locate the units in one output."""
        return align.locate(sample.units, output, strict=False)

    def values(self, evidence: Located) -> dict[str, float]:
        """Return the share of units located, 0 to 100."""
        located = len(evidence) - evidence.count(None)
        return {"coverage": 100 * located / len(evidence)}

    def describe(self, _: Sample, __: Texts, evidence: Located) -> dict[str, Any]:
        """Return the share, the units' positions and which units have none."""
        missing = [unit for unit, position in enumerate(evidence) if position is None]
        return {**self.values(evidence), "pos": evidence, "missing": missing}


COVERAGE = Coverage()
