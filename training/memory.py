"""How much memory a run takes, and what to do if there is too little."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from accelerate.utils.memory import should_reduce_batch_size

from spor_tasks.core.errors import ConfigError

LESS_MEMORY = (
    "Halve optimization.batch_size and double optimization.gradient_accumulation, which learns the "
    "same: the run then continues from its last saved step. Or set model.dtype=bfloat16."
)


@contextmanager
def enough_memory(when: str, remedy: str) -> Iterator[None]:
    """Turn a lack of memory in the block into an error with a remedy.

    Raises:
        ConfigError: memory ran out in the block.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not (isinstance(error, MemoryError) or should_reduce_batch_size(error)):
            raise
        raise ConfigError(f"memory ran out {when}", remedy=remedy) from error


def forget_peak(device: torch.device) -> None:
    """Reset the measured peak: of a GPU anywhere, of the machine's memory on Linux."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that this process held, of its GPU or else of the machine's memory.

    None on Windows, which does not tell.
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - there is none on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
