"""Classifiers of attributes: one sequence classifier for each aspect of a corpus of CompMCTG.

The published ones are RoBERTa-large, trained on `cls.jsonl`; `configs/models/compmctg` has their
batch sizes and epochs. By default a small encoder is trained from nothing, on words, in a minute.
"""

import logging
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tokenizers
import torch
from pydantic import Field
from pydantic.dataclasses import dataclass
from tokenizers import Regex, normalizers, pre_tokenizers, processors
from tokenizers.models import WordLevel
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    get_linear_schedule_with_warmup,
)

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import read_rows, read_text
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest
from spor_tasks.core.sample import Sample
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.compmctg.outputs import TEXT, read_outputs
from spor_tasks.corpora.compmctg.reader import TEXT as REVIEW
from spor_tasks.corpora.compmctg.reader import combination_in, file_of
from spor_tasks.corpora.compmctg.spaces import PUBLISHED, Space, read_space
from spor_tasks.metrics.classifier import device_of, identity_of
from training.bases import versions
from training.memory import enough_memory
from training.settings import CLOSED, Count, Positive, read_settings, read_yaml, to_dict
from training.state import seeded
from training.threads import cpu_threads

KIND = "classifier"
SPACES: Mapping[str, Space] = {space.name: space for space in PUBLISHED}

_CLIP = 1.0
_WARM_UP = 0.1  # of all steps
_MOST_WORDS = 20_000  # in the vocabulary of the small encoder
_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WORDS = Regex(r"\w+|[^\w\s]")
_LESS_MEMORY = "Lower micro_batch or max_tokens."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, config=CLOSED)
class ClassifierConfig:
    """How classifiers are trained; ``epochs`` and ``batch_size`` are of all aspects, or of each.

    ``base`` is a folder or a name on the hub; None is the small encoder. A batch is read in parts
    of ``micro_batch`` texts. ``dev_share`` of the texts, drawn with the seed, are held out.
    The learning rate rises over the first tenth of the steps, and falls to zero.
    """

    base: str | None = None
    epochs: Count | dict[str, Count] = 4
    batch_size: Count | dict[str, Count] = 32
    micro_batch: Count = 32
    learning_rate: Positive = 2e-3
    max_tokens: Count = 64
    dev_share: Annotated[float, Field(gt=0, lt=1)] = 0.15
    seed: int = 0
    threads: Count = 1
    overwrite: bool = field(default=False)


class Trained(NamedTuple):
    """A classifier's folder, and its accuracy on the held-out texts after each epoch, in per cent.

    ``is_new`` tells whether it was trained now, or found.
    """

    folder: Path
    accuracies: tuple[float, ...]
    is_new: bool


class _Labelled(NamedTuple):
    texts: Sequence[str]
    labels: Sequence[int]


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> ClassifierConfig:
    """Read a YAML file, or the defaults; ``key=value`` settings override it.

    Raises:
        ConfigError: the file cannot be read, or a key or value is not one of the settings.
    """
    where = str(path or "defaults")
    document = read_yaml(read_text(path), where) if path else {}
    return read_settings(ClassifierConfig, document, where, overrides)


def space_of(corpus: str) -> Space:
    """Return the space of a corpus of CompMCTG, or the one that a YAML file describes.

    Raises:
        ConfigError: there is no such corpus or file, or the file is malformed.
    """
    if corpus in SPACES:
        return SPACES[corpus]
    if Path(corpus).suffix in {".yaml", ".yml"}:
        return read_space(Path(corpus))
    raise ConfigError(
        "has no texts for classifiers",
        where=corpus,
        remedy=f"Use one of {', '.join(SPACES)}, or a YAML file with `aspects:` and their values.",
    )


def read_labelled(corpus: str, path: Path | None = None) -> tuple[Sample, ...]:
    """Return the labelled texts of a corpus: of its ``cls.jsonl``, or of a file in either form.

    That of a space of one's own is beside its YAML file.

    Raises:
        ConfigError: as :func:`space_of`.
        CorpusError: the file is missing or empty, or a row has no text or another value.
    """
    space, beside = space_of(corpus), Path(corpus).with_name("cls.jsonl")
    path = path or (file_of(corpus, "cls") if corpus in SPACES else beside)
    rows = (
        (where, {**row, TEXT: row[REVIEW]} if REVIEW in row else row)
        for where, row in read_rows(path)
    )
    found = []
    for where, row, sample in read_outputs(rows, space):
        if sample is None or not isinstance(text := row["output"], str) or not text.strip():
            raise CorpusError(f"has no text in `{REVIEW}` or `{TEXT}`", where=where)
        found.append(Sample(sample.id, space.name, sample.units, (text,)))
    if not found:
        raise CorpusError("holds no row", where=path)
    return tuple(found)


