"""Which epoch's adapter is kept: what the epochs are judged by, and how."""

import copy
import logging
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import peft
import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample, Split, SplitPair
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PromptStyle, prompted
from spor_tasks.text import filters
from training.bases import Base
from training.config import DataConfig, SelectionConfig, TrainingConfig
from training.data import check_sets, everything, find_arm, find_spec, sets_of

NAMES: Mapping[str, str] = {"parent": "PARENT", "chrf": "chrF"}
"""What the scores that may choose are called in print; the paper's is PARENT, as published."""

_SCORES = (
    *("parent", "parent_precision", "parent_recall", "parent_full_table"),
    *("chrf", "coverage", "empty"),
)

Scores = Mapping[str, float]
"""Means over the judged samples, by the names that the tasks give them."""

_HELD_OUT_AT_MOST = 5  # one in so many


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """An arm, what of it is trained on, what judges an epoch, and what the sets break."""

    pair: SplitPair
    arm: Split
    trained: Split
    judged: tuple[Sample, ...]
    violations: tuple[str, ...]


def training_set(config: TrainingConfig, pair: SplitPair | None = None) -> TrainingSet:
    """Return what the settings name; ``pair`` takes the place of the sets that they name.

    Raises:
        ConfigError: there is no such arm, or what the policy asks for.
        CorpusError: the data is not at hand.
        SplitError: there are no such sets, or strict ones break what they promise.
    """
    pair = pair or sets_of(config.data)
    arm = find_arm(pair, config.data.arm)
    violations = tuple(check_sets(pair))
    judged = judged_samples(config.selection, pair, config.data)
    return TrainingSet(pair, arm, trained_on(config.selection, arm, judged), judged, violations)


