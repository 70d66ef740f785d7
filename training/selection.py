"""Which epoch's weights are kept: the samples that judge each epoch, and the judge."""

import copy
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName, SetSpec, without_twin
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import DataUnit, Sample, Split, SplitPair
from spor_tasks.harness import task_files
from spor_tasks.metrics.base import Column, metric, registered_score, score_info
from spor_tasks.prompts.styles import prompted
from spor_tasks.text import filters
from training.bases import Base
from training.batches import Model
from training.config import DataConfig, SelectionConfig, TrainingConfig
from training.data import Chosen, check_sets, everything, find_arm, find_spec, sets_of

Scores = Mapping[str, float]
"""Scores of the judged samples, under their names; what has no verdict is left out."""

_HELD_OUT_AT_MOST = 5  # one sample in so many


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Sets and one of their arms, as ``config`` asks.

    ``trained`` is the part of the arm that is trained on, ``judged`` the samples that judge an
    epoch, ``reported`` the sets whose task says how, and ``violations`` the requirements that the
    sets break.
    """

    pair: SplitPair
    arm: Split
    trained: Split
    judged: Sequence[Sample]
    reported: SetSpec | None
    violations: tuple[str, ...]


def training_set(config: TrainingConfig, pair: SplitPair | None = None) -> TrainingSet:
    """Return what the settings name; ``pair`` replaces the sets that they name.

    Raises:
        ConfigError: there is no such arm, or the policy cannot be used with these sets.
        CorpusError: the corpus is missing.
        SplitError: there are no such sets, or strict sets break a requirement.
    """
    pair = pair or sets_of(config.data)
    arm = find_arm(pair, config.data.arm)
    violations = tuple(check_sets(pair))
    judged = judged_samples(config.selection, pair, config.data)
    trained = trained_on(config.selection, arm, judged)
    reported = _reported(config.selection.metric, pair) if judged else None
    return TrainingSet(pair, arm, trained, judged, reported, violations)


def judged_samples(
    settings: SelectionConfig, pair: SplitPair, data: DataConfig
) -> Sequence[Sample]:
    """Return the samples that judge the epochs, none where the last epoch is kept.

    ``data`` are the settings that name the sets.

    Raises:
        ConfigError: the policy cannot be used with these sets.
        CorpusError: the corpus is missing.
    """
    match settings.policy:
        case "test-best":
            return _reported_test(settings.metric, pair, data)
        case "dev-best":
            return _development_set(settings, pair, data)
        case "dev-split":
            return _held_out_set(settings, pair)
    return ()


def trained_on(settings: SelectionConfig, arm: Split, judged: Sequence[Sample]) -> Split:
    """Return the part of an arm that is trained on: all but what the policy holds out."""
    if settings.policy != "dev-split":
        return arm
    held_out = set(map(_told, judged))
    told = enumerate(map(_told, arm.samples))
    return replace(arm, samples=Chosen(arm.samples, [n for n, of in told if of not in held_out]))


def unseen(judged: Sequence[Sample], trained: Split) -> int:
    """Return how many judged samples have a unit that no training sample has."""
    shown = {unit for sample in trained.samples for unit in sample.units}
    return sum(not shown.issuperset(sample.units) for sample in judged)


def _reported(score: str, pair: SplitPair) -> SetSpec:
    """Return the sets for models trained on these arms on whose outputs the score is reported.

    Raises:
        ConfigError: there are none.
    """
    spec = find_spec(SetName(pair.aspect, pair.corpus, pair.protocol, pair.part))
    others = (other for other in named.available() if other.name.aspect == spec.trained_on.aspect)
    for found in (spec, *others):
        if score in found.scores and _is_of_texts(score):
            return found
    raise ConfigError(
        f"no task reports {score} of texts by models trained for {pair.aspect}",
        where="selection.metric",
        remedy="Set selection.policy=last, or selection.metric to one of "
        f"{', '.join(filter(_is_of_texts, spec.scores)) or 'another task'}.",
    )


def _is_of_texts(score: str) -> bool:
    """Return whether outputs can be compared by a score."""
    if without_twin(score) or score_info(score).higher_is_better is None:
        return False
    plain, metrics = registered_score(score), map(metric, registry().names("metric"))
    return any(
        each.answers == "texts" and plain in {info.name for info in each.scores} for each in metrics
    )


def _reported_test(score: str, pair: SplitPair, data: DataConfig) -> Sequence[Sample]:
    """Return the test set of :func:`_reported`."""
    found = _reported(score, pair).name
    if found == SetName(pair.aspect, pair.corpus, pair.protocol, pair.part):
        return pair.test.samples
    return sets_of(replace(data, aspect=found.aspect, part=found.part)).test.samples


def _development_set(
    settings: SelectionConfig, pair: SplitPair, data: DataConfig
) -> tuple[Sample, ...]:
    """Return samples that neither an arm nor a test set has, the same for both arms.

    They are drawn from the whole corpus, but only from categories that are tested, and not from
    samples that tell the same as one of an arm or a test set.

    Raises:
        ConfigError: there are none.
        CorpusError: the corpus is missing.
    """
    pool = everything(data)
    reported = _reported_test(settings.metric, pair, data)
    tested = set(map(_told, (*pair.test.samples, *reported)))
    used = tested.union(_told(sample) for arm in pair.arms for sample in arm.samples)
    categories = {sample.about("category") for sample in pool if _told(sample) in tested}
    asked = pair.test.samples[0].about("prompt")
    left = [
        _asked(sample, asked)
        for sample in pool
        if _told(sample) not in used
        and sample.about("category") in categories
        and sample.references
    ]
    if not left:
        split = "dev-split, " if _tell_the_same(pair) else ""
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} trains on or tests every sample, so none is left over "
            "for selection.policy=dev-best",
            remedy=f"Set selection.policy to {split}test-best (the paper's) or last.",
        )
    return _drawn(left, settings.samples, f"development {settings.seed}")


def _held_out_set(settings: SelectionConfig, pair: SplitPair) -> tuple[Sample, ...]:
    """Return samples of the first arm, at most a fifth, to hold out of all arms.

    The arms must tell the same, so that one set judges them all.

    Raises:
        ConfigError: the arms tell different things, or are too small.
    """
    if not _tell_the_same(pair):
        raise ConfigError(
            f"selection.policy=dev-split cannot be used for {pair.aspect}: its arms differ on "
            "purpose, so no sample may be taken out of one of them",
            remedy="Set selection.policy=dev-best.",
        )
    samples, first = pair.arms[0].samples, dict[_Told, int]()
    for number, sample in enumerate(samples):
        first.setdefault(_told(sample), number)
    candidates = Chosen(samples, [*first.values()])
    size = min(settings.samples, len(candidates) // _HELD_OUT_AT_MOST)
    if not size:
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} has {len(candidates)} samples to train on, too few to "
            "hold one out for selection.policy=dev-split",
            remedy="Set selection.policy to test-best (the paper's) or last.",
        )
    return _drawn(candidates, size, f"held out {settings.seed}")


def _drawn(samples: Sequence[Sample], size: int, seed: str) -> tuple[Sample, ...]:
    """Return so many of the samples, or all there are, in their order."""
    numbers = random.Random(seed).sample(range(len(samples)), min(size, len(samples)))
    return tuple(samples[number] for number in sorted(numbers))


def _asked(sample: Sample, prompt: str | None) -> Sample:
    """Return the sample with the variant of its corpus's prompt that the test set has."""
    return replace(sample, context={**sample.context, "prompt": prompt}) if prompt else sample


