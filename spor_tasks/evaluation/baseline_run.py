"""`spor baseline`: a baseline as an lm-eval model, evaluated and scored like one."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import chain
from pathlib import Path
from typing import cast

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from spor_tasks.core.codec import sample_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import write_rows, writing
from spor_tasks.core.sample import Sample, sides, views
from spor_tasks.evaluation.outputs import row_of
from spor_tasks.evaluation.run import Arguments, Evaluator
from spor_tasks.harness import plan, task_files
from spor_tasks.harness.documents import HELD_OUT
from spor_tasks.harness.task_files import TaskFile
from spor_tasks.models import baselines
from spor_tasks.models.baselines import Baseline, TextsByUnits
from spor_tasks.prompts.exchanged import twins
from spor_tasks.results import runs
from spor_tasks.results.facts import baseline_of, model_of
from spor_tasks.results.runs import Run
from spor_tasks.results.samples import find


def run(
    name: str,
    names: Sequence[str],
    *,
    outputs: Path | None = None,
    folder: Path | None = None,
    limit: int | None = None,
    held_out: bool = False,
    on_result: Callable[[Run], object] = lambda _: None,
    include: Path | None = None,
) -> tuple[Run, ...]:
    """Evaluate a baseline on the tasks of these names, which may be groups or patterns.

    A baseline that uses a training set is evaluated with each arm of a task. The outputs for a
    single task, with its first arm, are written to the file ``outputs`` as rows that `spor score`
    reads. Result files as lm-eval writes them, which `spor report` reads, are written to
    ``folder``. ``on_result`` is called with each result as a task ends. If a reference is
    ``held_out``, as it is for the baseline ``reference``, every baseline is scored against the same
    references, on the samples that have several. Tasks may be those of a folder to ``include``.

    Raises:
        ConfigError: the baseline or a task is unknown, the baseline does not suit any of the tasks,
            or a file cannot be written.
        CorpusError: the data of a task is missing.
    """
    baseline = baselines.find(name)
    files = task_files.find(names, include)
    held_out = held_out or baseline.looks_at == "reference"
    suited = [file for file in files if suits(baseline, file, held_out=held_out)]
    if not suited:
        raise ConfigError(
            f"{name} does not suit {', '.join(names)}",
            remedy=_REMEDIES["reference" if held_out else baseline.looks_at],
        )
    if outputs is not None and len(suited) > 1:
        raise ConfigError(
            f"takes the outputs of one task, not of {len(suited)}",
            where=outputs,
            remedy="Name one task, or leave the file out.",
        )
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        evaluator = Evaluator("spor-baseline")
        metadata = {"held_out_reference": True} if held_out else {}
        results: list[Run] = []
        for file in suited:
            model = {"model": model_of(name)}
            models: list[Arguments] = [model | ({"include": str(include)} if include else {})]
            if baseline.looks_at == "training":
                splits = [{"split": split} for split in file.sets.spec.splits] or [{}]
                arms = [{"baseline_arm": arm} for arm in file.sets.spec.arms]
                models = [{**models[0], **arm, **split} for arm in arms for split in splits]
            known = len(evaluator.written)
            evaluator.evaluate(
                models, [file.name], place, metadata=metadata, limit=limit, include=include
            )
            for result in chain.from_iterable(map(runs.read, evaluator.written[known:])):
                results.append(result)
                on_result(result)
        if outputs is not None:
            samples = find(results[0])
            with writing(outputs):
                write_rows(
                    outputs,
                    (
                        row_of(record.sample, record.outputs)
                        for record in (samples.records() if samples else ())
                    ),
                )
    return tuple(results)


_REMEDIES = {
    "input": "Name a task that is decoded greedily.",
    "demonstrations": "Name a task that shows demonstrations: …_icl_<arm>.",
    "training": "Name a task that is decoded greedily and shows no demonstrations.",
    "reference": "Name a task whose samples have two references and that shows no demonstrations.",
}


def suits(baseline: Baseline, file: TaskFile, *, held_out: bool = False) -> bool:
    """Return whether a task has what the baseline uses, and a reference to be held out.

    Tasks with beams suit no baseline, nor do those that ask for likelihoods.
    """
    sets = file.sets
    if sets.decoding or file.asks_likelihoods:
        return False
    # Samples that hide something have no reference.
    if (held_out or baseline.looks_at == "reference") and all(
        len(sample.references) < 2 for sample in plan.load(sets).test
    ):
        return False
    if baseline.looks_at == "input":
        return True
    return (sets.icl_arm is not None) == (baseline.looks_at == "demonstrations")


# --- The model ------------------------------------------------------------------------------------


class BaselineLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """`spor-baseline`: answers the requests of our tasks as a baseline does.

    ``model`` is ``baseline:NAME``. A baseline that uses a training set gets that of
    ``baseline_arm``, of tasks with splits under ``split``. Tasks may be in the folder ``include``.

    Raises:
        ConfigError: the baseline is unknown.
    """

    def __init__(
        self,
        model: str,
        baseline_arm: str | None = None,
        split: str | None = None,
        include: str | None = None,
        **_: object,
    ) -> None:
        super().__init__()
        self._baseline = baselines.find(baseline_of(model) or model)
        self._arm = baseline_arm, split
        self._include = include

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002, FBT001, FBT002 - lm-eval's
        """Return the baseline's output for each request."""
        return [self._write(request) for request in requests]

    def _write(self, request: Instance) -> str:
        doc, numbered = request.doc, enumerate(sides(sample_of(request.doc)))
        prompts = [(view, side) for side, each in numbered for view in views(each)]
        sample, side = prompts[request.idx]  # with its units in the order of the prompt
        match self._baseline.looks_at:
            case "demonstrations":
                by_id = _arm(self._include, request.task_name)
                examples = [by_id[each["id"]] for each in doc["demonstrations"]]
                return self._baseline.write(sample, twins(examples) if side else examples)
            case "training":
                return self._baseline.write(
                    sample, _training(self._include, request.task_name, *self._arm)
                )
            case "reference":
                return self._baseline.write(sample, doc[HELD_OUT[side]])
        return self._baseline.write(sample)

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Fail: a baseline has no probabilities."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@cache
def _arm(
    include: str | None, task: str, arm: str | None = None, split: str | None = None
) -> Mapping[str, Sample]:
    """Return the samples of an arm by id; a task's own arm of demonstrations has precedence."""
    (file,) = task_files.expand([task], Path(include) if include else None)
    settings = {"fewshot_arm": arm, "split": split}
    planned = plan.resolve(plan.read({**file.metadata, **settings}))
    samples = planned.pair.arms[cast("str", planned.fewshot_arm)]
    return {sample.id: sample for sample in samples}


@cache
def _training(include: str | None, task: str, arm: str | None, split: str | None) -> TextsByUnits:
    return TextsByUnits(_arm(include, task, arm, split).values())
