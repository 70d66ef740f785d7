"""The data model: data units, samples, and the splits that the four aspects are made of."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias


class Triple(NamedTuple):
    """A WebNLG data unit. Subject and object are raw; the predicate is in words (`birth place`)."""

    subject: str
    predicate: str
    object: str


class AttributeValue(NamedTuple):
    """An E2E data unit. The attribute is in words (`eat type`), the value raw."""

    attribute: str
    value: str


DataUnit: TypeAlias = Triple | AttributeValue


@dataclass(frozen=True, slots=True)
class Sample:
    """Data units and the texts that people wrote for them.

    ``id`` is stable: see :class:`SampleMaker`. ``name`` is the restaurant of an E2E sample, which
    is no data unit; ``category`` the WebNLG category where the source states one.
    """

    id: str
    corpus: str
    units: tuple[DataUnit, ...]
    references: tuple[str, ...]
    name: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSample(Sample):
    """A sample whose units are shown in two orders, and the order in which each reference has them.

    Each order lists indices into ``units``, which stand in the corpus's own order.
    """

    input_orders: tuple[tuple[int, ...], tuple[int, ...]]
    reference_orders: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        sample: Sample,
        input_orders: tuple[tuple[int, ...], tuple[int, ...]],
        reference_orders: tuple[tuple[int, ...], ...],
    ) -> "OrderSample":
        """Return the sample with its orders."""
        return cls(*_values(sample), input_orders=input_orders, reference_orders=reference_orders)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopySample(Sample):
    """A sample in which phrases stand for what is hidden, so that a text can only copy them.

    ``hidden`` pairs what is hidden, an entity in display form or an attribute whose value is, with
    the phrase that ``units`` show instead. There are no references.
    """

    hidden: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, sample: Sample, hidden: Iterable[tuple[str, str]]) -> "CopySample":
        """Return the sample with what it hides."""
        return cls(*_values(sample), hidden=tuple(hidden))


def without_first_reference(sample: Sample) -> Sample:
    """Return the sample as if nobody had written its first reference; its id stays."""
    rest = sample.references[1:]
    if isinstance(sample, OrderSample):
        orders = sample.reference_orders[1:]
        return replace(sample, references=rest, reference_orders=orders)
    return replace(sample, references=rest)


def _values(
    sample: Sample,
) -> tuple[str, str, tuple[DataUnit, ...], tuple[str, ...], str | None, str | None]:
    return (
        sample.id,
        sample.corpus,
        sample.units,
        sample.references,
        sample.name,
        sample.category,
    )


@dataclass(frozen=True, slots=True)
class Corpus:
    """What sets are built from: training samples, and those that a test set may be drawn from."""

    name: str
    train: tuple[Sample, ...]
    test: tuple[Sample, ...]

    @property
    def samples(self) -> tuple[Sample, ...]:
        """All samples, training samples first."""
        return self.train + self.test

    @property
    def sha256(self) -> str:
        """SHA-256 of all that a build can see: each sample's part, id and category, in order."""
        rows = [
            [part, sample.id, sample.category]
            for part, samples in (("train", self.train), ("test", self.test))
            for sample in samples
        ]
        return hashlib.sha256(json.dumps([self.name, rows]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Split:
    """A named, ordered set of samples, such as ``atom`` or ``test``."""

    name: str
    samples: tuple[Sample, ...]


ARMS: Mapping[str, tuple[str, ...]] = {
    "systematicity": ("atom", "combination"),
    "productivity": ("invisible", "visible"),
    "order_invariance": ("original", "match"),
    "rule_learnability": ("original",),
}
"""The training arms of each aspect, in the order in which its sets have them."""


@dataclass(frozen=True, slots=True)
class SplitPair:
    """What one aspect compares: training arms and the test set that all are judged on.

    There are two arms, but one in rule learnability, which asks what a single model does.

    ``protocol`` is ``published`` (the paper's released sets, flaws and all) or ``strict`` (the
    requirements as the paper states them, holding over the whole set). ``part`` tells the several
    sets of one aspect apart, such as ``n3`` or ``cwio``; systematicity and rule learnability have
    no parts.
    """

    aspect: str
    corpus: str
    protocol: str
    arms: tuple[Split, ...]
    test: Split
    part: str | None = None

    @property
    def splits(self) -> tuple[Split, ...]:
        """The arms, then the test set."""
        return (*self.arms, self.test)


class SampleMaker:
    """Makes the samples of one source, in order, with the ids that every other source gives them.

    An id is 16 hexadecimal digits of the SHA-256 of corpus, name, units in order, references and,
    since a corpus may hold the same sample twice, how often it came before in this source. The
    references belong to it: WebNLG has many samples with equal units, and a source that holds
    some of them could not tell by number which ones.
    """

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        self._seen: Counter[bytes] = Counter()

    def __call__(
        self,
        units: Iterable[DataUnit],
        references: Iterable[str],
        *,
        name: str | None = None,
        category: str | None = None,
    ) -> Sample:
        """Return the next sample of the source."""
        units, references = tuple(units), tuple(references)
        sha = hashlib.sha256(json.dumps([self.corpus, name, units, references]).encode())
        content = sha.digest()
        sha.update(b"#%d" % self._seen[content])
        self._seen[content] += 1
        return Sample(sha.hexdigest()[:16], self.corpus, units, references, name, category)
