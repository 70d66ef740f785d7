"""The wait before a first result, beside importing lm-eval and torch, which nobody escapes.

An evaluation runs a model that answers at once, so all that is timed is the work around the model.
"""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from docs.benchmarks.measure import apart, folder, show
from spor_tasks import cli
from spor_tasks.core.files import write_rows


def import_lm_eval() -> None:
    """Import what every evaluation imports."""
    import lm_eval.evaluator  # noqa: F401 - timed
    import torch  # noqa: F401


def import_task() -> None:
    """Import the task class."""
    import spor_tasks.harness.task  # noqa: F401 - timed


def list_tasks() -> None:
    """Run `spor tasks list`."""
    assert cli.main(["tasks", "list"]) == 0


def index_tasks() -> None:
    """Let lm-eval read the names of our tasks."""
    from spor_tasks.harness import task_files  # timed

    assert task_files.manager().all_tasks


def import_sacrebleu() -> None:
    """Import what chrF and its interval are computed with."""
    import numpy as np  # noqa: F401 - timed
    import sacrebleu  # noqa: F401


def score_chrf(file: str) -> None:
    """Run `spor score` of a file by chrF, with its interval."""
    assert cli.main(["score", file, "--corpus", "mini", "--metric", "chrf", "--interval"]) == 0


def first_request(task: str) -> None:
    """Run `spor eval` up to the first request."""
    import lm_eval.models.dummy  # timed

    reached = []

    def stop(_: object, requests: object, **__: object) -> NoReturn:
        reached.append(requests)
        raise KeyboardInterrupt

    lm_eval.models.dummy.DummyLM.generate_until = stop
    with suppress(KeyboardInterrupt):
        cli.main(["eval", "--tasks", task, "--model", "dummy", "--limit", "2"])
    assert reached


def evaluate_mini() -> None:
    """Run `spor eval` of all samples of a small set."""
    assert cli.main(["eval", "--tasks", "spor_systematicity_mini", "--model", "dummy"]) == 0


def evaluate(tag: str) -> None:
    """Evaluate all tasks of a tag with outputs that are the first reference, or the prompt."""
    from tests.support.scripted import ScriptedLM  # imports lm-eval
    from tests.support.scripted import evaluate as run

    run(ScriptedLM(lambda request: request.doc["target"] or request.doc["prompt"]), tag)


if __name__ == "__main__":
    baseline = apart(import_lm_eval)
    show("import lm_eval and torch", baseline.text)
    for work in (import_task, list_tasks, index_tasks, evaluate_mini):
        cost = apart(work)
        ratio = baseline.processor / cost.processor
        show(work.__name__, cost.text, ratio=ratio, to="these imports, by the processor")
    imports = apart(import_sacrebleu)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "outputs.jsonl"
        row = {"data": [["a", "b", "c"]], "texts": ["A has the b c."], "output": "A has c."}
        write_rows(file, [row] * 10)
        cost = apart(score_chrf, str(file))
    to = "the import of NumPy and sacrebleu"
    show(score_chrf.__name__, cost.text, ratio=imports.processor / cost.processor, to=to)
    tasks = ["spor_systematicity_mini"]
    if folder("SPOR_DATA_DIR"):
        tasks += ["spor_systematicity_webnlg", "spor_order_invariance_webnlg_main"]
        for tag in ("spor_webnlg", "spor_e2e"):
            cost = apart(evaluate, tag)
            figure = f"{cost.wall:.1f} s, {cost.megabytes:.0f} MB"
            show(f"all of {tag}, imports included", figure)
    for task in tasks:
        show(f"{task}, to the first request", apart(first_request, task).text)
    sys.stdout.flush()
