"""Metrics by models: facts, entailment by tables, BLEURT, attributes and perplexity of texts.

Each says what a model reads of an output, and what its predictions mean. The models are those of
:mod:`spor_tasks.metrics.judges`, which needs torch; none is loaded by default. :data:`LOADERS` is
the table of them, by the prefix of their settings in ``--metadata``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pkgutil import resolve_name
from statistics import fmean
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.contracts import Score, TaskSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.references import has_words
from spor_tasks.core.sample import DataUnit, Sample, Triple
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo, Texts
from spor_tasks.metrics.compmctg import ASPECTS, accuracies, accuracy_values, text_of
from spor_tasks.metrics.parent_totto import prepared
from spor_tasks.metrics.totto import references_of
from spor_tasks.text.normalize import display

THRESHOLD = 0.5
"""A class that is likelier than this counts as true."""

DECIMALS = 4
"""What differs beyond these depends on the machine and on the size of the batches."""


class JudgeModel(Protocol):
    """A model that predicts for each input; each metric has its own inputs and predictions."""

    @property
    def signature(self) -> str:
        """Everything that can change the predictions."""

    def __call__(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        """Return a prediction for each input, which does not depend on the others."""


@dataclass(frozen=True, slots=True)
class Learned(Metric):
    """A metric by a model, which reads the inputs of many outputs together."""

    name: ClassVar[str]
    scores: ClassVar[tuple[ScoreInfo, ...]]
    inputs: ClassVar[Callable[..., Sequence[Any]]]
    """Returns what the model reads of a sample and an output."""
    judgement: ClassVar[Callable[..., Judgement]]
    """Returns the judgement of a sample, by the predictions for its inputs."""

    option: ClassVar[str] = "--model PATH_OR_NAME"
    """Names its model, for `spor score`."""
    settings: ClassVar[Sequence[str]] = ()
    """Further parts of its signature."""

    model: JudgeModel | None = None

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        model = self.model.signature if self.model else "model:none"
        return "|".join([self.name, model, *self.settings, f"v:{__version__}"])

    def judge(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Judgement]:
        """Judge the outputs together.

        Raises:
            ConfigError: it has no model.
        """
        if self.model is None:
            raise ConfigError(
                f"the metric {self.name} needs a model",
                remedy=f"Name one with `--metric {self.name} {self.option}`.",
            )
        inputs = [
            self.inputs(sample, output) for sample, (output,) in zip(samples, outputs, strict=True)
        ]
        predictions = iter(self.model([*chain.from_iterable(inputs)]))
        return [
            self.judgement(sample, [*islice(predictions, len(of_output))])
            for sample, of_output in zip(samples, inputs, strict=True)
        ]


# --- Facts ----------------------------------------------------------------------------------------

ClassifierInput: TypeAlias = tuple[str, str]
"""An output, and a unit as `subject, predicate, object`.

