"""The `model-index` metadata of Hub model cards: the scores of every checkpoint."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import yaml

from spor_tasks.core.visible import visible
from spor_tasks.metrics.base import score_info
from spor_tasks.results.benchmarks import benchmark
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import full_title

_TASK = {"type": "table-to-text", "name": "Data-to-text generation"}
_DIGITS = 4


class _Checkpoint(NamedTuple):
    """A model as it is, or tuned on an arm with a seed, or shown an arm."""

    model: str
    arm: str | None
    seed: int | None

    @property
    def name(self) -> str:
        told = [self.model, self.arm, None if self.seed is None else f"seed {self.seed}"]
        return visible(", ".join(part for part in told if part is not None))


def model_index(rows: Iterable[Comparison]) -> list[dict[str, Any]]:
    """Return one item for each checkpoint in the rows, without those of the paper.

    A model card has the item of its own checkpoint under `model-index`.
    """
    found: dict[_Checkpoint, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        for checkpoint, value in _values(row) if row.is_tested and not row.published else ():
            # A model as it is occurs in the rows of all its adapters.
            apart = row.evaluated if checkpoint.arm is None else row.apart
            result = found[checkpoint].setdefault(f"{row.task} {apart or ''}", _result(row))
            title = score_info(row.metric).title
            metric = {"type": row.metric, "name": title, "value": round(value, _DIGITS)}
            if metric not in result["metrics"]:
                result["metrics"].append(metric)
    return [
        {"name": checkpoint.name, "results": list(results.values())}
        for checkpoint, results in found.items()
    ]


def _values(row: Comparison) -> Iterator[tuple[_Checkpoint, float]]:
    for arm, cell in ((None, row.as_is), *row.by_arm):
        for seed, value in zip(cell.seeds, cell.values, strict=True):
            yield _Checkpoint(row.model, arm, seed), value


def _result(row: Comparison) -> dict[str, Any]:
    signature = row.signature
    return {
        "task": dict(_TASK),
        "dataset": {
            "name": visible(f"{benchmark(row.spec.benchmark).title} {full_title(row)}"),
            "type": row.spec.benchmark,
            "config": visible(row.task),
            "split": "test",
            "args": {
                "version": signature["version"],
                "test_sha256": signature["test_sha256"],
                "num_fewshot": int(signature["num_fewshot"]),
                "samples": row.n,
            },
        },
        "metrics": [],
        "source": {
            "name": f"spor-tasks {signature['spor_tasks']}, lm-eval {signature['lm_eval']}",
            "url": benchmark(row.spec.benchmark).source,
        },
    }


def model_index_yaml(rows: Iterable[Comparison]) -> str:
    """Return the items as YAML for the head of a model card."""
    text: str = yaml.safe_dump(
        {"model-index": model_index(rows)}, sort_keys=False, allow_unicode=True, width=100
    )
    return text
