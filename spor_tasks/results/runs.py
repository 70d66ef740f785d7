"""lm-eval's result files, read into typed runs that say what may be compared with what."""

import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.errors import ResultError, SporError
from spor_tasks.core.files import is_folder, read_json
from spor_tasks.core.removed import why_removed
from spor_tasks.results import signatures
from spor_tasks.results.facts import Adapter, Declared, baseline_of, upgrade
from spor_tasks.results.schema import (
    Config,
    Model,
    ResultFile,
    TaskFile,
    model_name,
    typed,
)

# lm-eval joins the names of a metric and of its filter pipeline; ours is called `none`.
_FILTER = ",none"

_NOT_OURS = "is not a result file of this version: "
_RUN_AGAIN = (
    "The run may have been interrupted, or be of another version of spor-tasks. Run it again."
)
_YEAR_10000 = 253_402_300_800  # in seconds since 1970; no calendar has later dates

RunKey = tuple[Path, str]
"""A result file and the key of a task in it."""


class Asked(NamedTuple):
    """How a run was asked."""

    task: str
    base: str
    """The task without the shown arm, in which the tasks of a comparison differ."""
    variant: str
    """The way of the task, such as ``beam5`` or ``icl k=3``."""
    shown_arm: str | None
    """The arm of the demonstrations, None without any."""
    split: str | None = None
    number: str | None = None
    """That of demonstrations, if any, as ``k=3``."""
    decoding: str | None = None

    @property
    def comparison(self) -> str:
        """The tasks that it is compared with, with their split and number of demonstrations."""
        return " ".join(filter(None, [self.base, self.split, self.number]))


@dataclass(frozen=True, slots=True)
class Log:
    """The course of a run, as its file tells it; nothing is compared by it."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """Those of the packages that generated and scored."""
    date: float | None = None
    """When the run began, in seconds since 1970; None if the file does not say it."""
    checkpoint: Mapping[str, str] = field(default_factory=dict)
    """The backend's facts of the weights."""
    prompts_cut: int | None = None
    """The prompts that were longer than the model takes; None if nothing counted them."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """The requests that a server did not answer, by the reason."""
    stderrs: Mapping[str, float] = field(default_factory=dict)
    """lm-eval's standard errors of the scores, over samples."""
    baseline: str | None = None
    """The baseline that wrote the outputs, which no model did."""
    splits: tuple[str, ...] = ()
    """The splits whose samples were pooled into one run."""
    notes: tuple[str, ...] = ()
    """The things that a reader must know of that."""


@dataclass(frozen=True, slots=True)
class Run:
    """One task of one result file: the scores of one checkpoint."""

    file: Path
    key: str
    """The name of its task in the file, where lm-eval 0.5 puts that of its group first."""
    asked: Asked
    spec: Declared
    model: str
    """Its name; an adapter of an unknown arm is part of it."""
    adapter: Adapter | None
    """That of an arm; of a baseline that uses an arm's training set it has no digest."""
    scores: Mapping[str, float]
    """The scores, and gaps between them, on the paper's scale."""
    n: int
    """The samples that were evaluated."""
    signature: Mapping[str, str]
    """Whatever can change the scores, except for the checkpoint: results with different signatures
    must not be compared."""
    training: Mapping[str, str] = field(default_factory=dict)
    """How the adapter was trained, except for the seed and the arm: adapters that differ in it are
    not runs of one system."""
    documents: int | None = None
    """The samples that the task has."""
    log: Log = Log()

    @property
    def id(self) -> RunKey:
        """The identity of the run."""
        return self.file, self.key

    @property
    def task(self) -> str:
        """The name of its task."""
        return self.asked.task

    @property
    def comparison(self) -> str:
        """The tasks that it is compared with, with their split and number of demonstrations."""
        return self.asked.comparison

    @property
    def variant(self) -> str:
        """How the task asks."""
        return self.asked.variant

    @property
    def arm(self) -> str | None:
        """The arm that the model was tuned on, otherwise the one it was shown."""
        return self.adapter.arm if self.adapter else self.asked.shown_arm

    @property
    def seed(self) -> int | None:
        """The seed that the adapter was trained with; None without an adapter."""
        return self.adapter.seed if self.adapter and self.adapter.adapter_sha256 else None

    @property
    def facts(self) -> Mapping[str, str]:
        """Signature and training together: the results of a row must agree in all of it."""
        return {**self.signature, **self.training}