The output is the first segment, so that a classifier cuts what is too long there. So read the
FactSpotter checkpoints on the Hugging Face hub, ``Inria-CEDAR/FactSpotter-DeBERTaV3-Small``,
``-Base`` and ``-Large`` (their model cards), and classifiers of natural language inference.
"""


class ExpressedFacts(Learned):
    """The share of the units that an output expresses, each judged alone by a classifier.

    An output without a word expresses nothing. The metric needs no reference, and says nothing
    about what is added to an output (Zhang et al., Findings of EMNLP 2023).
    """

    name = "facts"
    units = ("facts", "cells")
    scores = (ScoreInfo("facts", "Facts"),)
    settings = ("format:nli",)
    logged = ("told",)

    def inputs(self, sample: Sample, output: str) -> list[ClassifierInput]:
        """Return the output beside each unit."""
        inputs = []
        for unit in sample.units if has_words(output) else ():
            # The subject of an attribute is the name.
            parts = unit if isinstance(unit, Triple) else (sample.about("name") or "", *unit)
            shown = [display(part).strip() for part in parts]
            inputs.append((output, ", ".join(part for part in shown if part)))
        return inputs

    def judgement(self, sample: Sample, predictions: Sequence[float]) -> Judgement:
        """Return the share of the units that the output expresses, from 0 to 100.

        The details are how likely each unit is expressed, and the indices of those that are not.
        """
        likely = tuple(round(each, DECIMALS) for each in predictions) or (0.0,) * len(sample.units)
        missing = tuple(i for i, each in enumerate(likely) if each <= THRESHOLD)
        values = {"facts": 100 * (len(likely) - len(missing)) / len(likely)}
        return Judgement(values, {**values, "told": likely, "untold": missing})


# --- Entailment by a table ------------------------------------------------------------------------

Claim: TypeAlias = tuple[Sample, str]
"""A sample, for its table, and an output about it."""


class NliAcc(Learned):
    """NLI-Acc of LogicNLG (Chen et al., ACL 2020): how many outputs the table entails.

    The weights of the published model were not published. An output without a word is not entailed.
    A table has no verdict if it has no row, or a row that is longer than the header, whose columns
    nobody knows; nor has one that the model cannot read.
    """

    name = "nli_acc"
    units = ("columns",)
    scores = (ScoreInfo("nli_acc", "NLI-Acc", is_share=True),)

    def inputs(self, sample: Sample, output: str) -> list[Claim]:
        """Return the claim, if it can be read."""
        return [(sample, output)] if _is_readable(sample) and has_words(output) else []

    def judgement(self, sample: Sample, predictions: Sequence[float | None]) -> Judgement:
        """Return 100 if the table entails the output, else 0, and None without a prediction."""
        likely = (predictions or (0.0,))[0] if _is_readable(sample) else None
        is_true = None if likely is None else round(likely, DECIMALS) > THRESHOLD
        values = {"nli_acc": None if is_true is None else 100.0 * is_true}
        return Judgement(values, values)


def _is_readable(sample: Sample) -> bool:
    table = table_of(sample)
    return bool(table.rows) and all(len(row) <= len(table.header) for row in table.rows)


# --- BLEURT ---------------------------------------------------------------------------------------

Pair: TypeAlias = tuple[str, str]
"""A reference and a text, both prepared (:func:`spor_tasks.metrics.parent_totto.prepared`)."""


class Bleurt(Learned):
    """BLEURT (Sellam et al., 2020): ratings by a model that was trained on people's ratings.

    A rating is the mean over references, without pads; in the published code a pad is one of three.
    ToTTo's leaderboard has BLEURT by the checkpoint BLEURT-base-128. Nothing but habit confines
    ratings to the range that is given here.
    """

    name = "bleurt"
    scores = (ScoreInfo("bleurt", "BLEURT", low=-3, high=2),)
    settings = ("text:lower", "detok:moses4134-en")
    needs_texts = True

    def inputs(self, sample: Sample, output: str) -> list[Pair]:
        """Return the output beside each reference.

        Raises:
            CorpusError: the sample has no reference.
        """
        return [(prepared(each), prepared(output.strip())) for each in references_of(sample)]

    def judgement(self, _: Sample, predictions: Sequence[float]) -> Judgement:
        """Return the mean rating."""
        values = {"bleurt": round(fmean(predictions), DECIMALS)}
        return Judgement(values, values)


# --- CompMCTG -------------------------------------------------------------------------------------

AttributeInput: TypeAlias = tuple[DataUnit, str]
"""An aspect with the requested value, and a text."""

LEAST_WORDS = 10
"""Texts with fewer parts between blanks have no perplexity, as published."""


class Attributes(Learned):
    """How many of the requested attributes classifiers find; without a word there is none."""

    name = "compmctg"
    units = ("attributes",)
    option = "--classifiers FOLDER"
    scores = accuracies("mctg", ASPECTS)
    logged = ("said",)

    def inputs(self, sample: Sample, output: str) -> list[AttributeInput]:
        """Return the whole text for each aspect."""
        units = sample.units if has_words(output) else ()
        return [(unit, text_of(sample, output)) for unit in units]

    def judgement(self, sample: Sample, predictions: Sequence[str]) -> Judgement:
        """Return a share of the aspects, 0 or 100 to each published one, and the values found."""
        # A value is spelled as it was requested.
        recognized = {
            unit[0]: unit[-1] if value.casefold() == unit[-1].casefold() else value
            for unit, value in zip(sample.units, predictions, strict=False)
        }
        values = accuracy_values("mctg", ASPECTS, sample, recognized)
        return Judgement(values, {"mctg_acc": values["mctg_acc"], "said": recognized})


class TextPerplexity(Learned):
    """The mean over texts of the perplexity of each by a language model, as CompMCTG has it.

    The model reads its end token first, so that the first token of a text counts too. A text of
    fewer than ten words has no verdict, nor has one with a token of probability zero. A few
    texts can be most of an arithmetic mean.
    """

    name = "mctg_ppl"
    scores = (
        ScoreInfo("mctg_ppl", "PPL", 1, math.inf, higher_is_better=False, own_title="Perplexity"),
    )
    settings = ("mean:texts", f"least-words:{LEAST_WORDS}")

    def inputs(self, sample: Sample, output: str) -> list[str]:
        """Return the whole text, if it is long enough."""
        text = text_of(sample, output)
        return [text] if len(text.split(" ")) >= LEAST_WORDS else []

    def judgement(self, _: Sample, predictions: Sequence[float | None]) -> Judgement:
        """Return the perplexity, None if the text is too short or cannot be read."""
        values = {"mctg_ppl": predictions[0] if predictions else None}
        return Judgement(values, values)


FACTS = ExpressedFacts()
NLI_ACC = NliAcc()
BLEURT = Bleurt()
ATTRIBUTES = Attributes()
TEXT_PERPLEXITY = TextPerplexity()


# --- What `--metadata` switches on ----------------------------------------------------------------


class JudgeLoader(NamedTuple):
    """A function that loads a metric, and its settings, the first of which switches it on."""

    target: str
    settings: tuple[str, ...]


_MACHINE = ("device", "batch_size")
_CLASSIFIER = ("model", "label", *_MACHINE)
_JUDGES = "spor_tasks.metrics.judges.judges"
LOADERS: Mapping[str, JudgeLoader] = {
    "facts": JudgeLoader(f"{_JUDGES}:facts", _CLASSIFIER),
    "nli": JudgeLoader(f"{_JUDGES}:nli_acc", _CLASSIFIER),
    "sp": JudgeLoader("spor_tasks.metrics.sp_acc:load", ("ranker",)),
    "bleurt": JudgeLoader(f"{_JUDGES}:bleurt", ("model", *_MACHINE)),
    "aspects": JudgeLoader(f"{_JUDGES}:attributes", ("classifiers", *_MACHINE)),
    "ppl": JudgeLoader(f"{_JUDGES}:perplexity", ("model", *_MACHINE)),
}
"""The metrics that need a model, or minutes; a task's settings begin with these prefixes."""

