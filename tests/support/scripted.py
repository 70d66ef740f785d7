"""Tasks as lm-eval loads and evaluates them, also with a model that writes what a test says."""

import random
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.tasks import TaskManager

from spor_tasks.evaluation.run import register_models
from spor_tasks.harness import task_files
from spor_tasks.results.runs import bare

NAMED = ("results", "configs", "samples", "versions", "n-samples", "n-shot", "higher_is_better")


class ScriptedLM(LM):  # type: ignore[misc]  # lm-eval has no types
    """Answers each request with what ``write`` makes of it, and remembers the requests."""

    def __init__(self, write: Callable[[Instance], str]) -> None:
        super().__init__()
        self.write = write
        self.requests: list[Instance] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:  # noqa: ARG002, FBT001, FBT002
        self.requests += requests
        return [self.write(request) for request in requests]

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        raise NotImplementedError


def simple(
    model: LM | str,
    *names: str,
    manager: TaskManager | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return what lm-eval would write to a file."""
    return simple_evaluate(  # type: ignore[no-any-return]
        model=model, tasks=list(names), task_manager=manager or task_files.manager(), **settings
    )


def load(name: str, **metadata: object) -> Task:
    """Return a task with this metadata besides that of its file."""
    return task_files.manager(metadata).load(name)["tasks"][name]


def evaluate_folder(
    folder: Path | None,
    *names: str,
    model: str = "hf",
    metadata: Mapping[str, object] | None = None,
    model_args: Mapping[str, object] | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return what lm-eval would write of some samples that a tiny checkpoint answers.

    A server, or another model without a folder, has only its ``model_args``.
    """
    register_models()
    arguments = {**({"pretrained": str(folder)} if folder else {}), **(model_args or {})}
    manager = task_files.manager(arguments, model_type=model, **(metadata or {}))
    some = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}, "device": "cpu"} | settings
    return simple(model, *names, manager=manager, model_args=arguments, **some)


def evaluate(
    model: LM,
    *names: str,
    manager: TaskManager | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return what lm-eval would write to a file, with the names and texts of version 0.4."""
    found = simple(model, *names, manager=manager, **settings)
    for row in chain.from_iterable(found.get("samples", {}).values()):
        row["filtered_resps"] = texts(row)
    return {
        part: {bare(key): each for key, each in content.items()} if part in NAMED else content
        for part, content in found.items()
    }


def texts(row: dict[str, Any]) -> list[str]:
    """Return what was scored of the outputs of a logged sample; 0.5 has a list for each."""
    return [each[0] if isinstance(each, list) else each for each in row["filtered_resps"]]


def half_right(request: Instance) -> str:
    """A text between right and wrong: some words of a reference, or of the prompt, or nothing."""
    doc = request.doc
    rng = random.Random(f"{doc['id']} {request.idx}")
    words = rng.choice([*doc["references"], doc["prompt"], ""]).split()
    return " ".join(word for word in words if rng.random() < 0.9)
