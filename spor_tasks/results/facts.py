"""The record of a result: what a task writes about itself, and all that a report asks of it.

A task writes :class:`Facts` under ``metadata.spor`` of its configuration, and every reader of a
result reads the same type. So a report needs neither the benchmark nor its data, and a metric only
for a score that is no mean of its samples' values.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Self, TypeAlias

import msgspec

from spor_tasks.core.contracts import Gap, Score, TaskSpec
from spor_tasks.core.digests import set_digest
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import FileContent
from spor_tasks.core.layouts import Layout
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetFacts, Sets
from spor_tasks.core.words import joined
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.scores import info_of, known_info, metrics_for, score_of
from spor_tasks.metrics.totals import (
    COUNTED_MEAN,
    GAP_OF_SAME,
    GROUP_MEANS,
    MEAN,
    RATIO,
    RELATIVE_GAP,
    Less,
    Totals,
)
from spor_tasks.prompts.styles import PromptStyle

_BASELINE = "baseline:"


def baseline_of(model: object) -> str | None:
    """Return the baseline that is typed in place of a model, as in `baseline:copy-input`."""
    is_one = isinstance(model, str) and model.startswith(_BASELINE)
    return str(model).removeprefix(_BASELINE) if is_one else None


def model_of(baseline: str) -> str:
    """Return what is typed, and shown, for a baseline in place of a model."""
    return f"{_BASELINE}{baseline}"


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""Up to the largest integer that every reader of JSON takes for a whole number."""

Digest: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

_TOTALS: Mapping[str, Totals] = {
    "mean": MEAN,
    "counted mean": COUNTED_MEAN,
    "group means": GROUP_MEANS,
    "ratio": RATIO,
    "relative gap": RELATIVE_GAP,
    "gap of same": GAP_OF_SAME,
}
_Range: TypeAlias = tuple[float | None, float | None]


class ScoreFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a score that tables show."""

    label: str
    """Heads its column."""
    title: str
    """Names it where it stands alone."""
    range: _Range
    """The least and the most that it can be; None is infinite."""
    higher_is_better: bool | None
    """None where neither more nor less is better."""
    corrects: str | None = None
    """The published score whose flaw it corrects."""
    judge: str | None = None
    """The key of :attr:`Facts.judges` that says who judged it."""
    of_some: bool = False
    """Whether it is given only where there are samples of its kind."""
    name: str = ""
    """The score without its group; empty in results of version 0.2."""
    group: str = ""
    """The group of samples that it is over, or :data:`GAP`."""
    totals: str | None = None
    """How the values of samples make it; None of a score that only its metric can make."""
    added: str | None = None
    """The signature of its metric, if a user added that to those of the task."""

    @property
    def low(self) -> float:
        """The least that it can be."""
        return -math.inf if self.range[0] is None else self.range[0]

    @property
    def high(self) -> float:
        """The most that it can be."""
        return math.inf if self.range[1] is None else self.range[1]

    @property
    def scale(self) -> tuple[float, float]:
        """The least and the most that it can be."""
        return self.low, self.high

    @property
    def is_signed(self) -> bool:
        """Whether it may be negative, so that its sign is always written."""
        return self.low < 0

    @property
    def is_percentage(self) -> bool:
        """Whether it is from 0 to 100."""
        return self.range == (0, 100)

    @classmethod
    def of(
        cls, score: Score | Gap, judge: str | None = None, added: str | None = None
    ) -> "ScoreFacts":
        """Return the facts of an installed metric's score, also over a group, or of a gap.

        Raises:
            ConfigError: no registered metric has it.
        """
        info = info_of(score)
        name, group = (score.first.name, GAP) if isinstance(score, Gap) else score
        low, high = (end if math.isfinite(end) else None for end in (info.low, info.high))
        return cls(
            label=info.label,
            title=info.title,
            range=(low, high),
            higher_is_better=info.higher_is_better,
            corrects=info.corrects,
            judge=judge,
            of_some=info.of_some,
            name=name,
            group=group,
            totals=next((name for name, each in _TOTALS.items() if info.totals is each), None),
            added=added,
        )


class BenchmarkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What readers must know of a benchmark, and of the aspect of a task."""

    title: str
    source: str = ""
    """The address of what was published."""
    paper: str = ""
    """Where published numbers are from."""
    introduction: str = ""
    """What the benchmark tests, and what to look at first."""
    aspect: str = ""
    """The title of the aspect."""
    legend: str = ""
    """What the arms and columns of its tables are."""
    tables: tuple[Layout, ...] = ()
    """The tables of the task's results."""
    captions: dict[str, str] = {}
    """What remarks of tables say of this task."""

    @classmethod
    def of(cls, name: str, sets: SetFacts, captions: Mapping[str, str]) -> "BenchmarkFacts":
        """Return the facts of a benchmark and these sets; of one that is not here, its name."""
        aspect = sets.aspect
        if name not in registry().names("benchmark"):
            return cls(title=name, aspect=aspect, captions={**captions})
        known = registry().get("benchmark", name)
        return cls(
            title=known.title,
            source=known.source,
            paper=known.paper,
            introduction=known.introduction,
            aspect=known.groups[aspect],
            legend=known.legends.get(aspect, ""),
            tables=known.tables(sets),
            captions={**known.captions(sets), **captions},
        )


