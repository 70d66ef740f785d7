"""The gradient of a batch as a CUDA graph, which a GPU repeats as a whole.

A step of a small model is thousands of short kernels, and a CPU takes longer to start them one by
one than a GPU to compute them. A graph is captured for one shape, so batches are padded to few.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import torch
from accelerate import PartialState
from torch.nn import functional

from spor_tasks.core.errors import ConfigError
from training.bases import Base
from training.batches import Batch
from training.config import TrainingConfig
from training.encoding import IGNORED

AddGradient: TypeAlias = Callable[[Batch, int | torch.Tensor], torch.Tensor]
"""Adds the gradient of a batch's loss, divided by the second argument; returns the loss."""

# Rows get a multiple of so many tokens, and a batch a multiple of so many targets.
_LENGTHS, _TARGETS = 64, 512


class _Captured(NamedTuple):
    """A graph, and the tensors that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    batch: Batch
    divisor: torch.Tensor
    loss: torch.Tensor


class Graphs:
    """The graphs of a run, which share their memory.

    A batch of a new shape is computed as without graphs. The second one of its shape is captured:
    what a first one does once, such as choosing an algorithm, cannot be.
    """

    def __init__(self) -> None:
        self._stream = torch.cuda.Stream()
        self._seen: set[tuple[torch.Size, ...]] = set()
        self._captured: dict[tuple[torch.Size, ...], _Captured] = {}

    def add_gradient(self, compute: AddGradient, batch: Batch, divisor: int) -> torch.Tensor:
        """Do what ``compute`` does; it and the tensors of gradients must be the same each time."""
        batch = in_few_shapes(batch)
        shape = (batch.inputs["input_ids"].shape, batch.labels.shape)
        if shape not in self._seen:
            self._seen.add(shape)
            return self._beside(compute, batch, divisor)
        if shape not in self._captured:
            self._captured[shape] = self._capture(compute, batch)
        captured = self._captured[shape]
        captured.batch.inputs["input_ids"].copy_(batch.inputs["input_ids"])
        captured.batch.labels.copy_(batch.labels)
        captured.batch.positions.copy_(batch.positions)
        captured.divisor.fill_(divisor)
        captured.graph.replay()
        return captured.loss

    def _beside(self, compute: AddGradient, batch: Batch, divisor: int) -> torch.Tensor:
        """Compute on the stream of the captures."""
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            loss = compute(batch, divisor)
        current.wait_stream(self._stream)
        return loss

    def _capture(self, compute: AddGradient, batch: Batch) -> _Captured:
        """Record what the GPU does with a batch of this shape; nothing is computed."""
        own = replace(
            batch,
            inputs={name: tensor.clone() for name, tensor in batch.inputs.items()},
            labels=batch.labels.clone(),
            positions=batch.positions.clone(),
        )
        divisor = torch.ones((), device=batch.labels.device)
        graph = torch.cuda.CUDAGraph()
        others = next(iter(self._captured.values()), None)
        pool = others and others.graph.pool()
        with torch.cuda.graph(graph, pool=pool, stream=self._stream):
            loss = compute(own, divisor)
        return _Captured(graph, own, divisor, loss)


def in_few_shapes(batch: Batch) -> Batch:
    """Return a decoder's padded batch in a shape that is likely to occur again, with its losses.

    Rows get more padding on the right, and targets more that are ignored. Causal attention needs no
    mask for that.
    """
    ids = batch.inputs["input_ids"]
    padded = functional.pad(ids, (0, -ids.shape[1] % _LENGTHS))
    shift = padded.shape[1] - ids.shape[1]
    positions = batch.positions + batch.positions // ids.shape[1] * shift
    more = (0, -len(batch.labels) % _TARGETS)
    return replace(
        batch,
        inputs={"input_ids": padded},
        labels=functional.pad(batch.labels, more, value=IGNORED),
        positions=functional.pad(positions, more),
    )


def check(config: TrainingConfig, base: Base, team: PartialState) -> None:
    """Refuse graphs where they cannot be captured, or where a GPU never tried them.

    Raises:
        ConfigError: the settings, the base or the number of processes do not fit.
    """
    faults = {
        "by several processes": team.num_processes > 1,
        f"with method={config.method}": config.method != "lora",
        f"with objective={config.objective}": config.objective != "likelihood",
        "with model.quantization": config.model.quantization is not None,
        "with optimization.packing": config.optimization.packing,
        "with an encoder": base.style != "causal",
        f"with {base.positions} positions, no multiple of {_LENGTHS}": (
            (base.positions or 0) % _LENGTHS
        ),
    }
    for fault in (what for what, holds in faults.items() if holds):
        raise ConfigError(
            f"optimization.cuda_graphs cannot be used {fault}",
            remedy="Set optimization.cuda_graphs=false.",
        )
