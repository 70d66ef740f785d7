"""Tasks as lm-eval loads them, and their evaluation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.task import Task

from spor_tasks.evaluation.run import register_models
from spor_tasks.harness import task_files


def load(name: str, **metadata: object) -> Task:
    """Return a task with this metadata besides that of its file."""
    return task_files.manager(metadata).load(name)["tasks"][name]


def evaluate(
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
    return simple_evaluate(  # type: ignore[no-any-return]
        model=model,
        model_args=arguments,
        tasks=list(names),
        task_manager=task_files.manager(arguments, model_type=model, **(metadata or {})),
        device="cpu",
        **{"limit": 3, "gen_kwargs": {"max_gen_toks": 8}} | settings,
    )
