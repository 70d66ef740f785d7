"""Models of CompMCTG: a classifier of each aspect, and a language model for perplexity."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file
from spor_tasks.core.folders import recover
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics.learned import AttributeItem, Attributes, TextPerplexity
from spor_tasks.metrics.readers import (
    MOST_TOKENS,
    Encoded,
    Loaded,
    Reader,
    checkpoint_of,
    numbers_of_classes,
    read_classifier,
    warn_of_cuts,
)

import torch  # isort: skip - readers says what to install
import transformers  # isort: skip

# --- Attributes ---------------------------------------------------------------------------------

_ATTRIBUTES_REMEDY = (
    "Name a folder that has a folder for each aspect, such as `sentiment`, in which a sequence "
    "classifier of transformers was saved. `python -m training classifier` trains them."
)
# The layers of the published files that RobertaForSequenceClassification has under other names.
_RENAMED = {
    "roberta.pooler.dense.": "classifier.dense.",
    "cls.seq_relationship.": "classifier.out_proj.",
}
_UNNAMED = re.compile(r"label_\d+", re.IGNORECASE)  # transformers' own name of a class


@lru_cache(maxsize=1)
def attributes(classifiers: str, *, device: str | None = None, batch_size: int = 32) -> Attributes:
    """Return the metric with the classifiers in the folders of this folder, one for each aspect.

    The name of an aspect is that of its folder. A classifier's classes are named by its config, in
    capitals or not, or else have the published order.

    Raises:
        ConfigError: there are none, one cannot be loaded, or nothing says what its classes are.
    """
    folder = Path(classifiers)
    return Attributes(_Attributes(aspects(folder, device, batch_size), folder))


class Aspect(NamedTuple):
    """The classifier of one aspect.

    ``values`` are what its classes stand for, in their order; ``numbers`` returns the number of
    each class for each text, of which the greatest says the value.
    """

    values: tuple[str, ...]
    numbers: Reader


def aspects(folder: Path, device: str | None, batch_size: int) -> dict[str, Aspect]:
    """Return the classifiers in the folders of this folder, by aspect.

    Raises:
        ConfigError: as :func:`attributes`.
    """
    recover(folder)
    folders = sorted(path for path in folder.glob("[!.]*") if is_file(path / "config.json"))
    if not folders:
        raise ConfigError("has no classifiers", where=folder, remedy=_ATTRIBUTES_REMEDY)
    return {path.name: _aspect(path, device, batch_size) for path in folders}


def _aspect(folder: Path, device: str | None, batch_size: int) -> Aspect:
    if weights := _published_weights(folder):
        load = partial(_read_published, folder, weights)
        checkpoint = checkpoint_of(str(folder), load, device, batch_size, _ATTRIBUTES_REMEDY)
    else:
        checkpoint = read_classifier(str(folder), device, batch_size)
    most = checkpoint.limit(MOST_TOKENS, offset=2)

    def encode(texts: Sequence[str]) -> list[Encoded]:
        return checkpoint.encode(texts, None, "only_first", most, "texts are longer than")

    reader = Reader(checkpoint, encode, numbers_of_classes)
    return Aspect(_values(folder, checkpoint.labels), reader)


class _Attributes:
    def __init__(self, by_aspect: Mapping[str, Aspect], folder: Path) -> None:
        self._by_aspect = by_aspect
        digests = (f"{name}={digest_weights(folder / name)[:16]}" for name in by_aspect)
        self.signature = f"classifiers:{','.join(digests)}"

    def __call__(self, items: Sequence[AttributeItem]) -> list[str]:
        """Return the value that each text has of the aspect.

        Raises:
            ConfigError: no classifier knows a requested value.
        """
        values_of = {aspect: each.values for aspect, each in self._by_aspect.items()}
        for aspect, value in dict.fromkeys((unit[0], unit[-1]) for unit, _ in items):
            if value.casefold() not in map(str.casefold, values_of.get(aspect, ())):
                listed = (f"{name} ({', '.join(values)})" for name, values in values_of.items())
                raise ConfigError(
                    f"no classifier knows the {aspect} {value!r}, only {', '.join(listed)}",
                    remedy=_ATTRIBUTES_REMEDY,
                )
        answers = [""] * len(items)
        for aspect, classifier in self._by_aspect.items():
            places = [i for i, (unit, _) in enumerate(items) if unit[0] == aspect]
            numbers = classifier.numbers([items[i][1] for i in places])
            for place, of_text in zip(places, numbers, strict=True):
                answers[place] = classifier.values[of_text.index(max(of_text))]
        return answers


def _values(folder: Path, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the values that the classes stand for."""
    published = [space.aspects.get(folder.name, ()) for space in PUBLISHED]
    if not all(map(_UNNAMED.fullmatch, labels)):
        spelled = {value.casefold(): value for values in published for value in values}
        return tuple(spelled.get(label.casefold(), label) for label in labels)
    for values in published:
        if len(values) == len(labels):
            return values
    raise ConfigError(
        f"nothing says which values of {folder.name} its {len(labels)} classes are",
        where=folder,
        remedy="Name them in `id2label` of its config.json.",
    )


