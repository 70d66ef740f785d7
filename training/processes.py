"""The processes that share a run, the device of each, and its number of CPU threads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, parse_flag_from_env, reduce

from training.encoding import Step


def join() -> PartialState:
    """Return this process's number, the number of processes, and its device: a GPU or the CPU."""
    on_cpu = parse_flag_from_env("ACCELERATE_USE_CPU", default=not torch.cuda.is_available())
    return PartialState(cpu=on_cpu)


def share(step: Step, processes: PartialState) -> Step:
    """Return this process's part of a step: some pairs of every batch, or none of it."""
    parts = (batch[processes.process_index :: processes.num_processes] for batch in step.batches)
    return Step(step.epoch, tuple(part for part in parts if part))


def add_up(
    loss: torch.Tensor, weights: Sequence[torch.nn.Parameter], processes: PartialState
) -> torch.Tensor:
    """Replace every weight's gradient by its sum over all processes; return the sum of losses.

    The processes may have unequal work.
    """
    if processes.num_processes == 1:
        return loss
    for weight in weights:
        if weight.grad is None:  # in a process without a share of the step
            weight.grad = torch.zeros_like(weight)
        weight.grad = reduce(weight.grad, "sum")
    return reduce(loss, "sum")


def as_first(value: bool) -> bool:  # noqa: FBT001 - one value of each process
    """Return the value of the first process in all of them."""
    return bool(broadcast_object_list([value])[0])


@contextmanager
def cpu_threads(number: int) -> Iterator[None]:
    """Let torch compute with this number of threads within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
