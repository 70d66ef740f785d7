"""The model card of an adapter, as the hub shows it: `README.md` beside the weights."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.files import atomic_write
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.registry import registry
from spor_tasks.results.reading import TaskResult
from training.data import find_spec
from training.selection import NAMES

CARD = "README.md"


def write_card(adapter: Path, results: Iterable[TaskResult] = ()) -> None:
    """Write the card of a finished adapter, with results of it, in place of the one it has.

    Raises:
        ResultError: the folder is not a finished adapter.
    """
    with atomic_write(adapter / CARD) as file:
        file.write(render_card(read_manifest(adapter), results).encode())


def render_card(manifest: Mapping[str, Any], results: Iterable[TaskResult] = ()) -> str:
    """Return the card of the adapter that the manifest is of."""
    base, benchmark = manifest["base_model"], _benchmark(manifest)
    model, arm = Path(base["path"]).name, manifest["arm"].capitalize()
    front = {
        **({} if Path(base["path"]).is_dir() else {"base_model": base["path"]}),
        "library_name": "peft",
        "language": "en",
        "tags": [benchmark.name, "lora", "data-to-text", "compositional-generalization"],
    }
    return "\n".join(
        [
            "---",
            yaml.safe_dump(front, sort_keys=False).rstrip(),
            "---",
            "",
            f"# {model}, tuned on {arm} of {benchmark.title}",
            "",
            *_paragraphs(manifest),
            *_results(list(results)),
            "## Use",
            "",
            *_use(manifest),
            "",
        ]
    )


def _spec(manifest: Mapping[str, Any]) -> SetSpec:
    return find_spec(SetName(*(manifest[field] for field in SetName._fields)))


def _benchmark(manifest: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as the registry has it
    return registry().get("benchmark", _spec(manifest).benchmark)


def _paragraphs(manifest: Mapping[str, Any]) -> Iterator[str]:
    base, selection = manifest["base_model"], manifest["selection"]
    config = manifest["config"]
    beams, benchmark = config["selection"]["beams"], _benchmark(manifest)
    part = f", part {manifest['part']}" if manifest["part"] else ""
    yield (
        f"A LoRA adapter for `{base['path']}`. It writes a text that tells given data units, "
        "triples or pairs of attribute and value, and is made to measure compositional "
        f"generalization by [{benchmark.title}]({benchmark.source}), not for other use. Base and "
        "data have licences of their own, which bind it."
    )
    yield from ("", "## Training", "")
    yield from _table(
        ("", ""),
        [
            ("arm", f"{manifest['arm']}, of {manifest['aspect']} on {manifest['corpus']}{part}"),
            ("protocol", manifest["protocol"]),
            ("requirements that the sets break", len(manifest["violations"])),
            ("training pairs", manifest["pairs"]),
            ("LoRA", ", ".join(f"{key} {value}" for key, value in config["lora"].items())),
            ("learning rate", config["optimization"]["learning_rate"]),
            ("sequences a step", _step_size(config["optimization"])),
            ("steps", manifest["steps"]),
            ("seed", manifest["seed"]),
            ("device", manifest["device"]),
            ("epoch that was kept", f"{selection['epoch']}, by policy {selection['policy']}"),
        ],
    )
    yield from ("", "Loss is the mean over target tokens, in nats.", "")
    yield from _epochs(manifest["losses"], selection)
    if selection["scores"]:
        otherwise = " otherwise" if selection["held_out"] else ""
        yield ""
        yield (
            f"{NAMES[selection['metric']]} is over {selection['samples']} samples, of which "
            f"{selection['with_unseen_units']} have a unit that the arm never shows{otherwise}; "
            f"selection.beams is {beams}."
        )
        if selection["held_out"]:
            yield (
                "They were held out: the arm was trained on without the "
                f"{selection['held_out']} of its samples that tell the same as one of these."
            )
    yield from ("", "All settings stand in `training.yaml`, all that was measured in `spor.json`.")
    yield ""


def _results(results: list[TaskResult]) -> Iterator[str]:
    if not results:
        return
    yield from ("## Results", "")
    yield from _table(
        ("task", "metric", "score", "samples"),
        [
            (result.task, name, f"{score:.2f}", result.n)
            for result in sorted(results, key=lambda result: result.task)
            for name, score in result.scores.items()
        ],
    )
    yield ""


def _use(manifest: Mapping[str, Any]) -> Iterator[str]:
    base = manifest["base_model"]
    held = manifest["config"]["model"].get("quantization")
    model = f"pretrained={base['path']},peft=THIS_FOLDER" + (
        f",quantization={held}" if held else ""
    )
    kind = "Seq2SeqLM" if manifest["prompt_style"] == "seq2seq" else "CausalLM"
    yield from (
        "```python",
        "from peft import PeftModel",
        f"from transformers import AutoModelFor{kind}",
        "",
        f'base = AutoModelFor{kind}.from_pretrained("{base["path"]}")',
        'model = PeftModel.from_pretrained(base, "THIS_FOLDER")',
        "```",
        "",
        "```sh",
        f"spor eval --model spor-hf --model_args {model} \\",
        f"  --tasks {tasks_of(manifest)} --batch_size 32 --log_samples --output_path results",
        "```",
    )


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


def _step_size(optimization: Mapping[str, int]) -> int:
    return optimization["batch_size"] * optimization["gradient_accumulation"]


def _epochs(losses: Iterable[float], selection: Mapping[str, Any]) -> Iterator[str]:
    rows = [(number, f"{loss:.4f}") for number, loss in enumerate(losses, start=1)]
    if not selection["scores"]:
        return _table(("epoch", "loss"), rows)
    scores = (f"{found[selection['metric']]:.2f}" for found in selection["scores"])
    judged = [(*row, score) for row, score in zip(rows, scores, strict=True)]
    return _table(("epoch", "loss", NAMES[selection["metric"]]), judged)


def _table(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
