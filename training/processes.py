"""The processes that `accelerate launch` started, or the only one, and the device of each."""

from collections.abc import Sequence

import torch
from accelerate import PartialState
from accelerate.utils import parse_flag_from_env, reduce

from training.encoding import Step


def join() -> PartialState:
    """Return this process's number, the number of processes, and its device: a GPU or the CPU."""
    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU", default=not torch.cuda.is_available())
    return PartialState(cpu=on_cpu)


def share(step: Step, processes: PartialState) -> Step:
    """Return this process's part of a step: some pairs of every batch, or none of it."""
    parts = (batch[processes.process_index :: processes.num_processes] for batch in step.batches)
    return Step(step.epoch, tuple(filter(None, parts)))


def add_up(
    loss: torch.Tensor, weights: Sequence[torch.nn.Parameter], processes: PartialState
) -> torch.Tensor:
    """Replace every weight's gradient by its sum over all processes; return the sum of losses.

    An adapter has few gradients, so one exchange a step is enough, and the processes may have
    unequal work.
    """
    if processes.num_processes == 1:
        return loss
    for weight in weights:
        if weight.grad is None:  # in a process without a share of the step
            weight.grad = torch.zeros_like(weight)
    own = torch.cat([loss.reshape(1), *(weight.grad.flatten() for weight in weights)])
    total, *sums = reduce(own, "sum").split([1, *(weight.numel() for weight in weights)])
    for weight, gradient in zip(weights, sums, strict=True):
        weight.grad.copy_(gradient.view_as(weight))
    return total[0]
