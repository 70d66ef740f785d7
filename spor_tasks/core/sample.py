"""The data model: data units, samples, and the splits that an aspect consists of."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar, runtime_checkable

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.table import CellTable, Table
from spor_tasks.core.words import joined


class Triple(NamedTuple):
    """A WebNLG data unit. Subject and object are raw; the predicate is words (`birth place`)."""

    subject: str
    predicate: str
    object: str


class AttributeValue(NamedTuple):
    """An E2E data unit. The attribute is words (`eat type`), the value is raw."""

    attribute: str
    value: str


class Column(AttributeValue):
    """A column of a table that a text is linked to: its name, and its number from 0 as text."""

    __slots__ = ()

    @property
    def number(self) -> int:
        """The number of the column in the table."""
        return int(self.value)


DataUnit: TypeAlias = Triple | AttributeValue


Order: TypeAlias = tuple[int, ...]
"""Indices into the units of a sample, each once."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

Fact: TypeAlias = "Json | Table | CellTable"
"""A fact of the source about a sample."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The two orders in which a sample's units are shown, and the order of each reference."""

    inputs: tuple[Order, Order]
    references: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden strings of a sample, and the phrases that its units show instead.

    ``phrases`` pairs an entity in display form, or the name of an attribute whose value is hidden,
    with its phrase. An output can only copy the phrase, so the sample has no references. ``values``
    are the possible values of each hidden attribute, none of which an output may name; they are not
    needed for E2E's attributes.
    """

    phrases: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Contrast:
    """A text about the same data that says something false, with units and a template of its own.

    In a pair without labels it is the second text.
    """

    units: tuple[DataUnit, ...]
    text: str
    template: str = ""


class Names(frozenset[str]):
    """Names that a sample has and its twin has not; they recur in other samples."""


Challenge: TypeAlias = Orders | Hidden | Contrast
_Kind = TypeVar("_Kind", Orders, Hidden, Contrast)


@dataclass(frozen=True, slots=True)
class Sample:
    """Data units and the texts that people wrote for them.

    ``id`` is stable: see :class:`SampleMaker`. ``context`` has further facts of the source, such as
    the ``name`` of an E2E restaurant, the ``category`` of WebNLG, or a ``table``. A key is missing
    if the source has no value. ``challenge`` is what an aspect adds. ``twin`` is the same sample
    about invented entities, which is asked after the sample itself; a twin has no twin.
    ``left_out`` counts the texts of the source that are no references: they have no word.
    """

    id: str
    corpus: str
    units: tuple[DataUnit, ...]
    references: tuple[str, ...]
    context: Mapping[str, Fact] = field(default_factory=dict, hash=False)
    challenge: Challenge | None = None
    twin: "Sample | None" = None
    left_out: int = field(default=0, compare=False)

    @property
    def cluster(self) -> Hashable:
        """The key that it shares with samples that are not independent of it.

        This is the page that its data is from (``source``), its table, or its units. A sample with
        a twin shares one of its :class:`Names`.
        """
        if source := self.about("source"):
            return source
        if self.table:
            return self.about("name")
        names: set[str] = set()
        if self.twin:
            name, other = self.about("name"), self.twin.about("name")
            names |= {name} if name and name != other else set()
            for unit, exchanged in zip(self.units, self.twin.units, strict=True):
                names |= {mine for mine, new in zip(unit, exchanged, strict=True) if mine != new}
        return Names(names) if names else frozenset(self.units)

    @property
    def input(self) -> Hashable:
        """What rows of one input share: the units in their order, and all that is said of them.

        A row with a challenge or a twin shares its input with no other.
        """
        if self.challenge or self.twin:
            return self.id
        return self.units, repr(sorted(self.context.items()))

    @property
    def table(self) -> Table | CellTable | None:
        """The table that it is about, if any."""
        table = self.context.get("table")
        return table if isinstance(table, Table | CellTable) else None

    @property
    def has_attributes(self) -> bool:
        """Whether its units are attributes that a text should have, and not facts to tell."""
        return "prefix" in self.context

    @property
    def target(self) -> str:
        """The text that a model should write: the context's ``target``, or the first reference."""
        first = self.references[0] if self.references else ""
        return self.about("target") or first

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts for tasks of likelihoods, one for each prompt."""
        return tuple(view.target for view in views(self))

    def about(self, key: str) -> str | None:
        """Return a text of the context, or None if the context lacks it."""
        value = self.context.get(key)
        return value if isinstance(value, str) else None


def challenge_of(sample: Sample, kind: type[_Kind]) -> _Kind:
    """Return the challenge of a sample that must have one of this kind.

    Raises:
        CorpusError: the sample has none, or one of another kind.
    """
    if not isinstance(sample.challenge, kind):
        raise CorpusError(f"has no {kind.__name__}", where=f"sample {sample.id}")
    return sample.challenge


def sides(sample: Sample) -> tuple[Sample, ...]:
    """Return the sample, or the original and its twin, each without a twin."""
    return (replace(sample, twin=None), sample.twin) if sample.twin else (sample,)


def side_of_each(sample: Sample, outputs: int) -> tuple[Sample, ...]:
    """Return of each of so many outputs for a sample what it was asked of: a side of it."""
    all_sides = sides(sample)
    return tuple(side for side in all_sides for _ in range(outputs // len(all_sides)))


def views(sample: Sample) -> Iterator[Sample]:
    """Yield the sample as each of its prompts shows it: with its own, or other, units.

    The target of a view is the text for its prompt: of a pair the false one after the own one.
    """
    for side in sides(sample):
        match side.challenge:
            case Orders(inputs, _):
                yield from (reordered(side, order) for order in inputs)
            case Contrast(others, text, _):
                context = {**side.context, "target": text}
                yield from (side, replace(side, units=others, context=context))
            case _:
                yield side


def with_known_units(samples: Iterable[Sample], train: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples all of whose units occur in training samples."""
    trained = {unit for sample in train for unit in sample.units}
    return tuple(sample for sample in samples if trained.issuperset(sample.units))


