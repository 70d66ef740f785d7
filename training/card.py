"""The model card of an adapter, as the hub shows it: `README.md` beside the weights."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from training.selection import METRIC

CARD = "README.md"


def render(manifest: Mapping[str, Any]) -> str:
    """Return the card of the adapter that the manifest is of."""
    base = manifest["base_model"]
    front = {
        **({} if Path(base["path"]).is_dir() else {"base_model": base["path"]}),
        "library_name": "peft",
        "language": "en",
        "tags": ["spor", "lora", "data-to-text", "compositional-generalization"],
    }
    return "\n".join(
        [
            "---",
            yaml.safe_dump(front, sort_keys=False).rstrip(),
            "---",
            "",
            f"# {_title(manifest)}",
            "",
            *_paragraphs(manifest),
        ]
    )


def _title(manifest: Mapping[str, Any]) -> str:
    base = Path(manifest["base_model"]["path"]).name
    return f"{base}, tuned on {manifest['arm'].capitalize()} of SPOR"


def _paragraphs(manifest: Mapping[str, Any]) -> Iterator[str]:
    base, selection = manifest["base_model"], manifest["selection"]
    beams = manifest["config"]["selection"]["beams"]
    task = f"spor_{manifest['aspect']}_{manifest['corpus']}"
    part = f", part {manifest['part']}" if manifest["part"] else ""
    yield (
        f"A LoRA adapter for `{base['path']}`. It writes a text that tells given "
        f"{'triples' if manifest['corpus'] != 'e2e' else 'attributes and values'}, and is made to "
        "measure compositional generalization by SPOR (Xu and Wang, ACL 2024), not for other use. "
        "Its licence is that of its base, if the data allow it."
    )
    yield from ("", "## Training", "")
    yield from _table(
        ("", ""),
        [
            ("arm", f"{manifest['arm']}, of {manifest['aspect']} on {manifest['corpus']}{part}"),
            ("protocol", manifest["protocol"]),
            ("requirements that the sets break", len(manifest["violations"])),
            ("training pairs", manifest["pairs"]),
            ("steps", manifest["steps"]),
            ("seed", manifest["seed"]),
            ("device", manifest["device"]),
            ("epoch that was kept", f"{selection['epoch']}, by policy {selection['policy']}"),
        ],
    )
    yield from ("", "Loss is the mean over target tokens, in nats.", "")
    yield from _epochs(manifest["losses"], selection["scores"])
    if selection["scores"]:
        yield from (
            "",
            f"PARENT is over {selection['samples']} samples; selection.beams is {beams}.",
        )
    yield from ("", "All settings stand in `training.yaml`, all that was measured in `spor.json`.")
    yield from ("", "## Use", "", "```python")
    kind = "Seq2SeqLM" if manifest["prompt_style"] == "seq2seq" else "CausalLM"
    yield from (
        "from peft import PeftModel",
        f"from transformers import AutoModelFor{kind}",
        "",
        f'base = AutoModelFor{kind}.from_pretrained("{base["path"]}")',
        'model = PeftModel.from_pretrained(base, "THIS_FOLDER")',
        "```",
        "",
        "```sh",
        f"spor eval --model spor-hf --model_args pretrained={base['path']},peft=THIS_FOLDER \\",
        f"  --tasks {task} --batch_size 32 --log_samples --output_path results",
        "```",
        "",
    )


def _epochs(losses: Iterable[float], scores: list[Mapping[str, float]]) -> Iterator[str]:
    rows = [(number, f"{loss:.4f}") for number, loss in enumerate(losses, start=1)]
    if not scores:
        return _table(("epoch", "loss"), rows)
    judged = [(*row, f"{found[METRIC]:.2f}") for row, found in zip(rows, scores, strict=True)]
    return _table(("epoch", "loss", "PARENT"), judged)


def _table(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
