"""The installed lm-eval, of version 0.4 or 0.5: everything in which these differ for our tasks."""

import logging
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import distributions, version
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any, TypeAlias

from lm_eval.api import registry
from lm_eval.api import task as tasks
from lm_eval.api.instance import Instance
from lm_eval.utils import sanitize_model_name
from tqdm.asyncio import tqdm_asyncio

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.files import shortened

Fields: TypeAlias = Mapping[str, object]
"""A document, settings or facts, as lm-eval keeps them."""

IS_NEW = hasattr(tasks.Task, "process_instances")
"""Whether lm-eval is 0.5, which scores a task's documents by itself."""

if IS_NEW:
    from lm_eval.api.metrics import Metric, mean, mean_stderr
    from lm_eval.api.registry import metric_registry
    from lm_eval.api.task._generation import GenerateTask as Base
else:
    Base = tasks.ConfigurableTask


def as_spor(show: Callable[..., object]) -> Callable[..., object]:
    """Return a hook that prints an error of ours and ends with status 2, as `spor` does.

    It shows any other error.
    """

    def hook(kind: type[BaseException], raised: BaseException, trace: object) -> None:
        if not isinstance(raised, SporError):
            show(kind, raised, trace)
            return
        sys.stderr.write(f"error: {raised}\n")
        raise SystemExit(2)

    return hook


_program = Path(sys.argv[0])
if {"lm_eval", "lm-eval"} & {_program.name, _program.parent.name}:  # lm-eval's own command
    sys.excepthook = as_spor(sys.excepthook)


class HostTask(Base):  # type: ignore[misc]  # lm-eval has no types
    """A generation task with the same hooks in both versions."""

    def request(self, doc: Fields, context: object, idx: int, **kwargs: object) -> Instance:
        """Return lm-eval's own request for a context, the one of this number of a document."""
        result = super().construct_requests(doc, context, **kwargs)
        request = result[0] if isinstance(result, list) else result
        request.idx = idx
        return request

    def set_num_fewshot(self, number: int) -> None:
        """Set the number of demonstrations as 0.4 does, by its key."""
        if self.config.num_fewshot != 0:  # a task that has none keeps none
            self.set_config("num_fewshot", int(number))

    def aggregate(self, bootstrap_iters: int | None = None) -> tuple[dict[str, float], int]:
        """Return the scores with lm-eval's standard errors of means, and ours of all others.

        0.5 would draw 100,000 resamples for any score that is not a mean.
        """
        results, count = super().aggregate(bootstrap_iters=0)
        for scorer in self.scorers if bootstrap_iters else ():
            for metric in scorer.metrics or ():
                values = [
                    each[metric.name]
                    for each in scorer.reduced_docs.values()
                    if metric.name in each
                ]
                if metric.aggregation is mean and len(values) > 1:
                    results[f"{metric.name}_stderr,{scorer.name}"] = mean_stderr(values)
        return results, count


def folder_name(model: str) -> str:
    """Return the name of the folder that lm-eval makes for the results of a model.

    lm-eval's own may be too long for a file system, which it notices after the last sample, or be
    that of the folder above.
    """
    name = sanitize_model_name(model)
    return f"_{name}" if name in {".", ".."} else shortened(name)


def keep_folder_names_short() -> None:
    """Let lm-eval's own command name its folders so; safe to repeat."""
    if tracker := sys.modules.get("lm_eval.loggers.evaluation_tracker"):
        vars(tracker)["sanitize_model_name"] = folder_name


def request(doc: Fields, prompt: str, settings: Fields, number: int, task: str = "") -> Instance:
    """Return a request to generate a text, the one of this number of a task."""
    place = {"task_name": task, "doc_id": number} if IS_NEW else {"metadata": (task, number, 1)}
    return Instance("generate_until", doc, (prompt, settings), idx=number, **place)


def store(instance: Instance, name: str, answer: object) -> None:
    """Store what a chain of filters left of an output."""
    instance.filtered_resps[name] = [answer] if IS_NEW else answer


def check_limit(limit: object) -> None:
    """Refuse a limit that lm-eval would not keep, or fail at.

    Raises:
        ConfigError: it is neither a whole number from 1 nor a share above 0 and below 1.
    """
    number = limit if isinstance(limit, int | float) and not isinstance(limit, bool) else 0
    if limit is None or 0 < number < 1 or (number >= 1 and float(number).is_integer()):
        return
    raise ConfigError(
        f"{limit!r} is neither a whole number from 1 nor a share such as 0.1",
        where="limit",
        remedy="Leave the setting out to evaluate everything.",
    )