GAP = "gap"
"""The group of a gap between the scores of two groups."""

_UNSAID = BenchmarkFacts(title="")  # in results of version 0.2


class KeyGap(NamedTuple):
    """The keys of two scores of one system; shown is the first less the second."""

    score: str
    subtracted: str

    @property
    def name(self) -> str:
        """The key of the difference."""
        return f"{self.score} - {self.subtracted}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a result says of its task. A score is its key in the result file, which nothing parses.

    The fields are as in :class:`~spor_tasks.core.contracts.TaskSpec`.
    """

    benchmark: str
    task: str
    title: str
    sets: SetFacts
    arms: tuple[str, ...]
    scores: Mapping[str, ScoreFacts]
    reported: tuple[str, ...]
    headline: str
    breakdown: tuple[str, ...] = ()
    gaps: tuple[KeyGap, ...] = ()
    about: BenchmarkFacts = _UNSAID

    @classmethod
    def of(cls, spec: TaskSpec, judges: Mapping[str, Metric] = MappingProxyType({})) -> "Declared":
        """Return the declaration of sets whose metrics are installed.

        ``judges`` are the metrics by models, by their keys in the facts of a result.
        """
        by_score = {info.name: key for key, each in judges.items() for info in each.scores}
        signatures = {
            info.name: each.signature
            for each in (*metrics_for(spec.judging.added), *judges.values())
            for info in each.scores
        }
        added = {score.name: signatures[score.name] for score in spec.judging.added}
        scores = {}
        for score in spec.judging.displayed:
            name = (score.first if isinstance(score, Gap) else score).name
            scores[str(score)] = ScoreFacts.of(score, by_score.get(name), added.get(name))
        captions = {key: each.caption for key, each in judges.items() if each.caption}
        own = spec.judging
        return cls(
            benchmark=spec.benchmark,
            task=spec.task,
            title=spec.title,
            sets=spec.sets,
            arms=spec.arms,
            scores=scores,
            reported=tuple(map(str, own.reported)),
            headline=own.headline,
            breakdown=tuple(map(str, own.breakdown)),
            gaps=tuple(KeyGap(*map(str, gap)) for gap in own.gaps),
            about=BenchmarkFacts.of(spec.benchmark, spec.sets, captions),
        )

    @classmethod
    def together(cls, several: Sequence["Declared"]) -> "Declared":
        """Return the first declaration with the scores that users added to the others."""
        first = several[0]
        more = {
            name: facts
            for each in several
            for name, facts in each.scores.items()
            if facts.added and name not in first.scores
        }
        if not more:
            return first
        reported = (name for each in several for name in each.reported if name in more)
        gaps = (gap for each in several for gap in each.gaps if gap.name in more)
        return replace(
            first,
            scores={**first.scores, **more},
            reported=(*first.reported, *dict.fromkeys(reported)),
            gaps=(*first.gaps, *dict.fromkeys(gaps)),
        )

    @property
    def displayed(self) -> tuple[str, ...]:
        """All that tables show: scores with tests, scores without, and gaps."""
        return (*self.reported, *self.breakdown, *(gap.name for gap in self.gaps))

    def score(self, key: str) -> Score:
        """Return what a key stands for: a score and a group, or a score and :data:`GAP`."""
        if (facts := self.scores.get(key)) and facts.name:
            return Score(facts.name, facts.group)
        gap = next((gap for gap in self.gaps if gap.name == key), None)
        return Score(self.score(gap.score).name, GAP) if gap else score_of(key)

    def task_name(self, arm: str | None = None, decoding: str | None = None) -> str:
        """Return the name of the task that shows demonstrations of an arm, or decodes otherwise."""
        variant = None if arm is None else f"icl_{arm}"
        return joined("_", self.task, variant, decoding)

    def totals(self, name: str) -> Totals:
        """Return how values make a score; its metric is asked only where no other score is so made.

        Raises:
            ConfigError: this metric is not installed.
        """
        facts = self.scores.get(name)
        if facts and (totals := _TOTALS.get(facts.totals or "")):
            return totals
        for gap in self.gaps:
            if gap.name == name:
                return Less(self.totals(gap.score), self.totals(gap.subtracted))
        return info_of(self.score(name)).totals

    def readable(self) -> "Declared":
        """Return the declaration without the scores that nothing here can make from values.

        Raises:
            ResultError: the benchmark has no such aspect, no score that tables test is left, or a
                score is not described.
        """
        name, aspect = self.benchmark, self.sets.aspect
        is_here = name in registry().names("benchmark")
        if is_here and aspect not in registry().get("benchmark", name).groups:
            raise ResultError(f"the benchmark {name!r} has no {aspect!r}")
        if not self.about.title:
            about = BenchmarkFacts.of(self.benchmark, self.sets, self.about.captions)
            return replace(self, about=about).readable()
        reported, breakdown = map(self._known, (self.reported, self.breakdown))
        if not reported:
            raise ResultError(f"no installed metric has a score of {', '.join(self.reported)}")
        gaps = tuple(gap for gap in self.gaps if len(self._known(gap)) == len(gap))
        found = replace(self, reported=reported, breakdown=breakdown, gaps=gaps)
        if missing := [name for name in found.displayed if name not in self.scores]:
            raise ResultError(f"declared: the scores {', '.join(missing)} are not described")
        return found

    def _known(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            name
            for name in names
            if (facts := self.scores.get(name)) and (facts.totals in _TOTALS or known_info(name))
        )


class TrainedOn(msgspec.Struct, frozen=True, kw_only=True):
    """The sets that an adapter was made for."""

    aspect: str
    corpus: str
    protocol: str | None = None
    part: str | None = None
    test_sha256: str | None = None
    corpus_sha256: str | None = None
    """Of a corpus of one's own."""

    @classmethod
    def of(cls, sets: Sets, corpus_sha256: str | None) -> Self:
        """Return the facts of these sets."""
        named = sets.facts.named
        return cls(**named, test_sha256=set_digest(sets.test), corpus_sha256=corpus_sha256)


