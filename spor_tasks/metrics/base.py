"""The contract of a metric: a judgement of each sample first, the scores of many second.

The two steps are what the harness calls `process_results` and aggregation. Between them stand
values, what one sample adds to each score: they are the unit that a bootstrap resamples and that a
paired test compares, so every consumer works from one computation.
"""

import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.contracts import Gap, of_twin
from spor_tasks.core.errors import ConfigError, ResultError, advice
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.groups import (
    HALVES,
    OVERLAP,
    TWINS,
    group_of,
    name_over,
)
from spor_tasks.metrics.totals import (
    COUNTED_MEAN,
    MEAN,
    Less,
    Numbers,
    Totals,
    Value,
    added,
    has_verdict,
)

Texts: TypeAlias = Sequence[str]
"""What a system wrote for a sample: one text, or one for each of its input orders."""

Values: TypeAlias = Mapping[str, Value]
"""Values by the names of their scores; an output adds nothing to a score that is not named."""


@dataclass(frozen=True, slots=True)
class ScoreInfo:
    """The declaration of a score: its names, range, direction and how values add up to it.

    ``label`` heads its column; ``own_title`` names it where no other column stands beside it, if
    the label alone would not do. It lies between ``low`` and ``high``. ``higher_is_better`` is None
    where neither more nor less is better. ``corrects`` names the published score whose flaw it
    corrects. ``totals`` is how values add up to it. A score that is ``of_some`` is given only
    where there are samples of its kind, such as those of five units.
    """

    name: str
    label: str
    low: float = 0
    high: float = 100
    higher_is_better: bool | None = True
    corrects: str | None = None
    totals: Totals = MEAN
    of_some: bool = False
    own_title: str | None = None

    @property
    def title(self) -> str:
        """Its name where it stands alone."""
        return self.own_title or self.label


class Judgement(NamedTuple):
    """The result for one sample: its value for each score, and details for logs and marks.

    An output adds nothing to a score that is not named. Details are JSON.
    """

    values: Mapping[str, Value]
    details: Mapping[str, Any]


