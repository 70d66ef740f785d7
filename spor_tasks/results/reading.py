"""lm-eval's result files, read into typed results that say what may be compared with what."""

import json
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.contracts import BEAM5, SetSpec
from spor_tasks.core.errors import ResultError, SplitError, SporError
from spor_tasks.core.files import is_folder, read_json
from spor_tasks.results.declared import spec_of
from spor_tasks.results.schema import fault_of_file, fault_of_task

# lm-eval joins the names of a metric and of its filter pipeline; ours is called `none`.
_FILTER = ",none"

# Facts about chats that lm-eval writes outside of the tasks.
_CHAT = ("chat_template_sha", "system_instruction_sha")


@dataclass(frozen=True, slots=True)
class Adapter:
    """The adapter that was evaluated, trained on an arm by our training.

    For a baseline that uses an arm's training set, ``seed`` and ``sha256`` are None.
    """

    arm: str
    seed: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task's scores of one checkpoint.

    ``key`` is the name of ``task`` in the file, where lm-eval 0.5 puts that of its group first.

    ``scores`` maps metrics, and gaps between them, to values on the paper's scale; ``n`` is the
    number of samples.
    ``signature`` holds whatever can change the scores, except for the checkpoint: results with
    different signatures must not be compared. ``training`` holds how the adapter was trained,
    except for the seed and the arm: adapters that differ in it are not runs of one system.
    ``versions`` are those of the packages that generated and scored; if they differ, the report
    says so.

    ``adapter`` is None if the model was not tuned on an arm; an adapter of an unknown arm is part
    of the model's name. ``spec`` are the sets, ``variant`` is how the task asks, such as ``beam5``
    or ``icl k=3``. ``shown_arm`` is the arm of the demonstrations, None without any.
    ``comparison`` is the task without the shown arm, in which the tasks of a comparison differ, and
    with the number of demonstrations, if any. ``prompts_cut`` counts the prompts that were longer
    than the model takes; None if nothing counted them. ``stderrs`` are lm-eval's standard errors of
    the scores, over samples. ``documents`` is the number of samples that the task has, and
    ``test_samples`` that of the test set, some of which a task that shows demonstrations of each
    sample's units may not have. ``date`` is when the run began, in seconds since 1970; None if the
    file does not say it. ``generation`` are the settings of generation as they were resolved, and
    ``checkpoint`` is what the backend says of the weights: revision, commit, number of parameters.
    """

    file: Path
    key: str
    task: str
    comparison: str
    variant: str
    spec: SetSpec
    model: str
    adapter: Adapter | None
    shown_arm: str | None
    scores: Mapping[str, float]
    n: int
    prompts_cut: int | None
    signature: Mapping[str, str]
    training: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    stderrs: Mapping[str, float] = field(default_factory=dict)
    documents: int | None = None
    test_samples: int | None = None
    date: float | None = None
    generation: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Mapping[str, str] = field(default_factory=dict)

    @property
    def aspect(self) -> str:
        """The aspect of the sets."""
        return self.spec.name.aspect

    @property
    def corpus(self) -> str:
        """The corpus that the sets are made of."""
        return self.spec.name.corpus

    @property
    def protocol(self) -> str:
        """The kind of sets, such as ``published`` or ``strict``."""
        return self.spec.name.protocol

    @property
    def part(self) -> str | None:
        """The part of the sets, None where there is one."""
        return self.spec.name.part

    @property
    def arm(self) -> str | None:
        """The arm that the model was tuned on, otherwise the one it was shown."""
        return self.adapter.arm if self.adapter else self.shown_arm

    @property
    def seed(self) -> int | None:
        """The seed that the adapter was trained with; None without an adapter."""
        return self.adapter.seed if self.adapter else None

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
    """The results of many files, and the problems with other files."""

    results: tuple[TaskResult, ...]
    problems: tuple[Problem, ...]


def read(file: Path) -> tuple[TaskResult, ...]:
    """Return our tasks in one lm-eval result file, without tasks of other packages.

    Raises:
        ResultError: the file is incomplete or not a result file, or one of our tasks lacks what
            `schema.json` requires.
    """
    collected = _collected([file])
    for problem in collected.problems:
        if problem.lost:
            raise ResultError(
                problem.what,
                where=file,
                remedy="The run may have been interrupted, or be of another version of spor-tasks. "
                "Run it again.",
            )
    return collected.results


def collect(paths: Iterable[Path]) -> Collected:
    """Return the results of files and folders, in the order of their paths.

    Files that cannot be read are named in the problems.

    Raises:
        ResultError: a path is missing, or there are no results of our tasks.
    """
    sources = tuple(paths)
    files = {os.path.realpath(file): file for file in sorted(_result_files(sources))}
    collected = _collected(files.values())
    if not collected.results:
        raise ResultError(
            "has no results of SPOR tasks",
            each=tuple(map(str, collected.problems)),
            where=", ".join(map(str, sources)),
            remedy="Give the folder that `--output_path` named.",
        )
    return collected


def _collected(files: Iterable[Path]) -> Collected:
    items = [item for file in files for item in _items(file)]
    return Collected(
        tuple(item for item in items if isinstance(item, TaskResult)),
        tuple(item for item in items if isinstance(item, Problem)),
    )


def _items(file: Path) -> Iterator[TaskResult | Problem]:
    """Yield the result of each of our tasks in a file, or a problem."""
    try:
        content = read_json(file, ResultError)
    except ResultError as error:
        why = error.__cause__ or error.what
        yield Problem("unreadable", str(file), f"is not a readable result file: {why}")
        return
    if fault := fault_of_file(content):
        yield Problem("unreadable", str(file), f"is not a result file of this version: {fault}")
        return
    tasks = tuple(_our_tasks(content))
    if not tasks:
        other_tasks = ", ".join(content["configs"]) or "none"
        yield Problem(
            "foreign", str(file), f"has no SPOR tasks; its tasks: {other_tasks}", lost=False
        )
    for task in tasks:
        if fault := fault_of_task(task, content):
            what = f"is not a result file of this version: {fault}"
            yield Problem("schema", str(file), what)
            continue
        try:
            yield _task_result(file, task, content)
        except SplitError:
            what = f"has results of {task}, a task that this version does not have"
            yield Problem("schema", str(file), what)
        except SporError as error:
            what = f"is not a result file of this version: configs.{task}.metadata: {error.what}"
            yield Problem("schema", str(file), what)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            what = f"is not a result file of this version: {task}: {type(error).__name__}: {error}"
            yield Problem("schema", str(file), what)


def _our_tasks(content: Mapping[str, Any]) -> Iterator[str]:
    for task, config in content["configs"].items():
        metadata = config.get("metadata") if isinstance(config, dict) else None
        if bare(task).startswith("spor_") or (isinstance(metadata, dict) and "spor" in metadata):
            yield task


def bare(key: str) -> str:
    """Return a task's name without that of its group."""
    return key.rpartition("::")[2]


