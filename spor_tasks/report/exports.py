"""Results as two public leaderboards take them: the Hub's `.eval_results`, and Every Eval Ever.

The forms are those of https://huggingface.co/docs/hub/eval-results and of version 0.3.0 of
https://github.com/evaleval/every_eval_ever. Nothing is uploaded.
"""

import hashlib
import json
import math
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import yaml

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import FileContent, json_bytes
from spor_tasks.core.folders import MANIFEST, read_manifest, refuse_to_lose, stamped
from spor_tasks.report.collect import Report
from spor_tasks.report.grid import full_title, interval_text
from spor_tasks.report.shipped import fault_of, shipped_task
from spor_tasks.results.compare import interval
from spor_tasks.results.logged import AllLogged
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.runs import Problem, Run, RunKey
from spor_tasks.results.stats import RESAMPLES

KIND = "export"
"""The kind of problems with what is published."""

_HUB_NAME = re.compile(r"(?!.*(?:--|\.\.))\w[\w.-]{0,95}/\w[\w.-]{0,95}", re.ASCII)
_ENGINES = {"hf": "transformers", "spor-hf": "transformers", "vllm": "vllm"}


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """Facts that a user adds to the results.

    ``names`` are names of models on the Hub, and ``dataset`` is that of the benchmark.
    ``organization`` evaluated the models, and ``source`` is the address of the results.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    dataset: str | None = None
    organization: str | None = None
    source: str | None = None


class Export(NamedTuple):
    """Files for public leaderboards by their names, those that they replace, and what is in none.

    ``files`` are in two folders, `hub` and `every_eval_ever`.
    """

    files: Mapping[str, str]
    outdated: frozenset[str]
    problems: tuple[Problem, ...]


def export(report: Report, out: Path, settings: ExportSettings) -> Export:
    """Return what can be published of the results, and why the rest is not.

    Raises:
        ConfigError: a named model has no results, or one of the folders is in ``out`` and was not
            written from such files.
    """
    runs, problems = _choose(report, settings)
    entries, refused = _hub_entries(report.rows, runs, settings)
    records = dict(_record(*each, settings, report.logged) for each in runs.values())
    files: dict[str, str] = {}
    outdated: set[str] = set()
    for name, kind, texts in (
        ("every_eval_ever", "results for Every Eval Ever", records),
        ("hub", "results for the Hub", entries),
    ):
        folder = out / name
        refuse_to_lose(folder, kind, overwrite=True)
        if (folder / MANIFEST).exists():
            listed = read_manifest(folder).get("files")
            former = {*map(str, listed)} if isinstance(listed, list) else {*()}
            found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
            outdated |= {
                f"{name}/{place}" for place in former & found if not (folder / place).is_dir()
            }
        files |= {f"{name}/{place}": text for place, text in texts.items()}
        manifest = stamped({"kind": kind, "files": sorted(texts)})
        files[f"{name}/{MANIFEST}"] = json_bytes(manifest).decode()
    return Export(files, frozenset(outdated), (*problems, *refused))


_Runs = Mapping[RunKey, tuple[Run, str]]
"""Runs that may be published, with the names of their models on the Hub."""


def _choose(report: Report, settings: ExportSettings) -> tuple[_Runs, list[Problem]]:
    """Return the runs that may be published, and why others may not.

    A run must be of the whole test set, of the version of the task that is shipped, and its samples
    must be those of the test set and give its scores.
    """
    models = sorted({file.run.model for file in report.samples})
    if unknown := sorted(settings.names.keys() - models):
        raise ConfigError(
            f"there are no results of {', '.join(map(repr, unknown))}",
            where="name",
            remedy=f"Name some of {', '.join(map(repr, models))}.",
        )
    runs: dict[RunKey, tuple[Run, str]] = {}
    problems = []
    for file in report.samples:
        result = file.run
        name = settings.names.get(result.model, result.model)
        if result.log.baseline:
            why = "a baseline is not a model"
        elif not _HUB_NAME.fullmatch(name):
            why = f"{name} is not a name on the Hub, and no other name is given for it"
        elif result.id not in report.logged:
            why = "its samples do not belong to it"
        elif shipped_task(result) is None:
            why = "its test set is not one of the benchmark's"
        elif result.log.failures:
            why = "a server left some of its requests without an answer"
        elif result.log.date is None:
            why = "it does not say when it was made"
        elif fault := fault_of(file):
            why = f"it {fault}"
        else:
            runs[result.id] = result, name
            continue
        problems.append(_problem(f"{result.file}: {result.task}", f"not exported: {why}"))
    return runs, problems


def _problem(where: str, what: str) -> Problem:
    return Problem(KIND, where, f"is {what}", lost=False)


# --- The Hub --------------------------------------------------------------------------------------


def _hub_entries(
    rows: Iterable[Comparison], runs: _Runs, settings: ExportSettings
) -> tuple[dict[str, str], list[Problem]]:
    """Return a file for each model, task and arm with the mean over seeds, by its path."""
    entries: dict[str, set[str]] = defaultdict(set)
    problems = []
    for row in rows:
        if row.metric != row.spec.headline or not row.score.higher_is_better:
            continue
        for arm, cell in ((None, row.as_is), *row.by_arm):
            chosen = [runs[run.id] for run in cell.runs if run.id in runs]
            if chosen and (cell.reason or len(chosen) < len(cell.runs)):
                why = cell.reason or "some of its runs are not exported"
                problems.append(_problem(f"{row.task} of {row.name}", f"not in hub/: {why}"))
            elif chosen:
                results, names = zip(*chosen, strict=True)
                task = re.sub(r"[^\w-]+", "_", row.task.replace("=", ""), flags=re.ASCII)
                path = f"{names[0]}/.eval_results/{task}_{arm or 'as_is'}.yaml"
                # A set, since a model as it is occurs in the rows of all its adapters.
                entries[path].add(_entry(row, arm, cell, results, settings))
    several = [path for path, texts in entries.items() if len(texts) > 1]
    problems += [_problem(path, "not in hub/: there are several such results") for path in several]
    return {path: texts.pop() for path, texts in entries.items() if path not in several}, problems


def _entry(
    row: Comparison,
    arm: str | None,
    cell: Cell,
    results: Sequence[Run],
    settings: ExportSettings,
) -> str:
    # Its import takes a fifth of a report's memory, and only this file needs it.
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    signature = row.signature
    versions = f"spor-tasks {signature['spor_tasks']}, lm-eval {signature['lm_eval']}"
    adapters = sorted({str(each.adapter.adapter_sha256)[:8] for each in results if each.adapter})
    merged = ", merged" if any("adapter_merged" in each.training for each in results) else ""
    notes = [
        f"{row.score.title} of {full_title(row)}, version {signature['version']}",
        f"arm {arm or 'as is'}" + (f", adapters {', '.join(adapters)}{merged}" if adapters else ""),
        f"seeds {', '.join(str(seed) for seed in cell.seeds) or 'none'}",
        f"95 % interval [{interval_text(cell.interval, row.score)}], n = {row.size.n}",
        *(signature[key] for key in ("generation", "backend", "dtype", "quantization")),
        *([row.apart] if row.apart else []),
        versions,
    ]
    ended = max(result.log.date or 0 for result in results)
    entry = EvalResultEntry(
        dataset_id=settings.dataset or f"spor-tasks/{row.spec.benchmark}",
        task_id=row.spec.task,
        value=round(cell.mean or 0, 4),
        date=datetime.fromtimestamp(ended, tz=UTC).date().isoformat(),
        source_url=settings.source,
        source_name=versions if settings.source else None,
        notes="; ".join(notes),
    )
    content = eval_result_entries_to_yaml([entry])
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100))


# --- Every Eval Ever ------------------------------------------------------------------------------


def _record(result: Run, name: str, settings: ExportSettings, logged: AllLogged) -> tuple[str, str]:
    """Return the path and the text of a run's record, with all scores that tables show."""
    model = name
    if adapter := result.adapter:
        model += f"+{adapter.arm}-{str(adapter.adapter_sha256 or adapter.seed)[:8]}"
    date = repr(result.log.date)
    versions = {f"version.{key}": value for key, value in result.log.versions.items()}
    signature = {f"signature.{key}": value for key, value in result.signature.items()}
    backend = result.signature["backend"]
    content = {
        "schema_version": "0.3.0",
        "evaluation_id": f"{result.task}/{model}/{date}",
        "retrieved_timestamp": date,
        "source_metadata": {
            "source_name": "spor-tasks",
            "source_type": "evaluation_run",
            "source_organization_name": settings.organization or "unknown",
            "evaluator_relationship": "other",
            "additional_details": _details({"source_url": settings.source}),
        },
        "eval_library": {
            "name": "lm_eval",
            "version": result.signature["lm_eval"],
            "additional_details": _details(signature | versions),
        },
        "model_info": {
            "name": model,
            "id": model,
            "developer": name.partition("/")[0],
            "inference_engine": {"name": _ENGINES.get(backend, backend)},
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                **_details({**result.log.checkpoint, **result.training}),
            },
        },
        "evaluation_results": [
            _scored(result, metric, logged)
            for metric in result.spec.reported
            if metric in result.scores
        ],
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
    path = f"data/{result.spec.benchmark}/{model}/{uuid.UUID(bytes=digest[:16], version=4)}.json"
    return path, json.dumps(content, indent=2, allow_nan=False) + "\n"