class BaseModel(msgspec.Struct, frozen=True, kw_only=True):
    """The base of an adapter."""

    path: str
    revision: str | None = None
    sha256: str | None = None


class DeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter was trained on, and how long that took."""

    name: str
    processes: int
    fitting_seconds: float
    peak_memory_bytes: int | None = None
    """That torch held on a GPU, at most."""


class TrainingLog(msgspec.Struct, frozen=True, kw_only=True):
    """How a training went, and what repeats it."""

    config: FileContent
    versions: dict[str, str]
    device: DeviceFacts
    settings_sha256: str
    git_commit: str | None
    steps: int
    losses: list[float]
    """The mean of each epoch."""
    pairs_too_long: int
    resumed_from: int = 0
    pairs_cut: int | None = None
    weights: dict[str, list[str]] = {}
    """The ``tuned_modules`` of LoRA, and ``added_tokens``."""
    counts: dict[str, int] = {}
    """Those of the objective."""


ELSEWHERE: Mapping[str, str] = {"trained": "elsewhere"}
"""The settings of an adapter that another program trained begin with this."""


RECIPE = "training.yaml"
"""The file in an adapter's folder with all settings of its training, which repeats it."""


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter, as its `spor.json` and its results say; of a foreign one at most its digest.

    A baseline that uses an arm's training set has no ``adapter_sha256``.
    """

    sets: TrainedOn | None = None
    arm: str | None
    arm_sha256: str | None
    violations: list[str] | None = None
    """The requirements that the sets break."""
    pairs: int | None = None
    """How many pairs of the arm it was trained on."""
    seed: int | None
    prompt_style: str | None = None
    base_model: BaseModel | None
    adapter_sha256: str | None
    settings: FileContent | None = None
    """Those that all runs of a system share."""
    selection: FileContent | None = None
    """The choice of the epoch."""
    log: TrainingLog | None = None
    """In `spor.json` only."""

    @classmethod
    def of(
        cls, arm: str | None = None, arm_sha256: str | None = None, sha256: str | None = None
    ) -> Self:
        """Return an adapter of which no more is known, or the training set of a baseline."""
        return cls(
            arm=arm, arm_sha256=arm_sha256, seed=None, base_model=None, adapter_sha256=sha256
        )

    @property
    def is_from_elsewhere(self) -> bool:
        """Whether another program trained it, on pairs of this package."""
        return ELSEWHERE.items() <= (self.settings or {}).items()

    @classmethod
    def read(cls, manifest: FileContent, where: Path) -> Self:
        """Return the adapter that the manifest in a folder describes.

        Raises:
            ConfigError: a key is missing, or its value has the wrong type.
        """
        try:
            found = msgspec.convert(upgraded_adapter(manifest), cls)
            base = found.base_model
            ours = {name: getattr(found, name) for name in _OF_OURS}
            ours["base_model.sha256"] = base and base.sha256
            lacking = [f"`{name}`" for name, value in ours.items() if value is None]
            fault = f"Object missing required field {lacking[0]}" if lacking else ""
        except (msgspec.ValidationError, SystemError) as error:  # of a number too large
            fault = str(error)
        if fault:
            raise ConfigError(
                f"is not the manifest of an adapter: {fault}",
                where=where,
                remedy="Train the adapter again, or let `spor data record` write it.",
            )
        return found


_OF_OURS = ("sets", "arm", "arm_sha256", "prompt_style", "seed", "base_model", "adapter_sha256")


class PromptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a model was asked."""

    style: PromptStyle
    instruction: str | None = None
    """The corpus's own instruction, if prompts have one."""
    arm: str | None = None
    """The arm that demonstrations are of."""
    demonstrations_sha256: str | None = None
    matching: Mapping[str, FileContent] = {}
    """How far the chosen demonstrations match their samples, by arm."""
    thinking: bool | None = None
    """What the chat template was told about reasoning; None without one."""
    system_message: str | None = None
    """Where the system message was moved to, if the chat template has no role for it."""


class TestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples were asked for, and with which references."""

    held_out_reference: bool = False
    limit_evenly: bool = False
    samples: int = 0
    """Of the test set, where the task may not have all."""
    covered: int | None = None
    """How many of them every arm has demonstrations for."""
    likelihood: FileContent | None = None
    """How the likelihoods of given texts were counted."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a number depends on, as the task resolved its settings."""

    spor_tasks: str
    packages: dict[str, str | None]
    """The versions of what an output or a score depends on."""
    declared: Declared
    prompt: PromptFacts
    arms: dict[str, Digest]
    adapter: Adapter | None
    test: TestFacts = TestFacts()
    judges: dict[str, str] = {}
    """The signatures of the models that judged a score."""
    generation: FileContent = {}
    """All settings that decided what was written."""
    failures: dict[str, Count] = {}
    """How many requests a server did not answer, by the reason."""
    notes: list[str] = []
    """What lm-eval's `hf` does otherwise than `spor-hf`."""
    baseline: str | None = None
    """The baseline that wrote the outputs, which no model did; not in results of version 0.2."""


# --- The form of version 0.2 ----------------------------------------------------------------------

_JUDGES = {
    "facts": "facts",
    "nli_acc": "nli",
    "sp_acc": "sp",
    "bleurt": "bleurt",
    "mctg_acc": "aspects",
    "mctg_ppl": "ppl",
}
_OLD_NAMES = {"style": "prompt_style", "arm": "fewshot_arm", "samples": "test_samples"}


