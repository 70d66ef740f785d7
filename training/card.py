"""The model card of an adapter, as the hub shows it: `README.md` beside the weights."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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

_TEXT = """\
---
{front}---

# {model}, tuned on {arm} of {title}

{kind}. It writes a text about given data. It was made to be evaluated with [{title}]({source}), \
not for other use. The licences of its base and its data also apply to it.

## Training

{facts}

Loss is the mean over target tokens, in nats.

{epochs}
{judged}
All settings are in `training.yaml`, all measurements in `spor.json`.

{results}## Use

```python
{loading}
```

```sh
spor eval --model spor-hf --model_args {arguments}{quantization} \\
  --tasks {tasks} --batch_size 32 --log_samples --output_path results
```
"""

_LOADING = {
    "lora": """\
from peft import PeftModel
from transformers import AutoModelFor{auto}

base = AutoModelFor{auto}.from_pretrained("{path}")
model = PeftModel.from_pretrained(base, "THIS_FOLDER")""",
    "full": """\
from transformers import AutoModelFor{auto}

model = AutoModelFor{auto}.from_pretrained("THIS_FOLDER")""",
    "codes": """\
from pathlib import Path

from spor_tasks.evaluation.coded import load
from transformers import AutoModelFor{auto}, AutoTokenizer

base = AutoModelFor{auto}.from_pretrained("{path}")
model = load(base, AutoTokenizer.from_pretrained("{path}"), Path("THIS_FOLDER"))""",
}
_LIBRARIES = {"lora": "peft", "full": "transformers", "codes": "spor-tasks"}
_KINDS = {
    "lora": "A LoRA adapter for `{path}`",
    "full": "`{path}`, all of whose weights were tuned",
    "codes": "Vectors for values of aspects, which precede a text of `{path}`",
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
    path, config = manifest["base_model"]["path"], manifest["config"]
    method = config.get("method", "lora")
    benchmark = registry().get("benchmark", _spec(manifest).benchmark)
    front = {
        **({} if Path(path).is_dir() else {"base_model": path}),
        "library_name": _LIBRARIES[method],
        "language": "en",
        "tags": [
            benchmark.name,
            *(["lora"] if method == "lora" else []),
            "data-to-text",
            *(["compositional-generalization"] if benchmark.name not in benchmark.groups else []),
        ],
    }
    scores = [
        (result.task, name, f"{score:.2f}", result.n)
        for result in sorted(results, key=lambda result: result.task)
        for name, score in result.scores.items()
    ]
    table = _table(("task", "metric", "score", "samples"), scores)
    quantization = config["model"].get("quantization")
    return _TEXT.format(
        front=yaml.safe_dump(front, sort_keys=False),
        model=Path(path).name,
        arm=manifest["arm"].capitalize(),
        title=benchmark.title,
        source=benchmark.source,
        facts=_facts(manifest),
        epochs=_epochs(manifest["losses"], manifest["selection"]),
        judged=_judged(manifest["selection"], config["selection"]["beams"]),
        results=f"## Results\n\n{table}\n\n" if scores else "",
        kind=_KINDS[method].format(path=path),
        loading=_LOADING[method].format(
            auto="Seq2SeqLM" if manifest["prompt_style"] == "seq2seq" else "CausalLM", path=path
        ),
        arguments=",".join(f"{key}={value}" for key, value in _arguments(manifest).items()),
        quantization=f",quantization={quantization}" if quantization else "",
        tasks=tasks_of(manifest),
    )


def _arguments(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments that load it in an evaluation."""
    folder, config = "THIS_FOLDER", manifest["config"]
    if config.get("method") == "full":
        return {"pretrained": folder}
    own = {"tokenizer": folder} if manifest.get("added_tokens") else {}
    return {"pretrained": manifest["base_model"]["path"], "peft": folder, **own}


def tasks_of(manifest: Mapping[str, Any]) -> str:
    """Return the tasks, joined by commas, that test what the adapter was trained for."""
    spec = _spec(manifest)
    tasks = [
        other.task
        for other in named.available()
        if other.trained_on == spec.trained_on
        and other.name.aspect == spec.name.aspect
        and other.name.protocol == spec.name.protocol
    ]
    return ",".join(tasks or [spec.task])


def _spec(manifest: Mapping[str, Any]) -> SetSpec:
    return find_spec(SetName(*(manifest[field] for field in SetName._fields)))


def _facts(manifest: Mapping[str, Any]) -> str:
    selection, config = manifest["selection"], manifest["config"]
    optimization = config["optimization"]
    part = f", part {manifest['part']}" if manifest["part"] else ""
    facts = {
        "arm": f"{manifest['arm']}, of {manifest['aspect']} on {manifest['corpus']}{part}",
        "protocol": manifest["protocol"],
        "requirements that the sets break": len(manifest["violations"]),
        "training pairs": manifest["pairs"],
        **_method(config),
        "learning rate": optimization["learning_rate"],
        "sequences a step": optimization["batch_size"] * optimization["gradient_accumulation"],
        "steps": manifest["steps"],
        "seed": manifest["seed"],
        "device": manifest["device"],
        "epoch that was kept": f"{selection['epoch']}, by policy {selection['policy']}",
    }
    return _table(("", ""), facts.items())


def _method(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what was trained, and what it minimized where that is not the likelihood."""
    tuned = {"LoRA": _listed(config["lora"])}
    if config.get("method") == "full":
        tuned = {"trained": "all weights"}
    elif config.get("method") == "codes":
        tuned = {"trained": "what makes vectors of values"}
    if name := config.get("objective"):
        tuned["objective"] = f"{name}, {_listed(config.get('objective_settings', {}))}"
    return tuned


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def _epochs(losses: Iterable[float], selection: Mapping[str, Any]) -> str:
    header, metric = ["epoch", "loss"], selection["metric"]
    rows: list[list[object]] = [[epoch, f"{loss:.4f}"] for epoch, loss in enumerate(losses, 1)]
    if selection["scores"]:
        header.append(score_info(metric).label)
        judged = [f"{scores.get(metric, math.nan):.2f}" for scores in selection["scores"]]
        unjudged = [""] * (len(rows) - len(judged))  # epochs of an earlier stage
        for row, score in zip(rows, unjudged + judged, strict=True):
            row.append(score)
    return _table(header, rows)


def _judged(selection: Mapping[str, Any], beams: int) -> str:
    if not selection["scores"]:
        return ""
    label = score_info(selection["metric"]).label
    text = (
        f"\n{label} is over {selection['samples']} samples, written with "
        f"selection.beams={beams}; {selection['with_unseen_units']} of them have a unit that no "
        "training sample has.\n"
    )
    if held_out := selection["held_out"]:
        text += (
            f"They were held out: the arm was trained on without the {held_out} of its samples "
            "that tell the same as one of these.\n"
        )
    return text


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [f"| {' | '.join(map(str, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(list(header))}", *lines[1:]])
