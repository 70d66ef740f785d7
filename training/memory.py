"""How much memory a run took."""

import sys

import torch


def forget_peak(device: torch.device) -> None:
    """Begin to measure a GPU's peak anew."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that this process held of its GPU, or else ever held of the machine's.

    None where the system does not tell, which is Windows.
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - there is none on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
