"""A sequence classifier of transformers, which the metric `facts` asks."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.weights import find_folder, known_digest
from spor_tasks.metrics.facts import ClassifierInput, Facts, label_of

try:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

_log = logging.getLogger(__name__)

_MOST_TOKENS = 512  # of a checkpoint that does not say how many it takes
_REMEDY = (
    "Name a folder that a sequence classifier was saved in, or one on the Hugging Face hub, "
    "such as Inria-CEDAR/FactSpotter-DeBERTaV3-Base."
)


@lru_cache(maxsize=1)  # all tasks of a run ask the same one
def load(
    model: str,
    *,
    format: str = "nli",  # noqa: A002 - the name of the setting
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> Facts:
    """Return the metric with the classifier of this folder, or of this name on the hub.

    ``label`` is the class that means "told", by name or index, where the checkpoint does not say;
    ``device`` is the GPU where there is one. Weights are loaded in float32, from safetensors alone,
    and no code of the checkpoint is run.

    Raises:
        ConfigError: there is no such classifier, device, label or format.
    """
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigError(f"a batch cannot have {batch_size!r} pairs", remedy="Use 1 or more.")
    return Facts(_Classifier(model, label, device, batch_size), format)


class _Classifier:
    def __init__(
        self, name: str, label: str | int | None, device: str | None, batch_size: int
    ) -> None:
        self._device = _device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._batch_size = batch_size
        self._model, self._tokenizer = _read(name)
        config = self._model.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        self._label = label_of(labels, label)
        # The probability of a class among others, or of what is true or false by itself.
        alone = config.num_labels == 1 or config.problem_type == "multi_label_classification"
        self._probability = torch.sigmoid if alone else torch.nn.Softmax(dim=-1)
        # RoBERTa's positions begin at 2.
        positions = (getattr(config, "max_position_embeddings", None) or _MOST_TOKENS + 2) - 2
        self._most_tokens = min(self._tokenizer.model_max_length, positions)
        folder = find_folder(name, "config.json")
        weights = known_digest(folder)[:16] if folder else "unknown"
        shown = Path(name).name if Path(name).is_dir() else name
        self.signature = f"model:{shown}|weights:{weights}|label:{labels[self._label]}"

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        """Return the probability that each output tells its unit."""
        encoded = self._encode(pairs) if pairs else []
        found = [0.0] * len(pairs)
        by_length = sorted(range(len(pairs)), key=lambda i: len(encoded[i]["input_ids"]))
        self._model.to(self._device)
        for start in range(0, len(pairs), self._batch_size):
            batch = by_length[start : start + self._batch_size]
            inputs = self._tokenizer.pad([encoded[i] for i in batch], return_tensors="pt")
            with torch.inference_mode():
                logits = self._model(**inputs.to(self._device)).logits
            likely = self._probability(logits)[:, self._label].tolist()
            for number, probability in zip(batch, likely, strict=True):
                found[number] = probability
        return found

    def _encode(self, pairs: Sequence[ClassifierInput]) -> list[dict[str, list[int]]]:
        """Return the tokens of the pairs, the outputs of those that are too long without ends."""
        firsts, seconds = zip(*pairs, strict=True)
        try:
            encoded = self._tokenizer(
                list(firsts),
                None if seconds[0] is None else list(seconds),
                truncation="only_first",
                max_length=self._most_tokens,
            )
        except Exception as error:  # tokenizers has no narrower one
            if "too short to respect" not in str(error):
                raise
            unit = max(filter(None, seconds), key=len)
            raise CorpusError(
                f"a unit is longer than the {self._most_tokens} tokens that the classifier takes: "
                f"{unit[:80]}…",
                remedy="Use another classifier, or leave the sample out.",
            ) from error
        if cut := sum(bool(each.overflowing) for each in encoded.encodings or ()):
            _log.warning(
                "%d of %d pairs are longer than the %d tokens that the classifier takes: "
                "it does not see the ends of these outputs",
                *(cut, len(pairs), self._most_tokens),
            )
        return [{key: encoded[key][i] for key in encoded} for i in range(len(pairs))]


def _device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"there is no device {name} for the classifier: {reason}", remedy="Use cpu."
        ) from error


def _read(name: str) -> tuple[Any, Any]:
    """Return a model that was trained as a classifier, and its tokenizer."""
    try:
        model, loaded = AutoModelForSequenceClassification.from_pretrained(
            name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ConfigError(
            f"the classifier cannot be loaded: {error}", where=name, remedy=_REMEDY
        ) from error
    if missing := sorted(loaded["missing_keys"]):  # transformers draws these at random
        raise ConfigError(
            f"is not a classifier: it lacks {', '.join(missing)}", where=name, remedy=_REMEDY
        )
    if tokenizer.pad_token is None:
        raise ConfigError(
            "its tokenizer has no padding token, which batches need", where=name, remedy=_REMEDY
        )
    return model.float().eval(), tokenizer
