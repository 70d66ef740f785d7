"""Which epoch's adapter is kept: what the epochs are judged by, and how."""

import copy
import logging
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import peft
import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample, Split, SplitPair
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.mini import worlds as mini
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.harness import task_files
from spor_tasks.prompts.styles import PromptStyle, prompted
from spor_tasks.text.answers import answer
from training.bases import Base
from training.config import SelectionConfig

NAMES: Mapping[str, str] = {"parent": "PARENT", "chrf": "chrF"}
"""What the scores that may choose are called in print; the paper's is PARENT, as published."""

Scores = Mapping[str, float]
"""Means over the judged samples, by the names that the tasks give them."""

# Tested by other sets than the one that shows which epoch is good at the task itself.
_TRAINED_ON_ALL = ("order_invariance", "rule_learnability")
_HELD_OUT_AT_MOST = 5  # one in so many
_POOLS: Mapping[str, Callable[[], tuple[Sample, ...]]] = {
    "webnlg": lambda: webnlg.read_parts("train", "dev", "test"),
    "e2e": lambda: (*e2e.read_train(), *e2e.read_test()),
    "mini": mini.samples,
}


def judged_samples(settings: SelectionConfig, pair: SplitPair) -> tuple[Sample, ...]:
    """Return the samples that the epochs are judged by; none where the last epoch is kept.

    Raises:
        ConfigError: a development set is asked for, and the arms and tests leave nothing over.
        CorpusError: the data is not at hand.
    """
    match settings.policy:
        case "test-best":
            return _performance_test(pair)
        case "dev-best":
            return development_set(pair, settings.samples, settings.seed)
        case "dev-split":
            return held_out_set(pair, settings.samples, settings.seed)
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


def _performance_test(pair: SplitPair) -> tuple[Sample, ...]:
    """Return the test set that PARENT is reported on for this aspect."""
    if pair.aspect in _TRAINED_ON_ALL:
        pair = registry.load("order_invariance", pair.corpus, pair.protocol, "performance")
    return pair.test.samples


def development_set(pair: SplitPair, size: int, seed: int) -> tuple[Sample, ...]:
    """Return ``size`` samples, or all there are, that no arm holds and that nothing tests.

    They are drawn from the whole corpus, but of the categories that are tested, and without those
    that tell the same as a sample of an arm or a test. Both arms, having one answer, are judged by
    one set.

    Raises:
        ConfigError: there are none, or the corpus is unknown.
        CorpusError: the data is not at hand.
    """
    if pair.corpus not in _POOLS:
        raise ConfigError(
            f"selection.policy dev-best draws from {', '.join(_POOLS)}, not from {pair.corpus}",
            remedy=f"Set selection.policy to {_others(pair)}.",
        )
    pool = _POOLS[pair.corpus]()
    tested = {_told(sample) for sample in (*pair.test.samples, *_performance_test(pair))}
    trained = {_told(sample) for arm in pair.arms for sample in arm.samples}
    categories = {sample.category for sample in pool if _told(sample) in tested}
    left = [
        sample
        for sample in pool
        if _told(sample) not in tested | trained and sample.category in categories
    ]
    if not left:
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} trains on or tests every sample, so none is left over "
            "for selection.policy dev-best",
            remedy=f"Set selection.policy to {_others(pair)}.",
        )
    drawn = random.Random(f"development {seed}").sample(range(len(left)), min(size, len(left)))
    return tuple(left[number] for number in sorted(drawn))


def _others(pair: SplitPair) -> str:
    held_out = "dev-split, " if pair.aspect in _TRAINED_ON_ALL else ""
    return f"{held_out}test-best (the paper's) or last"


def held_out_set(pair: SplitPair, size: int, seed: int) -> tuple[Sample, ...]:
    """Return ``size`` samples of the arms, or a fifth of them if that is less, to hold out of all.

    That is for aspects whose arms tell the same, so that one set judges both: order invariance,
    where it is of Original, in the corpus's order as the tests are, and rule learnability.

    Raises:
        ConfigError: the arms tell different things, or are too small.
    """
    if pair.aspect not in _TRAINED_ON_ALL:
        raise ConfigError(
            f"selection.policy dev-split is not for {pair.aspect}: its arms hold different samples "
            "on purpose, and none may be taken from one of them alone",
            remedy="Set selection.policy=dev-best.",
        )
    first = {_told(sample): sample for sample in reversed(pair.arms[0].samples)}
    candidates = [sample for sample in pair.arms[0].samples if first[_told(sample)] is sample]
    size = min(size, len(candidates) // _HELD_OUT_AT_MOST)
    if not size:
        raise ConfigError(
            f"{pair.aspect} {pair.corpus} has {len(candidates)} samples to train on, of which none "
            "can be spared for selection.policy dev-split",
            remedy="Set selection.policy to test-best (the paper's) or last.",
        )
    drawn = random.Random(f"held out {seed}").sample(range(len(candidates)), size)
    return tuple(candidates[number] for number in sorted(drawn))


def _told(sample: Sample) -> tuple[str | None, frozenset[DataUnit]]:
    return sample.name, frozenset(sample.units)


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
        from spor_tasks.harness import task as harness  # noqa: PLC0415 - lm-eval, which takes seconds, for those who judge

        self._model = model
        self._docs = [prompted(sample, base.style) for sample in samples]
        self._score = harness.parent_scores
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
        own = self._docs[processes.process_index :: processes.num_processes]
        self._model.eval()
        try:
            # Blocks that were compiled to be trained are not compiled for every length besides.
            with torch.compiler.set_stance("force_eager"):
                outputs = self._generate(own)
        finally:
            self._model.train()
        shares = gather_object(
            [self._score(doc, [answer(output)]) for doc, output in zip(own, outputs, strict=True)]
        )
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
            request.stops_after_answer = True
        outputs: list[str] = self._generator.generate_until(requests, disable_tqdm=True)
        return outputs


def _backend(style: PromptStyle) -> str:
    return "seq2seq" if style == "seq2seq" else "causal"


def best_epoch(scores: Sequence[Scores], metric: str) -> int:
    """Return the number of the epoch, from 0, with the highest score; the first of equals."""
    return max(range(len(scores)), key=lambda epoch: scores[epoch][metric])
