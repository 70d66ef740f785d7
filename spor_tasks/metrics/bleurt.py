"""BLEURT: how good a model that was trained on people's ratings finds a text (Sellam et al., 2020).

ToTTo's leaderboard has it by the checkpoint BLEURT-base-128, which reads a reference and a text in
lower case. Here it is a conversion of that checkpoint to PyTorch; none is loaded by default.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, Protocol, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric, Texts
from spor_tasks.metrics.facts import DECIMALS, NoClassifier
from spor_tasks.metrics.parent_totto import prepared
from spor_tasks.metrics.totto import references_of

if TYPE_CHECKING:
    from spor_tasks.metrics.classifier import SequenceClassifier

Pair: TypeAlias = tuple[str, str]
"""A reference and a text, both prepared (:func:`spor_tasks.metrics.parent_totto.prepared`)."""

_MOST_TOKENS = 128  # that BLEURT-base-128 reads of a pair


class Rater(Protocol):
    """Rates pairs."""

    @property
    def signature(self) -> str:
        """Whatever can change what it says."""

    def __call__(self, pairs: Sequence[Pair], /) -> Sequence[float]:
        """Return a rating for each pair; that of one pair does not depend on the others."""


@dataclass(frozen=True, slots=True)
class Bleurt(SimpleMetric[float]):
    """The mean rating of outputs, each the mean over its references, without pads.

    The published code takes the mean over three references, of which pads are some. Nothing but
    habit confines ratings to the range that is given here.
    """

    scores = (ScoreInfo("bleurt", "BLEURT", low=-3, high=2),)
    needs_texts = True

    rater: Rater

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return f"bleurt|{self.rater.signature}|text:lower|detok:moses4134-en|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> float:
        """Return the rating of an output; many are rated faster together.

        Raises:
            CorpusError: the sample has no reference.
        """
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[float]:
        """Rate the outputs together."""
        pairs = [
            [(prepared(reference), prepared(output.strip())) for reference in references_of(sample)]
            for sample, (output,) in zip(samples, outputs, strict=True)
        ]
        found = iter(self.rater([pair for of_sample in pairs for pair in of_sample]))
        ratings = ([next(found) for _ in of_sample] for of_sample in pairs)
        return [round(fmean(of_sample), DECIMALS) for of_sample in ratings]

    def values(self, evidence: float) -> dict[str, float]:
        """Return the rating."""
        return {"bleurt": evidence}


BLEURT = Bleurt(NoClassifier("bleurt"))
"""The metric before :func:`load` gives it a checkpoint."""


@lru_cache(maxsize=1)  # all tasks of a run ask the same one
def load(model: str, *, device: str | None = None, batch_size: int = 32) -> Bleurt:
    """Return BLEURT by the checkpoint in this folder, or of this name on the hub.

    ``device`` and weights are as in :func:`spor_tasks.metrics.classifier.load`.

    Raises:
        ConfigError: there is no such checkpoint or device, or it does not give one rating.
    """
    from spor_tasks.metrics.classifier import SequenceClassifier  # noqa: PLC0415 - torch

    found = SequenceClassifier(model, None, device, batch_size, setting="bleurt_model", rates=True)
    if (outputs := found.config.num_labels) != 1:
        raise ConfigError(
            f"gives {outputs} numbers for a pair, and BLEURT gives one",
            where=model,
            remedy="Name a conversion of BLEURT-base-128 to PyTorch, a sequence classifier of "
            "transformers with one output.",
        )
    return Bleurt(_Checkpoint(found))


class _Checkpoint:
    def __init__(self, model: "SequenceClassifier") -> None:
        self._model = model
        self._most_tokens = min(_MOST_TOKENS, model.tokenizer.model_max_length)
        self.signature = f"{model.signature}|tokens:{self._most_tokens}"

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the rating of each text; what is too long loses the end of its longer part."""
        if not pairs:
            return []
        references, texts = zip(*pairs, strict=True)
        encoded, _ = self._model.encode(references, texts, "longest_first", self._most_tokens)
        return self._model.likely(encoded)
