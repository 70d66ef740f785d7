"""Facts: the share of a sample's units that a classifier says an output tells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample, Triple
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric, Texts
from spor_tasks.text.normalize import display

ClassifierInput: TypeAlias = tuple[str, str | None]
"""What a classifier reads of an output and a unit: one segment or two.

The output ends the first segment, so that a classifier cuts what is too long there.
"""

Told: TypeAlias = tuple[float, ...]
"""How likely it is that an output tells each unit, from 0 to 1."""

THRESHOLD = 0.5
"""A unit that is likelier told than this is told."""

DECIMALS = 4
"""What differs beyond these depends on the machine and on the size of the batches."""

# The names of the class that means "told", in lower case.
_TOLD = frozenset({"entailment", "entailed", "entails", "supported", "supports"})
_UNNAMED = ["label_0", "label_1"]  # transformers' own names of two classes


class Classifier(Protocol):
    """Says of pairs how likely it is that the output tells the unit."""

    @property
    def signature(self) -> str:
        """Whatever can change what it says."""

    def __call__(self, pairs: Sequence[ClassifierInput], /) -> Sequence[float]:
        """Return a probability for each pair; that of one pair does not depend on the others."""


@dataclass(frozen=True, slots=True)
class NoClassifier:
    """Stands where a metric needs a classifier, and none was named."""

    metric: str
    option: str = "--model PATH_OR_NAME"
    signature: str = "model:none"

    def __call__(self, _: Sequence[Any]) -> NoReturn:
        """Say what to type.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"the metric {self.metric} needs a classifier",
            remedy=f"Name one with `--metric {self.metric} {self.option}`.",
        )


def _nli(unit: Triple, output: str) -> ClassifierInput:
    return output, ", ".join(filter(None, unit))


def _electra(unit: Triple, output: str) -> ClassifierInput:
    subject, predicate, obj = unit
    text = output.strip("?!. ")
    written = f"predicate: {predicate}, subject: {subject}, object: {obj}, sentence: {text}"
    return written.lower(), None


FORMATS: Mapping[str, Callable[[Triple, str], ClassifierInput]] = {"nli": _nli, "electra": _electra}
"""How classifiers read a unit and an output.

``nli``: the output, then ``subject, predicate, object`` as a second segment. So do the FactSpotter
checkpoints on the Hugging Face hub, ``Inria-CEDAR/FactSpotter-DeBERTaV3-Small``, ``-Base`` and
``-Large`` (their model cards), and classifiers of natural language inference.

``electra``: all in one segment, in lower case, as the ELECTRA classifiers of the paper were trained
(Zhang et al., Findings of EMNLP 2023, github.com/guihuzhang/FactSpotter).
"""


@dataclass(frozen=True, slots=True)
class Facts(SimpleMetric[Told]):
    """How many of the units an output tells, each judged alone by a classifier.

    An output without a word tells nothing, and the classifier is not asked. It needs no reference,
    and says nothing about what is added to an output.

    Raises:
        ConfigError: the format is unknown.
    """

    scores = (ScoreInfo("facts", "Facts"),)
    logged = ("told",)

    classifier: Classifier
    format: str = "nli"

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise ConfigError(
                f"there is no format {self.format!r} of facts",
                remedy=f"Use {' or '.join(FORMATS)}.",
            )

    @property
    def signature(self) -> str:
        """Whatever can change the number."""
        return f"facts|{self.classifier.signature}|format:{self.format}|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> Told:
        """Return how likely one output tells each unit; many are judged faster together."""
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Told]:
        """Judge the outputs together."""
        write = FORMATS[self.format]
        pairs = [(sample, output) for sample, (output,) in zip(samples, outputs, strict=True)]
        likely = iter(
            self.classifier(
                [
                    write(_triple(unit, sample.about("name")), output)
                    for sample, output in pairs
                    for unit in sample.units
                    if has_words(output)
                ]
            )
        )
        return [
            tuple(round(next(likely), DECIMALS) if has_words(output) else 0.0 for _ in sample.units)
            for sample, output in pairs
        ]

    def values(self, evidence: Told) -> dict[str, float]:
        """Return what one output adds to the score: the share of units told, 0 to 100."""
        return {"facts": share(evidence)}

    def describe(self, _: Sample, __: Texts, evidence: Told) -> dict[str, Any]:
        """Return the share of the units told, how likely each is, and which are not told."""
        return {**self.values(evidence), "told": evidence, "untold": untold(evidence)}


FACTS = Facts(NoClassifier("facts"))
"""The metric before :func:`spor_tasks.metrics.classifier.load` gives it a classifier."""


def share(evidence: Told) -> float:
    """Return the share of the units that an output tells, 0 to 100."""
    return 100 * (len(evidence) - len(untold(evidence))) / len(evidence)


def untold(evidence: Told) -> tuple[int, ...]:
    """Return the indices of the units that an output does not tell."""
    return tuple(number for number, likely in enumerate(evidence) if likely <= THRESHOLD)


def label_of(
    labels: Sequence[str], asked: str | int | None = None, setting: str = "facts_label"
) -> int:
    """Return the index of the class that means "told", or that a text is entailed.

    It is the one ``asked`` for by name or index; else the only one, the one whose name says so, or
    of two without names the second.

    Raises:
        ConfigError: there is no such class, or nothing says which it is.
    """
    names = [label.casefold() for label in labels]
    classes = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    if asked is not None:
        wanted = str(asked).casefold()
        if wanted in names:
            return names.index(wanted)
        if wanted in map(str, range(len(names))):
            return int(wanted)
        raise ConfigError(
            f"the classifier has no class {asked!r}", remedy=f"Its classes are {classes}."
        )
    found = [number for number, name in enumerate(names) if name in _TOLD]
    if len(names) == 1 or names == _UNNAMED:
        return len(names) - 1
    if len(found) == 1:
        return found[0]
    raise ConfigError(
        f"nothing says which class of the classifier means yes: {classes}",
        remedy=f"Name it: `--label 0`, or of a task `--metadata '{{\"{setting}\": 0, …}}'`.",
    )


def has_words(output: str) -> bool:
    """Return whether an output has a letter or a digit; without one it says nothing."""
    return any(map(str.isalnum, output))


def _triple(unit: DataUnit, name: str | None) -> Triple:
    """Return a unit as classifiers read it; an attribute and its value are said of the name."""
    parts = unit if isinstance(unit, Triple) else (name or "", *unit)
    return Triple(*(display(part).strip() for part in parts))