def reordered(sample: Sample, order: Order) -> Sample:
    """Return the sample with its units in another order."""
    return replace(sample, units=tuple(sample.units[i] for i in order))


def without_first_reference(sample: Sample) -> Sample:
    """Return the sample, and its twin, without the first reference, with the same id."""
    challenge = sample.challenge
    if isinstance(challenge, Orders):
        challenge = replace(challenge, references=challenge.references[1:])
    twin = sample.twin and without_first_reference(sample.twin)
    return replace(sample, references=sample.references[1:], challenge=challenge, twin=twin)


@dataclass(frozen=True, slots=True)
class CorpusSamples:
    """The material of sets: training samples, and samples that may become test samples.

    ``rows`` counts the rows of a file that the samples of each part were made of, if it is known.
    ``empty`` counts the entries that are no samples, for want of a unit or of a text.
    """

    name: str
    train: Sequence[Sample]
    test: Sequence[Sample]
    rows: Mapping[str, int] = field(default_factory=dict, hash=False, compare=False)
    empty: int = field(default=0, compare=False)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """All samples, training samples first."""
        return (*self.train, *self.test)

    @property
    def sha256(self) -> str:
        """SHA-256 of what a build depends on: part, id and category of each sample, in order."""
        rows = [
            [part, sample.id, sample.about("category")]
            for part, samples in (("train", self.train), ("test", self.test))
            for sample in samples
        ]
        return hashlib.sha256(json.dumps([self.name, rows]).encode()).hexdigest()


@runtime_checkable
class InFile(Protocol):
    """Samples that know the digest of their file."""

    @property
    def sha256(self) -> str | None:
        """It (:mod:`spor_tasks.core.digests`); None if the file is not here."""


