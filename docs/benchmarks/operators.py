"""How many operators a training step starts: the recipe beside the plain loop in each precision.

Their starts are all that a small model's GPU waits for. A step has its forward and backward pass
and the optimizer's update; the recipe's also its packing, masks, and the clipping of its gradient.
Operators that return a view of their input compute nothing and are left out. TRL's SFTTrainer has a
column where it is installed.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import datasets
import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

from docs.benchmarks.training_loops import (
    ARM,
    BFLOAT16,
    PAPER,
    Loop,
    labelled,
    plain_fit,
    prepare_loop,
    small_models,
)
from spor_tasks.core import named
from spor_tasks.core.visible import visible
from training.encoding import Step
from training.lora import fit
from training.objectives.likelihood import Likelihood
from training.processes import join
from training.state import Training, seeded

LORA = {"target_modules": ["q_proj", "v_proj"]}
PRECISIONS = {
    "float32": Loop("float32", PAPER),
    "bfloat16 over float32 weights": Loop("float32", BFLOAT16),
    "bfloat16, LoRA's weights float32": Loop("bfloat16", BFLOAT16),
}
_CAST = "aten._to_copy.default"
_READ = "aten._local_scalar_dense.default"  # a number on the CPU, such as a step's

Count: TypeAlias = Callable[[Training, Likelihood, Sequence[Step]], Counter[str]]
"""Takes two steps, and returns what the second starts; the first makes the optimizer's state."""


class _Started(TorchDispatchMode):  # type: ignore[misc]
    """Counts the operators that are started in its block."""

    def __init__(self, counts: Counter[str]) -> None:
        super().__init__()
        self.counts = counts

    def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(operator)
        if operator.namespace == "aten" and not operator.is_view and name != _READ:
            self.counts[name] += 1
        return operator(*args, **(kwargs or {}))


def by(fit: Callable[[Training, Likelihood, Sequence[Step]], Iterator[object]]) -> Count:
    """Return what counts in a loop that yields after each step."""

    def count(run: Training, objective: Likelihood, steps: Sequence[Step]) -> Counter[str]:
        counts, taken = Counter[str](), fit(run, objective, steps)
        next(taken)
        with _Started(counts):
            next(taken)
        return counts

    return count


def by_plain_bfloat16(run: Training, objective: Likelihood, steps: Sequence[Step]) -> Counter[str]:
    """Count in the plain loop with every weight in bfloat16, LoRA's too."""
    run.model.to(torch.bfloat16)
    return by(plain_fit)(run, objective, steps)


def by_trl(run: Training, objective: Likelihood, steps: Sequence[Step]) -> Counter[str]:
    """Count in TRL's SFTTrainer, on the same model and rows."""
    trl = import_module("trl")  # which no extra brings
    counts, base = Counter[str](), objective.material.base

    class Counting(transformers.TrainerCallback):  # type: ignore[misc]
        """Counts between the beginning and the end of a step."""

        def on_step_begin(self, _: object, state: Any, __: object, **___: object) -> None:
            self.started = _Started(counts if state.global_step else Counter[str]())
            self.started.__enter__()

        def on_step_end(self, *_: object, **__: object) -> None:
            self.started.__exit__(None, None, None)

    numbers = [number for step in steps for number in step.batches[0]]
    rows = [labelled(objective.rows.rows[number], base) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        trl.SFTTrainer(
            model=run.model,
            processing_class=base.tokenizer,
            args=trl.SFTConfig(
                output_dir=folder,
                max_steps=2,
                per_device_train_batch_size=6,
                bf16=run.settings.mixed_precision is not None,
                activation_checkpointing=False,
                use_cpu=run.team.device.type == "cpu",
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=datasets.Dataset.from_list(
                [{"input_ids": row.input_ids, "labels": row.labels} for row in rows]
            ),
            callbacks=[Counting()],
        ).train()
    return counts


def main(models: Sequence[str]) -> None:
    """Print the counts on each model, on a small one made for it if none is named."""
    transformers.utils.logging.disable_progress_bar()
    arm = named.load("systematicity", "mini").arms[ARM]

    def counted(model: str, loop: Loop, count: Count) -> Counter[str]:
        with seeded(0, join().device):
            return count(*prepare_loop(model, loop, arm, 12, LORA)[:3])

    def cell(counts: Counter[str]) -> str:
        return f"{counts.total():,} ({counts[_CAST]})"

    with tempfile.TemporaryDirectory() as folder:
        for model in models or small_models(Path(folder), arm)[:1]:
            print(f"\n{visible(Path(model).name)}, LoRA on query and value, 6 pairs, with casts\n")
            print("| | plain loop | recipe | times as many | TRL |\n|---|---|---|---|---|")
            for name, loop in PRECISIONS.items():
                settings = replace(loop.settings, packing=True, clip_norm=1.0)
                plain = counted(model, loop, by(plain_fit))
                recipe = counted(model, loop._replace(settings=settings), by(fit))
                times = f"{recipe.total() / plain.total():.2f}"
                trl = cell(counted(model, loop, by_trl)) if find_spec("trl") else "–"
                cells = (name, cell(plain), cell(recipe), times, trl)
                print(f"| {' | '.join(cells)} |", flush=True)
            whole = counted(model, Loop("bfloat16", PAPER), by_plain_bfloat16)
            print(f"| all in bfloat16 | {cell(whole)} | – | – | – |")


if __name__ == "__main__":
    main(sys.argv[1:])
