"""Any task of lm-eval as one table: its documents, and a column of values for each score.

A document is known by the digest of what lm-eval logged of it, not by its number. A sample of ours
is known by its id, which is such a digest already, and its scores have the totals that its result
declares.
"""

import glob
import hashlib
import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.errors import ConfigError, ResultError, advice
from spor_tasks.core.files import FileContent, read_json, read_rows
from spor_tasks.metrics.tally import Column
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.logged import Logged, values_of
from spor_tasks.results.runs import CHAT, Problem, Run, bare, files_of, flat, is_ours, of_files
from spor_tasks.results.samples import SampleFile, path_of
from spor_tasks.results.stats import clusters_of

_PLAIN = ",none"  # lm-eval joins the names of a metric and of its filters; without any it is this
_CLOSE = 1e-6  # between a score in a file and the mean of its samples
_LARGEST = 1e100  # of a value: its square is a number, too
_LOG_SAMPLES = "Evaluate again with --log_samples and --output_path."


class LoggedDocument(NamedTuple):
    """A document, and what a model was asked and wrote."""

    id: str
    """Its digest, with a number if its like came before; of a sample of ours, the sample's id."""
    doc_id: object
    """The number that lm-eval gives it."""
    doc: Any
    """The document, usually an object of JSON."""
    target: str
    prompts: tuple[str, ...]
    """The prompts, with demonstrations and in any chat template."""
    outputs: tuple[str, ...]
    """The texts that the model wrote; of choices, the one that it found likeliest."""


class Exchange(NamedTuple):
    """The part of a document that is held in memory, with a digest of its prompts."""

    doc_id: object
    prompts_sha: bytes
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """One task of one result file, of which no sample is read yet."""

    task: str
    """Its name; of ours, that of the tasks that are compared with it."""
    key: str
    """Its name in the file."""
    file: Path
    model: str
    version: str
    """A result of another version, or test set, is not compared."""
    totals: Mapping[str, float] = field(default_factory=dict)
    """The scores by metric and filter, such as ``acc`` or ``exact_match,strict-match``."""
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict)
    """By metric."""
    n: int | None = None
    """The documents that were evaluated; None if the file does not say it."""
    size: int | None = None
    """The documents of the task."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """How it was evaluated: prompts and generation; of ours, whatever can change the scores."""
    run: Run | None = None
    """The run, of a task of ours."""

    @property
    def arm(self) -> str | None:
        """The arm of a run of ours; None without one."""
        return self.run.arm if self.run else None

    @property
    def trial_of(self) -> int | None:
        """The documents of the task where only some were evaluated; None otherwise."""
        is_trial = self.n is not None and self.size is not None and self.n < self.size
        return self.size if is_trial else None

    @property
    def is_baseline(self) -> bool:
        """Whether no model wrote the outputs of a run of ours."""
        return self.run is not None and self.run.log.baseline is not None

    @property
    def path(self) -> Path:
        """The file of its samples.

        Raises:
            ResultError: there is none.
        """
        if path := path_of(self.file, self.key):
            return path
        what = f"{self.task} has no sample file"
        raise ResultError(what, where=self.file, remedy=_LOG_SAMPLES)

    def rows(self) -> Iterator[tuple[LoggedDocument, str, FileContent]]:
        """Yield the document, filter and content of each line of the sample file, one at a time.

        Raises:
            SporError: the file cannot be read, or lm-eval has not written a line.
        """
        seen: Counter[tuple[str, str]] = Counter()
        for place, row in read_rows(self.path):
            answers, asked = row.get("resps"), row.get("arguments")
            if not isinstance(answers, list) or not isinstance(asked, dict) or "doc" not in row:
                raise ResultError("is not a sample as lm-eval logs it", where=place)
            doc, name = row["doc"], str(row.get("filter", "none"))
            id_ = str(doc["id"]) if self.run else _digest(doc)
            seen[name, id_] += 1
            document = LoggedDocument(
                id=f"{id_}-{n}" if (n := seen[name, id_]) > 1 else id_,
                doc_id=row.get("doc_id"),
                doc=doc,
                target=str(row.get("target", "")),
                prompts=tuple(dict.fromkeys(str(each.get("arg_0")) for each in asked.values())),
                outputs=_outputs(answers, [str(each.get("arg_1")) for each in asked.values()]),
            )
            yield document, name, row

    def documents(self) -> Iterator[LoggedDocument]:
        """Yield each document once, in the order of the file.

        Raises:
            SporError: as :meth:`rows`.
        """
        known = set[str]()
        for document, _, _ in self.rows():
            if document.id not in known:  # another filter has it again
                known.add(document.id)
                yield document


def _digest(doc: object) -> str:
    """Return the digest of a document, in whatever order its fields stand."""
    text = json.dumps(doc, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _outputs(answers: Sequence[Any], continuations: Sequence[str]) -> tuple[str, ...]:
    """Return the text of each answer; of likelihoods of several texts, the likeliest text."""
    firsts = [each[0] if isinstance(each, list) and each else each for each in answers]
    if not firsts or not isinstance(firsts[0], list):
        return tuple(map(str, firsts))
    likelihoods = [float(first[0]) for first in firsts]
    best = max(range(len(firsts)), key=likelihoods.__getitem__)
    text = continuations[best] if best < len(continuations) else ""
    is_choice = len(firsts) > 1
    return (text.strip() if is_choice else f"{text}   [log likelihood {likelihoods[best]:.3f}]",)


@dataclass(frozen=True, slots=True)
class TaskSamples:
    """The samples of one task of one system."""

    result: TaskResult
    logged: Logged
    """The values of the samples, by score."""
    scores: Mapping[str, ScoreFacts]
    """The facts of these scores."""
    answers: Mapping[Hashable, Exchange]
    """By the id of the document."""
    left_out: Mapping[str, str]
    """The reason, by each other score."""
    others: "tuple[TaskSamples, ...]" = ()
    """Those of the system's further runs, which differ in the training seed alone."""

    @property
    def runs(self) -> "tuple[TaskSamples, ...]":
        """The samples of each run of the system."""
        return self, *self.others


