"""Errors about a lack of memory."""

from collections.abc import Iterator
from contextlib import contextmanager

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