def _scored(result: Run, metric: str, logged: AllLogged) -> FileContent:
    info, around = result.spec.scores[metric], interval(logged, metric, [result])
    uncertainty: dict[str, object] = {"num_samples": result.n}
    if around and math.isfinite(around.low) and math.isfinite(around.high):
        uncertainty |= {
            "confidence_interval": {
                "lower": around.low,
                "upper": around.high,
                "confidence_level": 0.95,
                "method": "bootstrap over clusters of samples with equal units",
            },
            "num_bootstrap_samples": RESAMPLES,
        }
    return {
        "evaluation_result_id": f"{result.task}/{metric}",
        "evaluation_name": result.task,
        "source_data": {
            "dataset_name": full_title(result),
            "source_type": "url",
            "url": [result.spec.about.source],
        },
        "metric_config": {
            "metric_id": f"{result.spec.benchmark}.{metric}",
            "metric_name": info.title,
            "lower_is_better": info.higher_is_better is False,
            "score_type": "continuous",
            "min_score": info.low,
            "max_score": "Infinity" if math.isinf(info.high) else info.high,
        },
        "score_details": {
            "score": min(max(result.scores[metric], info.low), info.high),  # it is rounded
            "uncertainty": uncertainty,
        },
    }


def _details(values: Mapping[str, object]) -> dict[str, str]:
    """Return the values as texts, without those that are None or empty."""
    return {key: str(value) for key, value in values.items() if value not in {None, ""}}
