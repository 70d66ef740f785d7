"""Coverage: the share of a sample's units that the alignment finds in an output."""

from collections.abc import Container

from spor_tasks import __version__
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.text import align
from spor_tasks.text.normalize import boolean, clean, words_of_name

_LONGEST_NAME = 100  # letters of a name that is divided into words


class Coverage(Metric):
    """How many of the units an output mentions, each by those of its words that the output has.

    Units of E2E are located leniently too, unlike for fidelity: of people's judgements of what is
    missing that tells more (``docs/metrics.md``). It needs no reference, and says nothing about
    what is wrong in an output or added to it.
    """

    scores = (ScoreInfo("coverage", "Coverage"),)
    units = ("facts", "cells")
    signature = f"coverage|align:lenient|names:words|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the share of units located, 0 to 100, their positions and the missing units."""
        words = {*clean(output).split()}
        units = [_sought(unit, words) for unit in sample.units]
        positions = align.locate(units, output, strict=False)
        missing = [unit for unit, position in enumerate(positions) if position is None]
        located = len(positions) - len(missing)
        values = {"coverage": 100 * located / len(positions)}
        return Judgement(values, {**values, "pos": positions, "missing": missing})


def _sought(unit: DataUnit, words: Container[str]) -> DataUnit:
    """Return the unit with its name as its value if that is yes or no, in the words of a text.

    So it is found where it is the only unit too, unlike for fidelity.
    """
    if not (isinstance(unit, AttributeValue) and boolean(unit.value)):
        return unit
    name = clean(unit.attribute)
    if name not in words:
        name = _divided(name, words) or words_of_name(unit.attribute)
    return AttributeValue("", name)


def _divided(name: str, words: Container[str]) -> str:
    """Return the words of a text that a name such as `hasinternet` is made of, if it is."""
    made = {0: ""}  # by the letters that they cover
    for end in range(1, min(len(name), _LONGEST_NAME) + 1):
        start = next((start for start in made if name[start:end] in words), None)
        if start is not None:
            made[end] = f"{made[start]} {name[start:end]}"
    return made.get(len(name), "")


COVERAGE = Coverage()
