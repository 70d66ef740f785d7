"""lm-eval's result files, read into typed runs that say what may be compared with what."""

import json
import math
import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from spor_tasks.core.errors import ResultError, SporError
from spor_tasks.core.files import FileContent, JsonObject, is_folder, read_json
from spor_tasks.core.removed import why_removed
from spor_tasks.core.words import joined
from spor_tasks.results.again import Options
from spor_tasks.results.facts import Adapter, Count, Declared, Digest, Facts, baseline_of, upgrade

T = TypeVar("T")

# lm-eval joins the names of a metric and of its filter pipeline; ours is called `none`.
_FILTER = ",none"

_NOT_OURS = "is not a result file of this version: "
_RUN_AGAIN = (
    "The run may have been interrupted, or be of another version of spor-tasks. Run it again."
)
_QUANTIZING = ("quantization", "load_in_4bit", "load_in_8bit", "gguf_file", "autogptq", "gptqmodel")
_OFF = frozenset((None, False, "", "False", "false", "None"))
_CHECKPOINT = ("model_revision", "model_sha", "model_num_parameters")
_NAMES = ("results*.json", "*_????-??-??T??-??-??.*.json")
_YEAR_10000 = 253_402_300_800  # in seconds since 1970; no calendar has later dates

CHAT = ("chat_template_sha", "system_instruction_sha")
"""Facts about chats that lm-eval writes outside of the tasks."""

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
        return joined(" ", self.base, self.split, self.number)


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
    options: Options = field(default_factory=Options)
    """Those of its command."""


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


# --- What lm-eval writes --------------------------------------------------------------------------


class Counts(msgspec.Struct):
    """Documents of the task, and those that were evaluated."""

    original: Count
    effective: Count


class Model(msgspec.Struct):
    """The model, as it was named and loaded.

    ``prompts_cut`` counts the prompts of each task that were longer than the model takes.
    """

    model: str
    model_args: FileContent | str | None
    prompts_cut: dict[str, Count] = {}
    model_dtype: object = None
    quantization: object = msgspec.UNSET
    adapter_merged: bool = False
    """Whether the adapter was merged into the weights."""
    fewshot_seed: object = None
    model_revision: object = None
    model_sha: object = None
    model_num_parameters: object = None

    @property
    def arguments(self) -> FileContent:
        """The arguments that the model was loaded with."""
        arguments = self.model_args or {}
        if isinstance(arguments, str):
            return dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
        return arguments

    @property
    def quantized(self) -> str:
        """The quantization: as loaded if the backend states it, otherwise as requested."""
        if self.quantization is not msgspec.UNSET:
            return str(self.quantization)
        requested = {name: self.arguments.get(name) for name in _QUANTIZING}
        settings = (f"{name}={value}" for name, value in requested.items() if value not in _OFF)
        return ", ".join(settings) or str(None)


class LoggedMetadata(msgspec.Struct):
    """The sets of a task."""

    version: float
    test_sha256: Digest
    spor: Facts
    icl_arm: str = ""
    decoding: str = ""


class Config(msgspec.Struct):
    """The configuration of a task."""

    task: str
    generation_kwargs: FileContent
    num_fewshot: int
    metadata: LoggedMetadata


class TaskFile(msgspec.Struct):
    """A result file's entries on one task.

    Scores are ``metric,none`` and ``metric_stderr,none``; NaN is nothing to score.
    """

    configs: Config
    results: dict[str, float | str]
    counts: Counts = msgspec.field(name="n-samples")


class ResultFile(msgspec.Struct):
    """A result file, in which tasks of other packages may stand as well."""

    results: FileContent
    configs: FileContent
    n_samples: FileContent = msgspec.field(name="n-samples")
    config: Model


def model_name(model: Model, metadata: FileContent, adapter: Adapter | None) -> str:
    """Return the name of a model: its base's, with the adapter if that is of no known arm."""
    arguments = {**model.arguments, **metadata}
    name = str(arguments.get("pretrained") or arguments.get("model") or model.model)
    tuned = arguments.get("peft") or arguments.get("lora_local_path")
    if adapter is not None and adapter.arm is None:
        return f"{name} + {tuned}{' (merged)' if model.adapter_merged else ''}"
    if adapter is not None and adapter.base_model and not tuned:  # the base was trained whole
        return adapter.base_model.path
    return name


