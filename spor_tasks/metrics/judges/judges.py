"""The judges by the metric that they are of, and the batch loop that runs each of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import is_file
from spor_tasks.core.folders import recover
from spor_tasks.core.foreign import guarded
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics.judges import checkpoints
from spor_tasks.metrics.judges.checkpoints import JudgeCheckpoint
from spor_tasks.metrics.judges.encoders import BLEURT_TOKENS, ENCODERS, Encoder
from spor_tasks.metrics.learned import (
    AttributeInput,
    Attributes,
    Bleurt,
    ExpressedFacts,
    NliAcc,
    TextPerplexity,
)


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that predicts for inputs, in batches of similar length.

    An input that it cannot read has the prediction None.
    """

    checkpoint: JudgeCheckpoint
    encoder: Encoder
    label: int | None = None
    """The class whose number is the prediction; None is all classes, or no classifier."""
    details: str = ""
    """The end of the signature."""

    @property
    def signature(self) -> str:
        """Whatever can change the predictions."""
        named = "" if self.label is None else f"|label:{self.checkpoint.labels[self.label]}"
        return self.checkpoint.identity + named + self.details

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the prediction for each input."""
        model, tokenizer, _, device, batch_size = self.checkpoint
        encodings = self.encoder.encode(self.checkpoint, inputs) if inputs else []
        predictions: list[Any] = [None] * len(encodings)
        lengths = {i: len(each["input_ids"]) for i, each in enumerate(encodings) if each}
        by_length = sorted(lengths, key=lengths.__getitem__)
        model.to(device)
        for start in range(0, len(by_length), batch_size):
            numbers = by_length[start : start + batch_size]
            batch = tokenizer.pad([encodings[i] for i in numbers], return_tensors="pt")
            with guarded(type(model).__name__), torch.inference_mode():
                predicted = self.encoder.predict(model, batch.to(device))
            for i, prediction in zip(numbers, predicted, strict=True):
                predictions[i] = prediction if self.label is None else prediction[self.label]
        return predictions


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


# --- The judge of each metric; all tasks of a run use the same one --------------------------------


@lru_cache(maxsize=1)
def facts(
    model: str,
    *,
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> ExpressedFacts:
    """Return the metric with the classifier of this folder, or of this name on the hub.

    ``label`` is the class that means yes, by name or index, where the checkpoint does not say;
    ``device`` is the GPU where there is one.

    Raises:
        ConfigError: the classifier, device or label does not exist.
    """
    checkpoint = checkpoints.classifier(model, device, batch_size)
    return ExpressedFacts(
        ModelJudge(checkpoint, ENCODERS["facts"], label_of(checkpoint.labels, label))
    )


@lru_cache(maxsize=1)
def nli_acc(
    model: str,
    *,
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> NliAcc:
    """Return NLI-Acc by the classifier of this folder, or of this name on the hub.

    It is a TAPAS, or a TAPEX, which is a BART. ``label`` and ``device`` are as in :func:`facts`.

    Raises:
        ConfigError: the classifier, device or label does not exist, or it reads no tables.
    """
    # The checkpoints of TAPEX name a tokenizer that transformers lacks.
    checkpoint = checkpoints.classifier(model, device, batch_size, {"bart": "BartTokenizer"})
    kind, labels = checkpoint.model.config.model_type, checkpoint.labels
    name = {"tapas": "tapas", "bart": "tapex"}.get(kind)
    if name is None or (name == "tapex" and len(labels) > 2):  # a BART of MNLI compares texts
        raise ConfigError(
            f"is of the type {kind} with {len(labels)} labels, which reads no tables",
            where=model,
            remedy="Name a TAPAS or TAPEX, such as google/tapas-base-finetuned-tabfact.",
        )
    # `</s>` in an output ends nothing. Of TAPAS the setting would add tokens to empty cells.
    checkpoint.tokenizer.split_special_tokens = name != "tapas"
    number = label_of(labels, label, "nli_label")
    return NliAcc(ModelJudge(checkpoint, ENCODERS[name], number, f"|format:{name}"))


@lru_cache(maxsize=1)
def bleurt(model: str, *, device: str | None = None, batch_size: int = 32) -> Bleurt:
    """Return BLEURT by a conversion of its checkpoint to PyTorch, in a folder or on the hub.

    A pair that is too long loses the end of its longer part.

    Raises:
        ConfigError: the checkpoint or device does not exist, or it does not give one rating.
    """
    checkpoint = checkpoints.classifier(model, device, batch_size)
    if (outputs := len(checkpoint.labels)) != 1:
        raise ConfigError(
            f"gives {outputs} numbers for a pair, and BLEURT gives one",
            where=model,
            remedy="Name a conversion of BLEURT-base-128 to PyTorch, a sequence classifier of "
            "transformers with one output.",
        )
    details = f"|tokens:{checkpoint.limit(BLEURT_TOKENS)}"
    return Bleurt(ModelJudge(checkpoint, ENCODERS["bleurt"], 0, details))


@lru_cache(maxsize=1)
def perplexity(model: str, *, device: str | None = None, batch_size: int = 16) -> TextPerplexity:
    """Return the metric with the causal model of this folder, or of this name on the hub.

    The published numbers are by GPT-2 Large, ``openai-community/gpt2-large``. A text that is too
    long has the perplexity of its beginning.

    Raises:
        ConfigError: the model or device does not exist, or its tokenizer has no end token.
    """
    remedy = (
        "Name a causal model's folder, or its name on the hub, such as openai-community/gpt2-large."
    )
    checkpoint = checkpoints.causal(model, device, batch_size, remedy)
    return TextPerplexity(ModelJudge(checkpoint, ENCODERS["perplexity"]))


# --- The judges of CompMCTG, one for each aspect --------------------------------------------------

_ATTRIBUTES_REMEDY = (
    "Name a folder that has a folder for each aspect, such as `sentiment`, in which a sequence "
    "classifier of transformers was saved. `spor classifier` trains them."
)
_UNNAMED = re.compile(r"label_\d+", re.IGNORECASE)  # transformers' own name of a class


@lru_cache(maxsize=1)
def attributes(classifiers: str, *, device: str | None = None, batch_size: int = 32) -> Attributes:
    """Return the metric with the classifiers in the folders of this folder, one for each aspect.

    The name of an aspect is that of its folder. A classifier's classes are named by its config, in
    capitals or not, or else have the published order.

    Raises:
        ConfigError: there are none, one cannot be loaded, or nothing says what its classes are.
    """
    by_aspect = aspects(folder := Path(classifiers), device, batch_size)
    digests = (f"{name}={digest_weights(folder / name)[:16]}" for name in by_aspect)
    return Attributes(_AttributeJudge(by_aspect, f"classifiers:{','.join(digests)}"))


class Aspect(NamedTuple):
    """The judge of one aspect; the greatest number of a text says its value."""

    values: tuple[str, ...]
    """The values that its classes stand for, in their order."""
    judge: ModelJudge


def aspects(folder: Path, device: str | None, batch_size: int) -> dict[str, Aspect]:
    """Return the classifiers in the folders of this folder, by aspect.

    Raises:
        ConfigError: as :func:`attributes`.
    """
    recover(folder)
    folders = sorted(path for path in folder.glob("[!.]*") if is_file(path / "config.json"))
    if not folders:
        raise ConfigError("has no classifiers", where=folder, remedy=_ATTRIBUTES_REMEDY)
    by_aspect = {}
    for path in folders:
        checkpoint = checkpoints.attribute_classifier(path, device, batch_size, _ATTRIBUTES_REMEDY)
        judge = ModelJudge(checkpoint, ENCODERS["attributes"])
        by_aspect[path.name] = Aspect(_values(path, checkpoint.labels), judge)
    return by_aspect


def _values(folder: Path, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the values that the classes stand for."""
    published = [space.aspects.get(folder.name, ()) for space in PUBLISHED]
    if not all(_UNNAMED.fullmatch(label) for label in labels):
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


