"""Evaluates models on our tasks, one after another; a base that several share is loaded once."""

import ctypes
import gc
import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

import lm_eval.models  # noqa: F401 - lm-eval registers its own models only if it is before others
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, model_registry
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker
from lm_eval.utils import simple_parse_args_string

from spor_tasks.core import hosts, plain_yaml
from spor_tasks.core.errors import ConfigError, ResultError, advice, misspelt
from spor_tasks.core.files import is_file, read_text, writing
from spor_tasks.core.foreign import import_first
from spor_tasks.core.visible import visible
from spor_tasks.evaluation import asking
from spor_tasks.harness import host, task_files
from spor_tasks.models import backends, checkpoints, continued

Arguments: TypeAlias = Mapping[str, object]
"""The arguments of one of lm-eval's models, such as ``pretrained`` and ``peft``."""

SimpleResults: TypeAlias = dict[str, Any]
"""The results of lm-eval's ``simple_evaluate``."""

_MODELS = {
    **hosts.ENTRIES["lm_eval.models"],
    "spor-baseline": "spor_tasks.evaluation.baseline_run:BaselineLM",
}

# Functions that replace the adapter of a loaded model, if that is as loading it anew; false if not.
_SWAPS = {
    "peft": "spor_tasks.models.hf:swap_adapter",
    "lora_local_path": "spor_tasks.models.vllm:swap_adapter",
}

_OPTIONS = (
    "metadata",
    "log_samples",
    "num_fewshot",
    "limit",
    "write_out",
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
    "gen_kwargs",
    "predict_only",
    "verbosity",
)
"""Options that lm-eval's ``simple_evaluate`` takes by the same names."""

_SEEDS = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")

_OF_TRANSFORMERS = (
    "attn_implementation",
    "cache_dir",
    "device_map",
    "local_files_only",
    "low_cpu_mem_usage",
    "token",
    "torch_dtype",
    "use_safetensors",
    "variant",
)
"""Further arguments, which lm-eval's models of transformers pass on."""

_OF_OTHERS = ("ubatch_size",)
"""Arguments that models of vLLM and SGLang pass on, and that are nearly another's name."""

_ARGUMENTS = "The documentation of lm-eval's models names all."

_CANNOT_LOAD = (
    "Check its folder, and that of its adapter. A server needs tokenizer_backend=None, or a "
    "tokenizer that can be loaded, which tokenizer= names."
)

_log = logging.getLogger(__name__)


def register_models() -> None:
    """Register our models with lm-eval, without importing torch; safe to repeat."""
    for name, target in _MODELS.items():
        if name not in model_registry:
            model_registry.register(name, target=target)


def options_of(config: EvaluatorConfig) -> dict[str, Any]:
    """Return the options that an evaluation with these settings takes."""
    seeds = config.seed or [None] * len(_SEEDS)
    options = {name: getattr(config, name) for name in _OPTIONS}
    return {**options, **dict(zip(_SEEDS, seeds, strict=True))}


