"""A sequence classifier of transformers that ranks programs, as the published ranker does."""

from collections.abc import Sequence
from functools import lru_cache

from spor_tasks.metrics.classifier import SequenceClassifier
from spor_tasks.metrics.programs.ranking import RankerInput, spaced

_MOST_TOKENS = 120  # of the title, the sentence and the program together [code]
_DECIMALS = 4


@lru_cache(maxsize=1)  # all tasks of a run ask the same one
def load(
    model: str, label: str | int | None = None, device: str | None = None, batch_size: int = 32
) -> "ClassifierRanker":
    """Return a ranker with the classifier of this folder, or of this name on the hub.

    Raises:
        ConfigError: as :class:`spor_tasks.metrics.classifier.SequenceClassifier`.
    """
    return ClassifierRanker(
        SequenceClassifier(model, label, device, batch_size, setting="sp_label")
    )


class ClassifierRanker:
    """How likely it is that a program means its sentence.

    The classifier reads `title : T [SEP] sentence` and then the program, of at most 120 tokens in
    all; the ends of what is longest are cut.
    """

    def __init__(self, model: SequenceClassifier) -> None:
        self._model = model
        self.signature = f"ranker:classifier|{model.signature}"

    def __call__(self, items: Sequence[RankerInput]) -> list[float]:
        """Return a probability for each program."""
        if not items:
            return []
        between = self._model.tokenizer.sep_token or "[SEP]"
        firsts = [f"title : {item.title} {between} {item.sentence}" for item in items]
        programs = [spaced(item.program) for item in items]
        most = min(_MOST_TOKENS, self._model.tokenizer.model_max_length)
        encoded, _ = self._model.encode(firsts, programs, "longest_first", most)
        return [round(likely, _DECIMALS) for likely in self._model.likely(encoded)]