def flat(settings: JsonObject, prefix: str = "") -> dict[str, str]:
    """Return nested settings as texts under dotted keys."""
    texts: dict[str, str] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        texts |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: str(value)}
    return texts


def typed(value: object, kind: type[T], task: str) -> T:
    """Return a part of a result file as an object of this type.

    Raises:
        ResultError: something is missing or of another type; the error names its place.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        part, dot, inner = place.rstrip("`").lstrip(".").partition(".")
        path = f"{part}.{task}{dot}{inner}" if task else f"{part}{dot}{inner}"
        raise ResultError(f"{what} at {path.strip('.') or 'the top'}") from error
    except UnicodeEncodeError as error:  # of half a character
        raise ResultError(f"a text is not Unicode at {task or 'the top'}") from error
    except (SystemError, OverflowError) as error:  # msgspec's, of a number with hundreds of digits
        raise ResultError(f"a number is too large at {task or 'the top'}") from error


# --- Runs of files --------------------------------------------------------------------------------


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
    collected = of_files([file])
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
    collected = of_files(files_of(sources))
    if not collected.runs:
        others = "`spor compare`, or `spor.compare` in Python, reads results of other tasks."
        is_other = any(problem.kind == "foreign" for problem in collected.problems)
        raise ResultError(
            "has no results of SPOR tasks",
            each=tuple(map(str, collected.problems)),
            where=", ".join(map(str, sources)),
            remedy=others if is_other else "Give the folder that `--output_path` named.",
        )
    return collected


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return files, and the result files in folders, each once and in the order of their paths.

    Raises:
        ResultError: a path is missing.
    """
    found = list[Path]()
    for path in paths:
        if not os.path.lexists(path):
            raise ResultError("does not exist", where=path)
        if is_folder(path):  # with `--output_path NAME.json` lm-eval writes NAME_DATE.json
            found += (file for name in _NAMES for file in path.rglob(name))
        else:
            found.append(path)
    return [*{os.path.realpath(file): file for file in sorted(found)}.values()]


def of_files(files: Iterable[Path]) -> Collected:
    """Return the run of each of our tasks in the files, or a problem."""
    runs: list[Run] = []
    problems: list[Problem] = []
    for file in files:
        try:
            content = read_json(file, ResultError)
        except ResultError as error:
            what = f"is not a readable result file: {error.__cause__ or error.what}"
            problems.append(Problem("unreadable", str(file), what))
            continue
        try:
            model = typed(content, ResultFile, "").config
        except ResultError as error:
            problems.append(Problem("unreadable", str(file), f"{_NOT_OURS}{error.what}"))
            continue
        tasks = [task for task, config in content["configs"].items() if is_ours(task, config)]
        if not tasks:
            what = f"has no SPOR tasks; its tasks: {', '.join(content['configs']) or 'none'}"
            problems.append(Problem("foreign", str(file), what, lost=False))
        for task in tasks:
            if gone := why_removed(bare(task)):
                problems.append(Problem("removed", str(file), f"{bare(task)} was {gone}"))
                continue
            try:
                runs.append(_run(file, task, content, model))
            except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
                why = f"{task}: {type(error).__name__}: {error}"
                why = error.what if isinstance(error, SporError) else why
                problems.append(Problem("schema", str(file), f"{_NOT_OURS}{why}"))
    return Collected(tuple(runs), tuple(problems))


def is_ours(task: str, config: object) -> bool:
    """Return whether this is a task of ours, by what its configuration declares or by its name."""
    metadata = config.get("metadata") if isinstance(config, dict) else None
    return (isinstance(metadata, dict) and "spor" in metadata) or bare(task).startswith("spor_")


def bare(key: str) -> str:
    """Return a task's name without that of its group."""
    return key.rpartition("::")[2]


