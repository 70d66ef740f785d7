"""The choice of the epoch to save: the samples that judge each epoch, and the judge."""

import copy
import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from accelerate import PartialState
from accelerate.utils import gather_object
from torch.utils.data import Subset

from spor_tasks.aspects import check
from spor_tasks.core import named
from spor_tasks.core.contracts import Score, TaskSpec
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample, Sets
from spor_tasks.harness import task_files
from spor_tasks.metrics.groups import TWINS
from spor_tasks.metrics.scores import info_of, metrics_for
from spor_tasks.metrics.tally import columns_of
from spor_tasks.prompts.styles import prompted
from spor_tasks.text import filters
from training.bases import Base
from training.batches import Model
from training.config import DataConfig, SelectionConfig, TrainingConfig
from training.data import everything, find_arm, find_spec, sets_of

Scores = Mapping[str, float]
"""Scores of the development samples, under their names, without those that have no verdict."""

_HELD_OUT_AT_MOST = 5  # one sample in so many
_OTHER_POLICIES = "test-best (the paper's) or last."


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Sets and one of their arms, as ``config`` names them."""

    pair: Sets
    spec: TaskSpec
    """The declaration of the sets."""
    arm: Sequence[Sample]
    trained: Sequence[Sample]
    """The part of the arm to train on."""
    violations: tuple[str, ...]
    """The requirements that the sets break."""
    dev: Sequence[Sample]
    """The samples that judge an epoch; none where the last one is saved."""
    reported: TaskSpec
    """The sets whose task reports the score that judges."""


def training_set(config: TrainingConfig, pair: Sets | None = None) -> TrainingSet:
    """Return the sets of the settings; ``pair`` replaces them.

    Raises:
        ConfigError: the arm does not exist, or the policy cannot be used with these sets.
        CorpusError: the corpus is missing.
        SplitError: the sets do not exist, or strict sets break a requirement.
    """
    pair = pair or sets_of(config.data)
    spec, arm = find_spec(**pair.facts.named), find_arm(pair, config.data.arm)
    violations, settings = tuple(check.violated(pair)), config.selection
    if settings.policy == "last":
        return TrainingSet(pair, spec, arm, arm, violations, (), spec)
    reported = reporting(settings.metric, spec)
    dev = dev_samples(settings, pair, reported, config.data)
    trained = without(arm, dev) if settings.policy == "dev-split" else arm
    return TrainingSet(pair, spec, arm, trained, violations, dev, reported)


def reporting(score: str, spec: TaskSpec) -> TaskSpec:
    """Return the sets whose task reports the score of models trained on the arms of these.

    Raises:
        ConfigError: no task does.
    """

    def is_of_texts(score: Score) -> bool:
        if score.group == TWINS or info_of(score).higher_is_better is None:
            return False
        return any(metric.answers == "texts" for metric in metrics_for([score]))

    related = (each for each in named.available() if each.sets.aspect == spec.trained_on.aspect)
    for candidate in (spec, *related):
        if any(str(each) == score and is_of_texts(each) for each in candidate.judging.scores):
            return candidate
    usable = [str(each) for each in spec.judging.scores if is_of_texts(each)]
    raise ConfigError(
        f"no task reports {score} of texts by models trained for {spec.sets.aspect}",
        where="selection.metric",
        remedy="Set selection.policy=last, or selection.metric to one of "
        f"{', '.join(usable) or 'another task'}.",
    )


def dev_samples(
    settings: SelectionConfig, pair: Sets, reported: TaskSpec, data: DataConfig
) -> Sequence[Sample]:
    """Return the samples that judge the epochs, where the policy is to judge them.

    ``reported`` are the sets whose task reports the score, and ``data`` names the pair's.

    Raises:
        ConfigError: the policy cannot be used with these sets.
        CorpusError: the corpus is missing.
    """
    if settings.policy == "dev-split":
        return _held_out(settings, pair)
    sets, tested = reported.sets, pair.test
    if sets.named != pair.facts.named:
        tested = sets_of(replace(data, aspect=sets.aspect, part=sets.part, sets=None)).test
    return tested if settings.policy == "test-best" else _unused(settings, pair, tested, data)


def without(samples: Sequence[Sample], held_out: Iterable[Sample]) -> Sequence[Sample]:
    """Return the samples that have the content of none that is held out."""
    contents = set(map(_content, held_out))
    numbers = [n for n, sample in enumerate(samples) if _content(sample) not in contents]
    return _chosen(samples, numbers)


def unseen(dev: Sequence[Sample], trained: Sequence[Sample]) -> int:
    """Return the number of development samples with a unit that no training sample has."""
    trained_units = {unit for sample in trained for unit in sample.units}
    return sum(not trained_units.issuperset(sample.units) for sample in dev)


def _unused(
    settings: SelectionConfig, pair: Sets, tested: Sequence[Sample], data: DataConfig
) -> tuple[Sample, ...]:
    """Return samples that neither an arm nor a test set has, the same for both arms.

    They are drawn from the whole corpus, from categories that are tested, without samples that have
    the content of one of an arm, the test set, or ``tested``. Their prompts are of the test set's
    variant.

    Raises:
        ConfigError: no sample remains.
        CorpusError: the corpus is missing.
    """
    pool = everything(data)
    in_tests = set(map(_content, (*pair.test, *tested)))
    used = in_tests.union(_content(sample) for arm in pair.arms.values() for sample in arm)
    categories = {sample.about("category") for sample in pool if _content(sample) in in_tests}
    variant = pair.test[0].about("prompt")
    others = (sample for sample in pool if sample.references and _content(sample) not in used)
    unused = [sample for sample in others if sample.about("category") in categories]
    if not unused:
        split = "dev-split, " if _have_equal_content(pair) else ""
        raise ConfigError(
            f"{pair.facts.aspect} {pair.facts.corpus} trains on or tests every sample, so none is "
            "left over for selection.policy=dev-best",
            remedy=f"Set selection.policy to {split}{_OTHER_POLICIES}",
        )
    drawn = _drawn(unused, settings.samples, f"development {settings.seed}")
    if not variant:
        return drawn
    return tuple(replace(each, context={**each.context, "prompt": variant}) for each in drawn)


def _held_out(settings: SelectionConfig, pair: Sets) -> tuple[Sample, ...]:
    """Return samples of the first arm, at most a fifth, to hold out of all arms.

    The arms must have equal content, so that one set judges them all.

    Raises:
        ConfigError: the arms differ in content, or are too small.
    """
    if not _have_equal_content(pair):
        raise ConfigError(
            f"selection.policy=dev-split cannot be used for {pair.facts.aspect}: its arms differ "
            "on purpose, so no sample may be taken out of one of them",
            remedy="Set selection.policy=dev-best.",
        )
    samples, first = next(iter(pair.arms.values())), dict[_Content, int]()
    for number, sample in enumerate(samples):
        first.setdefault(_content(sample), number)
    candidates = _chosen(samples, [*first.values()])
    size = min(settings.samples, len(candidates) // _HELD_OUT_AT_MOST)
    if not size:
        raise ConfigError(
            f"{pair.facts.aspect} {pair.facts.corpus} has {len(candidates)} samples to train on, "
            "too few to hold one out for selection.policy=dev-split",
            remedy=f"Set selection.policy to {_OTHER_POLICIES}",
        )
    return _drawn(candidates, size, f"held out {settings.seed}")


def _chosen(samples: Sequence[Sample], numbers: Sequence[int]) -> Sequence[Sample]:
    """Return the samples with these numbers, each of which is read when it is needed."""
    return cast("Sequence[Sample]", Subset(samples, numbers))


def _drawn(samples: Sequence[Sample], size: int, seed: str) -> tuple[Sample, ...]:
    """Return ``size`` of the samples, or all of them if there are fewer, in their order."""
    numbers = random.Random(seed).sample(range(len(samples)), min(size, len(samples)))
    return tuple(samples[number] for number in sorted(numbers))


_Content: TypeAlias = tuple[str | None, frozenset[DataUnit]]


def _content(sample: Sample) -> _Content:
    """Return the content of a text for the sample, in any order; of a table, its name alone."""
    units = () if sample.table else sample.units
    return sample.about("name"), frozenset(units)


def _have_equal_content(pair: Sets) -> bool:
    return len({frozenset(map(_content, arm)) for arm in pair.arms.values()}) == 1


class Judge:
    """Scores the model in memory by its outputs for the samples, with the code of the evaluation.

    That is `spor-hf`, and the filters, decoding and scores of the task that reports the metric.
    Several processes share the samples.
    """

    def __init__(self, model: Model, base: Base, data: TrainingSet, config: TrainingConfig) -> None:
        from spor_tasks.models.hf import SporHF  # lm-eval, which takes seconds

        self._model = model
        self._samples = data.dev
        self._docs = [prompted(sample, base.style) for sample in data.dev]
        self._scores = data.reported.judging.scores
        self._decoding, self._filters = task_files.decoding(data.reported, config.selection.beams)
        # lm-eval warns about a model that is loaded already
        logging.getLogger("lm_eval.models.huggingface").setLevel(logging.ERROR)
        self._generator = SporHF(
            pretrained=model,
            tokenizer=copy.deepcopy(base.tokenizer),  # it may get a padding token
            backend=base.style,
            batch_size=config.selection.batch_size,
            mixed_precision_dtype=config.optimization.mixed_precision,
        )
        model.train()

    def __call__(self, processes: PartialState) -> Scores:
        """Return the mean scores; the model can then be trained further as if never judged."""
        from spor_tasks.harness import adapt, host  # as above

        own = slice(processes.process_index, None, processes.num_processes)
        requests = [
            host.request(doc, doc["prompt"], dict(self._decoding), number)
            for number, doc in enumerate(self._docs[own])
        ]
        for request in requests:
            request.filters = self._filters
        self._model.eval()
        try:
            outputs = self._generator.generate_until(requests, disable_tqdm=True)
        finally:
            self._model.train()
        texts = [(filters.apply(self._filters, output),) for output in outputs]
        metrics = metrics_for(self._scores)
        measured = adapt.measured(metrics, self._scores, self._samples[own], texts)
        shares = gather_object([values for values, _ in measured])
        columns = columns_of(map(info_of, self._scores), shares)
        return {info.name: column.value for info, column, _ in columns if column.scored.any()}
