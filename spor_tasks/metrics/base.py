"""The contract of a metric: a judgement of each sample first, the scores of many second.

The two steps are what the harness calls `process_results` and aggregation. Between them stand
values, what one sample adds to each score: they are the unit that a bootstrap resamples and that a
paired test compares, so every consumer works from one computation.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.totals import MEAN, Totals, Value

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
    where there are samples of its kind, such as those of five units. One that ``is_share`` is a
    mean of values that are 0 or 100 by its definition.
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
    is_share: bool = False

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
    caption: ClassVar[str] = ""
    """What the captions of tables say of its settings."""
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

    def signature_of(self, samples: Sequence[Sample]) -> str:  # noqa: ARG002 - most need none
        """Return the signature of scores of these samples, from which some of it may follow."""
        return self.signature

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