def _result_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if is_folder(path):
            yield from path.rglob("results*.json")
        elif os.path.lexists(path):
            yield path
        else:
            raise ResultError("does not exist", where=path)


def _task_result(file: Path, key: str, content: Mapping[str, Any]) -> TaskResult:
    task = bare(key)
    config, run = content["configs"][key], content["config"]
    metadata = config["metadata"]
    facts = metadata["spor"]
    arguments = _arguments(run)
    adapter = _adapter(facts["adapter"])
    shown_arm = facts["fewshot_arm"] if config["num_fewshot"] else None
    spec = spec_of(metadata)
    if spec.split_of and task.startswith(f"{spec.task}_{spec.name.part}"):
        raise ResultError(
            f"{task} is gone: its result was made by an earlier version. Evaluate {spec.task} with "
            f"--metadata split={spec.name.part}"
        )
    shots = config["num_fewshot"]
    comparison, variant = _comparison_and_variant(task, spec, metadata, shots)
    n = int(content["n-samples"][key]["effective"])
    return TaskResult(
        file=file,
        key=key,
        task=task,
        comparison=comparison,
        variant=variant,
        spec=spec,
        model=_model_name(run, {**arguments, **metadata}, facts["adapter"]),
        adapter=adapter,
        shown_arm=shown_arm,
        scores=_with_gaps(_scores(content["results"][key]), spec, operator.sub),
        n=n,
        prompts_cut=run.get("prompts_cut", {}).get(task),
        signature={
            "task": comparison,
            **_signature(key, content, shown_arm, is_tuned=adapter is not None),
            "n": str(n),
        },
        training=_training(facts) if adapter else {},
        versions={
            name: version
            for name, version in facts["packages"].items()
            if version is not None and name != "lm_eval"  # in the signature
        },
        stderrs=_with_gaps(_stderrs(content["results"][key]), spec, math.hypot),
        documents=(documents := int(content["n-samples"][key]["original"])),
        test_samples=int(facts.get("test_samples", documents)),
        date=_date(content.get("date")),
        generation=facts.get("generation") or config["generation_kwargs"],
        checkpoint={name: str(run[name]) for name in _CHECKPOINT if run.get(name)},
    )


def _signature(
    key: str, content: Mapping[str, Any], shown_arm: str | None, *, is_tuned: bool
) -> dict[str, str]:
    """Return the settings of a task that can change its scores."""
    config, run = content["configs"][key], content["config"]
    metadata, arguments = config["metadata"], _arguments(run)
    facts = metadata["spor"]
    chosen = "icl_arm" in metadata  # demonstrations for each sample, and for all arms at once
    judges = ("nli", "sp", "bleurt", "aspects", "ppl")
    return {
        "version": str(metadata["version"]),
        "spor_tasks": facts["spor_tasks"],
        "lm_eval": facts["packages"]["lm_eval"],
        "test_sha256": metadata["test_sha256"],
        "prompt_style": facts["prompt_style"],
        "num_fewshot": str(config["num_fewshot"]),
        "held_out_reference": str(facts.get("held_out_reference", False)),
        "facts": str(facts.get("facts")).removeprefix("facts|"),
        **{judge: str(facts[judge]) for judge in judges if judge in facts},
        "shown_arm": str(shown_arm if is_tuned else None),
        "demonstrations_sha256": str(facts["demonstrations_sha256"] if chosen else None),
        "fewshot_seed": str(run.get("fewshot_seed") if shown_arm and not chosen else None),
        **{name: str(content.get(name)) for name in _CHAT},
        # Without a chat it has no effect, and is true or null as lm-eval was called.
        "fewshot_as_multiturn": str(
            content.get("fewshot_as_multiturn") if content.get("chat_template_sha") else None
        ),
        "generation": json.dumps(config["generation_kwargs"], sort_keys=True),
        "backend": run["model"],
        "dtype": _dtype(run, arguments),
        "quantization": _quantization(run, arguments),
    }


