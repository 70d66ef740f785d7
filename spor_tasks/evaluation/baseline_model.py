"""`spor-baseline`: a system without a model, as a model of lm-eval, so that it is scored alike."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.core.codec import any_sample_of
from spor_tasks.core.sample import OrderSample, Sample, SplitPair
from spor_tasks.evaluation import baselines
from spor_tasks.evaluation.baselines import Training
from spor_tasks.harness import task_files


class BaselineLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """Answers our tasks' requests as a baseline does.

    ``model`` is ``baseline:NAME``. A baseline that looks at a training set is given that of
    ``baseline_arm``.

    Raises:
        ConfigError: there is no such baseline.
    """

    def __init__(self, model: str, baseline_arm: str | None = None, **_: object) -> None:
        super().__init__()
        self._baseline = baselines.find(model.removeprefix(baselines.PREFIX))
        self._arm = baseline_arm

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002, FBT001, FBT002 - lm-eval's
        """Return what the baseline writes to each request."""
        return [self._write(request) for request in requests]

    def _write(self, request: Instance) -> str:
        sample, doc = _as_shown(request), request.doc
        match self._baseline.looks_at:
            case "demonstrations":
                known = _demonstrations(request.task_name)
                return self._baseline.write(sample, [known[d["id"]] for d in doc["demonstrations"]])
            case "training":
                return self._baseline.write(sample, _training(request.task_name, self._arm))
            case "reference":
                return self._baseline.write(sample, doc["held_out"])
        return self._baseline.write(sample)

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Fail: a baseline has no probabilities."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """Fail: a baseline has no probabilities."""
        raise NotImplementedError


def _as_shown(request: Instance) -> Sample:
    """Return the sample of a request, its units in the order in which the prompt shows them."""
    sample = any_sample_of(request.doc)
    if not isinstance(sample, OrderSample):
        return sample
    order = sample.input_orders[request.idx]
    return replace(sample, units=tuple(sample.units[number] for number in order))


@cache
def _task(name: str) -> tuple[Mapping[str, Any], SplitPair]:
    (file,) = task_files.expand([name])
    metadata = file.content["metadata"]
    aspect, corpus, protocol = (metadata[key] for key in ("aspect", "corpus", "protocol"))
    return metadata, registry.load(aspect, corpus, protocol, metadata.get("part"))


@cache
def _training(task: str, arm: str | None) -> Training:
    _, pair = _task(task)
    return Training(next(split for split in pair.arms if split.name == arm).samples)


@cache
def _demonstrations(task: str) -> Mapping[str, Sample]:
    metadata, pair = _task(task)
    arm = next(split for split in pair.arms if split.name == metadata["icl_arm"])
    return {sample.id: sample for sample in arm.samples}
