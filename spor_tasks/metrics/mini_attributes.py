"""Attributes of texts in the embedded corpus, where words decide about them.

The corpus `compmctg_mini` has a language of its own, so that there is nothing to guess. The scores
are those of :mod:`spor_tasks.metrics.compmctg`, by an exact oracle in place of classifiers.
"""

from dataclasses import replace

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.embedded.attributes import SPACE, is_readable, values_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.compmctg import accuracies, accuracy_values, text_of

_NO_VALUE = "none"


class _MiniAttributes(Metric):
    """How many of the wanted attributes a text has; and whether it is a sentence at all.

    Words that are no sentence may have attributes, as they may have for a classifier.
    """

    scores = (
        *(
            replace(info, label=f"Exact {info.label.lower()}")
            for info in accuracies("mini", SPACE.aspects)
        ),
        ScoreInfo("mini_readable", "Readable", is_share=True),
    )
    logged = ("said",)
    signature = f"mini_attributes|language:1|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return whether the text is a sentence, and which value of each aspect it has.

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
        recognized = values_of(text)
        values = accuracy_values("mini", SPACE.aspects, sample, recognized)
        values["mini_readable"] = 100.0 * is_readable(text)
        named = {aspect: value or _NO_VALUE for aspect, value in recognized.items()}
        return Judgement(values, {**values, "said": named})


MINI_ATTRIBUTES = _MiniAttributes()