def train(
    corpus: str,
    aspects: Sequence[str],
    samples: Sequence[Sample],
    out: Path,
    config: ClassifierConfig,
) -> Iterator[Trained]:
    """Yield each aspect's classifier as soon as it is in its folder, which has the aspect's name.

    A folder is written completely or not at all. One that was made of equal texts by equal settings
    and versions is kept, so that a run that was interrupted continues with the next aspect.

    Raises:
        ConfigError: there is no such aspect or base, or a folder is of something else.
        CorpusError: the texts do not have two values of the aspect, or are too few.
    """
    space = space_of(corpus)
    for aspect in aspects:
        if aspect not in space.aspects:
            raise ConfigError(
                f"{corpus} has no aspect {aspect!r}",
                remedy=f"Use {', '.join(space.aspects)}, or all.",
            )
    for aspect in aspects:
        place = [*space.aspects].index(aspect)
        said = [combination_in(sample)[place] for sample in samples]
        values = space.aspects[aspect]
        if lacking := [value for value in values if value not in said]:
            raise CorpusError(
                f"no text has the {aspect} {', '.join(lacking)}",
                where=corpus,
                remedy="A classifier learns only the values that it is shown.",
            )
        labelled = _Labelled([sample.target for sample in samples], [*map(values.index, said)])
        facts = {
            "kind": KIND,
            "corpus": space.name,
            "aspect": aspect,
            "values": list(values),
            "settings": _own(config, aspect),
            "base": config.base and identity_of(config.base),
            "data_sha256": digest(samples),
            "versions": versions(),
        }
        yield _trained(out / aspect, labelled, facts, config)


def _own(config: ClassifierConfig, aspect: str) -> dict[str, Any]:
    """Return the settings of one aspect."""
    settings = to_dict(config)
    del settings["overwrite"]
    for key in ("epochs", "batch_size"):
        if isinstance(of_each := settings[key], dict):
            if aspect not in of_each:
                raise ConfigError(f"lacks the key {key}.{aspect}", remedy=f"Add {key}.{aspect}.")
            settings[key] = of_each[aspect]
    return settings


def _trained(
    folder: Path, labelled: _Labelled, facts: dict[str, Any], config: ClassifierConfig
) -> Trained:
    try:
        found = read_manifest(folder)
    except ResultError:
        found = {}
    if facts.items() <= found.items():
        return Trained(folder, tuple(found["dev_accuracies"]), is_new=False)
    with atomic_folder(folder, kind=KIND, overwrite=config.overwrite) as made:
        device = device_of(None)
        with seeded(config.seed, device), cpu_threads(config.threads):
            train_part, dev = _divided(labelled, config)
            model, tokenizer = _base(train_part, facts["values"], config)
            fit = _Fit(model.to(device), tokenizer, config)
            accuracies = tuple(fit.epochs(train_part, dev, facts))
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        counts = {"texts": len(train_part.texts), "dev_texts": len(dev.texts)}
        weights = {"sha256": digest_weights(made)}
        write_manifest(made, {**facts, **counts, "dev_accuracies": list(accuracies), **weights})
    return Trained(folder, accuracies, is_new=True)


def _divided(labelled: _Labelled, config: ClassifierConfig) -> tuple[_Labelled, _Labelled]:
    """Return the texts to learn from, and those that are held out."""
    order = random.Random(config.seed).sample(range(len(labelled.texts)), len(labelled.texts))
    held = max(1, round(config.dev_share * len(order)))
    if held >= len(order):
        raise CorpusError(f"has {len(order)} texts, too few to hold some out")
    train_part, dev = (
        _Labelled([labelled.texts[i] for i in of], [labelled.labels[i] for i in of])
        for of in (order[held:], order[:held])
    )
    return train_part, dev