def upgrade(facts: Any) -> Any:
    """Return the facts of a result of version 0.2, which were flat, as :class:`Facts` has them.

    Those of between then and 0.3 name their sets by a list. All others are returned as they are.
    """
    if not isinstance(facts, dict):
        return facts
    if "prompt_style" not in facts:
        return _with_sets(facts)
    flat = {key: value for key, value in facts.items() if value is not None}

    def part(kind: type[msgspec.Struct]) -> dict[str, Any]:
        names = {key: _OLD_NAMES.get(key, key) for key in kind.__struct_fields__}
        return {key: flat[old] for key, old in names.items() if old in flat}

    judges = {key: flat[key] for key in _JUDGES.values() if key in flat}
    new = part(Facts) | {"prompt": part(PromptFacts), "test": part(TestFacts), "judges": judges}
    if new.get("failures") == "{}":  # of a task of likelihoods
        del new["failures"]
    declared = flat.get("declared")
    if isinstance(declared, dict) and isinstance(declared.get("scores"), dict):
        known: dict[str, Score | Gap] = {}
        with suppress(ValueError, TypeError):  # damaged gaps are told of as part of the whole
            for first, second in declared.get("gaps", ()):
                gap = Gap(score_of(str(first)), score_of(str(second)))
                known[str(gap)] = gap
        scores = {}
        for key, written in declared["scores"].items():  # the rest its metric says, if it is here
            score, scores[key] = known.get(key, score_of(key)), written
            name = (score.first if isinstance(score, Gap) else score).name
            with suppress(ConfigError):
                if isinstance(written, dict):
                    asked = msgspec.to_builtins(ScoreFacts.of(score, _JUDGES.get(name)))
                    scores[key] = asked | written
        found = re.search(r"\branker:([^|]+)", str(judges.get("sp")))
        ranker = {"sp": f"our programs of SP-Acc ranked by {found[1]}"} if found else {}
        sets = _sets(declared)
        about = {"title": "", "captions": ranker}
        new["declared"] = declared | {"scores": scores, "sets": sets, "about": about}
    return new | ({"adapter": None} if facts.get("adapter", 0) is None else {})


def _with_sets(facts: FileContent) -> FileContent:
    """Return the facts with their sets as an object, where a list named these."""
    declared = facts.get("declared")
    sets = declared.get("sets") if isinstance(declared, dict) else None
    if not isinstance(declared, dict) or not isinstance(sets, dict) or "name" not in declared:
        return facts
    return facts | {"declared": declared | {"sets": _sets(declared | sets)}}


def _sets(declared: FileContent) -> FileContent:
    """Return what an old declaration says of its sets; their name was a list."""
    kept = ("part_title", "in_context", "is_pooled", "is_fixed")
    sets = {key: declared[key] for key in kept if key in declared}
    key, _, value = str(declared.get("part_title")).partition(" = ")
    sets["facets"] = {key: value} if value else {}
    with suppress(LookupError, TypeError, ValueError):  # damaged ones are told of as parts missing
        sets["decodings"] = dict.fromkeys(declared.get("decodings", ()), 0)
        aspect, corpus, protocol, part = declared["name"]
        sets |= {"aspect": aspect, "corpus": corpus, "protocol": protocol, "part": part}
        whole = declared.get("split_of") or declared["name"]
        sets["facets"]["protocol"] = whole[2]
        if whole != declared["name"]:
            source = "published" if protocol != whole[2] else None
            sets["split"] = joined("_", source, part)
    return sets


def upgraded_adapter(manifest: FileContent) -> FileContent:
    """Return a manifest as :class:`Adapter` has it; those of version 0.2 were flat."""
    if "aspect" not in manifest:
        return dict(manifest)
    flat = {key: value for key, value in manifest.items() if value is not None}

    def part(kind: type[msgspec.Struct], **more: Any) -> dict[str, Any]:
        return {key: flat[key] for key in kind.__struct_fields__ if key in flat} | more

    device = part(DeviceFacts)
    if "device" in flat:
        device["name"] = flat["device"]
    weights = {key: flat[key] for key in ("tuned_modules", "added_tokens") if key in flat}
    new = part(Adapter, sets=part(TrainedOn))
    if "config" in flat:
        new["log"] = {"git_commit": None} | part(TrainingLog, device=device, weights=weights)
    return new
