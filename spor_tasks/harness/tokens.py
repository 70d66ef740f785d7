"""The likelihoods of given texts, with their tokens counted as lm-eval's models count them."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self

from lm_eval.api.instance import Instance

from spor_tasks.core.sample import Sample
from spor_tasks.core.weights import find_folder
from spor_tasks.harness import host
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.prompts.styles import PromptStyle

_log = logging.getLogger(__name__)

_UNFILTERED = "none"  # lm-eval's name for answers that nothing is cut from
_FIRST = 40  # letters of a text that can change the tokens before it


class Tokens:
    """The tokenizer of a model, or None if it is not on this machine.

    ``end`` is the text of its end token, empty if it has none, or does not read it as one token.
    """

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers has no common type
        self._tokenizer = tokenizer
        end = getattr(tokenizer, "eos_token", None) or ""
        single = end and self._encode([end])[0] == [tokenizer.eos_token_id]
        self.end: str = end if single else ""

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Self:
        """Return the tokenizer that a model's arguments name; nothing is downloaded."""
        name = metadata.get("tokenizer") or metadata.get("pretrained")
        revision = metadata.get("revision")
        return cls(_load(name, revision and str(revision)))

    @property
    def facts(self) -> dict[str, Any]:
        """The facts for a result: whether tokens were counted, and how a text was ended."""
        return {"tokens_counted": self._tokenizer is not None, "end": self.end or None}

    def likelihoods(
        self,
        samples: Sequence[Sample],
        requests: Sequence[Sequence[Instance]],
        style: PromptStyle,
    ) -> list[tuple[Likelihood, ...]]:
        """Return how likely a model finds the texts of each sample, given its requests."""
        answered = [each for of_sample in requests for each in of_sample]
        pairs = [each.arguments for each in answered]
        if style != "seq2seq" and (count := self.spanning(pairs)):
            _log.warning(
                "%s: in %d of %d cases, a token would span prompt and text; spor-hf and spor-vllm "
                "read them apart, as training does, and other models read half of it",
                answered[0].task_name,
                count,
                len(pairs),
            )
        counts = iter(self.count(pairs, style))
        return [
            tuple(
                Likelihood(_log_likelihood(request), next(counts), len(text.encode()))
                for request, text in zip(of_sample, sample.given, strict=True)
            )
            for of_sample, sample in zip(requests, samples, strict=True)
        ]

    def count(
        self, requests: Sequence[tuple[str, str]], style: PromptStyle
    ) -> Sequence[int | None]:
        """Return the number of tokens of each text after its context, None if it is not known.

        A decoder reads both as one text, so the tokens of a text are those that it adds.
        """
        if self._tokenizer is None:
            return [None] * len(requests)
        contexts, texts = zip(*requests, strict=True)
        if style == "seq2seq":
            return list(map(len, self._encode(texts)))
        # lm-eval moves blanks at the end of a context to the text: a token may begin with one.
        bare = [context.rstrip() for context in contexts]
        whole = self._encode([context + text for context, text in requests])
        lengths = dict(zip(bare, map(len, self._encode(bare)), strict=True))
        return [len(ids) - lengths[context] for ids, context in zip(whole, bare, strict=True)]

    def spanning(self, requests: Iterable[tuple[str, str]]) -> int:
        """Return after how many contexts a decoder reads the first letters as part of its end."""
        begun = Counter((context.rstrip(), text[:_FIRST]) for context, text in requests)
        bare = dict.fromkeys(context for context, _ in begun)
        lengths = dict(zip(bare, self._encode([*bare]), strict=True))
        whole = self._encode([context + text for context, text in begun])
        return sum(
            count
            for ((context, _), count), ids in zip(begun.items(), whole, strict=True)
            if ids[: len(lengths[context])] != lengths[context]
        )

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if self._tokenizer is None:
            return [[] for _ in texts]
        encoded: list[list[int]] = self._tokenizer(list(texts), add_special_tokens=False)[
            "input_ids"
        ]
        return encoded


def _log_likelihood(request: Instance) -> float:
    """Return the log likelihood that a model gave, and keep it as the scored answer."""
    log, *_ = request.resps[0]
    host.store(request, _UNFILTERED, float(log))
    return float(log)


@cache
def _load(name: object, revision: str | None) -> Any:  # noqa: ANN401 - as above
    if not isinstance(name, str):
        return None
    folder = find_folder(name, "tokenizer_config.json", revision=revision)
    if folder is None:
        return None
    from transformers import AutoTokenizer  # noqa: PLC0415 - takes a second

    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
