"""The commands that would give a missing result, with the options of one that is there."""

import json
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from spor_tasks.core.files import FileContent, is_file
from spor_tasks.results.facts import RECIPE, Adapter

_DEVICE = "cuda:0"  # which lm-eval writes where none was asked for
_OF_RUN = ("limit", "gen_kwargs", "batch_size", "device")
_OF_TASK = ("prompt_style", "fewshot_arm", "split", "held_out_reference", "limit_evenly", "metrics")
_SETS = ("aspect", "corpus", "protocol", "part")
_BUILT_WITH = ("seed", "restarts", "hide", "sets", "lang")
_INCLUDE = "--include_path"
_FOLDERS = ("peft", "lora_local_path")
_ADAPTERS = {*_FOLDERS, "merge"}


@cache
def _judges() -> tuple[str, ...]:
    """Return the settings of metrics by a model."""
    from spor_tasks.metrics.learned import LOADERS  # slow to import

    return tuple(f"{prefix}_{name}" for prefix, of in LOADERS.items() for name in of.settings)


class Options(NamedTuple):
    """The options of an evaluation: the type of its model, this one's arguments, and the others."""

    model: str = ""
    arguments: Mapping[str, object] = {}
    further: tuple[str, ...] = ()
    own_corpus: Mapping[str, object] = {}
    """The file of a corpus of one's own, and what its sets are built with."""

    @classmethod
    def of(cls, content: FileContent, task: str, arguments: FileContent) -> "Options":
        """Return those of a task in a result file, as its words on a command line."""
        run, config = content["config"], content["configs"][task]
        chat = content.get("chat_template")
        settings = {key: config["metadata"].get(key) for key in (*_OF_TASK, *_judges())}
        values = {name: run.get(name) for name in _OF_RUN} | {
            "num_fewshot": config.get("num_fewshot") or None,
            "system_instruction": content.get("system_instruction"),
            "fewshot_as_multiturn": content.get("fewshot_as_multiturn") if chat else None,
            "include_path": _folder(config["metadata"]),
            "metadata": {key: value for key, value in settings.items() if value is not None},
        }
        words = [
            word
            for name, value in values.items()
            if value not in (None, "", {}, _DEVICE)
            for word in (f"--{name}", _typed(value))
        ]
        further = *words, *(["--apply_chat_template"] if chat else [])
        own = config["metadata"].get("own_corpus")
        return cls(run["model"], arguments, further, own if isinstance(own, Mapping) else {})

    @property
    def tuned(self) -> str | None:
        """The base that an adapter is loaded on; None without one."""
        return str(self.arguments.get("pretrained")) if self.arguments.keys() & _ADAPTERS else None

    def as_is(self, adapter: Adapter | None) -> "Options":
        """Return the options for the base of an adapter, or of a model that was trained whole."""
        arguments = {name: value for name, value in self.arguments.items() if name not in _ADAPTERS}
        if adapter and adapter.base_model and len(arguments) == len(self.arguments):
            arguments["pretrained"] = adapter.base_model.path
        return self._replace(arguments=arguments)

    def command(self, task: str) -> str:
        """Return the command that evaluates a task, or several with a comma between them."""
        words = ["spor", "eval", "--tasks", task]
        if self.model:
            own = ["--model_args", _typed(self.arguments)] if self.arguments else []
            words += ["--model", self.model, *own, *self.further]
        return shlex.join([*words, "--output_path", "runs", "--log_samples"])


def training(adapter: Adapter | None, arm: str, task: str, asked: Options) -> str:
    """Return the command that trains on an arm as an adapter was: its base, its sets, its seed.

    The settings in the adapter's folder repeat it, into another folder. Where another program
    trained that, the command writes the pairs of the arm. The options with which the adapter was
    evaluated say where its folder is, and a corpus of one's own.
    """
    if adapter and adapter.is_from_elsewhere:
        pairs = ["spor", "data", "pairs", task, "--arm", arm, "--out", f"{arm}.jsonl"]
        if _INCLUDE in asked.further:
            at = asked.further.index(_INCLUDE)
            pairs += asked.further[at : at + 2]
        return shlex.join(pairs)
    trained = [asked.arguments[key] for key in (*_FOLDERS, "pretrained") if key in asked.arguments]
    folder = Path(str(trained[0])) if trained else None
    if adapter and folder and is_file(folder / RECIPE):
        words = [str(folder / RECIPE), f"data.arm={arm}", f"output={folder}-{arm}"]
        return shlex.join(["spor", "train", *words])
    words = ["spor", "train", "CONFIG", f"data.arm={arm}"]
    if adapter and adapter.sets and adapter.base_model:
        named = {name: getattr(adapter.sets, name) for name in _SETS}
        named |= {name: asked.own_corpus.get(name) for name in _BUILT_WITH}
        named["corpus"] = asked.own_corpus.get("file", named["corpus"])
        words.append(f"model.path={adapter.base_model.path}")
        words += (f"data.{name}={value}" for name, value in named.items() if value)
        words.append(f"optimization.seed={adapter.seed}")
    return shlex.join(words)


def _folder(metadata: FileContent) -> str | None:
    """Return the folder of the task's file, which tasks of one's own corpus are found by."""
    source = metadata.get("config_source") if "own_corpus" in metadata else None
    return str(Path(source).parent) if isinstance(source, str) else None


def _typed(value: object) -> str:
    """Return a value as lm-eval's command line takes it."""
    if not isinstance(value, Mapping):
        return f"{value:g}" if isinstance(value, float) else str(value)
    pairs = [f"{name}={each}" for name, each in value.items()]
    is_plain = not any(set(",{}") & set(pair) or pair.count("=") > 1 for pair in pairs)
    return ",".join(pairs) if is_plain else json.dumps(value)