def _run(file: Path, key: str, content: FileContent, model: Model) -> Run:
    entries = {name: content[name].get(key) for name in ("configs", "results", "n-samples")}
    own = entries["configs"]
    metadata = own.get("metadata") if isinstance(own, dict) else None
    if isinstance(metadata, dict) and "spor" in metadata:
        metadata = {**metadata, "spor": upgrade(metadata["spor"])}
        entries["configs"] = {**own, "metadata": metadata}
    task = typed(entries, TaskFile, key)
    counts, facts = task.counts, task.configs.metadata.spor
    try:
        spec = facts.declared.readable()
    except ResultError as error:
        raise ResultError(f"configs.{key}.metadata: {error.what}") from error
    adapter = facts.adapter if facts.adapter and facts.adapter.arm else None
    if adapter and adapter.adapter_sha256 and adapter.seed is None:
        raise ResultError(f"configs.{key}.metadata.spor: an adapter without a seed")
    training = {}
    if adapter:
        is_ours = adapter.arm_sha256 == facts.arms.get(str(adapter.arm))
        training = {
            **flat(adapter.settings or {}),
            "pairs": str(adapter.pairs),
            "violations": "; ".join(adapter.violations or ["none"]),
            "base_sha256": str(adapter.base_model and adapter.base_model.sha256),
            "training_set": "the task's" if is_ours else str(adapter.arm_sha256),
            **({"adapter_merged": "True"} if model.adapter_merged else {}),
        }
    asked = _asked(bare(key), spec, task.configs)
    date = content.get("date")
    stated = [name for name in _CHECKPOINT if getattr(model, name)]
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
        signature=_signature(task, asked, model, content, is_tuned=adapter is not None),
        training=training,
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
            checkpoint={name: str(getattr(model, name)) for name in stated},
            prompts_cut=model.prompts_cut.get(bare(key)),
            failures=facts.failures,
            options=Options.of(content, key, model.arguments),
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
        base = plain if task == plain else joined("_", spec.task, "icl", decoding)
        way = [arm and "icl", decoding, number]
    shown_arm = config.metadata.spor.prompt.arm if config.num_fewshot else None
    variant = joined(" ", *way)
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


def _signature(
    task: TaskFile, asked: Asked, model: Model, content: FileContent, *, is_tuned: bool
) -> dict[str, str]:
    """Return the settings of a task that can change its scores.

    Of generation they are also those of the checkpoint that acted; each model has token ids of its
    own.
    """
    config, counts = task.configs, task.counts
    facts, is_chosen = config.metadata.spor, bool(config.metadata.icl_arm)
    prompt, of_facts = facts.prompt, facts.judges.get("facts", "None").removeprefix("facts|")
    resolved = facts.generation.items()
    acted = {key: value for key, value in resolved if not key.endswith("_token_id")}
    return {
        "task": asked.comparison,
        "version": str(config.metadata.version),
        "spor_tasks": facts.spor_tasks,
        "lm_eval": str(facts.packages["lm_eval"]),
        "test_sha256": config.metadata.test_sha256,
        "prompt_style": prompt.style,
        **({"instruction": prompt.instruction} if prompt.instruction else {}),
        "num_fewshot": str(config.num_fewshot),
        "held_out_reference": str(facts.test.held_out_reference),
        "facts": of_facts,
        **{name: judge for name, judge in facts.judges.items() if name != "facts"},
        "shown_arm": str(asked.shown_arm if is_tuned else None),
        # Demonstrations are chosen for each sample and all arms at once, or drawn with a seed.
        "demonstrations_sha256": str(prompt.demonstrations_sha256 if is_chosen else None),
        "fewshot_seed": str(model.fewshot_seed if asked.shown_arm and not is_chosen else None),
        **{fact: str(content.get(fact)) for fact in CHAT},
        # Without a chat it has no effect, and is true or null as lm-eval was called.
        "fewshot_as_multiturn": str(
            content.get("fewshot_as_multiturn") if content.get("chat_template_sha") else None
        ),
        "generation": json.dumps({**config.generation_kwargs, **acted}, sort_keys=True),
        "thinking": str(prompt.thinking),
        "system_message": str(prompt.system_message),
        "backend": model.model,
        # The type of the weights as they were loaded, if the backend states it.
        "dtype": str(model.model_dtype or model.arguments.get("dtype")).removeprefix("torch."),
        "quantization": model.quantized,
        "n": str(counts.effective),
        # Without a limit it has no effect.
        "limit_evenly": str(facts.test.limit_evenly and counts.effective < counts.original),
    }
