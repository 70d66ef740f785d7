"""Classifiers of attributes: one sequence classifier for each aspect of a corpus of CompMCTG.

The published ones are RoBERTa-large, trained on `cls.jsonl`; `configs/models/compmctg` has their
batch sizes and epochs. By default a small encoder of pieces of words is trained from nothing, in a
minute.
"""

import math
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias, cast

from pydantic import Field
from pydantic.dataclasses import dataclass
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    DataCollatorWithPadding,
    EvalPrediction,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
)

from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import JsonObject, read_rows, read_text
from spor_tasks.core.folders import atomic_folder, read_manifest, write_manifest
from spor_tasks.core.foreign import guarded
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.compmctg.outputs import TEXT
from spor_tasks.corpora.compmctg.reader import TEXT as REVIEW
from spor_tasks.corpora.compmctg.reader import combination_in, file_of, units_of
from spor_tasks.corpora.compmctg.spaces import PUBLISHED, Space, read_space
from spor_tasks.metrics.judges.checkpoints import device_of, identity_of
from training.identity import versions
from training.memory import enough_memory
from training.processes import cpu_threads
from training.settings import CLOSED, Count, Positive, Threads, read_settings, read_yaml, to_dict
from training.state import seeded

KIND = "classifier"
SPACES: Mapping[str, Space] = {space.name: space for space in PUBLISHED}

_WARM_UP = 0.1  # of all steps
_MOST_PIECES = 20_000  # of words, in the vocabulary of the small encoder
_LESS_MEMORY = "Lower micro_batch or max_tokens."


@dataclass(frozen=True, slots=True, config=CLOSED)
class ClassifierConfig:
    """How classifiers are trained; ``epochs`` and ``batch_size`` are of all aspects, or of each."""

    base: str | None = None
    """A folder or a name on the hub; None is the small encoder."""
    epochs: Count | dict[str, Count] = 4
    batch_size: Count | dict[str, Count] = 32
    micro_batch: Count = 32
    """A batch is read in parts of so many texts."""
    learning_rate: Positive = 2e-3
    """It rises over the first tenth of the steps, and falls to zero."""
    max_tokens: Count = 64
    dev_share: Annotated[float, Field(gt=0, lt=1)] = 0.15
    """The share of the texts, drawn with the seed, that are held out."""
    seed: int = 0
    threads: Threads = 1
    overwrite: bool = field(default=False)

    def of(self, aspect: str) -> "ClassifierConfig":
        """Return the settings of one aspect.

        Raises:
            ConfigError: one that differs by aspect lacks this one.
        """
        own = {"epochs": self.epochs, "batch_size": self.batch_size}
        for key, value in own.items():
            if isinstance(value, dict):
                if aspect not in value:
                    remedy = f"Add {key}.{aspect}."
                    raise ConfigError(f"lacks the key {key}.{aspect}", remedy=remedy)
                own[key] = value[aspect]
        return replace(self, epochs=own["epochs"], batch_size=own["batch_size"])


class Trained(NamedTuple):
    """A classifier's folder, and its accuracy on the held-out texts after each epoch, in per cent.

    ``is_new`` is false for a classifier that an earlier run trained.
    """

    folder: Path
    accuracies: tuple[float, ...]
    is_new: bool


_Labelled: TypeAlias = Sequence[tuple[str, int]]
"""Texts, each with the number of its value."""


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> ClassifierConfig:
    """Return the settings of a YAML file, or the defaults, overridden by ``key=value``.

    Raises:
        ConfigError: the file cannot be read, or a key or value is not one of the settings.
    """
    where = str(path or "defaults")
    document = read_yaml(read_text(path), where) if path else {}
    return read_settings(ClassifierConfig, document, where, overrides)


