"""The model card of an adapter, as the hub shows it: `README.md` beside the weights."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import yaml

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.files import atomic_write
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.registry import registry
from spor_tasks.metrics.base import score_info
from spor_tasks.results.reading import TaskResult
from training.data import find_spec

CARD = "README.md"

# By method: the library that loads it, what it is, and how it is loaded.
_METHODS = {
    "lora": (
        "peft",
        "A LoRA adapter for `{path}`",
        'PeftModel.from_pretrained({auto}.from_pretrained("{path}"), "THIS_FOLDER")',
    ),
    "full": (
        "transformers",
        "`{path}`, all of whose weights were tuned",
        '{auto}.from_pretrained("THIS_FOLDER")',
    ),
    "codes": (
        "spor-tasks",
        "Vectors for values of aspects, which precede a text of `{path}`",
        'coded.load({auto}.from_pretrained("{path}"), tokenizer, Path("THIS_FOLDER"))',
    ),
}


def write_card(adapter: Path, results: Iterable[TaskResult] = ()) -> None:
    """Write the card of a finished adapter, with results of it; it replaces the old card.

    Raises:
        ResultError: the folder is not a finished adapter.
    """
    with atomic_write(adapter / CARD) as file:
        file.write(render_card(read_manifest(adapter), results).encode())


def render_card(manifest: Mapping[str, Any], results: Iterable[TaskResult] = ()) -> str:
    """Return the card of the adapter with this manifest."""
    path, selection = manifest["base_model"]["path"], manifest["selection"]
    library, kind, loading = _METHODS[manifest["config"]["method"]]
    auto = "Seq2SeqLM" if manifest["prompt_style"] == "seq2seq" else "CausalLM"
    benchmark = registry().get("benchmark", _spec(manifest).benchmark)
    front = {
        **({} if Path(path).is_dir() else {"base_model": path}),
        "library_name": library,
        "language": "en",
        "tags": [benchmark.name, "data-to-text"],
    }
    scores = [f"{s.get(selection['metric'], math.nan):.2f}" for s in selection["scores"]]
    without = [""] * (len(manifest["losses"]) - len(scores))  # epochs of an earlier stage
    template = jinja2.Template(
        Path(__file__).with_name("card.md.j2").read_text("utf-8"),
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    card: str = template.render(
        run=manifest,
        front=yaml.safe_dump(front, sort_keys=False),
        model=Path(path).name,
        benchmark=benchmark,
        kind=kind.format(path=path),
        loading=loading.format(path=path, auto=f"AutoModelFor{auto}"),
        epochs=list(zip(manifest["losses"], without + scores, strict=True)),
        judged=bool(scores),
        label=score_info(selection["metric"]).label,
        scores=[
            (result.task, name, score, result.n)
            for result in sorted(results, key=lambda result: result.task)
            for name, score in result.scores.items()
        ],
        arguments=",".join(f"{key}={value}" for key, value in _arguments(manifest).items()),
        tasks=tasks_of(manifest),
    )
    return card


def _arguments(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments that load it in an evaluation."""
    folder, config = "THIS_FOLDER", manifest["config"]
    if config["method"] == "full":
        return {"pretrained": folder}
    own = {"tokenizer": folder} if manifest.get("added_tokens") else {}
    reduced = config["model"]["quantization"]
    return {
        "pretrained": manifest["base_model"]["path"],
        "peft": folder,
        **own,
        **({"quantization": reduced} if reduced else {}),
    }


def tasks_of(manifest: Mapping[str, Any]) -> str:
    """Return the tasks, joined by commas, that test what the adapter was trained for."""
    spec = _spec(manifest)
    tasks = [
        each.task
        for each in named.available()
        if each.trained_on == spec.trained_on
        and each.name.aspect == spec.name.aspect
        and each.name.protocol == spec.name.protocol
    ]
    return ",".join(tasks or [spec.task])


def _spec(manifest: Mapping[str, Any]) -> SetSpec:
    return find_spec(SetName(*(manifest[field] for field in SetName._fields)))