@dataclass(eq=False)
class Deferred(Sequence[Sample]):
    """Samples that are read when the first of them is needed, which may take seconds."""

    read: Callable[[], Sequence[Sample]]
    sha256: str | None
    """The digest of all (:mod:`spor_tasks.core.digests`); None if their file is not here."""
    change: Callable[[Sample], Sample] = lambda sample: sample
    """What is done to a sample each time that it is requested: many may not fit in memory."""

    @cached_property
    def _samples(self) -> Sequence[Sample]:
        return self.read()

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return map(self.change, self._samples)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(map(self.change, self._samples[index]))
        return self.change(self._samples[index])


Untested: TypeAlias = tuple[tuple[str, int], ...]
"""Why samples of a corpus are not in a test set, and how many each reason keeps out."""


class SetsKey(TypedDict):
    """The names that tell sets apart, as :class:`SetFacts` describes them."""

    aspect: str
    corpus: str
    protocol: str
    part: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFacts:
    """What the sets of a task are; a benchmark without aspects uses its own name as the aspect."""

    aspect: str
    corpus: str
    protocol: str
    """``published`` are the released sets, with their flaws, and ``strict`` those that keep the
    paper's requirements; a benchmark may have others."""
    part: str | None = None
    """One of several sets of an aspect, such as ``n3`` or ``cwio``."""
    split: str | None = None
    """The split that answers of a task are read under, as ``--metadata split`` takes it."""
    part_title: str | None = None
    """Names the part, or the split, in tables."""
    facets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What the part and the protocol mean, by keys of the benchmark, such as N."""
    decodings: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The other ways to decode that have tasks, with their numbers of beams."""
    in_context: bool = True
    """Whether each arm has a task with demonstrations."""
    is_pooled: bool = False
    """Whether answers are read under splits, whose samples tables have together."""
    is_fixed: bool = True
    """Whether the sets are the same for everyone, not built with the user's seed."""

    @property
    def named(self) -> SetsKey:
        """What tells the sets of a benchmark apart, in files and exports."""
        return SetsKey(
            aspect=self.aspect, corpus=self.corpus, protocol=self.protocol, part=self.part
        )

    def __str__(self) -> str:
        return joined(" ", self.aspect, self.corpus, self.protocol, self.part)


@dataclass(frozen=True, slots=True)
class Sets:
    """The comparison of one aspect: training arms by name, and the test set of all of them.

    There are two arms, or one in rule learnability, which tests a single model. Sets that were
    built say which test samples of the corpus are ``untested``.
    """

    facts: SetFacts
    arms: Mapping[str, Sequence[Sample]] = field(hash=False)
    test: Sequence[Sample]
    untested: Untested = field(default=(), compare=False)

    @property
    def all(self) -> dict[str, Sequence[Sample]]:
        """The arms, then the test set."""
        return {**self.arms, "test": self.test}


class SampleMaker:
    """Makes the samples of one source, in order, with ids that do not depend on the source.

    An id is 16 hexadecimal digits of the SHA-256 of corpus, name, units in order, references and
    the number of equal samples before it. A corpus may have the same sample twice. References are
    part of the id because WebNLG has many samples with equal units, and a source that has only some
    of them could not number them alike.
    """

    def __init__(self, corpus: str) -> None:
        self.corpus = corpus
        self._seen: Counter[bytes] = Counter()

    def __call__(
        self,
        units: Iterable[DataUnit],
        references: Iterable[str],
        /,
        **context: Fact,
    ) -> Sample:
        """Return the next sample of the source; its context leaves out what is None."""
        units, references = tuple(units), tuple(references)
        content = [self.corpus, context.get("name"), units, references]
        sha = hashlib.sha256(json.dumps(content).encode())
        digest = sha.digest()
        sha.update(b"#%d" % self._seen[digest])
        self._seen[digest] += 1
        present = {key: value for key, value in context.items() if value is not None}
        return Sample(sha.hexdigest()[:16], self.corpus, units, references, present)
