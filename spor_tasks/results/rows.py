"""Comparisons as typed rows: what a model scored after each arm, and the arms' difference."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from spor_tasks.core.words import joined
from spor_tasks.results.facts import Declared, ScoreFacts
from spor_tasks.results.runs import Run
from spor_tasks.results.stats import Estimate, Interval


@dataclass(frozen=True, slots=True)
class Cell:
    """The scores of a model on one task, a value for each run; the paper's have no runs."""

    values: tuple[float, ...] = ()
    runs: tuple[Run, ...] = ()
    interval: Interval | None = None
    """That of the mean over runs."""
    reason: str | None = None
    """Why values are missing."""
    command: str | None = None
    """It would fill the gap if no run is of the arm; empty if another table has the arm."""
    notes: tuple[str, ...] = ()
    """The other things that a reader must know."""
    counts: tuple[int, ...] = ()
    """The samples that each value is of, where it is of some only, and they were logged."""

    @property
    def mean(self) -> float | None:
        """The mean over runs, as the paper reports it; None without a value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def seeds(self) -> list[int]:
        """The training seeds of its runs, in order; none of a model that was not trained."""
        return sorted(run.seed for run in self.runs if run.seed is not None)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over runs; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


class Size(NamedTuple):
    """How large a test is."""

    n: int
    """The samples that were evaluated."""
    documents: int | None = None
    """The samples of the test."""
    clusters: int | None = None
    """The evaluated samples with different units; None without logged samples."""
    splits: int = 0
    """The splits that are put together."""


class Differs(NamedTuple):
    """How a row differs from the model's other rows of the task; None where it does not."""

    prompted: str | None = None
    evaluated: str | None = None
    trained: str | None = None
    """How its adapters were trained."""
    merged: str | None = None
    """In what its own runs differ, because a user merged them."""

    @property
    def text(self) -> str | None:
        """All of that; None where there is nothing."""
        return joined("; ", *self) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The scores of one model on one task by one metric, of each arm and without one."""

    spec: Declared
    variant: str
    """How the task asks, such as ``beam5`` or ``icl k=3``."""
    task: str
    model: str
    metric: str
    size: Size
    arms: tuple[Cell, ...] = ()
    """The cells of ``spec.arms``; the model was trained on them, or they were only shown to it."""
    as_is: Cell = Cell()
    difference: Estimate | None = None
    """The first of two arms' score less the second's: below zero where generalization costs."""
    kind: str = "run"
    """``run``, ``published`` (the paper's) or ``floor`` (which needs no model)."""
    differs: Differs = field(default_factory=Differs)
    signature: Mapping[str, str] = field(default_factory=dict)
    """That of the results."""

    @property
    def score(self) -> ScoreFacts:
        """The facts of the metric's score."""
        return self.spec.scores[self.metric]

    @property
    def is_tested(self) -> bool:
        """True for scores that compare systems; parts of a score are not tested."""
        return self.metric in self.spec.reported

    @property
    def by_arm(self) -> tuple[tuple[str, Cell], ...]:
        """The cells with the names of their arms."""
        return tuple(zip(self.spec.arms, self.arms, strict=True))

    @property
    def apart(self) -> str | None:
        """How this row differs from the model's other rows of the task; None without others."""
        return self.differs.text

    @property
    def name(self) -> str:
        """The model, and how this row differs from its other rows."""
        return self.named(self.differs)

    def named(self, differs: Differs) -> str:
        """Return the model, and these differences from its other rows."""
        return f"{self.model} ({differs.text})" if differs.text else self.model

    @property
    def prompt(self) -> str:
        """How a model was prompted, in a few words; empty where none was."""
        return prompt_in_words(self.signature) if self.signature and self.kind != "floor" else ""


PROMPT_FACTS = (
    "prompt_style",
    "num_fewshot",
    "chat_template_sha",
    "system_instruction_sha",
    "fewshot_as_multiturn",
    "system_message",
)
"""The facts of a result that :func:`prompt_in_words` puts into words."""


PLAIN = "plain"
"""The prompt of a task as it is, without a chat or demonstrations."""


def prompt_in_words(facts: Mapping[str, str]) -> str:
    """Return how a model was prompted, such as ``plain`` or ``chat, 3-shot``."""
    style, shots, chat, system, turns, moved = (facts.get(fact, "None") for fact in PROMPT_FACTS)
    words = {
        style: style == "instruction",
        "chat": chat != "None",
        "system": system != "None",
        "no system role": moved != "None",
        f"{shots}-shot{' in turns' if turns == 'True' else ''}": shots not in {"0", "None"},
    }
    return ", ".join(word for word, is_so in words.items() if is_so) or PLAIN