class Metric:
    """A metric with its settings; it keeps nothing from one output to the next.

    A subclass defines ``scores``, ``signature`` and :meth:`judge_one`, or :meth:`judge` where many
    outputs are judged faster together. A fault of the model lowers a score; a fault of the sample
    raises a `SporError`.
    """

    __slots__ = ()

    outputs: ClassVar[int | None] = 1
    """The number of texts that it looks at for a sample; None is any number."""
    answers: ClassVar[str] = "texts"
    """Its answers: ``texts``, or ``likelihoods`` of given texts."""
    needs_texts: ClassVar[bool] = False
    """Whether a sample must have references."""
    units: ClassVar[Collection[str]] = ()
    """The kinds of units (:class:`spor_tasks.corpora.base.Corpus`) that it is about; () is any."""
    challenge: ClassVar[type | None] = None
    """The type of challenge that a sample must have; None is any, or none at all."""
    logged: ClassVar[Sequence[str]] = ()
    """The keys of its details that lm-eval logs with a document."""

    @property
    def scores(self) -> Sequence[ScoreInfo]:
        """All scores that it may give."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        raise NotImplementedError

    judge_one: Callable[..., Judgement]
    """Returns the judgement of a sample; each output is an argument."""

    def judge(self, samples: Sequence[Sample], outputs: Sequence[Any]) -> Sequence[Judgement]:
        """Return a judgement of the outputs for each sample, which does not depend on the others.

        ``outputs`` has for each sample its texts, or likelihoods, as ``answers`` says.
        """
        return [
            self.judge_one(sample, *of_sample)
            for sample, of_sample in zip(samples, outputs, strict=True)
        ]


# --- What is registered ---------------------------------------------------------------------------


def metric(name: str) -> Metric:
    """Return the registered metric with this name.

    Raises:
        ConfigError: there is none, or it cannot be imported or lacks a part of the contract.
    """
    registered: Metric = registry().get("metric", name)
    return registered


@cache
def score_infos() -> Mapping[str, ScoreInfo]:
    """Return the scores of all registered metrics by name, in the order of the registry.

    Raises:
        ConfigError: two metrics have a score of one name, or a metric cannot be imported.
    """
    owners: dict[str, str] = {}
    infos: dict[str, ScoreInfo] = {}
    for owner in registry().names("metric"):
        for info in metric(owner).scores:
            if owners.setdefault(info.name, owner) != owner:
                raise ConfigError(
                    f"the metrics {owners[info.name]!r} and {owner!r} both have a score "
                    f"{info.name!r}",
                    where="registry of metrics",
                    remedy="Rename the score of one of them.",
                )
            infos[info.name] = info
    return infos


def _score_and_group(name: str) -> tuple[str, str | None]:
    """Return the score that a score over a group comes from, and the group."""
    return (name, None) if name in score_infos() else group_of(name) or (name, None)


def registered_score(name: str) -> str:
    """Return the score of a registered metric that a score over a group comes from."""
    return _score_and_group(name)[0]


def metrics_for(scores: Iterable[str]) -> tuple[Metric, ...]:
    """Return the registered metrics of these scores, some of which may be of twins or groups."""
    registered = set(map(registered_score, scores))
    metrics = map(metric, registry().names("metric"))
    return tuple(each for each in metrics if registered & {info.name for info in each.scores})


def known_info(name: str) -> ScoreInfo | None:
    """Return the declaration of a score, also over a group; None of an unknown one."""
    score, group = _score_and_group(name)
    info = score_infos().get(score)
    return info_over(info, group) if info and group else info


def info_over(info: ScoreInfo, group: str) -> ScoreInfo | None:
    """Return the declaration of a score over a group or over twins; None if it cannot be.

    Samples may count in halves under several splits, which only a mean allows.
    """
    if group == TWINS:
        of_some, totals, own_title = info.of_some, info.totals, info.own_title
        label, own_title = f"{info.label}, twins", own_title and f"{own_title}, twins"
    elif not info.totals.resampled or (group in HALVES and info.totals is not MEAN):
        return None
    else:
        of_some, totals = True, COUNTED_MEAN if group in HALVES else info.totals
        label, own_title = f"{info.label}, {group}", info.own_title
    return replace(
        info,
        name=name_over(info.name, group),
        label=label,
        corrects=info.corrects and name_over(info.corrects, group),
        totals=totals,
        of_some=of_some,
        own_title=own_title,
    )


def with_groups(infos: Iterable[ScoreInfo], *, has_twins: bool = False) -> tuple[ScoreInfo, ...]:
    """Return scores, those of twins if samples have them, and those over each other group."""
    infos = tuple(infos)
    whole = [info for info in infos if not info.of_some]
    over_twins = (info_over(info, TWINS) for info in infos if has_twins)
    over_groups = (info_over(info, group) for group in (*OVERLAP, *HALVES) for info in whole)
    return (*infos, *filter(None, (*over_twins, *over_groups)))


def score_info(name: str) -> ScoreInfo:
    """Return what is known of a score, also of twins or over a group, or of the gap between two.

    Raises:
        ConfigError: no registered metric has it.
    """
    if gap := Gap.parse(name):
        first, second = map(score_info, gap)
        is_of_twins = gap.subtracted == of_twin(gap.score)
        return ScoreInfo(
            name,
            f"{first.label}, original − twin" if is_of_twins else f"{first.label} − {second.label}",
            low=first.low - second.high,
            high=first.high - second.low,
            higher_is_better=None,
            totals=Less(first.totals, second.totals),
        )
    if not (info := known_info(name)):
        names = (info.name for info in score_infos().values() if not info.of_some)
        remedy = f"{advice(name, names)} Or install the package that it comes from."
        raise ConfigError(f"no metric has a score {name!r}", remedy=remedy)
    return info


# --- Scores of many outputs -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """A number and what it takes to trust it.

    ``value`` is on the paper's scale (0 to 100; τ in [-1, 1]) and NaN where there was nothing to
    score. ``n`` counts the outputs behind it, ``unscored`` those without a verdict. ``signature``
    holds whatever can change the number, as ``key:value`` pairs joined by ``|``. ``interval`` is
    the bootstrap's, where one was asked for.
    """

    name: str
    value: float
    n: int
    unscored: int
    signature: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The statistics of one score, a row for each output, and how their totals make it."""

    statistics: Numbers
    totals: Totals = MEAN

    @classmethod
    def of(cls, values: Sequence[Value], totals: Totals = MEAN) -> "Column":
        """Return the column of these values.

        Raises:
            ResultError: a value is of another kind of score.
        """
        try:
            return cls(totals.statistics(values), totals)
        except (TypeError, ValueError) as error:
            raise ResultError(f"has a value of another kind of score: {error}") from error

    @classmethod
    def joined(cls, columns: Sequence["Column"]) -> "Column":
        """Return the column of the outputs of several splits, which may be of different kinds."""
        totals = columns[0].totals
        return cls(totals.joined([column.statistics for column in columns]), totals)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """A mask of the outputs that have a verdict."""
        return has_verdict(self.statistics)

    @property
    def value(self) -> float:
        """The score, the same to the last bit in whatever order the outputs come."""
        return float(self.totals.score(added(self.statistics)))

    @property
    def each(self) -> Numbers:
        """The score of each output alone, NaN for one without a verdict."""
        return self.totals.score(self.statistics)

    @property
    def shares(self) -> Numbers:
        """How much each output counts in the score, together 1, such as its share of all words."""
        sizes = np.where(self.scored, self.totals.sizes(np.nan_to_num(self.statistics)), 0.0)
        if not sizes.any():  # no output has a word
            sizes = self.scored.astype(np.float64)
        shares: Numbers = sizes / max(sizes.sum(), sys.float_info.min)
        return shares

    def take(self, outputs: NDArray[Any]) -> "Column":
        """Return the column of some of the outputs, by their numbers or a mask."""
        return Column(self.statistics[outputs], self.totals)

    def without_verdicts(self, outputs: int) -> "Column":
        """Return a column of the same score for so many outputs without a verdict."""
        return Column(np.full((outputs, self.statistics.shape[1]), np.nan), self.totals)

    def less(self, second: "Column") -> "Column":
        """Return the column of this score less another one, of the same outputs or of others."""
        width = max(each.statistics.shape[1] for each in (self, second))
        rows = np.zeros((len(self.statistics), 2 * width))
        for start, each in ((0, self), (width, second)):
            end = start + each.statistics.shape[1]
            rows[:, start:end] = np.nan_to_num(each.statistics)
        rows[~(self.scored | second.scored)] = np.nan
        return Column(rows, Less(self.totals, second.totals))

    def score(self, name: str, signature: str) -> Score:
        """Return the value with what it takes to trust it."""
        n = int(self.scored.sum())
        return Score(name, self.value, n, len(self.statistics) - n, signature)


