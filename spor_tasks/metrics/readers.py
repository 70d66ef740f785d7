"""Models of transformers that read the items of :mod:`spor_tasks.metrics.learned`.

Those of tables are in :mod:`spor_tasks.metrics.entailment`. Weights are loaded in float32,
classifiers from safetensors alone (but for the published ones of CompMCTG, of which only tensors
are read), and no code of a checkpoint is run.
"""

import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import is_file, read_json
from spor_tasks.core.folders import recover
from spor_tasks.core.weights import digest_weights, find_folder
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics import learned
from spor_tasks.metrics.learned import AttributeItem, ClassifierInput

try:
    import torch
    import transformers
    from safetensors import SafetensorError
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
    shown = Path(name).name if Path(name).is_dir() else name
    return f"model:{shown}|weights:{weights}"


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
            f"there is no device {name} for the classifier: {reason}", remedy="Use cpu."
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
        seconds: Sequence[str | None],
        cut: str,
        most: int,
        fault: str | None = None,
    ) -> list[Encoded]:
        """Return texts of one or two segments as tokens.

        ``cut`` is `only_first`, `only_second` or `longest_first`: the segment that loses tokens
        beyond ``most``. A ``fault`` says what was too long, in a warning with the number of texts.
        """
        paired = None if seconds[0] is None else list(seconds)
        encoded = self.tokenizer(list(firsts), paired, truncation=cut, max_length=most)
        if fault:
            count = sum(bool(each.overflowing) for each in encoded.encodings or ())
            warn_of_cuts(count, len(firsts), fault, most)
        return [{key: encoded[key][i] for key in encoded} for i in range(len(firsts))]


def read_classifier(
    name: str, device: str | None, batch_size: int, tokenizers: str = "AutoTokenizer"
) -> Checkpoint:
    """Return a model that was trained as a classifier, and its tokenizer.

    ``tokenizers`` names the class, for a checkpoint that names one which transformers lacks.

    Raises:
        ConfigError: there is none, or it lacks weights or a padding token; or the device or the
            size of a batch does not exist.
    """

    def load() -> _Loaded:
        model, loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
        tokenizer = getattr(transformers, tokenizers).from_pretrained(name, trust_remote_code=False)
        return model, tokenizer, loaded["missing_keys"]  # transformers draws these at random

    return _checkpoint(name, load, device, batch_size, _REMEDY)


_Loaded: TypeAlias = tuple[Any, Any, Iterable[str]]
"""A model, its tokenizer, and the names of weights that the checkpoint lacks."""


def _checkpoint(
    name: str, load: Callable[[], _Loaded], device: str | None, batch_size: int, remedy: str
) -> Checkpoint:
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigError(f"a batch cannot have {batch_size!r} texts", remedy="Use 1 or more.")
    chosen = device_of(device)
    try:
        model, tokenizer, missing = load()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
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
            with torch.inference_mode():
                found = self.answer(model, inputs.to(device))
            for number, answer in zip(batch, found, strict=True):
                answers[number] = answer
        return answers


def numbers_of_classes(model: Any, inputs: Any) -> list[list[float]]:  # noqa: ANN401
    """Return the number of each class for each text."""
    numbers: list[list[float]] = model(**inputs).logits.float().tolist()
    return numbers


