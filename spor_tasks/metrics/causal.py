"""The perplexity of texts by a causal language model of transformers, as CompMCTG measures it."""

import logging
import math
from collections.abc import Sequence
from functools import lru_cache

from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics.classifier import device_of, identity_of
from spor_tasks.metrics.compmctg import TextPerplexity

try:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
except ImportError as error:
    raise ConfigError(
        f"a language model needs a package that is not installed: {error.name}",
        remedy="Install it with `pip install 'spor-tasks[hf]'`.",
    ) from error

_log = logging.getLogger(__name__)

_DIGITS = 6  # what differs beyond these depends on the machine and on the size of the batches
_MOST_TOKENS = 1024  # of a model that does not say how many it reads


@lru_cache(maxsize=1)  # all tasks of a run ask the same one
def load(model: str, *, device: str | None = None, batch_size: int = 16) -> TextPerplexity:
    """Return the metric with the causal model of this folder, or of this name on the hub.

    The published numbers are by GPT-2 Large, ``openai-community/gpt2-large``. Weights are loaded in
    float32, and no code of the checkpoint is run.

    Raises:
        ConfigError: there is no such model or device, or its tokenizer has no end token.
    """
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigError(f"a batch cannot have {batch_size!r} texts", remedy="Use 1 or more.")
    return TextPerplexity(_Model(model, device, batch_size))


class _Model:
    def __init__(self, name: str, device: str | None, batch_size: int) -> None:
        self._device, self._batch_size = device_of(device), batch_size
        try:
            model = AutoModelForCausalLM.from_pretrained(name, trust_remote_code=False)
            self._tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigError(
                f"the language model cannot be loaded: {error}",
                where=name,
                remedy="Name a causal model's folder, or its name on the hub, such as "
                "openai-community/gpt2-large.",
            ) from error
        self._model = model.float().eval()
        if self._tokenizer.eos_token_id is None:
            raise ConfigError("its tokenizer has no end token, which is read first", where=name)
        self._most = getattr(model.config, "max_position_embeddings", None) or _MOST_TOKENS
        self.signature = identity_of(name)

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        """Return the perplexity of each text; of one that is too long, that of its beginning."""
        if not texts:
            return []
        start = self._tokenizer.eos_token_id
        tokens = self._tokenizer([*texts], add_special_tokens=False)["input_ids"]
        if cut := sum(len(of_text) >= self._most for of_text in tokens):
            _log.warning("%d texts are longer than the %d tokens that are read", cut, self._most)
        rows = [[start, *of_text][: self._most] for of_text in tokens]
        found: list[float | None] = [None] * len(rows)
        by_length = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        self._model.to(self._device)
        for first in range(0, len(rows), self._batch_size):
            batch = by_length[first : first + self._batch_size]
            for number, value in zip(batch, self._read([rows[i] for i in batch]), strict=True):
                found[number] = value
        return found

    def _read(self, rows: Sequence[Sequence[int]]) -> list[float | None]:
        width = max(map(len, rows))
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=self._device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        mask = mask.to(self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits[:, :-1]
            likely = torch.softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0]
        counted = mask[:, 1:].bool()
        found: list[float | None] = []
        for of_text, places in zip(likely.double(), counted, strict=True):
            of_tokens = of_text[places]
            # Probabilities are of single precision, in which one may be zero.
            known = len(of_tokens) and bool((of_tokens > 0).all())
            loss = float(-of_tokens.log().mean()) if known else None
            found.append(None if loss is None else float(f"{math.exp(loss):.{_DIGITS}g}"))
        return found
