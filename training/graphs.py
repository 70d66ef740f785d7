"""The gradient of a batch as a CUDA graph, which a GPU repeats as a whole.

A step of a small model is thousands of short kernels, and a CPU takes longer to start them one by
one than a GPU to compute them. A graph is captured for one shape, so batches are padded to few.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TypeAlias

import torch
from accelerate import PartialState
from torch.nn import functional

from spor_tasks.core.errors import ConfigError
from training.bases import Base
from training.batches import Batch
from training.encoding import IGNORED

AddGradient: TypeAlias = Callable[[Batch, int | torch.Tensor], torch.Tensor]
"""Adds the gradient of a batch's loss, divided by the second argument; returns the loss."""

_REMEDY = "Set optimization.cuda_graphs=false."

LENGTHS = 64
"""Rows are padded to a multiple of so many tokens."""

_TARGETS = 512  # those of a batch, together, are padded to a multiple of so many
_MOST = 32  # graphs of a run; batches of further shapes are computed without one

_Shape: TypeAlias = tuple[torch.Size, torch.Size]


class Graphs:
    """The graphs of a run, which share their memory.

    The first batch of a shape is computed as without graphs, and the second one is captured: what
    a first one does once, such as choosing an algorithm, cannot be.
    """

    def __init__(self) -> None:
        self._stream, self._memory = torch.cuda.Stream(), torch.cuda.graph_pool_handle()
        self._captured: dict[_Shape, AddGradient | None] = {}

    def add_gradient(self, compute: AddGradient, batch: Batch, divisor: int) -> torch.Tensor:
        """Do what ``compute`` does, always the same and to the same tensors of gradients.

        The returned loss is overwritten by the next call.

        Raises:
            ConfigError: the GPU cannot repeat what the model does.
        """
        batch = in_few_shapes(batch)
        shape = (batch.inputs["input_ids"].shape, batch.labels.shape)
        if shape not in self._captured:
            if len(self._captured) < _MOST:
                self._captured[shape] = None
            current = torch.cuda.current_stream()
            self._stream.wait_stream(current)
            with torch.cuda.stream(self._stream):  # that of the captures
                loss = compute(batch, divisor)
            current.wait_stream(self._stream)
            return loss
        replay = self._captured[shape] or self._capture(compute, batch)
        self._captured[shape] = replay
        return replay(batch, divisor)

    def _capture(self, compute: AddGradient, batch: Batch) -> AddGradient:
        """Record what the GPU does with a batch of this shape; return what repeats it."""
        own, own_divisor = deepcopy(batch), torch.ones((), device=batch.labels.device)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self._memory, stream=self._stream):
                loss = compute(own, own_divisor)
        except RuntimeError as error:
            raise ConfigError(
                f"the GPU cannot repeat a step of this model: {error}", remedy=_REMEDY
            ) from error

        def replay(batch: Batch, divisor: int | torch.Tensor) -> torch.Tensor:
            own.inputs["input_ids"].copy_(batch.inputs["input_ids"])
            own.labels.copy_(batch.labels)
            own.positions.copy_(batch.positions)
            own_divisor.fill_(divisor)
            graph.replay()
            return loss

        return replay


def in_few_shapes(batch: Batch) -> Batch:
    """Return a decoder's padded batch in a shape that is likely to occur again, with its losses.

    Rows get more padding on the right, and targets more that are ignored. Causal attention needs no
    mask for that.
    """
    ids = batch.inputs["input_ids"]
    padded = functional.pad(ids, (0, -ids.shape[1] % LENGTHS))
    shift = padded.shape[1] - ids.shape[1]
    positions = batch.positions + batch.positions // ids.shape[1] * shift
    more = -len(batch.labels) % _TARGETS
    return replace(
        batch,
        inputs={"input_ids": padded},
        labels=functional.pad(batch.labels, (0, more), value=IGNORED),
        positions=torch.cat([positions, positions[-1:].expand(more)]),
    )


def check(base: Base, team: PartialState) -> None:
    """Refuse graphs for a base that they do not fit, or with which no GPU tried them.

    Raises:
        ConfigError: it is such a base, or there are several processes.
    """
    dropped = getattr(base.model.config, "layerdrop", None) or 0
    faults = {
        "by several processes": team.num_processes > 1,
        "with an encoder": base.style != "causal",
        "with layers that are left out at random": dropped > 0,
        f"with a model of {base.positions} positions": (base.positions or 0) % LENGTHS > 0,
    }
    if fault := next((what for what, holds in faults.items() if holds), None):
        raise ConfigError(f"optimization.cuda_graphs cannot be used {fault}", remedy=_REMEDY)