def _base(labelled: _Labelled, values: Sequence[str], config: ClassifierConfig) -> tuple[Any, Any]:
    """Return a model with a class for each value, and its tokenizer."""
    named = {
        "id2label": dict(enumerate(values)),
        "label2id": {value: number for number, value in enumerate(values)},
    }
    if config.base is None:
        tokenizer = _word_tokenizer(labelled.texts)
        small = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            num_hidden_layers=1,
            num_attention_heads=4,
            intermediate_size=128,
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",  # twice as fast on a CPU
            max_position_embeddings=config.max_tokens + 2,  # of which scoring spares two
            **named,
        )
        return BertForSequenceClassification(small), tokenizer
    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            config.base, trust_remote_code=False, ignore_mismatched_sizes=True, **named
        )
        tokenizer = AutoTokenizer.from_pretrained(config.base, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"cannot be loaded: {error}", where=config.base) from error
    if tokenizer.pad_token is None:  # as of GPT-2
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id
    return model.float(), tokenizer


def _word_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are the most frequent words in lower case, and signs."""
    split = pre_tokenizers.Split(_WORDS, "removed", invert=True)
    counts = Counter(word for text in texts for word, _ in split.pre_tokenize_str(text.lower()))
    words = sorted(counts, key=lambda word: (-counts[word], word))[:_MOST_WORDS]
    vocabulary = {word: number for number, word in enumerate([*_SPECIALS, *words])}
    made = tokenizers.Tokenizer(WordLevel(vocabulary, unk_token=_SPECIALS[1]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = split
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    names = zip(("pad_token", "unk_token", "cls_token", "sep_token"), _SPECIALS, strict=True)
    return PreTrainedTokenizerFast(tokenizer_object=made, **dict(names))


class _Fit:
    """Trains one classifier."""

    def __init__(self, model: Any, tokenizer: Any, config: ClassifierConfig) -> None:  # noqa: ANN401 - of transformers
        self._model, self._tokenizer, self._config = model, tokenizer, config
        limit = min(config.max_tokens, tokenizer.model_max_length)
        self._tokenizer.model_max_length = limit

    def epochs(
        self, train_part: _Labelled, dev: _Labelled, facts: Mapping[str, Any]
    ) -> Iterator[float]:
        """Train, and yield the accuracy on the held-out texts after each epoch."""
        settings, config = facts["settings"], self._config
        size, number = settings["batch_size"], len(train_part.texts)
        steps = settings["epochs"] * math.ceil(number / size)
        optimizer = torch.optim.AdamW(self._model.parameters(), lr=config.learning_rate)
        schedule = get_linear_schedule_with_warmup(optimizer, round(_WARM_UP * steps), steps)
        rows, dev_rows = self._encoded(train_part.texts), self._encoded(dev.texts)
        for epoch in range(settings["epochs"]):
            order = torch.randperm(number).tolist()
            for start in range(0, number, size):
                with enough_memory("training", _LESS_MEMORY):
                    self._step(rows, train_part.labels, order[start : start + size])
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            right = sum(
                said == label for said, label in zip(self._said(dev_rows), dev.labels, strict=True)
            )
            accuracy = 100 * right / len(dev.labels)
            _log.info("%s, epoch %d: dev accuracy %.2f", facts["aspect"], epoch + 1, accuracy)
            yield accuracy

    def _encoded(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        encoded = self._tokenizer(list(texts), truncation=True)
        return [{key: encoded[key][i] for key in encoded} for i in range(len(texts))]

    def _step(
        self, rows: Sequence[Mapping[str, Any]], labels: Sequence[int], batch: Sequence[int]
    ) -> None:
        """Add the gradient of the mean loss of a batch, clipped."""
        self._model.train()
        by_length = sorted(batch, key=lambda i: len(rows[i]["input_ids"]))
        for part in _parts(by_length, self._config.micro_batch):
            wanted = torch.tensor([labels[i] for i in part], device=self._model.device)
            logits = self._logits([rows[i] for i in part])
            loss = torch.nn.functional.cross_entropy(logits, wanted, reduction="sum") / len(batch)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), _CLIP)

    def _said(self, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        """Return the class of each text."""
        self._model.eval()
        said = [0] * len(rows)
        by_length = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
        for part in _parts(by_length, self._config.micro_batch):
            with torch.inference_mode():
                found = self._logits([rows[i] for i in part]).argmax(-1).tolist()
            for place, label in zip(part, found, strict=True):
                said[place] = label
        return said

    def _logits(self, rows: Sequence[Mapping[str, Any]]) -> torch.Tensor:
        inputs = self._tokenizer.pad(list(rows), return_tensors="pt").to(self._model.device)
        logits: torch.Tensor = self._model(**inputs).logits
        return logits


def _parts(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]
