"""Models of transformers that read the items of :mod:`spor_tasks.metrics.learned`.

Those of tables are in :mod:`spor_tasks.metrics.entailment`, and those of CompMCTG in
:mod:`spor_tasks.metrics.mctg_readers`. Weights are loaded in float32,
classifiers from safetensors alone (but for the published ones of CompMCTG, of which only tensors
are read), and no code of a checkpoint is run.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError, CorpusError, SporError
from spor_tasks.core.foreign import guarded
from spor_tasks.core.weights import digest_weights, find_folder
from spor_tasks.metrics import learned
from spor_tasks.metrics.learned import ClassifierInput

try:
    import torch
    import transformers
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

Encoded: TypeAlias = Mapping[str, Any]
"""The tokens of an item, by the names of a model's arguments."""

Answer: TypeAlias = Callable[[Any, Any], Sequence[Any]]
"""Returns answers for a batch, given a model and its padded inputs."""

_log = logging.getLogger(__name__)

MOST_TOKENS = 512  # of a checkpoint that does not say how many it takes, and of most formats
_REMEDY = (
    "Name a folder that a sequence classifier was saved in, or one on the Hugging Face hub, "
    "such as Inria-CEDAR/FactSpotter-DeBERTaV3-Base."
)


def identity_of(name: str) -> str:
    """Return a model's name, without the folders above its own, and the digest of its weights."""
    folder = find_folder(name, "config.json")
    weights = digest_weights(folder)[:16] if folder else "unknown"
    short = Path(name).name if Path(name).is_dir() else name
    return f"model:{short}|weights:{weights}"


