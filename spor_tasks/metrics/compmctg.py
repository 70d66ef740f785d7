"""CompMCTG's scores: whether texts have the attributes that they were asked for, and perplexity.

Accuracy is the mean over aspects of how many texts a classifier of the aspect gives the wanted
value. The published code rounds each aspect's accuracy to four digits, and their mean again; here
nothing is rounded. Every text has all aspects, so the mean over aspects is one over texts too.

The gaps compare the two groups of samples (:mod:`spor_tasks.metrics.groups`).
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.corpora.compmctg.linearize import prefix_of
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric, Texts
from spor_tasks.metrics.facts import NoClassifier, has_words
from spor_tasks.metrics.groups import difference_of_halves, marks_of
from spor_tasks.metrics.totals import GAP_OF_SAME, RELATIVE_GAP, Value

ASPECTS = tuple(dict.fromkeys(aspect for space in PUBLISHED for aspect in space.aspects))
"""The published aspects, each of which has an accuracy of its own."""

LEAST_WORDS = 10
"""Texts with fewer parts between blanks have no perplexity, as published."""


def text_of(sample: Sample, output: str) -> str:
    """Return the whole text: the beginning that the sample gives, and what was written after it."""
    return prefix_of(sample) + output


# --- Accuracy -------------------------------------------------------------------------------------


def accuracies(prefix: str, aspects: Iterable[str]) -> tuple[ScoreInfo, ...]:
    """Return the accuracy of all texts, the gaps between halves, and the accuracy by aspect.

    The published gap is how much lower the accuracy of compositional texts is, in per cent of that
    of others. It has two flaws: halves that ask for some values more often than for others have a
    gap even if no code is read, and it is larger where both accuracies are low. The other gap is in
    points: how much lower the accuracy of compositional texts is than that of others which ask for
    the same values equally often. Both are small too where a system is bad at everything, so
    neither more nor less of them is better.
    """
    gap = ScoreInfo(
        f"{prefix}_gap",
        "Gap",
        low=-float("inf"),
        higher_is_better=None,
        totals=RELATIVE_GAP,
        of_some=True,
    )
    of_same = ScoreInfo(
        f"{prefix}_gap_real",
        "Gap, same values",
        low=-100,
        higher_is_better=None,
        corrects=gap.name,
        totals=GAP_OF_SAME,
        of_some=True,
    )
    by_aspect = (
        ScoreInfo(f"{prefix}_acc_{aspect}", f"Accuracy, {aspect}", of_some=True)
        for aspect in aspects
    )
    return (ScoreInfo(f"{prefix}_acc", "Accuracy"), gap, of_same, *by_aspect)


def accuracy_values(
    prefix: str, sample: Sample, recognized: Mapping[str, str | None]
) -> dict[str, Value]:
    """Return what a text adds to the scores of :func:`accuracies`.

    ``recognized`` are the values that the text has, by aspect.
    """
    wanted = {unit[0]: unit[-1] for unit in sample.units}
    right = {aspect: recognized.get(aspect) == value for aspect, value in wanted.items()}
    share = 100 * sum(right.values()) / len(right)
    values: dict[str, Value] = {f"{prefix}_acc": share}
    if marks := marks_of(sample):
        answers = ((_number(value), 100.0 * right[aspect]) for aspect, value in wanted.items())
        kinds = float(marks) if len(marks) == 1 else float(int(f"1{marks}", base=2))
        values[f"{prefix}_gap"] = difference_of_halves(share, sample)
        values[f"{prefix}_gap_real"] = (kinds, *chain.from_iterable(answers))
    return values | {f"{prefix}_acc_{aspect}": 100.0 * each for aspect, each in right.items()}


def _number(value: str) -> float:
    """Return a number that no other value of the aspect has, whatever the others are."""
    return float(zlib.crc32(value.encode()))


Asked: TypeAlias = tuple[DataUnit, str]
"""An aspect with the wanted value, and a text."""


class Classifiers(Protocol):
    """Say which value of an aspect a text has."""

    @property
    def signature(self) -> str:
        """Whatever can change what they say."""

    def __call__(self, asked: Sequence[Asked], /) -> Sequence[str]:
        """Return a value for each; that of one text does not depend on the others.

        Raises:
            ConfigError: none of them knows the aspect, or the wanted value.
        """


class Said(NamedTuple):
    """A sample, and the value of each of its aspects that a classifier finds in the text.

    There is no such value for a text without a word.
    """

    sample: Sample
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Attributes(SimpleMetric[Said]):
    """How many of the wanted attributes the classifiers find.

    An output without a word has none of them, and no classifier is asked.
    """

    scores: ClassVar = accuracies("mctg", ASPECTS)
    logged: ClassVar = ("said",)

    classifiers: Classifiers

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return f"compmctg|{self.classifiers.signature}|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> Said:
        """Return what is said of one output; many are judged faster together."""
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Said]:
        """Judge the outputs together."""
        pairs = [(sample, output) for sample, (output,) in zip(samples, outputs, strict=True)]
        asked = [
            (unit, text_of(sample, output))
            for sample, output in pairs
            for unit in sample.units
            if has_words(output)
        ]
        found = iter(self.classifiers(asked))
        return [
            Said(sample, {unit[0]: next(found) for unit in sample.units if has_words(output)})
            for sample, output in pairs
        ]

    def values(self, evidence: Said) -> dict[str, Value]:
        """Return what one output adds: a share of its aspects, and 0 or 100 to each."""
        found = accuracy_values("mctg", evidence.sample, evidence.said)
        return {name: value for name, value in found.items() if name in _ACCURACIES}

    def describe(self, _: Sample, __: Texts, evidence: Said) -> dict[str, Any]:
        """Return the share of the aspects that are right, and what each classifier says."""
        return {"mctg_acc": self.values(evidence)["mctg_acc"], "said": evidence.said}


_ACCURACIES = frozenset(info.name for info in Attributes.scores)

ATTRIBUTES = Attributes(NoClassifier("compmctg", "--classifiers FOLDER"))
"""The metric before :func:`spor_tasks.metrics.attributes.load` gives it classifiers."""


# --- Perplexity -----------------------------------------------------------------------------------


class LanguageModel(Protocol):
    """Says how perplexed it is by texts."""

    @property
    def signature(self) -> str:
        """Whatever can change what it says."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[float | None]:
        """Return a perplexity for each text, None if it finds one impossible.

        That of one text does not depend on the others.
        """


