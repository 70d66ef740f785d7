"""Coverage: the share of a sample's units that the alignment finds in an output."""

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.text import align


class Coverage(Metric):
    """How many of the units an output mentions, each by those of its words that the output has.

    Units of E2E are located leniently too, unlike for fidelity: of people's judgements of what is
    missing that tells more (``docs/metrics.md``). It needs no reference, and says nothing about
    what is wrong in an output or added to it.
    """

    scores = (ScoreInfo("coverage", "Coverage"),)
    signature = f"coverage|align:lenient|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the share of units located, 0 to 100, their positions and the missing units."""
        positions = align.locate(sample.units, output, strict=False)
        missing = [unit for unit, position in enumerate(positions) if position is None]
        located = len(positions) - len(missing)
        values = {"coverage": 100 * located / len(positions)}
        return Judgement(values, {**values, "pos": positions, "missing": missing})


COVERAGE = Coverage()
