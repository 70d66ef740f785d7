"""The likelihoods of given texts, with their tokens counted as lm-eval's models count them."""

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Self

from lm_eval.api.instance import Instance

from spor_tasks.core.weights import find_folder
from spor_tasks.harness import host
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.models.checkpoints import Checkpoint
from spor_tasks.prompts.styles import PromptStyle

_log = logging.getLogger(__name__)

_UNFILTERED = "none"  # lm-eval's name for answers that nothing is cut from


class Tokens:
    """The tokenizer of a model, or None if it is not on this machine.

    ``end`` is the text of its end token, empty if it has none, or does not read it as one token.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        end = getattr(tokenizer, "eos_token", None) or ""
        single = end and self._encode([end])[0] == [tokenizer.eos_token_id]
        self.end: str = end if single else ""

    @classmethod
    def of(cls, model: Checkpoint) -> Self:
        """Return the tokenizer that a model's arguments name; nothing is downloaded."""
        return cls(_load(model.tokenizer or model.pretrained, model.revision))

    @property
    def facts(self) -> dict[str, bool | str | None]:
        """The facts for a result: whether tokens were counted, and how a text was ended."""
        return {"tokens_counted": self._tokenizer is not None, "end": self.end or None}

    def likelihoods(
        self, requests: Sequence[Instance], texts: Iterable[str], style: PromptStyle
    ) -> list[Likelihood]:
        """Return how likely a model finds the text of each request, which it has answered."""
        lengths, spanning = self.count([request.arguments for request in requests], style)
        if spanning:
            _log.warning(
                "%s: in %d of %d cases, a token would span prompt and text; spor-hf and spor-vllm "
                "read them apart, as training does, and other models read half of it",
                requests[0].task_name,
                spanning,
                len(requests),
            )
        logs = [float(request.resps[0][0]) for request in requests]
        for request, log in zip(requests, logs, strict=True):
            host.store(request, _UNFILTERED, log)
        return [
            Likelihood(log, length, len(text.encode()))
            for log, length, text in zip(logs, lengths, texts, strict=True)
        ]

    def count(
        self, pairs: Sequence[tuple[str, str]], style: PromptStyle
    ) -> tuple[Sequence[int | None], int]:
        """Return the number of tokens of each text after its context, None without a tokenizer.

        A decoder reads both as one text, so the tokens of a text are those that it adds. The second
        value is the number of texts whose beginning shares a token with the context.
        """
        if self._tokenizer is None:
            return [None] * len(pairs), 0
        if style == "seq2seq":
            return [len(ids) for ids in self._encode([text for _, text in pairs])], 0
        # lm-eval moves blanks at the end of a context to the text: a token may begin with one.
        contexts = self._encode([context.rstrip() for context, _ in pairs])
        joined = self._encode([context + text for context, text in pairs])
        encoded = list(zip(contexts, joined, strict=True))
        lengths = [len(ids) - len(context) for context, ids in encoded]
        return lengths, sum(ids[: len(context)] != context for context, ids in encoded)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False)
        return list(encoded["input_ids"])


@cache
def _load(name: object, revision: str) -> Any:
    if not isinstance(name, str):
        return None
    folder = find_folder(name, "tokenizer_config.json", revision=revision)
    if folder is None:
        return None
    from transformers import AutoTokenizer  # takes a second

    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