class _AttributeJudge(NamedTuple):
    """The classifiers of all aspects, of which each reads the texts that it is asked about."""

    by_aspect: Mapping[str, Aspect]
    signature: str

    def __call__(self, inputs: Sequence[AttributeInput]) -> list[str]:
        """Return the value that each text has of the aspect.

        Raises:
            ConfigError: no classifier knows a requested value.
        """
        values_of = {name: aspect.values for name, aspect in self.by_aspect.items()}
        for name, value in dict.fromkeys((unit[0], unit[-1]) for unit, _ in inputs):
            known = [each.casefold() for each in values_of.get(name, ())]
            if value.casefold() not in known:
                listed = (f"{name} ({', '.join(values)})" for name, values in values_of.items())
                raise ConfigError(
                    f"no classifier knows the {name} {value!r}, only {', '.join(listed)}",
                    remedy=_ATTRIBUTES_REMEDY,
                )
        predictions = [""] * len(inputs)
        for name, aspect in self.by_aspect.items():
            places = [i for i, (unit, _) in enumerate(inputs) if unit[0] == name]
            numbers = aspect.judge([inputs[i][1] for i in places])
            for place, of_text in zip(places, numbers, strict=True):
                predictions[place] = aspect.values[of_text.index(max(of_text))]
        return predictions