class Problem(NamedTuple):
    """A fault of a file, or of two files together.

    ``kind`` is one word, for programs. ``lost`` is whether a result is left out, or is not compared
    with the others.
    """

    kind: str
    where: str
    what: str
    lost: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class Collected(NamedTuple):
    """The runs of many files, and the problems with other files."""

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...]


def read(file: Path) -> tuple[Run, ...]:
    """Return our tasks in one lm-eval result file, without tasks of other packages.

    Raises:
        ResultError: the file is incomplete or not a result file, or one of our tasks lacks what a
            result must state.
    """
    collected = _collected([file])
    for problem in collected.problems:
        if problem.lost:
            raise ResultError(
                problem.what,
                where=file,
                remedy=None if problem.kind == "removed" else _RUN_AGAIN,
            )
    return collected.runs


def collect(paths: Iterable[Path]) -> Collected:
    """Return the results of files and folders, in the order of their paths.

    Files that cannot be read are named in the problems.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
    """
    sources = tuple(paths)
    files = {os.path.realpath(file): file for file in sorted(_result_files(sources))}
    collected = _collected(files.values())
    if not collected.runs:
        raise ResultError(
            "has no results of SPOR tasks",
            each=tuple(map(str, collected.problems)),
            where=", ".join(map(str, sources)),
            remedy="Give the folder that `--output_path` named.",
        )
    return collected


def _result_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if is_folder(path):
            yield from path.rglob("results*.json")
        elif os.path.lexists(path):
            yield path
        else:
            raise ResultError("does not exist", where=path)


def _collected(files: Iterable[Path]) -> Collected:
    items = [item for file in files for item in _items(file)]
    return Collected(
        tuple(item for item in items if isinstance(item, Run)),
        tuple(item for item in items if isinstance(item, Problem)),
    )


def _items(file: Path) -> Iterator[Run | Problem]:
    """Yield the run of each of our tasks in a file, or a problem."""
    try:
        content = read_json(file, ResultError)
    except ResultError as error:
        why = error.__cause__ or error.what
        yield Problem("unreadable", str(file), f"is not a readable result file: {why}")
        return
    try:
        model = typed(content, ResultFile, "").config
    except ResultError as error:
        yield Problem("unreadable", str(file), f"{_NOT_OURS}{error.what}")
        return
    tasks = [task for task, config in content["configs"].items() if _is_ours(task, config)]
    if not tasks:
        what = f"has no SPOR tasks; its tasks: {', '.join(content['configs']) or 'none'}"
        yield Problem("foreign", str(file), what, lost=False)
    for task in tasks:
        if gone := why_removed(bare(task)):
            yield Problem("removed", str(file), f"{bare(task)} was {gone}")
            continue
        try:
            yield _run(file, task, content, model)
        except SporError as error:
            yield Problem("schema", str(file), f"{_NOT_OURS}{error.what}")
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            what = f"{_NOT_OURS}{task}: {type(error).__name__}: {error}"
            yield Problem("schema", str(file), what)


def _is_ours(task: str, config: object) -> bool:
    metadata = config.get("metadata") if isinstance(config, dict) else None
    return bare(task).startswith("spor_") or (isinstance(metadata, dict) and "spor" in metadata)


def bare(key: str) -> str:
    """Return a task's name without that of its group."""
    return key.rpartition("::")[2]


