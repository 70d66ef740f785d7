"""Comparisons as typed rows: what a model scored after each arm, and the arms' difference."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spor_tasks.results.facts import Declared, ScoreFacts
from spor_tasks.results.runs import Run
from spor_tasks.results.stats import Estimate, Interval


@dataclass(frozen=True, slots=True)
class Cell:
    """The scores of a model on one task, a value for each run; the paper's have no runs.

    ``reason`` says why values are missing. If no run is of the arm, ``command`` would fill the gap;
    it is empty if another table has the arm. ``interval`` is that of the mean over runs.
    ``notes`` are other things that a reader must know. ``counts`` are the samples that each value
    is of, where the score is of some samples only and they were logged.
    """

    values: tuple[float, ...] = ()
    runs: tuple[Run, ...] = ()
    interval: Interval | None = None
    reason: str | None = None
    command: str | None = None
    notes: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean over runs, as the paper reports it; None without a value."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """The training seed of each run; None of a model that was not trained on an arm."""
        return tuple(run.seed for run in self.runs)

    @property
    def trained_seeds(self) -> list[int]:
        """The training seeds, in order."""
        return sorted(seed for seed in self.seeds if seed is not None)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation over runs; None for a single run."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The scores of one model on one task by one metric, of each arm and ``as_is`` (without one).

    The arms are those of ``spec``; the model was trained on them, or they were only shown to it.
    ``variant`` is how the task asks, such as ``beam5`` or ``icl k=3``. If there are two arms, the
    ``difference`` is the first arm's score minus the second's: negative where generalization costs.
    ``documents`` is the number of samples of the test, and ``n`` how many of them were evaluated.
    ``clusters`` counts the samples with different units; it is None without logged samples.
    ``published`` rows are the paper's, and a ``floor`` needs no model. If a model has several rows
    for a task, ``prompted`` and ``evaluated`` say how this one was evaluated differently, and
    ``trained`` how its adapters were trained.
    ``merged`` says in what its runs differ because a user merged them. ``signature`` is that of the
    results. ``splits`` counts those that are put together.
    """

    spec: Declared
    variant: str
    task: str
    model: str
    metric: str
    n: int
    documents: int | None = None
    arms: tuple[Cell, ...] = ()
    as_is: Cell = Cell()
    difference: Estimate | None = None
    clusters: int | None = None
    published: bool = False
    floor: bool = False
    prompted: str | None = None
    evaluated: str | None = None
    trained: str | None = None
    merged: str | None = None
    signature: Mapping[str, str] = field(default_factory=dict)
    splits: int = 0

    @property
    def score(self) -> ScoreFacts:
        """What is known of the metric's score."""
        return self.spec.scores[self.metric]

    @property
    def aspect(self) -> str:
        """The aspect of the sets."""
        return self.spec.name.aspect

    @property
    def part(self) -> str | None:
        """The part of the sets, None where there is one."""
        return self.spec.name.part

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
        facts = (self.prompted, self.evaluated, self.trained, self.merged)
        return "; ".join(filter(None, facts)) or None

    @property
    def name(self) -> str:
        """The model, and how this row differs from its other rows."""
        return f"{self.model} ({self.apart})" if self.apart else self.model

    @property
    def name_as_is(self) -> str:
        """The model without adapters, which may also have several rows."""
        return replace(self, trained=None, merged=None).name

    @property
    def name_beside_prompt(self) -> str:
        """The name where a column says how the model was prompted."""
        return replace(self, prompted=None).name

    @property
    def prompt(self) -> str:
        """How a model was prompted, in a few words; empty where none was."""
        return prompt_in_words(self.signature) if self.signature and not self.floor else ""


PROMPT_FACTS = (
    *("prompt_style", "num_fewshot", "chat_template_sha", "system_instruction_sha"),
    *("fewshot_as_multiturn", "system_message"),
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