@cache
def check_limits() -> None:
    """Let lm-eval's own command refuse such limits too: it gives them to tasks as other numbers."""
    from lm_eval import evaluator  # takes a second

    size_of = getattr(evaluator, "get_sample_size", lambda _, limit: limit)  # 0.5 may have none

    def checked(task: object, limit: object) -> object:
        check_limit(limit)
        return size_of(task, limit)

    evaluator.get_sample_size = checked


@cache
def describe_machine_once() -> None:
    """Let lm-eval describe the machine once in a process, not after each evaluation.

    Outside a repository its call of git says nothing.
    """
    from lm_eval import evaluator  # takes a second

    commit_of = evaluator.get_git_commit_hash

    def commit() -> str | None:
        asked = ["git", "rev-parse", "--git-dir"]
        try:
            subprocess.run(asked, check=True, capture_output=True)  # noqa: S603 - as lm-eval
        except (OSError, subprocess.CalledProcessError):
            return None
        found: str | None = commit_of()
        return found

    evaluator.get_git_commit_hash = commit
    facts = cache(partial(of_machine, evaluator.add_env_info))
    evaluator.add_env_info = lambda results: results.update(facts())


def of_machine(describe: Callable[[dict[str, object]], None]) -> Fields:
    """Return what lm-eval says of the machine.

    It would run `pip list`, and import transformers only for its version, which takes a second.
    """
    facts: dict[str, object] = {}
    spec = None if "transformers" in sys.modules else find_spec("transformers")
    if spec:
        named = sys.modules[spec.name] = module_from_spec(spec)
        vars(named)["__version__"] = version(spec.name)
    if "torch" in sys.modules:
        from torch.utils import collect_env

        listed = partial(collect_env.get_pip_packages, lambda _: (0, _packages(), ""))
        collect_env.get_pip_packages = lambda _: listed()
    try:
        describe(facts)
    finally:
        if spec:
            del sys.modules[spec.name]
    return facts


def _packages() -> str:
    """Return the installed packages as `pip list --format=freeze` does.

    One is left out whose metadata are damaged, so that it has no name.
    """
    facts = [each.metadata for each in distributions() if "Name" in each.metadata]
    # of a package that is there twice, Python finds the first
    found = {each["Name"].lower().replace("_", "-"): each for each in reversed(facts)}
    return "\n".join(f"{found[name]['Name']}=={found[name]['Version']}" for name in sorted(found))


_BARS = ("api.model", "api.task", "models.api_models", "models.huggingface", "models.dummy")
"""Modules of lm-eval with progress bars that ours replace."""


class _NoBar(tqdm_asyncio):  # type: ignore[type-arg]
    """A bar that is not shown."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "disable": True})


@contextmanager
def quietly() -> Iterator[None]:
    """Hide lm-eval's own progress bars in the block, and its warnings if nobody set up logging."""
    replaced = [
        (module, name, vars(module)[name])
        for module in filter(None, (sys.modules.get(f"lm_eval.{name}") for name in _BARS))
        for name in ("tqdm", "tqdm_asyncio")
        if name in vars(module)
    ]
    for module, name, _ in replaced:
        setattr(module, name, _NoBar)
    printing = logging.lastResort or logging.NullHandler()  # which prints warnings then
    printing.addFilter(_is_no_warning_of_theirs)
    try:
        yield
    finally:
        printing.removeFilter(_is_no_warning_of_theirs)
        for module, name, bar in replaced:
            setattr(module, name, bar)


def _is_no_warning_of_theirs(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR or not record.name.startswith("lm_eval.")


def declare(metrics: Iterable[str]) -> None:
    """Tell lm-eval the names of metrics whose values come from tasks; 0.5 warns of others."""
    for name in metrics if IS_NEW else ():
        if name not in metric_registry:
            metric = Metric(name, _unknown, output_type={"generate_until", "loglikelihood"})
            metric_registry.register(name, target=metric)


def as_metric(
    name: str, judge: Callable[..., object], total: Callable[..., float], *, higher_is_better: bool
) -> object:
    """Return a metric as lm-eval's registry of metrics has it, and declare what it says of it."""
    if IS_NEW:
        return Metric(
            name,
            judge,
            aggregation=total,
            higher_is_better=higher_is_better,
            output_type={"generate_until"},
        )
    for known, fact in (
        (registry.metric_agg_registry, total),
        (registry.higher_is_better_registry, higher_is_better),
    ):
        if name not in known:
            known.register(name, target=fact)
    return judge


def _unknown(*_: object) -> float:
    raise NotImplementedError("tasks give the values")