def _read_published(folder: Path, weights: Mapping[str, torch.Tensor]) -> Loaded:
    """Return a published classifier (github.com/tqzhong/CG4MCTG).

    It is RoBERTa with layers of other names, and its files name no classes. The published code
    fills batches with the token 0 and adds -10000 to what is filled, which changes no number in
    float32.
    """
    renamed = {}
    for key, weight in weights.items():
        old = next(filter(key.startswith, _RENAMED), None)
        renamed[_RENAMED[old] + key.removeprefix(old) if old else key] = weight
    config = transformers.RobertaConfig.from_pretrained(folder)
    config.num_labels = len(renamed["classifier.out_proj.weight"])
    model = transformers.RobertaForSequenceClassification(config)
    missing = model.load_state_dict(renamed, strict=False).missing_keys
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    return model, tokenizer, missing


def _published_weights(folder: Path) -> Mapping[str, torch.Tensor] | None:
    """Return the weights of a published classifier, None of any other; no code in them is run."""
    file = folder / "pytorch_model.bin"
    if not is_file(file):
        return None
    try:
        weights: Mapping[str, torch.Tensor] = torch.load(file, "cpu", weights_only=True)
    except Exception as error:  # of pickle, which has many
        raise ConfigError(f"cannot be read: {error}", where=file) from error
    return weights if "cls.seq_relationship.weight" in weights else None


# --- Perplexity -----------------------------------------------------------------------------------

_CAUSAL_TOKENS = 1024  # of a language model that does not say how many it reads
_CAUSAL_REMEDY = (
    "Name a causal model's folder, or its name on the hub, such as openai-community/gpt2-large."
)


@lru_cache(maxsize=1)
def perplexity(model: str, *, device: str | None = None, batch_size: int = 16) -> TextPerplexity:
    """Return the metric with the causal model of this folder, or of this name on the hub.

    The published numbers are by GPT-2 Large, ``openai-community/gpt2-large``. A text that is too
    long has the perplexity of its beginning.

    Raises:
        ConfigError: the model or device does not exist, or its tokenizer has no end token.
    """

    def load() -> Loaded:
        causal = transformers.AutoModelForCausalLM.from_pretrained(model, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            model, trust_remote_code=False, padding_side="right"
        )
        tokenizer.pad_token = tokenizer.eos_token
        return causal, tokenizer, ()

    checkpoint = checkpoint_of(model, load, device, batch_size, _CAUSAL_REMEDY)
    tokenizer, config = checkpoint.tokenizer, checkpoint.model.config
    most = getattr(config, "max_position_embeddings", None) or _CAUSAL_TOKENS

    def encode(texts: Sequence[str]) -> list[Encoded]:
        rows = tokenizer([*texts], add_special_tokens=False)["input_ids"]
        cut = sum(len(row) >= most for row in rows)
        warn_of_cuts(cut, len(texts), "texts are longer than", most)
        return [{"input_ids": [tokenizer.eos_token_id, *row][:most]} for row in rows]

    return TextPerplexity(Reader(checkpoint, encode, _perplexities))


def _perplexities(model: Any, inputs: Any) -> list[float | None]:
    """Return the perplexity of each text; None where a token is impossible."""
    ids, is_token = inputs["input_ids"], inputs["attention_mask"].bool().cpu()
    logits = model(input_ids=ids).logits[:, :-1]
    likely = torch.softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0].cpu().double()
    return [_perplexity(*each) for each in zip(likely, is_token[:, 1:], strict=True)]


def _perplexity(likely: torch.Tensor, is_token: torch.Tensor) -> float | None:
    tokens = likely[is_token]
    # Probabilities are of single precision, in which one may be zero.
    if not len(tokens) or not bool((tokens > 0).all()):
        return None
    return math.exp(float(-tokens.log().mean()))
