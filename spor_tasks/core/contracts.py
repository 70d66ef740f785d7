"""The declaration of a benchmark's sets, and the interface to load them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spor_tasks.core.layouts import Layout
from spor_tasks.core.sample import Sample, SetFacts, Sets


class Score(NamedTuple):
    """A score over all samples, or over a group of them."""

    name: str
    group: str = ""
    """Such as `twin`, `overlap` or `comp`; empty for all samples."""

    def __str__(self) -> str:
        """Return its key in results, which nothing takes apart."""
        return f"{self.name}_{self.group}" if self.group else self.name


class Gap(NamedTuple):
    """Two scores of one system, on samples of two kinds; shown is the first less the second."""

    first: Score
    second: Score

    def __str__(self) -> str:
        """Return the key of the difference in reports."""
        return f"{self.first} - {self.second}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How outputs are judged, and which of their scores tables show."""

    scores: tuple[Score, ...]
    """All that the task reports."""
    reported: tuple[Score, ...]
    """Scores that tables have with tests, in their order."""
    headline: str
    """The name of the score that speaks for a single sample."""
    breakdown: tuple[Score, ...] = ()
    """Scores that a further table has without tests, such as one by kind of sample."""
    gaps: tuple[Gap, ...] = ()
    """Differences of these scores that tables have."""
    outputs: int = 1
    """How many prompts a sample has, each with an output."""
    added: tuple[Score, ...] = ()
    """Reported scores of metrics that a user added."""

    @property
    def displayed(self) -> tuple[Score | Gap, ...]:
        """All that tables show: scores with tests, scores without, and gaps."""
        return (*self.reported, *self.breakdown, *self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How the tasks of some sets ask a model."""

    question: str = ""
    """The question of the task, in a sentence or two."""
    template: str = "_base"
    """The file that a task file includes."""
    shots: int = 8
    """The number of demonstrations, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """How sets are shipped, and under which names and version their tasks are."""

    version: float = 1.0
    """The version of the tasks."""
    family: str = "{corpus}"
    """The name that tasks share whatever their corpus, and whatever their part of an aspect."""
    tags: tuple[str, ...] = ()
    """The names that stand for the greedy task and others.

    In-context tasks of a benchmark with aspects have their own.
    """
    is_default: bool = True
    """Whether the name of the task leaves out the protocol."""
    is_pinned: bool = True
    """Whether the task has the digest of the test set, which needs verified files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """A test set, the training arms that it is compared over, and how outputs for it are judged."""

    benchmark: str
    task: str
    """The name of the task that decodes greedily."""
    title: str
    """The sets in the words of a reader, without their part."""
    sets: SetFacts
    arms: tuple[str, ...] = ()
    """The names of the training sets; empty if there are none."""
    trained_on: SetFacts
    """The sets whose arms these are, under one name for all that share them."""
    judging: Judging
    asking: Asking = Asking()
    release: Release = Release()
    splits: tuple[str, ...] = ()
    """The splits that are shipped of a whole task, one of which may be named."""

    def task_name(self, arm: str | None = None, decoding: str | None = None) -> str:
        """Return the name of the task that shows demonstrations of an arm, or decodes otherwise."""
        shown = "" if arm is None else f"_icl_{arm}"
        return f"{self.task}{shown}{f'_{decoding}' if decoding else ''}"


class Benchmark(Protocol):
    """A benchmark: its sets, found by name and loaded; all else that it has is data."""

    name: str
    """The name in task files, results and the registry."""
    groups: Mapping[str, str]
    """The titles of its aspects, in the order of its tables."""
    title: str
    """The name that readers know."""
    source: str
    """The address of what was published."""
    paper: str
    """Where the paper's numbers are from, in words; empty if none are shown."""
    introduction: str
    """What it tests, and what to look at first."""
    legends: Mapping[str, str]
    """What the arms and columns of its tables are, by aspect."""
    reads_files: bool
    """Whether it reads sets and texts in files of the user's."""

    def tables(self, sets: SetFacts) -> tuple[Layout, ...]:
        """Return the tables of a task's results; none are one table with all scores."""

    def captions(self, sets: SetFacts) -> Mapping[str, str]:
        """Return what remarks below tables say of these sets, by the names in braces."""

    def sets(self) -> tuple[TaskSpec, ...]:
        """Return the shipped sets; the first of an aspect and corpus is the default."""

    def find(self, aspect: str, corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
        """Return the declaration of sets, shipped or of the user's own corpus.

        Raises:
            SplitError: it has no such aspect or part.
        """

    def under(self, spec: TaskSpec, split: str) -> TaskSpec:
        """Return the declaration of the sets of a task's split.

        Raises:
            SplitError: the split is unknown.
        """

    def load(self, spec: TaskSpec) -> Sets:
        """Return shipped sets; equal calls return the same object.

        Raises:
            SplitError: there are no such sets; the error lists all sets.
            CorpusError: a file is missing or is not the published one.
        """


class ReadsFiles(Benchmark, Protocol):
    """The additions of a benchmark that reads sets and texts in files of the user's."""

    def own_sets(self, file: str, protocol: str | None, part: str | None) -> Sets:
        """Return the sets in a file of the user's.

        Raises:
            SporError: the file is malformed, or has no such sets.
        """

    def own_texts(self, file: str) -> tuple[Sample, ...]:
        """Return all texts beside a file of the user's.

        Raises:
            SporError: the file, or a text, is malformed.
        """
