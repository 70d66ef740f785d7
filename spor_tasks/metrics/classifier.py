"""Sequence classifiers of transformers, and the one that the metric `facts` asks."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.weights import find_folder, known_digest
from spor_tasks.metrics.facts import ClassifierInput, Facts, label_of

try:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, BartTokenizer
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

Tokenizers: TypeAlias = Literal["auto", "bart"]

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
    asked = SequenceClassifier(model, label, device, batch_size, setting="facts_label")
    return Facts(_Classifier(asked), format)


class SequenceClassifier:
    """A sequence classifier of transformers, and how likely it finds one of its classes.

    ``setting`` names the setting of the class. ``tokenizer`` is what the checkpoint names, or that
    of BART for one that names another that transformers no longer has. One that ``rates`` says no
    probability, but the number itself. ``read`` replaces :func:`read_classifier`.

    Raises:
        ConfigError: there is no such classifier, device or class.
    """

    def __init__(
        self,
        name: str,
        label: str | int | None,
        device: str | None,
        batch_size: int,
        *,
        setting: str,
        tokenizer: Tokenizers = "auto",
        rates: bool = False,
        read: Callable[[str, Tokenizers], tuple[Any, Any]] | None = None,
    ) -> None:
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigError(f"a batch cannot have {batch_size!r} pairs", remedy="Use 1 or more.")
        self._device = device_of(device)
        self._batch_size = batch_size
        self._model, self.tokenizer = (read or read_classifier)(name, tokenizer)
        self.config = config = self._model.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        self._label = label_of(labels, label, setting)
        # The probability of a class among others, or of what is true or false by itself.
        alone = config.num_labels == 1 or config.problem_type == "multi_label_classification"
        self._probability = torch.sigmoid if alone else torch.nn.Softmax(dim=-1)
        if rates:
            self._probability = torch.nn.Identity()
        self.signature = f"{identity_of(name)}|label:{labels[self._label]}"

    def encode(
        self, firsts: Sequence[str], seconds: Sequence[str | None], cut: str, most: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Return texts of one or two segments as tokens, and how many of them were cut.

        ``cut`` is `only_first`, `only_second` or `longest_first`: the segment that loses what is
        over ``most``.
        """
        paired = None if seconds[0] is None else list(seconds)
        encoded = self.tokenizer(list(firsts), paired, truncation=cut, max_length=most)
        parts = [{key: encoded[key][i] for key in encoded} for i in range(len(firsts))]
        return parts, sum(bool(each.overflowing) for each in encoded.encodings or ())

    def likely(self, encoded: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return the probability, or number, of the class for each encoded text, not yet padded."""
        return self._in_batches(encoded, lambda of: self._probability(of)[:, self._label])

    def numbers(self, encoded: Sequence[Mapping[str, Any]]) -> list[list[float]]:
        """Return the numbers of all classes, before they are probabilities, for each."""
        return self._in_batches(encoded, torch.Tensor.float)

    def _in_batches(
        self,
        encoded: Sequence[Mapping[str, Any]],
        take: Callable[[torch.Tensor], torch.Tensor],
    ) -> list[Any]:
        found: list[Any] = [None] * len(encoded)
        by_length = sorted(range(len(encoded)), key=lambda i: len(encoded[i]["input_ids"]))
        self._model.to(self._device)
        for start in range(0, len(encoded), self._batch_size):
            batch = by_length[start : start + self._batch_size]
            inputs = self.tokenizer.pad([encoded[i] for i in batch], return_tensors="pt")
            with torch.inference_mode():
                logits = self._model(**inputs.to(self._device)).logits
            for number, of_text in zip(batch, take(logits).tolist(), strict=True):
                found[number] = of_text
        return found


class _Classifier:
    def __init__(self, model: SequenceClassifier) -> None:
        self._model = model
        # RoBERTa's positions begin at 2.
        positions = getattr(model.config, "max_position_embeddings", None) or _MOST_TOKENS + 2
        self._most_tokens = min(model.tokenizer.model_max_length, positions - 2)
        self.signature = model.signature

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        """Return the probability that each output tells its unit."""
        return self._model.likely(self._encode(pairs) if pairs else [])

    def _encode(self, pairs: Sequence[ClassifierInput]) -> list[dict[str, Any]]:
        """Return the tokens of the pairs, the outputs of those that are too long without ends."""
        firsts, seconds = zip(*pairs, strict=True)
        try:
            encoded, cut = self._model.encode(firsts, seconds, "only_first", self._most_tokens)
        except Exception as error:  # tokenizers has no narrower one
            if "too short to respect" not in str(error):
                raise
            unit = max(filter(None, seconds), key=len)
            raise CorpusError(
                f"a unit is longer than the {self._most_tokens} tokens that the classifier takes: "
                f"{unit[:80]}…",
                remedy="Use another classifier, or leave the sample out.",
            ) from error
        if cut:
            _log.warning(
                "%d of %d pairs are longer than the %d tokens that the classifier takes: "
                "it does not see the ends of these outputs",
                *(cut, len(pairs), self._most_tokens),
            )
        return encoded


def identity_of(name: str) -> str:
    """Return a model's name, without the folders above its own, and the digest of its weights."""
    folder = find_folder(name, "config.json")
    weights = known_digest(folder)[:16] if folder else "unknown"
    shown = Path(name).name if Path(name).is_dir() else name
    return f"model:{shown}|weights:{weights}"


def device_of(name: str | None) -> torch.device:
    """Return the device of this name, or else the GPU where there is one.

    Raises:
        ConfigError: there is no such device.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"there is no device {name} for the classifier: {reason}", remedy="Use cpu."
        ) from error


def read_classifier(name: str, kind: Tokenizers) -> tuple[Any, Any]:
    """Return a model that was trained as a classifier, and its tokenizer.

    Raises:
        ConfigError: there is none, or it lacks weights or a padding token.
    """
    try:
        model, loaded = AutoModelForSequenceClassification.from_pretrained(
            name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
        tokenizers = BartTokenizer if kind == "bart" else AutoTokenizer
        tokenizer = tokenizers.from_pretrained(name, trust_remote_code=False)
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
