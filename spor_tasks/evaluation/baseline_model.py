"""`spor-baseline`: a baseline as an lm-eval model, so that it is scored like one."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from spor_tasks.core.codec import sample_of
from spor_tasks.core.sample import Sample, SplitPair, sides, views
from spor_tasks.evaluation import baselines
from spor_tasks.evaluation.baselines import Training
from spor_tasks.harness import task_files
from spor_tasks.harness.documents import HELD_OUT
from spor_tasks.harness.plan import sets_of
from spor_tasks.prompts.exchanged import twins


class BaselineLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """Answers the requests of our tasks as a baseline does.

    ``model`` is ``baseline:NAME``. A baseline that uses a training set gets that of
    ``baseline_arm``.

    Raises:
        ConfigError: the baseline is unknown.
    """

    def __init__(self, model: str, baseline_arm: str | None = None, **_: object) -> None:
        super().__init__()
        self._baseline = baselines.find(model.removeprefix(baselines.PREFIX))
        self._arm = baseline_arm

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002, FBT001, FBT002 - lm-eval's
        """Return the baseline's output for each request."""
        return [self._write(request) for request in requests]

    def _write(self, request: Instance) -> str:
        doc, (sample, side) = request.doc, _as_shown(request)
        match self._baseline.looks_at:
            case "demonstrations":
                by_id = _demonstrations(request.task_name)
                demonstrations = [by_id[d["id"]] for d in doc["demonstrations"]]
                return self._baseline.write(
                    sample, twins(demonstrations) if side else demonstrations
                )
            case "training":
                return self._baseline.write(sample, _training(request.task_name, self._arm))
            case "reference":
                return self._baseline.write(sample, doc[HELD_OUT[side]])
        return self._baseline.write(sample)

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Fail: a baseline has no probabilities."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """Fail: a baseline has no probabilities."""
        raise NotImplementedError


def _as_shown(request: Instance) -> tuple[Sample, int]:
    """Return the sample of a request, with its units in the order of the prompt, and its side.

    The side of a sample's twin is 1.
    """
    numbered = enumerate(sides(sample_of(request.doc)))
    demonstrations = [(view, number) for number, side in numbered for view in views(side)]
    number: int = request.idx
    return demonstrations[number]


@cache
def _task(name: str) -> tuple[Mapping[str, Any], SplitPair]:
    (file,) = task_files.expand([name])
    metadata = file.content["metadata"]
    sets, name_of_sets = sets_of(metadata)
    return metadata, sets.load(name_of_sets)


@cache
def _training(task: str, arm: str | None) -> Training:
    _, pair = _task(task)
    return Training(next(split for split in pair.arms if split.name == arm).samples)


@cache
def _demonstrations(task: str) -> Mapping[str, Sample]:
    metadata, pair = _task(task)
    arm = next(split for split in pair.arms if split.name == metadata["icl_arm"])
    return {sample.id: sample for sample in arm.samples}