def _run(file: Path, key: str, content: Mapping[str, Any], model: Model) -> Run:
    entries = {name: content[name].get(key) for name in ("configs", "results", "n-samples")}
    own = entries["configs"]
    metadata = own.get("metadata") if isinstance(own, dict) else None
    if isinstance(metadata, dict) and "spor" in metadata:
        metadata = {**metadata, "spor": upgrade(metadata["spor"])}
        entries["configs"] = {**own, "metadata": metadata}
    task = typed(entries, TaskFile, key)
    config, counts = task.configs, task.counts
    facts = config.metadata.spor
    try:
        spec = facts.declared.readable()
    except ResultError as error:
        raise ResultError(f"configs.{key}.metadata: {error.what}") from error
    name = bare(key)
    adapter = facts.adapter if facts.adapter and facts.adapter.arm else None
    if adapter and adapter.adapter_sha256 and adapter.seed is None:
        raise ResultError(f"configs.{key}.metadata.spor: an adapter without a seed")
    asked = _asked(name, spec, config)
    date = content.get("date")
    scores, stderrs = _scores(task.results, spec)
    name_of_model = model_name(model, content["configs"][key]["metadata"], facts.adapter)
    return Run(
        file=file,
        key=key,
        asked=asked,
        spec=spec,
        model=name_of_model,
        adapter=adapter,
        scores=scores,
        n=counts.effective,
        signature={
            "task": asked.comparison,
            **signatures.signature(
                config, model, content, asked.shown_arm, is_tuned=adapter is not None
            ),
            "n": str(counts.effective),
            # Without a limit it has no effect.
            "limit_evenly": str(facts.test.limit_evenly and counts.effective < counts.original),
        },
        training=signatures.training(adapter, facts.arms) if adapter else {},
        documents=counts.original,
        log=Log(
            stderrs=stderrs,
            baseline=facts.baseline or baseline_of(name_of_model),
            versions={
                package: version
                for package, version in facts.packages.items()
                if version is not None and package != "lm_eval"  # in the signature
            },
            date=float(date) if isinstance(date, int | float) and 0 < date < _YEAR_10000 else None,
            checkpoint=model.checkpoint,
            prompts_cut=model.prompts_cut.get(name),
            failures=facts.failures,
        ),
    )


def _asked(task: str, spec: Declared, config: Config) -> Asked:
    """Return how a task asks; the name of one that a user renamed stands for that."""
    arm, decoding = config.metadata.icl_arm or None, config.metadata.decoding or None
    number = f"k={config.num_fewshot}" if config.num_fewshot else None
    split = spec.sets.part_title if spec.sets.split else None
    plain, way = spec.task_name(decoding=decoding), list[str | None]()
    if task not in {spec.task_name(arm, decoding), plain}:
        base = task.replace(f"_icl_{arm}", "_icl")  # a user may name arms as we do
        way = [base, split, number]
    else:
        base = plain if task == plain else "_".join(filter(None, [spec.task, "icl", decoding]))
        way = [arm and "icl", decoding, number]
    shown_arm = config.metadata.spor.prompt.arm if config.num_fewshot else None
    variant = " ".join(filter(None, way))
    return Asked(task, base, variant, shown_arm, split, number, decoding)


def _scores(
    values: Mapping[str, float | str], spec: Declared
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores, and their standard errors; both also of the gaps between scores.

    A gap is between scores of different samples, so their errors add up in squares.
    """
    numbers = {
        key.removesuffix(_FILTER): float(value)
        for key, value in values.items()
        if key.endswith(_FILTER) and isinstance(value, int | float) and math.isfinite(value)
    }
    scores = {name: value for name, value in numbers.items() if "_stderr" not in name}
    errors = {
        name.removesuffix("_stderr"): value
        for name, value in numbers.items()
        if name.endswith("_stderr")
    }
    for gap in spec.gaps:
        for known, combine in ((scores, operator.sub), (errors, math.hypot)):
            if gap.score in known and gap.subtracted in known:
                known[gap.name] = combine(known[gap.score], known[gap.subtracted])
    return scores, errors