# --- Result files ---------------------------------------------------------------------------------


def results_of(path: Path) -> tuple[list[TaskResult], list[Problem]]:
    """Return the tasks in a result file, in those of a folder, or of a sample file.

    Baselines beside a run of ours are left out.

    Raises:
        ResultError: the path does not exist, or has no results.
    """
    is_samples = path.suffix == ".jsonl"
    sources = [path]
    if is_samples and path.is_file():  # lm-eval ends the names of one run's files alike
        run = glob.escape(path.stem.rpartition("_")[2])
        sources = sorted(path.parent.glob(f"*_{run}.json"))
    found = list[TaskResult]()
    problems = list[Problem]()
    for file in files_of(sources):
        ours, faults = of_files([file])
        problems += (fault for fault in faults if fault.kind != "foreign")
        found += map(_of_run, ours)
        content = {} if any(each.kind == "unreadable" for each in faults) else read_json(file)
        for key, config in content.get("configs", {}).items():
            if is_ours(key, config):
                continue
            try:
                found.append(_of_content(file, key, content))
            except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
                what = f"cannot be read: {type(error).__name__}: {error}"
                problems.append(Problem("schema", f"{file}: {key}", what))
    if is_samples:
        found = [each for each in found if path_of(each.file, each.key) == path]
        problems = []
    if not found:
        raise ResultError(
            "has no results of lm-eval",
            where=path,
            each=tuple(map(str, problems)),
            remedy="Give the folder that `--output_path` named.",
        )
    models = {each.task for each in found if not each.is_baseline}
    return [each for each in found if each.task not in models or not each.is_baseline], problems


def _of_run(run: Run) -> TaskResult:
    return TaskResult(
        task=run.comparison,
        key=run.key,
        file=run.file,
        model=run.model,
        version=f"{run.signature['version']}, test set {run.signature['test_sha256'][:16]}",
        totals=run.scores,
        n=run.n,
        size=run.documents,
        settings=flat({**run.signature, "generation": json.loads(run.signature["generation"])}),
        run=run,
    )


