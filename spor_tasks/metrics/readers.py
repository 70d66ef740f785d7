"""Models of transformers that read the items of :mod:`spor_tasks.metrics.learned`.

Those of tables are in :mod:`spor_tasks.metrics.entailment`. Weights are loaded in float32,
classifiers from safetensors alone (but for the published ones of CompMCTG, of which only tensors
are read), and no code of a checkpoint is run.
"""

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import is_file, read_json
from spor_tasks.core.folders import recover
from spor_tasks.core.weights import digest_weights, find_folder, weight_files
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics import learned
from spor_tasks.metrics.learned import AttributeItem, ClassifierInput

try:
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
        BartTokenizer,
        RobertaConfig,
        RobertaForSequenceClassification,
    )
except ImportError as error:
    raise ConfigError(
        f"a classifier needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

Tokenizers: TypeAlias = Literal["auto", "bart"]
Encoded: TypeAlias = Mapping[str, Any]

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


class Batches:
    """A model on a device, and batches of inputs that are sorted by their length."""

    def __init__(self, device: str | None, batch_size: int) -> None:
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ConfigError(f"a batch cannot have {batch_size!r} texts", remedy="Use 1 or more.")
        self.device, self.size = device_of(device), batch_size

    def answers(
        self, lengths: Sequence[int], answer: Callable[[Sequence[int]], Sequence[Any]]
    ) -> list[Any]:
        """Return the answers for inputs of these lengths, which a batch has by their numbers."""
        answers: list[Any] = [None] * len(lengths)
        by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
        for start in range(0, len(lengths), self.size):
            batch = by_length[start : start + self.size]
            for number, value in zip(batch, answer(batch), strict=True):
                answers[number] = value
        return answers


# --- Classifiers ----------------------------------------------------------------------------------


class SequenceClassifier:
    """A sequence classifier of transformers.

    ``tokenizer`` is what the checkpoint names, or that of BART for one that names another that
    transformers no longer has. ``read`` replaces :func:`read_classifier`.

    Raises:
        ConfigError: the classifier or device does not exist.
    """

    def __init__(
        self,
        name: str,
        device: str | None,
        batch_size: int,
        *,
        tokenizer: Tokenizers = "auto",
        read: "Callable[[str, Tokenizers], tuple[Any, Any]] | None" = None,
    ) -> None:
        self._batches = Batches(device, batch_size)
        self._model, self.tokenizer = (read or read_classifier)(name, tokenizer)
        self.config = config = self._model.config
        self.labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        self.signature = identity_of(name)

    def limit(self, most: float = math.inf, offset: int = 0) -> int:
        """Return how many tokens the model reads; its first position is the ``offset``."""
        positions = getattr(self.config, "max_position_embeddings", None) or MOST_TOKENS + offset
        return int(min(self.tokenizer.model_max_length, most, positions - offset))

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

    def logits(
        self,
        encoded: Sequence[Encoded],
        take: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.float,
    ) -> list[Any]:
        """Return the number of each class, or what to ``take`` of them, for each encoded text."""

        def answer(batch: Sequence[int]) -> list[Any]:
            inputs = self.tokenizer.pad([encoded[i] for i in batch], return_tensors="pt")
            with torch.inference_mode():
                return take(self._model(**inputs.to(self._batches.device)).logits).tolist()  # type: ignore[no-any-return]

        self._model.to(self._batches.device)
        return self._batches.answers([len(each["input_ids"]) for each in encoded], answer)

    def probabilities(self, encoded: Sequence[Encoded], label: int) -> list[float]:
        """Return the probability of a class among others, or by itself if it is alone."""
        alone = self.config.num_labels == 1
        alone |= self.config.problem_type == "multi_label_classification"
        function = torch.sigmoid if alone else torch.nn.Softmax(dim=-1)
        return self.logits(encoded, lambda logits: function(logits)[:, label])


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
        wanted = str(requested).casefold()
        if wanted in names:
            return names.index(wanted)
        if wanted in map(str, range(len(names))):
            return int(wanted)
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
    return learned.Facts(_Facts(SequenceClassifier(model, device, batch_size), label), format)


class _Facts:
    def __init__(self, model: SequenceClassifier, label: str | int | None) -> None:
        self._model, self._label = model, label_of(model.labels, label)
        self._most = model.limit(offset=2)  # RoBERTa's positions begin at 2
        self.signature = f"{model.signature}|label:{model.labels[self._label]}"

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        """Return the probability that each output expresses its unit."""
        if not pairs:
            return []
        firsts, seconds = zip(*pairs, strict=True)
        try:
            encoded, cut = self._model.encode(firsts, seconds, "only_first", self._most)
        except Exception as error:  # tokenizers has no narrower one
            if "too short to respect" not in str(error):
                raise
            unit = max(filter(None, seconds), key=len)
            raise CorpusError(
                f"a unit is longer than the {self._most} tokens that the classifier takes: "
                f"{unit[:80]}…",
                remedy="Use another classifier, or leave the sample out.",
            ) from error
        warn_of_cuts(cut, len(pairs), "outputs and units are longer than", self._most)
        return self._model.probabilities(encoded, self._label)


# --- BLEURT ---------------------------------------------------------------------------------------

_BLEURT_TOKENS = 128  # that BLEURT-base-128 reads of a pair


@lru_cache(maxsize=1)
def bleurt(model: str, *, device: str | None = None, batch_size: int = 32) -> learned.Bleurt:
    """Return BLEURT by a conversion of its checkpoint to PyTorch, in a folder or on the hub.

    Raises:
        ConfigError: the checkpoint or device does not exist, or it does not give one rating.
    """
    classifier = SequenceClassifier(model, device, batch_size)
    if (outputs := classifier.config.num_labels) != 1:
        raise ConfigError(
            f"gives {outputs} numbers for a pair, and BLEURT gives one",
            where=model,
            remedy="Name a conversion of BLEURT-base-128 to PyTorch, a sequence classifier of "
            "transformers with one output.",
        )
    return learned.Bleurt(_Ratings(classifier))


class _Ratings:
    def __init__(self, model: SequenceClassifier) -> None:
        self._model, self._most = model, model.limit(_BLEURT_TOKENS)
        self.signature = f"{model.signature}|label:{model.labels[0]}|tokens:{self._most}"

    def __call__(self, pairs: Sequence[learned.Pair]) -> list[float]:
        """Return the rating of each text; what is too long loses the end of its longer part."""
        if not pairs:
            return []
        references, texts = zip(*pairs, strict=True)
        encoded, _ = self._model.encode(references, texts, "longest_first", self._most)
        return self._model.logits(encoded, lambda logits: logits[:, 0])


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
    return learned.Attributes(_Attributes(aspects(Path(classifiers), device, batch_size)))


def aspects(folder: Path, device: str | None, batch_size: int) -> "dict[str, Aspect]":
    """Return the classifiers in the folders of this folder, by aspect.

    Raises:
        ConfigError: as :func:`attributes`.
    """
    recover(folder)
    folders = sorted(path for path in folder.glob("[!.]*") if is_file(path / "config.json"))
    if not folders:
        raise ConfigError("has no classifiers", where=folder, remedy=_ATTRIBUTES_REMEDY)
    return {path.name: Aspect(path, device, batch_size) for path in folders}


class _Attributes:
    def __init__(self, by_aspect: "Mapping[str, Aspect]") -> None:
        self._by_aspect = by_aspect
        digests = (f"{name}={each.digest}" for name, each in by_aspect.items())
        self.signature = f"classifiers:{','.join(digests)}"

    def __call__(self, items: Sequence[AttributeItem]) -> list[str]:
        """Return the value that each text has, spelled as it was requested."""
        spelled = {(unit[0], unit[-1].casefold()): unit[-1] for unit, _ in items}
        for aspect, value in dict.fromkeys((unit[0], unit[-1]) for unit, _ in items):
            classifier = self._of(aspect)
            if value.casefold() not in map(str.casefold, classifier.values):
                raise ConfigError(
                    f"the classifier of {aspect} does not know {value!r}",
                    where=classifier.folder,
                    remedy=f"It knows {', '.join(classifier.values)}.",
                )
        answers = [""] * len(items)
        for aspect in dict.fromkeys(unit[0] for unit, _ in items):
            places = [i for i, (unit, _) in enumerate(items) if unit[0] == aspect]
            values = self._of(aspect)([items[i][1] for i in places])
            for place, value in zip(places, values, strict=True):
                answers[place] = spelled.get((aspect, value.casefold()), value)
        return answers

    def _of(self, aspect: str) -> "Aspect":
        if aspect not in self._by_aspect:
            raise ConfigError(
                f"there is no classifier of {aspect}, only of {', '.join(self._by_aspect)}",
                remedy=_ATTRIBUTES_REMEDY,
            )
        return self._by_aspect[aspect]


class Aspect:
    """The classifier of one aspect, which may be a published one (github.com/tqzhong/CG4MCTG).

    ``values`` are what its classes stand for, in their order. The published ones are RoBERTa with
    layers of another name, and their files name no classes. Their code fills batches with the token
    0 and adds -10000 to what is filled, which changes no number in float32.
    """

    def __init__(self, folder: Path, device: str | None, batch_size: int) -> None:
        self.folder = folder
        self._model = SequenceClassifier(str(folder), device, batch_size, read=_read_published)
        self.values = _values(folder, self._model.config)
        self.digest = digest_weights(folder)[:16]
        self._most = self._model.limit(MOST_TOKENS, offset=2)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the value that each text has."""
        return [self.values[logits.index(max(logits))] for logits in self.numbers(texts)]

    def numbers(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the number of each class, of which the greatest says the value."""
        different = [*dict.fromkeys(texts)]
        encoded, cut = self._model.encode(different, [None], "only_first", self._most)
        warn_of_cuts(cut, len(different), "texts are longer than", self._most)
        logits = dict(zip(different, self._model.logits(encoded), strict=True))
        return [logits[text] for text in texts]


def _values(folder: Path, config: Any) -> tuple[str, ...]:  # noqa: ANN401 - of transformers
    """Return the values that the classes stand for."""
    aspect, count = folder.name, config.num_labels
    named = [str(config.id2label[number]) for number in range(count)]
    if not all(map(_UNNAMED.fullmatch, named)):
        published = (value for space in PUBLISHED for value in space.aspects.get(aspect, ()))
        spelled = {value.casefold(): value for value in published}
        return tuple(spelled.get(name.casefold(), name) for name in named)
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


def _read_published(name: str, kind: Tokenizers) -> tuple[Any, Any]:
    """Return a classifier, which may be a published one, and its tokenizer."""
    folder = Path(name)
    state = _state(weight_files(folder))
    if "cls.seq_relationship.weight" not in state:
        return read_classifier(name, kind)
    renamed = {}
    for key, weight in state.items():
        old = next(filter(key.startswith, _RENAMED), None)
        renamed[_RENAMED[old] + key.removeprefix(old) if old else key] = weight
    try:
        config = RobertaConfig.from_pretrained(folder)
        config.num_labels = len(renamed["classifier.out_proj.weight"])
        model = RobertaForSequenceClassification(config)
        missing = model.load_state_dict(renamed, strict=False).missing_keys
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(
            f"the classifier cannot be loaded: {error}", where=folder, remedy=_ATTRIBUTES_REMEDY
        ) from error
    if missing:
        raise ConfigError(f"lacks {', '.join(missing)}", where=folder, remedy=_ATTRIBUTES_REMEDY)
    return model.float().eval(), tokenizer


def _state(files: Sequence[Path]) -> Mapping[str, torch.Tensor]:
    """Return the weights in the files; no code that one may hold is run."""
    state: dict[str, torch.Tensor] = {}
    for file in files:
        try:
            state |= (
                load_file(file)
                if file.suffix == ".safetensors"
                else torch.load(file, map_location="cpu", weights_only=True)
            )
        except Exception as error:  # pickle and safetensors have many
            raise ConfigError(f"cannot be read: {error}", where=file) from error
    return state


# --- Perplexity -----------------------------------------------------------------------------------

_DIGITS = 6  # what differs beyond these depends on the machine and on the size of the batches
_CAUSAL_TOKENS = 1024  # of a language model that does not say how many it reads


@lru_cache(maxsize=1)
def perplexity(
    model: str, *, device: str | None = None, batch_size: int = 16
) -> learned.TextPerplexity:
    """Return the metric with the causal model of this folder, or of this name on the hub.

    The published numbers are by GPT-2 Large, ``openai-community/gpt2-large``.

    Raises:
        ConfigError: the model or device does not exist, or its tokenizer has no end token.
    """
    return learned.TextPerplexity(_CausalModel(model, device, batch_size))


class _CausalModel:
    def __init__(self, name: str, device: str | None, batch_size: int) -> None:
        self._batches = Batches(device, batch_size)
        try:
            model = AutoModelForCausalLM.from_pretrained(name, trust_remote_code=False)
            self._tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigError(
                f"the language model cannot be loaded: {error}",
                where=name,
                remedy="Name a causal model's folder, or its name on the hub, such as "
                "openai-community/gpt2-large.",
            ) from error
        self._model = model.float().eval()
        if self._tokenizer.eos_token_id is None:
            raise ConfigError("its tokenizer has no end token, which is read first", where=name)
        self._most = getattr(model.config, "max_position_embeddings", None) or _CAUSAL_TOKENS
        self.signature = identity_of(name)

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        """Return the perplexity of each text; of one that is too long, that of its beginning."""
        if not texts:
            return []
        start = self._tokenizer.eos_token_id
        tokens = self._tokenizer([*texts], add_special_tokens=False)["input_ids"]
        cut = sum(len(of_text) >= self._most for of_text in tokens)
        warn_of_cuts(cut, len(texts), "texts are longer than", self._most)
        rows = [[start, *of_text][: self._most] for of_text in tokens]
        self._model.to(self._batches.device)
        return self._batches.answers(
            [*map(len, rows)], lambda batch: self._perplexities([rows[i] for i in batch])
        )

    def _perplexities(self, rows: Sequence[Sequence[int]]) -> list[float | None]:
        width, device = max(map(len, rows)), self._batches.device
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        mask = mask.to(device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[:, :-1]
            likely = torch.softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
        perplexities: list[float | None] = []
        for row, places in zip(likely.double(), mask[:, 1:].bool(), strict=True):
            tokens = row[places]
            # Probabilities are of single precision, in which one may be zero.
            is_possible = len(tokens) and bool((tokens > 0).all())
            loss = float(-tokens.log().mean()) if is_possible else None
            perplexities.append(None if loss is None else float(f"{math.exp(loss):.{_DIGITS}g}"))
        return perplexities