def _date(logged: object) -> float | None:
    if isinstance(logged, int | float) and 0 < logged < _YEAR_10000:
        return float(logged)
    return None


def _comparison_and_variant(
    task: str, spec: SetSpec, metadata: Mapping[str, Any], shots: int
) -> tuple[str, str]:
    """Return the task without the arm that it shows, and how it asks.

    The name of a task that a user renamed stands for how it asks.
    """
    arm = metadata.get("icl_arm")
    number = f"k={shots}" if shots else None
    split = spec.part_title if spec.split_of else None
    comparison = " ".join(filter(None, [task.replace(f"_icl_{arm}", "_icl"), split, number]))
    for decoding in (metadata.get("decoding"), BEAM5):  # earlier versions do not state it
        if task in {spec.task_name(arm, decoding), spec.task_name(decoding=decoding)}:
            return comparison, " ".join(filter(None, [arm and "icl", decoding, number]))
    return comparison, comparison


def _adapter(facts: Mapping[str, Any] | None) -> Adapter | None:
    if facts is None or facts["arm"] is None:
        return None
    seed = facts["seed"]
    is_baseline = facts["adapter_sha256"] is None
    return Adapter(facts["arm"], None if is_baseline else int(seed), facts["adapter_sha256"])


def _arguments(run: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = run["model_args"] or {}
    if isinstance(arguments, str):
        return dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
    return dict(arguments)


def _dtype(run: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the type of the weights: as loaded if the backend states it, otherwise as asked."""
    return str(run.get("model_dtype") or arguments.get("dtype")).removeprefix("torch.")


_CHECKPOINT = ("model_revision", "model_sha", "model_num_parameters")
_YEAR_10000 = 253_402_300_800  # in seconds since 1970; no calendar has later dates

_QUANTIZING = ("quantization", "load_in_4bit", "load_in_8bit", "gguf_file", "autogptq", "gptqmodel")


def _quantization(run: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the quantization: as loaded if the backend states it, otherwise as asked for."""
    if "quantization" in run:  # of spor-hf
        return str(run["quantization"])
    settings = (f"{name}={arguments[name]}" for name in _QUANTIZING if _is_on(arguments.get(name)))
    return ", ".join(settings) or "None"


def _is_on(value: object) -> bool:
    return value not in {None, False, "", "False", "false", "None"}


def _training(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return how an adapter was trained, except for the seed and the arm.

    An adapter of an earlier version has no settings, only the number of pairs it was trained on.
    """
    adapter = facts["adapter"]
    settings = adapter.get("settings") or {"pairs": adapter.get("pairs")}
    base = (adapter["base_model"] or {}).get("sha256")
    digests = adapter["arm_sha256"], facts["arms"].get(adapter["arm"])
    return {
        **flat(settings),
        "base_sha256": str(base),
        "training_set": "the task's" if digests[0] == digests[1] else str(digests[0]),
    }


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings as texts under dotted keys."""
    texts: dict[str, str] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        texts |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: str(value)}
    return texts


def _model_name(
    run: Mapping[str, Any], arguments: Mapping[str, Any], adapter: Mapping[str, Any] | None
) -> str:
    name = str(arguments.get("pretrained") or arguments.get("model") or run["model"])
    tuned = arguments.get("peft") or arguments.get("lora_local_path")
    if adapter is not None and adapter["arm"] is None:
        return f"{name} + {tuned}"
    if adapter is not None and adapter["base_model"] and not tuned:  # the base was trained whole
        return str(adapter["base_model"]["path"])
    return name


def _scores(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in _numbers(values) if "_stderr" not in name}


def _with_gaps(
    scores: dict[str, float], spec: SetSpec, combine: Callable[[float, float], float]
) -> dict[str, float]:
    """Add what the gaps come to: they are between scores of different samples."""
    gaps = (gap for gap in spec.gaps if all(name in scores for name in gap))
    return scores | {gap.name: combine(scores[gap.one], scores[gap.other]) for gap in gaps}


def _stderrs(values: Mapping[str, Any]) -> dict[str, float]:
    return {
        name.removesuffix("_stderr"): value
        for name, value in _numbers(values)
        if name.endswith("_stderr") and value >= 0
    }


def _numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in values.items():
        if key.endswith(_FILTER) and isinstance(value, int | float) and math.isfinite(value):
            yield key.removesuffix(_FILTER), float(value)