PREFIXES = {"nli_acc": "nli", "mctg_ppl": "ppl", "compmctg": "aspects"}
"""The prefixes of metrics, where they are not the metric's own name."""


def load(prefix: str, settings: Mapping[str, object], before: str = "") -> Metric:
    """Return the metric of this prefix with its model.

    In metadata the names of settings have something ``before`` them.

    Raises:
        ConfigError: a setting is unknown, or the first one missing; the model or what a setting
            names does not exist, or a package is missing.
    """
    loader = LOADERS[prefix]
    first, *further = (f"{before}{name}" for name in loader.settings)
    unknown = [f"{before}{name}" for name in settings.keys() - set(loader.settings)]
    if unknown or not isinstance(settings.get(loader.settings[0]), str):
        raise ConfigError(
            f"unknown settings: {', '.join(unknown)}" if unknown else f"needs a text: {first}",
            where="metadata" if before else None,
            remedy=f"Set {first} to a path or a name; further settings: {', '.join(further)}.",
        )
    metric: Metric = resolve_name(loader.target)(**settings)
    return metric


def requested(metadata: Mapping[str, object], spec: TaskSpec) -> dict[str, Metric]:
    """Return the metrics that the metadata switches on and the set reports, by their prefix.

    Raises:
        ConfigError: as :func:`load`.
    """
    metrics = {}
    wanted = {*spec.judging.reported} - {*spec.judging.scores}
    for prefix in LOADERS:
        settings = {
            key.removeprefix(f"{prefix}_"): value
            for key, value in metadata.items()
            if key.startswith(f"{prefix}_")
        }
        metric = load(prefix, settings, f"{prefix}_") if settings else None
        if metric and any(Score(info.name) in wanted for info in metric.scores):
            metrics[prefix] = metric
    return metrics
