"""Makes the installed lm-eval know this package's parts, as entry points will.

lm-eval's pull requests 4013 to 4015 read entry points of models, filters, metrics, aggregations and
tasks. The installed release does not, so this package registers itself as soon as both are
imported. It imports nothing of lm-eval, which takes a second: each module of lm-eval gets its part
when it is loaded.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

TASKS = Path(__file__).parents[1] / "tasks"
"""The folder of all task files."""

STUBS = "spor_tasks_stubs"
"""The folder in lm-eval's own tasks that registers ours there."""

MODEL_TYPE = "model_type"
"""The key of a task's metadata with lm-eval's name of the type of model, where it is known."""

CHECKED = "spor_checked"
"""The key of a task's metadata that says that `spor eval` checked it, and gave its hints."""

_FILTERS, _SCORES = "spor_tasks.harness.filters", "spor_tasks.harness.components"

ENTRIES: Mapping[str, Mapping[str, str]] = {
    "lm_eval.tasks": {"spor": "spor_tasks.tasks"},
    "lm_eval.models": {
        "spor-hf": "spor_tasks.models.hf:SporHF",
        "spor-vllm": "spor_tasks.models.vllm:SporVLLM",
    },
    "lm_eval.filters": {
        name: f"{_FILTERS}:{name}"
        for name in (
            "spor_first_line",
            "spor_strip_reasoning",
            "spor_strip_preamble",
            "spor_unwrap",
            "spor_after_separator",
            "spor_logicnlg_published",
        )
    },
    "lm_eval.metrics": {
        name: f"{_SCORES}:{name}"
        for name in ("spor_bleu", "spor_chrf", "spor_chrf_plus_plus", "spor_empty", "spor_ter")
    },
    "lm_eval.aggregations": {
        name: f"{_SCORES}:total_of_{name}"
        for name in ("spor_bleu", "spor_chrf_plus_plus", "spor_ter")
    },
}
"""The entry points of this package, by lm-eval's groups; pyproject.toml has the same."""


def join() -> None:
    """Give lm-eval's modules their parts, now or when they are loaded; safe to repeat."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name, part in _PARTS.items():
        if name in sys.modules:
            part(sys.modules[name])


class _Finder(MetaPathFinder):
    """Finds modules of lm-eval as the other finders do, and gives each its part once loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if (part := _PARTS.get(fullname)) is None:
            return None
        finders = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(fullname, path, target) for finder in finders)
        spec = next(filter(None, specs), None)
        if spec and spec.loader:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                part(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _register(*kinds: str) -> Callable[[ModuleType], None]:
    def register(_: ModuleType) -> None:
        registries = sys.modules["lm_eval.api.registry"]
        for kind in kinds:
            registry = getattr(registries, f"{kind}_registry")
            for name, target in ENTRIES[f"lm_eval.{kind}s"].items():
                if name not in registry:
                    registry.register(name, target=target)

    return register


def _add_tasks(module: ModuleType) -> None:
    index, defaults = module.TaskIndex, Path(str(module.__file__)).parent
    build = index.build

    @wraps(build)
    def with_ours(paths: Iterable[Path], **settings: object) -> object:
        return build(with_tasks([*map(Path, paths)], defaults), **settings)

    index.build = staticmethod(with_ours)


def with_tasks(paths: Sequence[Path], defaults: Path) -> list[Path]:
    """Return folders of tasks with ours after lm-eval's own, but none of them twice.

    Twice, each task would override itself with a warning. Ours are there as stubs, too.
    """
    stub = next((defaults / STUBS).glob("*.yaml"), None) if defaults in paths else None
    is_registered = stub is not None and str(TASKS) in stub.read_text("utf-8", "replace")
    known = [path for path in dict.fromkeys(paths) if not (is_registered and path == TASKS)]
    has_ours = any(TASKS in (path, *path.parents) or path in TASKS.parents for path in known)
    if defaults in known and not is_registered and not has_ours:
        known.insert(known.index(defaults) + 1, TASKS)
    return known


def _name_models(module: ModuleType) -> None:
    evaluate = module.simple_evaluate
    names = {target: name for name, target in ENTRIES["lm_eval.models"].items()}

    @wraps(evaluate)
    def simple_evaluate(model: Any, *args: Any, **settings: Any) -> Any:
        kind = type(model)
        name = names.get(f"{kind.__module__}:{kind.__name__}", model)
        if isinstance(name, str) and name in names.values():  # tasks ask only ours for beams
            settings["metadata"] = {MODEL_TYPE: name, **(settings.get("metadata") or {})}
        return evaluate(model, *args, **settings)

    module.simple_evaluate = simple_evaluate  # type: ignore[attr-defined]


_PARTS: Mapping[str, Callable[[ModuleType], None]] = {
    "lm_eval.models": _register("model"),
    "lm_eval.filters": _register("filter"),
    "lm_eval.api.metrics": _register("metric", "aggregation"),
    "lm_eval.tasks._index": _add_tasks,
    "lm_eval.evaluator": _name_models,
}
