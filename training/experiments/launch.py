"""Programs that `accelerate launch` starts in several processes, which share a step of a cell."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from spor_tasks.core.errors import ResultError
from training import lifeline

_SETTINGS = (
    *("--multi_gpu", "--num_machines", "1", "--main_process_port", "0"),
    *("--mixed_precision", "no", "--dynamo_backend", "no"),
)


def launch(
    module: str, arguments: Sequence[str | Path], *, processes: int, threads: int, log: Path
) -> None:
    """Run a module in so many processes, one for each GPU, or else on the CPU.

    Each computes with so many CPU ``threads``, and ends when this process ends, however that is.

    Raises:
        ResultError: it failed; its output is in the log.
    """
    import torch  # noqa: PLC0415 - seconds

    command = [sys.executable, "-m", "accelerate.commands.launch", *_SETTINGS]
    command += ["--num_processes", str(processes), "-m", lifeline.__name__]
    command += [module, *map(str, arguments)]
    # In spite of `--multi_gpu`, this variable makes the launcher use the CPU.
    on_cpu = {} if torch.cuda.is_available() else {"ACCELERATE_USE_CPU": "true"}
    environment = {**os.environ, **on_cpu, "OMP_NUM_THREADS": str(threads)}
    with log.open("wb") as output, lifeline.line() as line:
        status = subprocess.run(  # noqa: S603 - our own modules
            command,
            env=environment,
            stdin=line,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    if status:
        lines = log.read_text("utf-8", "replace").splitlines()
        errors = [line for line in lines if line.startswith("error: ")] or lines[-1:]
        raise ResultError(
            f"{processes} processes ended with status {status}: {' '.join(errors[:1])}", where=log
        )
