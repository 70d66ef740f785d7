"""Results as Every Eval Ever has them: a JSON file for each run, and JSON Lines of its samples.

The schemas are those of version 0.3.0 (https://github.com/evaleval/every_eval_ever).
"""

import hashlib
import heapq
import json
import math
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import encode_row
from spor_tasks.metrics.base import score_info
from spor_tasks.metrics.significance import RESAMPLES
from spor_tasks.metrics.totals import GROUP_MEANS, Value
from spor_tasks.report.shipped import shipped_task
from spor_tasks.report.submission import Chosen, Settings, Submitted, refused
from spor_tasks.results.benchmarks import benchmark
from spor_tasks.results.evidence import Evidence, Run, run_of
from spor_tasks.results.grid import full_title
from spor_tasks.results.logged import Record, alone
from spor_tasks.results.reading import Problem, TaskResult

SCHEMA = "0.3.0"
"""The version of Every Eval Ever's schemas."""

_CONFIDENCE = 0.95
_ENGINES = {"hf": "transformers", "spor-hf": "transformers", "vllm": "vllm"}
_ARGUMENTS = ("temperature", "top_p", "top_k")
_MOST = 10**9  # of a setting of generation; a larger one is not meant as a number
_NOT_SHIPPED = "no: the test set is not one that spor-tasks ships"
_PAIR = "\n\n"  # between the two prompts of one sample

_JSON = json.JSONEncoder(allow_nan=False)  # ASCII only: other readers end lines at U+2028


def write(folder: Path, chosen: Chosen, evidence: Evidence, settings: Settings) -> Chosen:
    """Write the runs into a folder, and return those that could be written.

    Of each run the logged samples are compared with the test set that it names.
    """
    problems: list[Problem] = []
    runs: dict[Run, Submitted] = {}
    for run, submitted in chosen.runs.items():
        try:
            _write(folder, submitted, evidence, settings)
        except ResultError as error:
            problems.append(refused(run, error.what, lost=True))
        else:
            runs[run] = submitted
    return Chosen(runs, (*chosen.problems, *problems))


def _write(folder: Path, run: Submitted, evidence: Evidence, settings: Settings) -> None:
    """Write one run.

    Raises:
        ResultError: a sample is damaged, or they are not those of the test set.
    """
    record = _Record(run)
    rows = folder / "samples.jsonl"
    digest, count = hashlib.sha256(), 0
    test = _TestSet()
    try:
        with rows.open("wb") as file:
            for sample in run.samples.records():
                test.add(sample)
                for line in record.instances(sample):
                    file.write(line)
                    digest.update(line)
                    count += 1
        claimed = run.result.signature["test_sha256"]
        if run.is_whole and (found := test.sha256) != claimed:
            raise ResultError(
                f"it claims the test set {claimed}, but its samples are those of {found}"
            )
        path = folder / record.place
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.rename(path.with_name(record.samples_name))
    finally:
        rows.unlink(missing_ok=True)
    content = record.aggregate(evidence, settings) | {
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{Path(record.place).parent.as_posix()}/{record.samples_name}",
            "hash_algorithm": "sha256",
            "checksum": digest.hexdigest(),
            "total_rows": count,
        }
    }
    text = json.dumps(content, indent=2, allow_nan=False)
    path.write_text(f"{text}\n", encoding="ascii")