class Evaluator:
    """Evaluates models of one type, each as lm-eval would in a process of its own.

    The last base stays loaded, and its adapters are swapped. ``model`` is lm-eval's name of a model
    type; ``settings`` are the ones it is loaded with: ``batch_size``, ``max_batch_size``,
    ``device``. ``written`` are the result files so far.
    """

    def __init__(self, model: str, **settings: str | int | None) -> None:
        register_models()
        self._type = model
        # The default of lm-eval's command line; that of its models fails without a GPU.
        self._settings = settings | {"device": settings.get("device") or EvaluatorConfig().device}
        self._loaded: tuple[Arguments, LM] | None = None
        self.written: list[Path] = []

    def evaluate(
        self,
        models: Sequence[Arguments],
        tasks: Sequence[str],
        out: Path | None = None,
        *,
        on_result: Callable[[Arguments, SimpleResults], None] = lambda *_: None,
        **options: Any,
    ) -> list[SimpleResults]:
        """Evaluate models on our tasks; return lm-eval's results and write them to ``out``.

        ``on_result`` is called with each result as soon as there is one. ``options`` are those of
        lm-eval's ``simple_evaluate``, such as ``limit``. If several processes share the work, all
        but the first have no results. If one of several models fails, the others are still
        evaluated.

        Raises:
            SporError: the checkpoint or the data of a task is missing, or they do not fit.
            ConfigError: ``out`` cannot be written.
            ResultError: the results of a model were not written whole, or some of several models
                failed.
        """
        results, failures = [], []
        for number, arguments in enumerate(models, start=1):
            name = name_of(arguments)
            if len(models) > 1:
                _log.info("%d of %d: %s", number, len(models), name)
            try:
                result = self._evaluate(arguments, tasks, out, **options)
            except Exception as error:
                if len(models) == 1:
                    raise
                _log.exception("%s failed", name)
                failures.append(f"{name}: {error}")
                self.release()
                continue
            if result is not None:
                results.append(result)
                on_result(arguments, result)
        if failures:
            counts = f"{len(failures)} of {len(models)} models failed"
            raise ResultError(failures[0], each=failures[1:], where=counts)
        return results

    def release(self) -> None:
        """Drop the loaded model and free its memory."""
        self._loaded = None
        gc.collect()
        # Otherwise glibc keeps fragments of it: 8 GB after 28 trainings that need 3 GB.
        with suppress(AttributeError, OSError, TypeError):  # not glibc
            ctypes.CDLL(None).malloc_trim(0)
        if (torch := sys.modules.get("torch")) and torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _evaluate(
        self,
        model_args: Arguments,
        tasks: Sequence[str],
        out: Path | None,
        *,
        metadata: Arguments | None = None,
        log_samples: bool = True,
        include: Path | None = None,
        **options: object,
    ) -> SimpleResults | None:
        if out:
            prepare(out, tasks)
        host.describe_machine_once()
        import_first("torch")  # lm-eval seeds it
        tracker = EvaluationTracker(output_path=str(out) if out else None)
        model = self._load(model_args)
        if self._type == "dummy" and not options.get("apply_chat_template"):
            model.tokenizer = None  # lm-eval would fetch one, only to name its special tokens
        run = continued.Conditions.of(
            model, self._type, model_args, tasks, self._settings | options
        )
        kept = continued.keeping(model, run, continued.folder_of(out))
        with host.quietly(), kept as remove_kept:
            results: SimpleResults | None = simple_evaluate(
                model=model,
                model_args=dict(model_args),
                tasks=list(tasks),
                task_manager=task_files.manager(
                    {**model_args, **(metadata or {})},
                    include,
                    **{hosts.MODEL_TYPE: self._type, hosts.CHECKED: True},
                ),
                evaluation_tracker=tracker,
                log_samples=log_samples,
                **self._settings,
                **options,
            )
            if results is None:
                return None
            # If a model is already loaded, lm-eval writes its class instead of its name.
            facts = tracker.general_config_tracker
            results["config"]["model"] = facts.model_source = self._type
            # lm-eval names the folder after an adapter of hf, but after the base of one of vllm.
            facts.model_name = checkpoints.Checkpoint.read(model_args).adapter or facts.model_name
            facts.model_name_sanitized = host.folder_name(facts.model_name)
            samples = results.pop("samples", None) or {}
            tracker.save_results_aggregated(results=results, samples=samples)
            for name, rows in samples.items():
                tracker.save_results_samples(task_name=name, samples=rows)
            if out:
                counts = {name: len(rows) for name, rows in samples.items()}
                self.written += _check_written(out, tracker.date_id, counts)
        remove_kept()
        return results

    def _load(self, arguments: Arguments) -> LM:
        """Return the model with its adapter; it is loaded only if the last one cannot be reused."""
        base = {key: value for key, value in arguments.items() if key not in checkpoints.ADAPTERS}
        if self._loaded is not None:
            loaded_base, model = self._loaded
            with checkpoints.running(model):
                adapter = checkpoints.Checkpoint.read(arguments).adapter
                argument = backends.backend(self._type).adapter
                # a model without adapters is as it was loaded
                swap = resolve_name(_SWAPS[argument]) if argument else lambda *_: adapter is None
                if loaded_base == base and swap(model, adapter):
                    return model
            del model
            self.release()  # first, since there may not be room for two
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's command line has it
        with checkpoints.loading(str(arguments.get("pretrained", self._type)), _CANNOT_LOAD):
            kind = get_model(self._type)
            is_of_transformers = backends.backend(self._type).on_transformers
            further = _OF_TRANSFORMERS if is_of_transformers else _OF_OTHERS
            _check_arguments(kind, arguments, further)
            model = kind.create_from_arg_obj(arguments, self._settings)
        weights = getattr(getattr(model, "_model", None), "dtype", None)
        place = str(getattr(model, "device", None))
        if (str(weights), place) == ("torch.bfloat16", "cpu") and backends.lacks_bfloat16():
            _log.warning("this processor computes bfloat16 slowly: dtype=float32 is faster")
        for name in filter(partial(hasattr, model), asking.REQUESTS):
            answer: Callable[..., object] = partial(asking.shown(getattr(type(model), name)), model)
            if hasattr(model, "_model"):  # it runs here
                answer = checkpoints.running(model)(answer)
            setattr(model, name, answer)
        self._loaded = base, model
        return model


