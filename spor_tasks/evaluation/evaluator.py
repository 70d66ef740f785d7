"""Evaluating checkpoints in this process, one after another, without starting anew for each."""

import ctypes
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import lm_eval.models  # noqa: F401 - lm-eval registers its own models only if it is before others
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, model_registry
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker

from spor_tasks.harness import task_files

_MODELS = {
    "spor-hf": "spor_tasks.evaluation.hf:SporHF",
    "spor-baseline": "spor_tasks.evaluation.baseline_model:BaselineLM",
}

Arguments = dict[str, Any]
"""The arguments of one of lm-eval's models, such as ``pretrained`` and ``peft``."""


def register_models() -> None:
    """Have lm-eval know our models; again is harmless, and torch is not imported for it."""
    for name, target in _MODELS.items():
        if name not in model_registry:
            model_registry.register(name, target=target)


class Evaluator:
    """Evaluates checkpoints, each as lm-eval would if it were started for that one alone.

    The base that was loaded last stays, and its adapters are swapped. ``model`` is lm-eval's name
    of a kind of model; ``settings`` are those that it is loaded with: ``batch_size``,
    ``max_batch_size``, ``device``.
    """

    def __init__(self, model: str, **settings: str | int | None) -> None:
        register_models()
        self._kind = model
        # As lm-eval's command line: its models' own default fails where there is no GPU.
        self._settings = settings | {"device": settings.get("device") or EvaluatorConfig().device}
        self._loaded: tuple[Arguments, LM] | None = None

    def evaluate(
        self,
        arguments: Mapping[str, Any],
        names: Sequence[str],
        out: Path | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        hub: Mapping[str, Any] | None = None,
        log_samples: bool = True,
        **options: Any,  # noqa: ANN401 - passed on
    ) -> dict[str, Any] | None:
        """Evaluate a checkpoint on tasks of ours; return what lm-eval found, and write it to out.

        ``options`` are those of lm-eval's ``simple_evaluate``, ``hub`` those of its tracker. Among
        several processes all but the first return None.

        Raises:
            SporError: the checkpoint or the data of a task is not at hand, or they do not fit.
        """
        given = dict(arguments)
        tracker = EvaluationTracker(output_path=str(out) if out else None, **(hub or {}))
        found: dict[str, Any] | None = simple_evaluate(
            model=self._model(given),
            model_args=given,
            tasks=list(names),
            task_manager=task_files.manager(given | dict(metadata or {})),
            evaluation_tracker=tracker,
            log_samples=log_samples,
            **self._settings,
            **options,
        )
        if found is None:
            return None
        # Of a model that is loaded already lm-eval takes the class for the name.
        found["config"]["model"] = tracker.general_config_tracker.model_source = self._kind
        samples = found.pop("samples", None) or {}
        tracker.save_results_aggregated(results=found, samples=samples)
        for name, rows in samples.items():
            tracker.save_results_samples(task_name=name, samples=rows)
        return found

    def release(self) -> None:
        """Let go of the model that is loaded, and of its memory."""
        self._loaded = None
        gc.collect()
        # Else glibc keeps it for this process, in pieces: 8 GB after 28 trainings that take 3.
        with suppress(AttributeError, OSError, TypeError):  # of other systems
            ctypes.CDLL(None).malloc_trim(0)
        if (torch := sys.modules.get("torch")) and torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _model(self, arguments: Arguments) -> LM:
        """Return the model with its adapter, loaded only where the last one is of no use."""
        base = {name: value for name, value in arguments.items() if name != "peft"}
        if self._loaded is not None:
            loaded_base, model = self._loaded
            if loaded_base == base and _swap_adapter(model, arguments.get("peft")):
                return model
            del model
            self.release()  # before the next one: there may be no room for two
        os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's command line has it
        model = get_model(self._kind).create_from_arg_obj(arguments, self._settings)
        self._loaded = base, model
        return model


def _swap_adapter(model: LM, adapter: str | None) -> bool:
    hugging_face = sys.modules.get("lm_eval.models.huggingface")
    if hugging_face is None or not isinstance(model, hugging_face.HFLM):
        return adapter is None  # what takes no adapters is as it was loaded
    from spor_tasks.evaluation import hf  # noqa: PLC0415 - torch, which is loaded by now

    return hf.swap_adapter(model, adapter)