def judged_samples(
    settings: SelectionConfig, pair: SplitPair, data: DataConfig
) -> tuple[Sample, ...]:
    """Return the samples that the epochs are judged by; none where the last epoch is kept.

    ``data`` is what the sets were asked for by.

    Raises:
        ConfigError: a development set is asked for, and the arms and tests leave nothing over.
        CorpusError: the data is not at hand.
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
    """Return what of an arm is trained on: all but what a policy holds out of it to judge by."""
    if settings.policy != "dev-split":
        return arm
    held_out = {_told(sample) for sample in judged}
    kept = tuple(sample for sample in arm.samples if _told(sample) not in held_out)
    return replace(arm, samples=kept)


def unseen(judged: Sequence[Sample], trained: Split) -> int:
    """Return how many judged samples have a unit that no sample trained on has."""
    shown = {unit for sample in trained.samples for unit in sample.units}
    return sum(not shown.issuperset(sample.units) for sample in judged)


def _reported_test(metric: str, pair: SplitPair, data: DataConfig) -> tuple[Sample, ...]:
    """Return the test set that a score is reported on, of those for models trained on these arms.

    Raises:
        ConfigError: it is reported on none.
    """
    spec = find_spec(SetName(pair.aspect, pair.corpus, pair.protocol, pair.part))
    if metric in spec.scores:
        return pair.test.samples
    for other in named.available():
        if other.name.aspect == spec.trained_on.aspect and metric in other.scores:
            aspect, part = other.name.aspect, other.name.part
            return sets_of(replace(data, aspect=aspect, part=part)).test.samples
    raise ConfigError(
        f"no task reports {NAMES[metric]} of models that are trained for {pair.aspect}",
        remedy="Set selection.policy=last.",
    )


def _development_set(
    settings: SelectionConfig, pair: SplitPair, data: DataConfig
) -> tuple[Sample, ...]:
    """Return samples that no arm holds and that nothing tests, or all there are.

    They are drawn from the whole corpus, but of the categories that are tested, and without those
    that tell the same as a sample of an arm or a test. Both arms, having one answer, are judged by
    one set.

    Raises:
        ConfigError: there are none.
        CorpusError: the data is not at hand.
    """
    pool = everything(data)
    reported = _reported_test(settings.metric, pair, data)
    tested = {_told(sample) for sample in (*pair.test.samples, *reported)}
    trained = set().union(*map(_all_told, pair.arms))
    categories = {sample.about("category") for sample in pool if _told(sample) in tested}
    left = [
        sample
        for sample in pool
        if _told(sample) not in tested | trained and sample.about("category") in categories
    ]
    if not left:
        others = "test-best (the paper's) or last"
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} trains on or tests every sample, so none is left over "
            "for selection.policy dev-best",
            remedy="Set selection.policy to "
            f"{f'dev-split, {others}' if _tell_the_same(pair) else others}.",
        )
    return _drawn(left, settings.samples, f"development {settings.seed}")


def _held_out_set(settings: SelectionConfig, pair: SplitPair) -> tuple[Sample, ...]:
    """Return samples of the arms, at most a fifth of them, to hold out of all.

    That is for arms that tell the same, so that one set judges both. It is of the first arm, in the
    order in which that holds them.

    Raises:
        ConfigError: the arms tell different things, or are too small.
    """
    if not _tell_the_same(pair):
        raise ConfigError(
            f"selection.policy dev-split is not for {pair.aspect}: its arms hold different samples "
            "on purpose, and none may be taken from one of them alone",
            remedy="Set selection.policy=dev-best.",
        )
    first = {_told(sample): sample for sample in reversed(pair.arms[0].samples)}
    candidates = [sample for sample in pair.arms[0].samples if first[_told(sample)] is sample]
    size = min(settings.samples, len(candidates) // _HELD_OUT_AT_MOST)
    if not size:
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} has {len(candidates)} samples to train on, of which none "
            "can be spared for selection.policy dev-split",
            remedy="Set selection.policy to test-best (the paper's) or last.",
        )
    return _drawn(candidates, size, f"held out {settings.seed}")


def _drawn(samples: Sequence[Sample], size: int, seed: str) -> tuple[Sample, ...]:
    """Return so many of the samples, or all there are, in their order."""
    numbers = random.Random(seed).sample(range(len(samples)), min(size, len(samples)))
    return tuple(samples[number] for number in sorted(numbers))


_Told: TypeAlias = tuple[str | None, frozenset[DataUnit]]


def _told(sample: Sample) -> _Told:
    """Return what a text for the sample is to tell, in whatever order."""
    return sample.about("name"), frozenset(sample.units)


def _all_told(arm: Split) -> frozenset[_Told]:
    return frozenset(map(_told, arm.samples))


def _tell_the_same(pair: SplitPair) -> bool:
    return len(set(map(_all_told, pair.arms))) == 1


class Judge:
    """Scores the model as it is now by its outputs for the samples, as a task would.

    It is the very code of the evaluation, `spor-hf` and the tasks' own scores, on the model in
    memory. Several processes share the samples.
    """

    def __init__(
        self,
        model: peft.PeftModel,
        base: Base,
        samples: Sequence[Sample],
        settings: SelectionConfig,
        precision: str | None,
    ) -> None:
        from spor_tasks.evaluation.hf import SporHF  # noqa: PLC0415
        from spor_tasks.harness import adapt  # noqa: PLC0415 - lm-eval, which takes seconds, for those who judge

        self._model = model
        self._samples = samples
        self._docs = [prompted(sample, base.style) for sample in samples]
        self._measure = partial(adapt.values, adapt.metrics_for(_SCORES), _SCORES)
        self._decoding = task_files.generation_kwargs(settings.beams)
        logger = logging.getLogger("lm_eval.models.huggingface")
        level = logger.level
        logger.setLevel(logging.ERROR)  # it advises against a model that is loaded already
        try:
            self._generator = SporHF(
                pretrained=model,
                tokenizer=copy.deepcopy(base.tokenizer),  # it may get a padding token
                backend=_backend(base.style),
                batch_size=settings.batch_size,
                mixed_precision_dtype=precision,
            )
        finally:
            logger.setLevel(level)
            model.train()

    def __call__(self, processes: PartialState) -> Scores:
        """Return the means; the model trains on as if nothing had been asked of it."""
        own = slice(processes.process_index, None, processes.num_processes)
        self._model.eval()
        try:
            # Blocks that were compiled to be trained are not compiled for every length besides.
            with torch.compiler.set_stance("force_eager"):
                outputs = self._generate(self._docs[own])
        finally:
            self._model.train()
        texts = [(filters.first_line(output),) for output in outputs]
        shares = gather_object(self._measure(self._samples[own], texts))
        return {
            name: math.fsum(scores[name] for scores in shares) / len(shares) for name in shares[0]
        }

    def _generate(self, docs: Sequence[Mapping[str, Any]]) -> list[str]:
        from lm_eval.api.instance import Instance  # noqa: PLC0415 - as above

        requests = [
            Instance("generate_until", doc, (doc["prompt"], dict(self._decoding)), number)
            for number, doc in enumerate(docs)
        ]
        for request in requests:
            request.filters = filters.DEFAULT
        outputs: list[str] = self._generator.generate_until(requests, disable_tqdm=True)
        return outputs


def _backend(style: PromptStyle) -> str:
    return "seq2seq" if style == "seq2seq" else "causal"


def best_epoch(scores: Sequence[Scores], metric: str) -> int:
    """Return the number of the epoch, from 0, with the highest score; the first of equals."""
    return max(range(len(scores)), key=lambda epoch: scores[epoch][metric])