def _check_arguments(kind: type[LM], arguments: Arguments, further: Sequence[str]) -> None:
    """Refuse a misspelt argument; a name that is like no other may be transformers' own."""
    makers = (vars(part).get("__init__", object.__init__) for part in kind.__mro__)
    taken = chain(*(inspect.signature(each).parameters.values() for each in makers))
    rest = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    names = (each.name for each in taken if each.kind not in rest and each.name != "self")
    known = dict.fromkeys(chain(names, further))
    if name := misspelt(arguments, known):
        what, remedy = f"there is no argument {name!r}", advice(name, known, _ARGUMENTS)
        raise ConfigError(what, where="model_args", remedy=remedy)


def name_of(arguments: Arguments) -> str:
    """Return the arguments of a model as one text, as a command line has them."""
    return visible(",".join(f"{key}={value}" for key, value in arguments.items()))


def prepare(out: Path, tasks: Iterable[str]) -> None:
    """Make the folder of the results; refuse what lm-eval could not write after the last sample.

    Raises:
        ConfigError: the folder cannot be written, or a file in it would have too long a name.
    """
    is_file = out.suffix == ".json"
    names = [*tasks, *([out.stem] if is_file else [])]
    if long := [name for name in names if len(os.fsencode(name)) > task_files.LONGEST_TASK]:
        raise ConfigError(
            f"the name {long[0]:.40}… is too long for the files of results",
            where=out,
            remedy=f"A name may have {task_files.LONGEST_TASK} bytes.",
        )
    with writing(out):
        (out.parent if is_file else out).mkdir(parents=True, exist_ok=True)


def _check_written(out: Path, date: str, rows: Mapping[str, int]) -> list[Path]:
    """Return the result file; remove and refuse what lacks something: lm-eval only warns of it."""
    folder = out.parent if out.suffix == ".json" else out
    files = {file.name: file for file in folder.rglob(f"*_{date}.json*")}
    missing = []
    for name, count in rows.items():
        file = files.get(f"samples_{name}_{date}.jsonl")
        if file is None or file.read_bytes().count(b"\n") != count:
            missing.append(f"samples of {name}")
    # lm-eval indents what is inside, so that only the last line of a whole file is this one
    results = [file for file in files.values() if file.suffix == ".json"]
    if not any(file.read_bytes().endswith(b"\n}") for file in results):
        missing.append("results")
    if missing:
        for file in files.values():
            file.unlink()
        raise ResultError(
            f"the {missing[0]} could not be written whole",
            where=out,
            remedy="Check that the disk has room, and run the command again.",
        )
    return results


def read_models(sources: Sequence[str]) -> Iterator[Arguments]:
    """Yield the arguments of checkpoints given as ``pretrained=…,peft=…`` or in files.

    A file has one checkpoint per line, or is a YAML list of such texts or of mappings. Empty lines
    and lines that begin with `#` are ignored.

    Raises:
        ConfigError: a file is missing or has something else, such as a YAML alias.
    """
    for text in sources:
        file = Path(text)
        if not is_file(file) and "=" in text:
            yield _arguments(text, text)
            continue
        content = read_text(file)
        lines = [line.strip() for line in content.splitlines()]
        items: object = [line for line in lines if line and not line.startswith("#")]
        if items and file.suffix in {".yaml", ".yml"}:
            items = plain_yaml.parse(content, str(file))
        if not items or not isinstance(items, list):
            raise ConfigError(
                "is not a list of models",
                where=file,
                remedy="Write one pretrained=BASE,peft=ADAPTER per line.",
            )
        for number, item in enumerate(items, start=1):
            yield _arguments(item, f"{file}, entry {number}")


def _arguments(item: object, place: str) -> Arguments:
    arguments: object = item
    if isinstance(item, str):
        with suppress(ValueError):  # a text stays one, and is none
            arguments = simple_parse_args_string(item)
    if not isinstance(arguments, dict) or not arguments.get("pretrained"):
        raise ConfigError(
            f"{item!r:.200} is not a model",
            where=place,
            remedy="Write pretrained=BASE,peft=ADAPTER.",
        )
    return arguments