_Told: TypeAlias = tuple[str | None, frozenset[DataUnit]]


def _told(sample: Sample) -> _Told:
    """Return what a text for the sample must tell, in any order: of a table, anything."""
    units = () if "table" in sample.context else sample.units
    return sample.about("name"), frozenset(units)


def _tell_the_same(pair: SplitPair) -> bool:
    if len(pair.arms) == 1:
        return True
    return len({frozenset(map(_told, arm.samples)) for arm in pair.arms}) == 1


class Judge:
    """Scores the model in memory by its outputs for the samples, with the code of the evaluation.

    That is `spor-hf`, and the filters, decoding and scores of the task that reports the metric.
    Several processes share the samples.
    """

    def __init__(self, model: Model, base: Base, data: TrainingSet, config: TrainingConfig) -> None:
        from spor_tasks.evaluation.hf import SporHF  # noqa: PLC0415
        from spor_tasks.harness import adapt  # noqa: PLC0415 - lm-eval, which takes seconds

        self._model = model
        self._samples = data.judged
        self._docs = [prompted(sample, base.style) for sample in data.judged]
        self._scores = data.reported.scores if data.reported else ()
        self._measure = partial(adapt.values, adapt.metrics_for(self._scores), self._scores)
        self._decoding, self._filters = task_files.decoding(data.reported, config.selection.beams)
        logger = logging.getLogger("lm_eval.models.huggingface")
        level = logger.level
        logger.setLevel(logging.ERROR)  # it warns about a model that is loaded already
        try:
            self._generator = SporHF(
                pretrained=model,
                tokenizer=copy.deepcopy(base.tokenizer),  # it may get a padding token
                backend=base.style,
                batch_size=config.selection.batch_size,
                mixed_precision_dtype=config.optimization.mixed_precision,
            )
        finally:
            logger.setLevel(level)
            model.train()

    def __call__(self, processes: PartialState) -> Scores:
        """Return the mean scores; the model can then be trained further as if never judged."""
        own = slice(processes.process_index, None, processes.num_processes)
        self._model.eval()
        try:
            outputs = self._generate(self._docs[own])
        finally:
            self._model.train()
        texts = [(filters.apply(self._filters, output),) for output in outputs]
        shares = gather_object(self._measure(self._samples[own], texts))
        columns = {
            name: Column.of([each.get(name) for each in shares], score_info(name).totals)
            for name in self._scores
        }
        return {name: column.value for name, column in columns.items() if column.scored.any()}

    def _generate(self, docs: Sequence[Mapping[str, Any]]) -> list[str]:
        from spor_tasks.harness import host  # noqa: PLC0415 - as above

        requests = [
            host.request(doc, doc["prompt"], dict(self._decoding), number)
            for number, doc in enumerate(docs)
        ]
        for request in requests:
            request.filters = self._filters
        outputs: list[str] = self._generator.generate_until(requests, disable_tqdm=True)
        return outputs