def probability_of(label: int) -> Answer:
    """Return a function for the probability of a class among others, or alone if it is the only."""

    def probabilities(model: Any, inputs: Any) -> list[float]:  # noqa: ANN401
        alone = model.config.num_labels == 1
        alone |= model.config.problem_type == "multi_label_classification"
        logits = model(**inputs).logits
        likely = torch.sigmoid(logits) if alone else torch.softmax(logits, dim=-1)
        found: list[float] = likely[:, label].tolist()
        return found

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
        if (wanted := str(requested).casefold()) in numbers:
            return numbers[wanted]
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
    format: str = "nli",  # noqa: A002 - the name of the setting
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> learned.Facts:
    """Return the metric with the classifier of this folder, or of this name on the hub.

    ``label`` is the class that means yes, by name or index, where the checkpoint does not say;
    ``device`` is the GPU where there is one.

    Raises:
        ConfigError: the classifier, device, label or format does not exist.
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
            unit = max(filter(None, seconds), key=len)
            raise CorpusError(
                f"a unit is longer than the {most} tokens that the classifier takes: {unit[:80]}…",
                remedy="Use another classifier, or leave the sample out.",
            ) from error

    details = f"|label:{checkpoint.labels[number]}"
    answer = probability_of(number)
    return learned.Facts(Reader(checkpoint, encode, answer, details), format)


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

    def ratings(model: Any, inputs: Any) -> list[float]:  # noqa: ANN401
        return [rating for (rating,) in numbers_of_classes(model, inputs)]

    details = f"|label:{checkpoint.labels[0]}|tokens:{most}"
    return learned.Bleurt(Reader(checkpoint, encode, ratings, details))


# --- Attributes -----------------------------------------------------------------------------------

_LABELS = "map_dict.json"
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
def attributes(
    classifiers: str, *, device: str | None = None, batch_size: int = 32
) -> learned.Attributes:
    """Return the metric with the classifiers in the folders of this folder, one for each aspect.

    The name of an aspect is that of its folder. A classifier's classes are named by its config, in
    capitals or not; by the file ``map_dict.json`` in its folder or the one above; or in the
    published order.

    Raises:
        ConfigError: there are none, one cannot be loaded, or nothing says what its classes are.
    """
    folder = Path(classifiers)
    return learned.Attributes(_Attributes(aspects(folder, device, batch_size), folder))


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
        checkpoint = _checkpoint(str(folder), load, device, batch_size, _ATTRIBUTES_REMEDY)
    else:
        checkpoint = read_classifier(str(folder), device, batch_size)
    most = checkpoint.limit(MOST_TOKENS, offset=2)

    def encode(texts: Sequence[str]) -> list[Encoded]:
        return checkpoint.encode(texts, [None], "only_first", most, "texts are longer than")

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
        known = {name: [*map(str.casefold, of.values)] for name, of in self._by_aspect.items()}
        for aspect, value in dict.fromkeys((unit[0], unit[-1]) for unit, _ in items):
            if value.casefold() not in known.get(aspect, ()):
                values = (
                    f"{name} ({', '.join(of.values)})" for name, of in self._by_aspect.items()
                )
                raise ConfigError(
                    f"no classifier knows the {aspect} {value!r}, only {', '.join(values)}",
                    remedy=_ATTRIBUTES_REMEDY,
                )
        answers: dict[int, str] = {}
        for aspect, classifier in self._by_aspect.items():
            places = [i for i, (unit, _) in enumerate(items) if unit[0] == aspect]
            numbers = classifier.numbers([items[i][1] for i in places])
            for place, of_text in zip(places, numbers, strict=True):
                answers[place] = classifier.values[of_text.index(max(of_text))]
        return [answers[place] for place in range(len(items))]


def _values(folder: Path, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the values that the classes stand for."""
    aspect, count = folder.name, len(labels)
    if not all(map(_UNNAMED.fullmatch, labels)):
        published = (value for space in PUBLISHED for value in space.aspects.get(aspect, ()))
        spelled = {value.casefold(): value for value in published}
        return tuple(spelled.get(name.casefold(), name) for name in labels)
    for path in (folder / _LABELS, folder.parent / _LABELS):
        if is_file(path):
            listed = read_json(path).get(aspect)
            if isinstance(listed, dict) and all(str(i) in listed for i in range(count)):
                return tuple(str(listed[str(i)]) for i in range(count))
    for space in PUBLISHED:
        if len(values := space.aspects.get(aspect, ())) == count:
            return values
    raise ConfigError(
        f"nothing says which values of {aspect} its {count} classes are",
        where=folder,
        remedy=f"Name them in `id2label` of its config.json, or in a {_LABELS} beside it: "
        f'{{"{aspect}": {{"0": …, "1": …}}}}.',
    )


def _read_published(folder: Path, weights: Mapping[str, torch.Tensor]) -> _Loaded:
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

_DIGITS = 6  # what differs beyond these depends on the machine and on the size of the batches
_CAUSAL_TOKENS = 1024  # of a language model that does not say how many it reads
_CAUSAL_REMEDY = (
    "Name a causal model's folder, or its name on the hub, such as openai-community/gpt2-large."
)


@lru_cache(maxsize=1)
def perplexity(
    model: str, *, device: str | None = None, batch_size: int = 16
) -> learned.TextPerplexity:
    """Return the metric with the causal model of this folder, or of this name on the hub.

    The published numbers are by GPT-2 Large, ``openai-community/gpt2-large``. A text that is too
    long has the perplexity of its beginning.

    Raises:
        ConfigError: the model or device does not exist, or its tokenizer has no end token.
    """

    def load() -> _Loaded:
        causal = transformers.AutoModelForCausalLM.from_pretrained(model, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            model, trust_remote_code=False, padding_side="right"
        )
        tokenizer.pad_token = tokenizer.eos_token
        return causal, tokenizer, ()

    checkpoint = _checkpoint(model, load, device, batch_size, _CAUSAL_REMEDY)
    tokenizer, config = checkpoint.tokenizer, checkpoint.model.config
    most = getattr(config, "max_position_embeddings", None) or _CAUSAL_TOKENS

    def encode(texts: Sequence[str]) -> list[Encoded]:
        rows = tokenizer([*texts], add_special_tokens=False)["input_ids"]
        cut = sum(len(row) >= most for row in rows)
        warn_of_cuts(cut, len(texts), "texts are longer than", most)
        return [{"input_ids": [tokenizer.eos_token_id, *row][:most]} for row in rows]

    return learned.TextPerplexity(Reader(checkpoint, encode, _perplexities))


def _perplexities(model: Any, inputs: Any) -> list[float | None]:  # noqa: ANN401
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
    return float(f"{math.exp(float(-tokens.log().mean())):.{_DIGITS}g}")
