"""How much memory a run took."""

import sys
from contextlib import suppress
from pathlib import Path

import torch


def forget_peak(device: torch.device) -> None:
    """Begin to measure the peak anew: a GPU's anywhere, the machine's under Linux."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that this process held of its GPU, or else of the machine's memory.

    None where the system does not tell, which is Windows.
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - there is none on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
