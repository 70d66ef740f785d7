"""Tasks that show an untuned model demonstrations, chosen for each sample."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from lm_eval.api.samplers import FirstNSampler

from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.harness.likelihood import AdversarialTask, LikelihoodTask
from spor_tasks.harness.pair import TWINS_SHOWN, PairTask, TwinTask
from spor_tasks.harness.plan import check_shots
from spor_tasks.harness.task import SporTask, dataset
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.demonstrations import Matching, Prompted
from spor_tasks.prompts.exchanged import twins, with_twins
from spor_tasks.prompts.styles import PromptStyle, example, preamble, prompted

_log = logging.getLogger(__name__)


class InContextTask(SporTask):
    """A test set with demonstrations of one arm, chosen for each of its samples.

    The task's file names the arm, ``icl_arm``, in its ``metadata``; a prompt shows at most
    ``num_fewshot`` demonstrations. The documents are the samples that every arm can cover with at
    most that many, and list their demonstrations. A task that names no arm shows demonstrations of
    its only one where ``--num_fewshot`` asks for some.

    Raises:
        ConfigError, SplitError, CorpusError: as :class:`SporTask`, or no demonstration is allowed,
            or no sample can be covered.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self._describe()

    @property
    def _shows(self) -> bool:
        return "icl_arm" in self.config.metadata or bool(self.config.num_fewshot)

    def _describe(self) -> None:
        if self._shows and (before := preamble(self._plan.pair.corpus, self._style)):
            self.set_config("description", before)

    def download(self, *_: object, **__: object) -> None:
        """Build the documents for the allowed number of demonstrations."""
        if not self._shows:
            super().download()
            return
        check_shots(self._plan, self.config.num_fewshot)
        number = self._plan.pair.arms.index(self._plan.fewshot_arm)
        self.dataset = {
            "test": dataset(
                [
                    prompted(shown.sample, self._style, example) | self._listed(shown.arms[number])
                    for shown in self._prompted
                ]
            )
        }

    @property
    def _prompted(self) -> tuple[Prompted, ...]:
        return _choose(self._plan.pair, self.config.num_fewshot)

    def _listed(self, shown: Iterable[Sample]) -> dict[str, Any]:
        return {"demonstrations": _demonstrations(shown, self._style)}

    def set_config(self, key: str, value: object, update: bool = False) -> None:  # noqa: FBT001, FBT002 - lm-eval's
        """Set a value; another number of demonstrations means other documents."""
        super().set_config(key, value, update)
        if key == "num_fewshot":
            self.download()
            self._describe()

    def build_all_requests(self, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        """Build the requests, and log how many samples there are demonstrations for."""
        if self._shows:
            _log.warning(
                "%s: %d of %d test samples can be covered with up to %d demonstrations in every "
                "arm",
                self.config.task,
                len(self._prompted),
                len(self._plan.pair.test.samples),
                self.config.num_fewshot,
            )
        for name, of_arm in self._matching().items():
            _log.warning("%s: a prompt of %s has, on average, %s", self.config.task, name, of_arm)
        super().build_all_requests(**kwargs)

    def _matching(self) -> dict[str, Matching]:
        """Return what the prompts of each arm show; empty for a single arm, which has no match."""
        arms = self._plan.pair.arms
        if not self._shows or len(arms) == 1:
            return {}
        found = _match(self._prompted)
        return {arm.name: of_arm for arm, of_arm in zip(arms, found, strict=True)}

    def fewshot_context(self, doc: Mapping[str, Any], *_: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on
        """Return the context, or both, after the document's demonstrations."""
        if not self._shows:
            return super().fewshot_context(doc, **kwargs | {"num_fewshot": 0})
        return super().fewshot_context(doc, **kwargs | {"num_fewshot": len(doc["demonstrations"])})

    def sampler_for(self, doc: Mapping[str, Any]) -> FirstNSampler:
        """Return what shows the document's demonstrations."""
        return FirstNSampler(doc["demonstrations"])

    def dump_config(self) -> dict[str, Any]:
        """Return the settings for the result, with what was shown and for how many samples."""
        config = super().dump_config()
        if not self._shows:
            return config
        config["metadata"].setdefault("icl_arm", config["metadata"]["spor"]["fewshot_arm"])
        config["metadata"]["spor"] |= {
            "demonstrations_sha256": demonstrations.digest(self._prompted),
            "matching": {name: asdict(of_arm) for name, of_arm in self._matching().items()},
            "covered": len(self._prompted),
            "test_samples": len(self._plan.pair.test.samples),
        }
        return config


class InContextPairTask(InContextTask, PairTask):
    """A test set in two orders, with demonstrations chosen for each sample."""


class InContextTwinTask(InContextTask, TwinTask):
    """Samples and their twins, with demonstrations chosen for the samples and then exchanged."""

    @property
    def _prompted(self) -> tuple[Prompted, ...]:
        chosen = _choose(with_twins(self._plan.pair), self.config.num_fewshot)
        return _with_sides(chosen, self._plan.pair)

    def _listed(self, shown: Iterable[Sample]) -> dict[str, Any]:
        shown = tuple(shown)
        exchanged = _demonstrations(twins(shown), self._style)
        return {**super()._listed(shown), TWINS_SHOWN: exchanged}


class InContextLikelihoodTask(InContextTask, LikelihoodTask):
    """Given texts, after demonstrations chosen for each sample."""


class InContextAdversarialTask(InContextTask, AdversarialTask):
    """Pairs of a true and a false text, after the same demonstrations."""


def _demonstrations(samples: Iterable[Sample], style: PromptStyle) -> list[dict[str, str]]:
    """Return the demonstrations of a document, in order."""
    return [
        {"id": sample.id, "prompt": example(sample, style), "target": sample.target}
        for sample in samples
    ]


@cache
def _with_sides(prompted: tuple[Prompted, ...], pair: SplitPair) -> tuple[Prompted, ...]:
    """Return what is shown before samples, these with their twins again."""
    both = {sample.id: sample for sample in pair.test.samples}
    return tuple(replace(shown, sample=both[shown.sample.id]) for shown in prompted)


_choose = cache(demonstrations.choose)  # the same for the tasks of both arms
_match = cache(demonstrations.matching)
