"""Attributes of texts in the embedded corpus, where words decide about them.

The corpus `compmctg_mini` has a language of its own, so that there is nothing to guess. The scores
are those of :mod:`spor_tasks.metrics.compmctg`, by an exact oracle in place of classifiers.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.embedded.attributes import SPACE, is_readable, values_of
from spor_tasks.metrics.base import EvidenceMetric, ScoreInfo, Texts
from spor_tasks.metrics.compmctg import accuracies, accuracy_values, text_of
from spor_tasks.metrics.totals import Value

_NO_VALUE = "none"


class Read(NamedTuple):
    """A sample, and the value of each aspect that the text has, None if it has none.

    ``is_readable`` says whether the text is a sentence of the language.
    """

    sample: Sample
    recognized: Mapping[str, str | None]
    is_readable: bool


class _MiniAttributes(EvidenceMetric[Read]):
    """How many of the wanted attributes a text has; and whether it is a sentence at all.

    Words that are no sentence may have attributes, as they may have for a classifier.
    """

    scores: ClassVar = (
        *(
            replace(info, label=f"Exact {info.label.lower()}")
            for info in accuracies("mini", SPACE.aspects)
        ),
        ScoreInfo("mini_readable", "Readable"),
    )
    logged: ClassVar = ("said",)

    @property
    def signature(self) -> str:
        return f"mini_attributes|language:1|v:{__version__}"

    def measured(self, sample: Sample, output: str) -> Read:
        """Return what one text says.

        Raises:
            CorpusError: the sample is of another corpus.
        """
        if sample.corpus != SPACE.name:
            raise CorpusError(
                "has no language in which words decide about attributes",
                where=f"sample {sample.id} of {sample.corpus}",
                remedy=f"Score outputs for the corpus {SPACE.name}.",
            )
        text = text_of(sample, output)
        return Read(sample, values_of(text), is_readable(text))

    def values(self, evidence: Read) -> dict[str, Value]:
        """Return what one output adds: a share of its aspects, and 0 or 100 to each."""
        values = accuracy_values("mini", evidence.sample, evidence.recognized)
        values["mini_readable"] = 100.0 * evidence.is_readable
        return {name: value for name, value in values.items() if name in _DECLARED}

    def describe(self, _: Sample, __: Texts, evidence: Read) -> dict[str, Any]:
        """Return the values, and which value of each aspect the text has."""
        said = {aspect: value or _NO_VALUE for aspect, value in evidence.recognized.items()}
        return {**self.values(evidence), "said": said}


_DECLARED = frozenset(info.name for info in _MiniAttributes.scores)

MINI_ATTRIBUTES = _MiniAttributes()