class _TestSet:
    """The digest of samples in the order of the test set, in which processes may not log them."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()
        self._next = 0
        self._waiting: list[tuple[int, bytes]] = []

    def add(self, record: Record) -> None:
        """Add a sample; those whose place has not come yet wait for the ones before."""
        place = self._next if record.number is None else record.number
        heapq.heappush(self._waiting, (place, encode_row(to_row(record.sample))))
        while self._waiting and self._waiting[0][0] == self._next:
            self._sha.update(heapq.heappop(self._waiting)[1])
            self._next += 1

    @property
    def sha256(self) -> str:
        """The digest of the samples that are in their place."""
        return self._sha.hexdigest()


class _Record:
    """What is said of one run."""

    def __init__(self, run: Submitted) -> None:
        self._run = run
        self._result = result = run.result
        self._metrics = [name for name in result.spec.reported if name in result.scores]
        self._uuid = str(uuid.UUID(bytes=_identity(run)[:16], version=4))
        self._date = repr(result.date)
        self._evaluation_id = f"{_clean(result.task)}/{run.model_id}/{self._date}"
        self._unscored = dict.fromkeys(self._metrics, 0)

    @property
    def place(self) -> str:
        """The path of the aggregate file in the data repository."""
        return f"data/{self._result.spec.benchmark}/{self._run.model_id}/{self._uuid}.json"

    @property
    def samples_name(self) -> str:
        """The name of the file of samples beside it."""
        return f"{self._uuid}_samples.jsonl"

    # --- Samples ----------------------------------------------------------------------------------

    def instances(self, record: Record) -> Iterator[bytes]:
        """Yield a row for each score of a sample, as each row belongs to one aggregate score.

        A sample with two prompts has one row a score too, as both outputs are scored together.
        """
        shown = _PAIR.join(map(_clean, record.inputs))
        references = list(map(_clean, record.sample.references))
        common = {
            "schema_version": SCHEMA,
            "evaluation_id": self._evaluation_id,
            "model_id": self._run.model_id,
            "evaluation_name": _clean(self._result.task),
            "sample_id": _clean(record.sample.id),
            "sample_hash": hashlib.sha256("".join([shown, *references]).encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {
                "raw": shown,
                "formatted": _PAIR.join(map(_clean, record.contexts)),
                "reference": references,
            },
            "output": {"raw": list(map(_clean, record.outputs))},
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": f"output.raw[{number}]",
                    "extracted_value": _clean(text),
                    "extraction_method": "task_filters",
                    "is_terminal": True,
                }
                for number, text in enumerate(record.scored)
            ],
        }
        start = _JSON.encode(common)[:-1]
        for metric in self._metrics:
            judged = _judged(metric, record.scores.get(metric))
            if judged is None:
                self._unscored[metric] += 1
                continue
            own = {
                "evaluation_result_id": self._result_id(metric),
                "evaluation": {"score": judged.score, "is_correct": judged.score == _best(metric)},
                **({"metadata": {"units": str(judged.group)}} if judged.group is not None else {}),
            }
            yield f"{start}, {_JSON.encode(own)[1:]}\n".encode("ascii")

    def _result_id(self, metric: str) -> str:
        return f"{_clean(self._result.task)}/{metric}"

    # --- The aggregate ----------------------------------------------------------------------------

    def aggregate(self, evidence: Evidence, settings: Settings) -> dict[str, Any]:
        """Return what is said of the whole run, after its samples."""
        result = self._result
        missing = [
            name
            for name in result.spec.reported
            if name in result.spec.scores and name not in result.scores
        ]
        return {
            "schema_version": SCHEMA,
            "evaluation_id": self._evaluation_id,
            "evaluation_timestamp": self._date,
            "retrieved_timestamp": self._date,
            "source_metadata": {
                "source_name": "spor-tasks",
                "source_type": "evaluation_run",
                "source_organization_name": settings.organization or "unknown",
                "evaluator_relationship": _relationship(self._run, settings),
                "additional_details": _details(
                    source_url=settings.source,
                    left_out=", ".join(missing) and f"no score: {', '.join(missing)}",
                ),
            },
            "eval_library": {
                "name": "lm_eval",
                "version": _clean(result.signature["lm_eval"]),
                "additional_details": _details(
                    **{f"signature.{key}": value for key, value in result.signature.items()},
                    **{f"version.{key}": value for key, value in result.versions.items()},
                ),
            },
            "model_info": self._model(),
            "evaluation_results": [self._scored(metric, evidence) for metric in self._metrics],
        }

    def _model(self) -> dict[str, Any]:
        run, result = self._run, self._result
        backend = result.signature["backend"]
        engine = _ENGINES.get(backend)
        adapter = result.adapter
        version = result.versions.get(engine or "")
        is_open = engine is not None and run.name.on_hub and adapter is None
        return {
            "name": run.model_id,
            "id": run.model_id,
            "developer": run.name.owner,
            "inference_engine": {
                "name": engine or _clean(backend),
                **({"version": _clean(version)} if version else {}),
            },
            "additional_details": {
                "deployment_type": "self_deployed" if engine else "unknown",
                "model_availability": "open_weights" if is_open else "unknown",
                **_details(
                    **result.checkpoint,
                    base_model=run.name.id if adapter else None,
                    adapter_arm=adapter and adapter.arm,
                    adapter_seed=None if adapter is None else adapter.seed,
                    adapter_sha256=adapter and adapter.sha256,
                    **{f"training.{key}": value for key, value in result.training.items()},
                ),
            },
        }

    def _scored(self, metric: str, evidence: Evidence) -> dict[str, Any]:
        result, info = self._result, score_info(metric)
        scored = result.n - self._unscored[metric]
        interval = evidence.interval([result], metric)
        counts = evidence.counts([run_of(result)])
        uncertainty: dict[str, Any] = {"num_samples": scored}
        if interval and math.isfinite(interval.low) and math.isfinite(interval.high):
            uncertainty = {
                "confidence_interval": {
                    "lower": interval.low,
                    "upper": interval.high,
                    "confidence_level": _CONFIDENCE,
                    "method": "percentile bootstrap over clusters of samples with equal units",
                },
                "num_samples": scored,
                "num_bootstrap_samples": RESAMPLES,
            }
        return {
            "evaluation_result_id": self._result_id(metric),
            "evaluation_name": _clean(result.task),
            "source_data": _source_data(self._run),
            "evaluation_timestamp": self._date,
            "metric_config": {
                "evaluation_description": _clean(full_title(result)),
                "metric_id": f"{result.spec.benchmark}.{metric}",
                "metric_name": info.title,
                "lower_is_better": info.higher_is_better is False,
                "score_type": "continuous",
                "min_score": info.low,
                "max_score": "Infinity" if math.isinf(info.high) else info.high,
                "additional_details": _details(
                    corrects=info.corrects,
                    direction=None if info.higher_is_better is not None else "neither is better",
                    is_correct="whether a sample has the best score that it can have",
                ),
            },
            "score_details": {
                "score": min(max(result.scores[metric], info.low), info.high),  # it is rounded
                "details": _details(
                    samples=result.n,
                    unscored=self._unscored[metric],
                    clusters=counts and counts[1],
                ),
                "uncertainty": uncertainty,
            },
            "generation_config": _generation(result),
        }


class _Judged(NamedTuple):
    score: float
    group: int | None


def _judged(metric: str, value: Value) -> _Judged | None:
    """Return a sample's value as a number, and its group if it has one; None without a verdict."""
    score = alone(metric, value)
    if score is None:
        return None
    if isinstance(value, tuple) and score_info(metric).totals is GROUP_MEANS:
        return _Judged(score, int(value[0]))
    return _Judged(score, None)