@dataclass(frozen=True, slots=True)
class TextPerplexity(SimpleMetric[float | None]):
    """The mean over texts of the perplexity of each by a language model, as CompMCTG has it.

    The model reads its end token first, so that the first token of a text counts too. There is no
    verdict on a text of fewer than ten words, and on one with a token of probability zero. A few
    texts can be most of an arithmetic mean.
    """

    scores: ClassVar = (
        ScoreInfo(
            "mctg_ppl", "PPL", 1, float("inf"), higher_is_better=False, own_title="Perplexity"
        ),
    )

    model: LanguageModel

    @property
    def signature(self) -> str:
        """Whatever can change the number."""
        words = f"least-words:{LEAST_WORDS}"
        return f"mctg_ppl|{self.model.signature}|mean:texts|{words}|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> float | None:
        """Return the perplexity of one output; many are read faster together."""
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[float | None]:
        """Read the outputs together."""
        texts = [text_of(sample, text) for sample, (text,) in zip(samples, outputs, strict=True)]
        long = [len(text.split(" ")) >= LEAST_WORDS for text in texts]
        read = iter(
            self.model([text for text, is_long in zip(texts, long, strict=True) if is_long])
        )
        return [next(read) if is_long else None for is_long in long]

    def values(self, evidence: float | None) -> dict[str, Value]:
        """Return the perplexity."""
        return {"mctg_ppl": evidence}


TEXT_PERPLEXITY = TextPerplexity(NoClassifier("mctg_ppl"))
"""The metric before :func:`spor_tasks.metrics.causal.load` gives it a model."""
