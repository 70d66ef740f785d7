"""Rows that have ended leave the batch: the model reads only those that are still written.

transformers has it read a padding token for each of them until the longest text ends. Here hooks
around the model take them out of what it reads and out of its cache, and fill up its scores. All
else of ``generate`` has whole batches, so each text is as it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import (
    DynamicCache,
    EncoderDecoderCache,
    PreTrainedModel,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.utils import ModelOutput

_CACHES = (DynamicCache, EncoderDecoderCache)  # those of their kinds may keep rows elsewhere too

# To take rows out of the cache is to copy it, which is worth it for one row of so many.
_OF_ROWS = 16


class Leaving(StoppingCriteria):  # type: ignore[misc]  # skipped, as is transformers
    """Criteria by which rows end. Within :meth:`around`, a model reads none that have ended."""

    def __init__(self, criteria: Sequence[StoppingCriteria], rows: int, device: object) -> None:
        self._criteria = StoppingCriteriaList(criteria)
        self._count = rows
        self._read = torch.arange(rows, device=device)
        self._ended = torch.zeros(rows, dtype=torch.bool, device=device)

    def __call__(self, input_ids: torch.Tensor, scores: object, **more: object) -> torch.Tensor:
        """Return which rows end."""
        verdict: torch.Tensor = self._criteria(input_ids, scores, **more)
        self._ended |= verdict
        return verdict

    @contextmanager
    def around(self, model: PreTrainedModel) -> Iterator[None]:
        """Keep rows that have ended from a model that generates in the block."""
        hooks = (
            model.register_forward_pre_hook(self._narrow, with_kwargs=True),
            model.register_forward_hook(self._widen),
        )
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def _narrow(
        self, _: object, args: tuple[object, ...], inputs: Mapping[str, Any]
    ) -> tuple[tuple[object, ...], dict[str, Any]]:
        staying = (~self._ended[self._read]).nonzero().flatten()
        left = len(self._read) - len(staying)
        if len(staying) and left * _OF_ROWS >= len(self._read) and self._is_known(inputs):
            self._read = self._read[staying]
            for value in inputs.values():
                if type(value) in _CACHES:
                    value.reorder_cache(staying)
                elif isinstance(value, ModelOutput):  # of the encoder
                    for name, each in value.items():
                        value[name] = each[staying]
        if len(self._read) == self._count:
            return args, dict(inputs)
        return args, {
            name: value[self._read] if isinstance(value, torch.Tensor) else value
            for name, value in inputs.items()
        }

    def _is_known(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether all that a model is given has its rows where they are looked for."""
        caches = 0
        for value in inputs.values():
            if isinstance(value, torch.Tensor):
                if value.dim() != 2 or len(value) != self._count:
                    return False
            elif type(value) in _CACHES:
                caches += 1
            elif isinstance(value, ModelOutput):
                if not all(isinstance(each, torch.Tensor) for each in value.values()):
                    return False
            elif value is not None and not isinstance(value, (bool, int)):
                return False
        return caches == 1

    def _widen(self, _: object, __: object, output: ModelOutput) -> None:
        if len(self._read) < self._count:
            own = output.logits
            # Processors may take some tokens from a row that has ended, and need others to be left.
            falling = torch.linspace(0, -1e4, own.shape[-1], dtype=own.dtype, device=own.device)
            output.logits = falling.repeat(self._count, *own.shape[1:-1], 1)
            output.logits[self._read] = own