def _best(metric: str) -> float | None:
    """Return the best score that there is; None where neither more nor less is better."""
    info = score_info(metric)
    if info.higher_is_better is None:
        return None
    return info.high if info.higher_is_better else info.low


def _identity(run: Submitted) -> bytes:
    """Return a digest of a run: the same run has the same name of file, another one another."""
    result = run.result
    told = [
        run.model_id,
        result.task,
        sorted(result.signature.items()),
        sorted(result.training.items()),
        sorted(result.scores.items()),
        result.date,
    ]
    return hashlib.sha256(json.dumps(told).encode()).digest()


def _relationship(run: Submitted, settings: Settings) -> str:
    if settings.organization is None:
        return "other"
    own = settings.organization.casefold() == run.name.owner.casefold()
    return "first_party" if own else "third_party"


def _source_data(run: Submitted) -> dict[str, Any]:
    result, ours = run.result, shipped_task(run.result)
    verified = f"the test set of {ours.task} {ours.version}" if ours else _NOT_SHIPPED
    if not run.is_whole:
        verified = f"no: {result.documents} of the {result.test_samples} samples of the test set"
    told = _details(
        test_sha256=result.signature["test_sha256"],
        version=result.signature["version"],
        corpus=result.spec.name.corpus,
        protocol=result.spec.name.protocol,
        part=result.spec.name.part,
        verified=verified,
    )
    name = {"dataset_name": _clean(full_title(result))}
    if ours is None:
        return {**name, "source_type": "other", "additional_details": told}
    url = [benchmark(result.spec.benchmark).source]
    return {**name, "source_type": "url", "url": url, "additional_details": told}


def _generation(result: TaskResult) -> dict[str, Any]:
    settings = dict(result.generation)
    arguments = {
        name: value
        for name in _ARGUMENTS
        if isinstance(value := settings.get(name), int | float)
        and not isinstance(value, bool)
        and 0 <= value < _MOST
    }
    if type(most := settings.get("max_gen_toks")) is int and most > 0:
        arguments["max_tokens"] = most
    told = {key: json.dumps(value, sort_keys=True) for key, value in settings.items()}
    shown = {"num_fewshot": result.signature["num_fewshot"], "shown_arm": result.shown_arm}
    return {"generation_args": arguments, "additional_details": _details(**told, **shown)}


def _details(**values: object) -> Mapping[str, str]:
    """Return the values as texts, without those that are None or empty."""
    return {
        _clean(key): _clean(str(value))
        for key, value in values.items()
        if value is not None and value != ""
    }


def _clean(text: str) -> str:
    """Return a text that every reader takes: half of a surrogate pair becomes its escape."""
    return text.encode(errors="backslashreplace").decode()