def device_of(name: str | None) -> torch.device:
    """Return the device of this name, or else the GPU where there is one.

    Raises:
        ConfigError: the device does not exist.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(
            f"the classifier cannot use the device {name}: {reason}", remedy="Use cpu."
        ) from error


def warn_of_cuts(count: int, inputs: int, fault: str, most_tokens: int) -> None:
    """Log how many of the inputs are longer than a model reads, if there are any."""
    if count:
        text = "%d of %d %s the %d tokens that the model reads, and lost their ends"
        _log.warning(text, count, inputs, fault, most_tokens)


# --- Loading --------------------------------------------------------------------------------------


class Checkpoint(NamedTuple):
    """A model in float32 with its tokenizer; ``identity`` is its part of a signature."""

    model: Any
    tokenizer: Any
    identity: str
    device: torch.device
    batch_size: int

    @property
    def labels(self) -> list[str]:
        """The names of the classes of a classifier."""
        config = self.model.config
        return [str(config.id2label[number]) for number in range(config.num_labels)]

    def limit(self, most: float = math.inf, offset: int = 0) -> int:
        """Return how many tokens the model reads; its first position is the ``offset``."""
        named = getattr(self.model.config, "max_position_embeddings", None)
        positions = named or MOST_TOKENS + offset
        return int(min(self.tokenizer.model_max_length, most, positions - offset))

    def encode(
        self,
        firsts: Sequence[str],
        seconds: Sequence[str] | None,
        cut: str,
        most: int,
        fault: str | None = None,
    ) -> list[Encoded]:
        """Return texts of one or two segments as tokens.

        ``cut`` is `only_first`, `only_second` or `longest_first`: the segment that loses tokens
        beyond ``most``. A ``fault`` says what was too long, in a warning with the number of texts.
        """
        paired = list(seconds) if seconds else None
        encoded = self.tokenizer(list(firsts), paired, truncation=cut, max_length=most)
        if fault:
            count = sum(bool(each.overflowing) for each in encoded.encodings or ())
            warn_of_cuts(count, len(firsts), fault, most)
        return [{key: encoded[key][i] for key in encoded} for i in range(len(firsts))]


def read_classifier(
    name: str,
    device: str | None,
    batch_size: int,
    tokenizers: Mapping[str, str] | None = None,
) -> Checkpoint:
    """Return a model that was trained as a classifier, and its tokenizer.

    ``tokenizers`` names classes of tokenizers by the type of the model, for checkpoints that name
    one which transformers lacks.

    Raises:
        ConfigError: there is none, or it lacks weights or a padding token; or the device or the
            size of a batch does not exist.
    """

    def load() -> Loaded:
        model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
        kind = (tokenizers or {}).get(model.config.model_type, "AutoTokenizer")
        tokenizer = getattr(transformers, kind).from_pretrained(name, trust_remote_code=False)
        return model, tokenizer, loaded["missing_keys"]  # transformers draws these at random

    return checkpoint_of(name, load, device, batch_size, _REMEDY)


Loaded: TypeAlias = tuple[Any, Any, Iterable[str]]
"""A model, its tokenizer, and the names of weights that the checkpoint lacks."""


def checkpoint_of(
    name: str, load: Callable[[], Loaded], device: str | None, batch_size: int, remedy: str
) -> Checkpoint:
    """Return what a function loads, with the name of its checkpoint.

    Raises:
        ConfigError: it cannot be loaded, or lacks what is needed; the ``remedy`` says what to name.
    """
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigError(f"a batch cannot have {batch_size!r} texts", remedy="Use 1 or more.")
    chosen = device_of(device)
    try:
        model, tokenizer, missing = load()
    except SporError:
        raise
    except Exception as error:  # code of any family
        raise ConfigError(
            f"the model cannot be loaded: {error}", where=name, remedy=remedy
        ) from error
    if missing:
        raise ConfigError(
            f"lacks the weights {', '.join(sorted(missing))}", where=name, remedy=remedy
        )
    if tokenizer.pad_token is None:
        raise ConfigError(
            "its tokenizer has no padding or end token, which batches need",
            where=name,
            remedy=remedy,
        )
    return Checkpoint(model.float().eval(), tokenizer, identity_of(name), chosen, batch_size)


# --- Answers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reader:
    """A model that answers for items: it encodes them, and reads them in batches of similar length.

    ``encode`` returns the tokens of each item, None where the model cannot read it, which is then
    its answer. ``details`` ends the signature.
    """

    checkpoint: Checkpoint
    encode: Callable[[Sequence[Any]], Sequence[Encoded | None]]
    answer: Answer
    details: str = ""

    @property
    def signature(self) -> str:
        """Whatever can change the answers."""
        return self.checkpoint.identity + self.details

    def __call__(self, items: Sequence[Any]) -> list[Any]:
        """Return the answer for each item."""
        encoded = self.encode(items) if items else []
        answers: list[Any] = [None] * len(encoded)
        lengths = {i: len(each["input_ids"]) for i, each in enumerate(encoded) if each is not None}
        by_length = sorted(lengths, key=lengths.__getitem__)
        model, tokenizer, _, device, batch_size = self.checkpoint
        model.to(device)
        for start in range(0, len(by_length), batch_size):
            batch = by_length[start : start + batch_size]
            inputs = tokenizer.pad([encoded[i] for i in batch], return_tensors="pt")
            with guarded(type(model).__name__), torch.inference_mode():
                of_batch = self.answer(model, inputs.to(device))
            for number, answer in zip(batch, of_batch, strict=True):
                answers[number] = answer
        return answers


def numbers_of_classes(model: Any, inputs: Any) -> list[list[float]]:
    """Return the number of each class for each text."""
    numbers: list[list[float]] = model(**inputs).logits.float().tolist()
    return numbers


def probability_of(label: int) -> Answer:
    """Return a function for the probability of a class among others, or alone if it is the only."""

    def probabilities(model: Any, inputs: Any) -> list[float]:
        alone = model.config.num_labels == 1
        alone |= model.config.problem_type == "multi_label_classification"
        logits = model(**inputs).logits
        likely = torch.sigmoid(logits) if alone else torch.softmax(logits, dim=-1)
        answers: list[float] = likely[:, label].tolist()
        return answers

    return probabilities


_ENTAILMENT = frozenset({"entailment", "entailed", "entails", "supported", "supports"})
_UNNAMED_PAIR = ["label_0", "label_1"]  # transformers' own names of two classes


def label_of(
    labels: Sequence[str], requested: str | int | None = None, setting: str = "facts_label"
) -> int:
    """Return the index of the class that means that a text is entailed, or expresses a unit.

    It is the one ``requested`` by name or index; else the only one, the one whose name says so, or
    of two without names the second.

    Raises:
        ConfigError: the class does not exist, or nothing names it.
    """
    names = [label.casefold() for label in labels]
    classes = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    if requested is not None:
        # A name goes before an equal index.
        numbers = {str(number): number for number in range(len(names))}
        numbers |= {name: number for number, name in enumerate(names)}
        if (name := str(requested).casefold()) in numbers:
            return numbers[name]
        raise ConfigError(
            f"the classifier has no class {requested!r}", remedy=f"Its classes are {classes}."
        )
    entailed = [number for number, name in enumerate(names) if name in _ENTAILMENT]
    if len(names) == 1 or names == _UNNAMED_PAIR:
        return len(names) - 1
    if len(entailed) == 1:
        return entailed[0]
    raise ConfigError(
        f"nothing says which class of the classifier means yes: {classes}",
        remedy=f"Name it: `--label 0`, or of a task `--metadata '{{\"{setting}\": 0, …}}'`.",
    )


# --- Facts ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)  # all tasks of a run use the same one
def facts(
    model: str,
    *,
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> learned.Facts:
    """Return the metric with the classifier of this folder, or of this name on the hub.

    ``label`` is the class that means yes, by name or index, where the checkpoint does not say;
    ``device`` is the GPU where there is one.

    Raises:
        ConfigError: the classifier, device or label does not exist.
    """
    checkpoint = read_classifier(model, device, batch_size)
    number = label_of(checkpoint.labels, label)
    most = checkpoint.limit(offset=2)  # RoBERTa's positions begin at 2

    def encode(pairs: Sequence[ClassifierInput]) -> list[Encoded]:
        firsts, seconds = zip(*pairs, strict=True)
        fault = "outputs and units are longer than"
        try:
            return checkpoint.encode(firsts, seconds, "only_first", most, fault)
        except Exception as error:  # tokenizers has no narrower one
            if "too short to respect" not in str(error):
                raise
            unit = max(seconds, key=len)
            raise CorpusError(
                f"a unit is longer than the {most} tokens that the classifier takes: {unit[:80]}…",
                remedy="Use another classifier, or leave the sample out.",
            ) from error

    details = f"|label:{checkpoint.labels[number]}"
    return learned.Facts(Reader(checkpoint, encode, probability_of(number), details))


# --- BLEURT ---------------------------------------------------------------------------------------

_BLEURT_TOKENS = 128  # that BLEURT-base-128 reads of a pair


@lru_cache(maxsize=1)
def bleurt(model: str, *, device: str | None = None, batch_size: int = 32) -> learned.Bleurt:
    """Return BLEURT by a conversion of its checkpoint to PyTorch, in a folder or on the hub.

    A pair that is too long loses the end of its longer part.

    Raises:
        ConfigError: the checkpoint or device does not exist, or it does not give one rating.
    """
    checkpoint = read_classifier(model, device, batch_size)
    if (outputs := len(checkpoint.labels)) != 1:
        raise ConfigError(
            f"gives {outputs} numbers for a pair, and BLEURT gives one",
            where=model,
            remedy="Name a conversion of BLEURT-base-128 to PyTorch, a sequence classifier of "
            "transformers with one output.",
        )
    most = checkpoint.limit(_BLEURT_TOKENS)

    def encode(pairs: Sequence[learned.Pair]) -> list[Encoded]:
        references, texts = zip(*pairs, strict=True)
        return checkpoint.encode(references, texts, "longest_first", most)

    def ratings(model: Any, inputs: Any) -> list[float]:
        return [rating for (rating,) in numbers_of_classes(model, inputs)]

    details = f"|label:{checkpoint.labels[0]}|tokens:{most}"
    return learned.Bleurt(Reader(checkpoint, encode, ratings, details))