class Tally:
    """Collects the values of many outputs by score."""

    def __init__(self, infos: Iterable[ScoreInfo]) -> None:
        self._infos = {info.name: info for info in infos}
        self._values: dict[str, list[Value]] = {name: [] for name in self._infos}
        self._outputs = {name: array("L") for name, info in self._infos.items() if info.of_some}
        self._count = 0

    def add(self, values: Values) -> None:
        """Add the values of one output, one for each score that is not of some samples only."""
        for name, value in values.items():
            self._values[name].append(value)
            if name in self._outputs:
                self._outputs[name].append(self._count)
        self._count += 1

    @property
    def names(self) -> tuple[str, ...]:
        """The scores that there always are, and the others that there are values for."""
        return tuple(
            name for name, info in self._infos.items() if self._values[name] or not info.of_some
        )

    def column(self, name: str) -> Column:
        """Return the column of one score, of the outputs that have a value for it."""
        return Column.of(self._values[name], self._infos[name].totals)

    def outputs(self, name: str) -> NDArray[np.int64]:
        """Return the numbers of the outputs that a column is of, from 0; most are of all."""
        of_some = self._outputs.get(name)
        return np.arange(self._count) if of_some is None else np.array(of_some, np.int64)

    def scores(self, signature: str) -> tuple[Score, ...]:
        """Return all scores."""
        return tuple(self.column(name).score(name, signature) for name in self.names)