def space_of(corpus: str) -> Space:
    """Return the space of a corpus of CompMCTG, or the one that a YAML file describes.

    Raises:
        ConfigError: the corpus or file does not exist, or the file is malformed.
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
    space = space_of(corpus)
    if path is None:
        is_published = corpus in SPACES
        path = file_of(corpus, "cls") if is_published else Path(corpus).with_name("cls.jsonl")
    make, samples = SampleMaker(space.name), []
    for where, row in read_rows(path):
        text = row.get(REVIEW, row.get(TEXT))
        if not isinstance(text, str) or not text.strip():
            raise CorpusError(f"has no text in `{REVIEW}` or `{TEXT}`", where=where)
        samples.append(make(units_of(space, space.combination(row, where)), [text]))
    if not samples:
        raise CorpusError("holds no row", where=path)
    return tuple(samples)


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
        ConfigError: the aspect or base does not exist, or a folder has other content.
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
        place, values = [*space.aspects].index(aspect), space.aspects[aspect]
        found = [combination_in(sample)[place] for sample in samples]
        if lacking := [value for value in values if value not in found]:
            raise CorpusError(
                f"no text has the {aspect} {', '.join(lacking)}",
                where=corpus,
                remedy="Add texts with these values: a classifier learns them from texts.",
            )
        texts = (sample.target for sample in samples)
        labelled = [*zip(texts, map(values.index, found), strict=True)]
        own = config.of(aspect)
        facts = {
            "kind": KIND,
            "corpus": space.name,
            "aspect": aspect,
            "values": list(values),
            "settings": to_dict(own, {"overwrite"}),
            "base": config.base and identity_of(config.base),
            "data_sha256": digest(samples),
            "versions": versions(),
        }
        yield _trained(out / aspect, labelled, facts, own)


def _trained(
    folder: Path, labelled: _Labelled, facts: JsonObject, config: ClassifierConfig
) -> Trained:
    try:
        manifest = read_manifest(folder)
    except ResultError:
        manifest = {}
    if facts.items() <= manifest.items():
        return Trained(folder, tuple(manifest["dev_accuracies"]), is_new=False)
    with atomic_folder(folder, kind=KIND, overwrite=config.overwrite) as place:
        with seeded(config.seed, device_of(None)), cpu_threads(config.threads):
            drawn = random.Random(config.seed).sample(labelled, len(labelled))
            held_out = max(1, round(config.dev_share * len(drawn)))
            if held_out >= len(drawn):
                raise CorpusError(f"has {len(drawn)} texts, too few to hold some out")
            train_part, dev = drawn[held_out:], drawn[:held_out]
            model, tokenizer, accuracies = _fit(train_part, dev, facts["values"], config)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        counts = {"texts": len(train_part), "dev_texts": len(dev)}
        results = {"dev_accuracies": list(accuracies), "sha256": digest_weights(place)}
        write_manifest(place, {**facts, **counts, **results})
    return Trained(folder, accuracies, is_new=True)


def _fit(
    train_part: _Labelled, dev: _Labelled, values: Sequence[str], settings: ClassifierConfig
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, tuple[float, ...]]:
    """Return the trained model, and its accuracy on the held-out texts after each epoch."""
    model, tokenizer = _base(train_part, values, settings)
    tokenizer.model_max_length = min(settings.max_tokens, tokenizer.model_max_length)

    def accuracy(predicted: EvalPrediction) -> dict[str, float]:
        is_right = predicted.predictions.argmax(-1) == predicted.label_ids
        return {"accuracy": 100 * float(is_right.mean())}

    # Numbers, as the settings are those of one aspect.
    epochs, batch_size = cast("tuple[int, int]", (settings.epochs, settings.batch_size))
    parts = math.ceil(batch_size / settings.micro_batch)
    with (
        tempfile.TemporaryDirectory() as folder,
        guarded(type(model).__name__),
        enough_memory("training", _LESS_MEMORY),
    ):
        arguments = TrainingArguments(
            folder,
            num_train_epochs=epochs,
            per_device_train_batch_size=math.ceil(batch_size / parts),
            gradient_accumulation_steps=parts,
            per_device_eval_batch_size=settings.micro_batch,
            learning_rate=settings.learning_rate,
            warmup_steps=_WARM_UP,
            weight_decay=0.01,
            train_sampling_strategy="group_by_length",
            seed=settings.seed,
            eval_strategy="epoch",
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            use_cpu=device_of(None).type == "cpu",
        )
        trainer = Trainer(
            model,
            arguments,
            data_collator=DataCollatorWithPadding(tokenizer),
            train_dataset=_rows(train_part, tokenizer),
            eval_dataset=_rows(dev, tokenizer),
            compute_metrics=accuracy,
        )
        with redirect_stdout(sys.stderr):  # the bar and the lines of each epoch
            trainer.train()
    history = [entry for entry in trainer.state.log_history if "eval_accuracy" in entry]
    return model, tokenizer, tuple(entry["eval_accuracy"] for entry in history)


def _rows(part: _Labelled, tokenizer: PreTrainedTokenizerBase) -> list[dict[str, int | list[int]]]:
    return [{"labels": label, **tokenizer(text, truncation=True)} for text, label in part]


def _base(
    labelled: _Labelled, values: Sequence[str], config: ClassifierConfig
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return a model with a class for each value, and its tokenizer."""
    labels = dict(enumerate(values))
    named = {"id2label": labels, "label2id": {value: n for n, value in labels.items()}}
    if config.base is None:
        words = BertTokenizer()
        texts = [text for text, _ in labelled]
        tokenizer = words.train_new_from_iterator(texts, _MOST_PIECES, show_progress=False)
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
    except Exception as error:  # code of any family
        raise ConfigError(f"cannot be loaded: {error}", where=config.base) from error
    if tokenizer.pad_token is None:  # as of GPT-2
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id
    return model.float(), tokenizer