def _of_content(file: Path, key: str, content: FileContent) -> TaskResult:
    """Return a task that is not ours, whose file may say nothing but its scores."""
    counts = content["n-samples"].get(key) or {}
    metadata = content["configs"][key].get("metadata") or {}
    versions = content.get("versions") or {}
    settings = {fact: content.get(fact) for fact in CHAT}
    settings["generation"] = content["configs"][key].get("generation_kwargs") or {}
    settings["num_fewshot"] = shots = (content.get("n-shot") or {}).get(key)
    settings["fewshot_seed"] = content["config"].get("fewshot_seed") if shots else None
    return TaskResult(
        task=bare(key),
        key=key,
        file=file,
        model=str(content.get("model_name") or content["config"]["model"]),
        version=str(versions.get(key, metadata.get("version"))),
        totals={
            name.removesuffix(_PLAIN): float(total)
            for name, total in content["results"][key].items()
            if "," in name and "_stderr" not in name and isinstance(total, int | float)
            if not name.startswith("bypass,")  # of --predict_only, which scores nothing
        },
        higher_is_better=(content.get("higher_is_better") or {}).get(key) or {},
        n=counts.get("effective"),
        size=counts.get("original"),
        settings=flat(settings),
    )


# --- Samples --------------------------------------------------------------------------------------


def samples_of(result: TaskResult, cluster: str | None = None) -> TaskSamples:
    """Return the samples of a task; ``cluster`` is a field that documents of a cluster share.

    Documents of a task of ours have clusters of their own. Any other document is one, with those
    that are equal to it.

    Raises:
        SporError: there is no sample file, it is damaged or of another result, or documents lack
            the field.
    """
    answers: dict[Hashable, Exchange] = {}
    keys: dict[Hashable, Hashable] = {}
    values: dict[str, dict[Hashable, object]] = {score: {} for score in result.totals}
    of_filters = [(score, *score.partition(",")[::2]) for score in values]
    for document, name, row in result.rows():
        id_ = document.id
        if id_ not in answers:
            asked = "\0".join(document.prompts).encode(errors="surrogatepass")
            sha = hashlib.sha256(asked).digest()
            answers[id_] = Exchange(document.doc_id, sha, document.outputs)
            if not result.run:
                keys[id_] = _field(document.doc, cluster) if cluster else id_.partition("-")[0]
        for score, metric, of_filter in of_filters:
            if (of_filter or "none") == name:
                values[score][id_] = row.get(metric)
    if result.n is not None and len(answers) != result.n:
        what = f"has {len(answers):,} documents, but the result is of {result.n:,}"
        raise ResultError(what, where=result.path)
    if result.run:
        spec = result.run.spec
        own = values_of(SampleFile(result.path, result.run))
        names = (*spec.reported, *(gap.name for gap in spec.gaps))
        columns = {name: own.columns[name] for name in names if name in own.columns}
        facts = {name: spec.scores[name] for name in columns}
        return TaskSamples(result, replace(own, columns=columns), facts, answers, {})
    found = {
        score: _mean([values[score].get(id_) for id_ in keys], total)
        for score, total in result.totals.items()
    }
    columns = {score: each for score, each in found.items() if isinstance(each, Column)}
    facts = {
        score: ScoreFacts(
            label=score,
            title=score,
            range=(None, None),
            higher_is_better=result.higher_is_better.get(score.partition(",")[0]),
        )
        for score in columns
    }
    logged = Logged(tuple(keys), clusters_of(keys.values()), columns, tuple(keys.values()))
    left_out = {score: each for score, each in found.items() if isinstance(each, str)}
    return TaskSamples(result, logged, facts, answers, left_out)


def _mean(values: Sequence[object], total: float) -> Column | str:
    """Return the column of a score, or why the score is not the mean of the samples' values."""
    numbers = list[float | None]()
    for value in values:
        if isinstance(value, int | float) and abs(value) < _LARGEST:
            numbers.append(float(value))
        elif value is None:
            numbers.append(None)
        else:
            return "its samples are no numbers"
    column = Column.of(numbers)
    if not column.scored.any():
        return "its samples have no values"
    if not math.isclose(column.value, total, rel_tol=_CLOSE, abs_tol=_CLOSE):
        return "its total is not the mean of its samples"
    return column


def _field(doc: object, field: str) -> Hashable:
    """Return the value of a field of a document; dots lead into objects and lists.

    Raises:
        ConfigError: there is no such field.
    """
    found: object = doc
    for part in [field] if isinstance(doc, dict) and field in doc else field.split("."):
        if isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, dict) and part in found:
            found = found[part]
        else:
            names = found if isinstance(found, dict) else doc if isinstance(doc, dict) else ()
            what, remedy = f"a document has no field {field}", names and advice(part, names)
            raise ConfigError(what, where="--cluster", remedy=remedy or None)
    return json.dumps(found, sort_keys=True)
