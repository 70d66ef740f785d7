"""The answers that a server did not give, which lm-eval takes for empty texts.

A gateway may report an error with the status 200, and a filter leaves no text, or a part of one.
"""

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, partialmethod
from typing import Any, TypeAlias

from lm_eval.api.instance import Instance

from spor_tasks.core.visible import visible

_log = logging.getLogger(__name__)

Choice: TypeAlias = Mapping[str, Any]
"""One of the texts that a server sends, as its API describes it."""

# With these a text is whole, or as long as it may be.
_WHOLE = frozenset(("stop", "eos", "eos_token", "stop_sequence", "end_turn"))
_LONGEST = frozenset(("length", "max_tokens"))
_SHOWN = 200  # characters of what a server sent

# How many prompts the request has that is answered; 0 if a model makes its requests by itself.
_asked: ContextVar[int] = ContextVar("asked", default=0)


class Failed(str):
    """What there is of a text where a server failed to answer, mostly nothing.

    ``why`` is ``error``, ``refusal``, ``filtered``, ``unfinished``, ``null`` or ``missing``.
    """

    __slots__ = ("why",)
    why: str


def failures(requests: Iterable[Instance]) -> dict[str, int]:
    """Return how many requests failed, by the reason."""
    outputs = [request.resps[0] for request in requests]
    counts = Counter(output.why for output in outputs if isinstance(output, Failed))
    return dict(sorted(counts.items()))


def mark_failures() -> None:
    """Let lm-eval's models of chat servers return :class:`Failed`; safe to repeat."""
    if models := sys.modules.get("lm_eval.models.openai_completions"):
        _mark(models)
    if models := sys.modules.get("lm_eval.models.anthropic_llms"):
        models.AnthropicChat.parse_generations = _texts_of_anthropic


@cache
def _mark(models: Any) -> None:
    base, chats = models.LocalCompletionsAPI, models.LocalChatCompletion
    create_message, parse_logprobs = base.create_message, base.parse_logprobs

    def counted(model: Any, messages: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        _asked.set(len(messages))
        return create_message(model, messages, *args, **kwargs)

    def logprobs(outputs: object, tokens: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        from requests import RequestException  # of lm-eval's extra `api`

        fault = RequestException(f"it gave no log likelihoods: {visible(outputs):.{_SHOWN}}")
        try:
            found = parse_logprobs(outputs, tokens, *args, **kwargs)
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError) as error:
            raise fault from error
        if len(found) != len(tokens):
            raise fault
        return found

    base.create_message, base.parse_logprobs = counted, staticmethod(logprobs)
    base.parse_generations = partialmethod(_texts, _of_completion)
    chats.parse_generations = partialmethod(_texts, _of_chat)


def _texts(model: Any, read: Any, outputs: Any, **_: object) -> list[str]:
    """Return a text for each prompt of a request, in their order."""
    from lm_eval.models.utils import postprocess_generated_text  # torch

    if isinstance(outputs, list) and len(outputs) == 1:
        (outputs,) = outputs
    choices: Any = outputs.get("choices") if isinstance(outputs, dict) else None
    has_choices = isinstance(choices, list) and not outputs.get("error")
    of_prompt: dict[int, Choice] = {}
    for number, choice in enumerate(choices if has_choices else ()):
        if isinstance(choice, dict):
            index = choice.get("index")
            of_prompt.setdefault(index if isinstance(index, int) else number, choice)
    texts = []
    for number in range(_asked.get() or max(1, len(of_prompt))):
        text, why = None, "missing" if has_choices else "error"
        if number in of_prompt:
            text, why = read(of_prompt[number])
        text = postprocess_generated_text(
            text if isinstance(text, str) else "",
            stop=None,
            think_end_token=getattr(model, "think_end_token", None),
        )
        if why:
            _log.warning("%s: the server sent %s", why, visible(outputs)[:_SHOWN])
            text = Failed(text)
            text.why = why
        texts.append(text)
    return texts


def _texts_of_anthropic(model: Any, outputs: Any, **_: object) -> list[str]:
    if isinstance(outputs, dict) and isinstance(parts := outputs.get("content"), list):
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        message = {"content": "".join(text for text in texts if isinstance(text, str))}
        choice = {"message": message, "finish_reason": outputs.get("stop_reason")}
        outputs = {**outputs, "choices": [choice]}
    return _texts(model, _of_chat, outputs)


def _of_chat(choice: Choice) -> tuple[object, str | None]:
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = message.get("content")
    return text, "refusal" if message.get("refusal") else _fault(choice, text)


def _of_completion(choice: Choice) -> tuple[object, str | None]:
    text = choice.get("text")
    return text, _fault(choice, text)


def _fault(choice: Choice, text: object) -> str | None:
    """Return why the text of a choice is not a whole answer; None if it is."""
    reason = choice.get("finish_reason")
    reason = (reason.lower() or None) if isinstance(reason, str) else None
    if choice.get("error") or reason == "error":
        return "error"
    if reason in {"content_filter", "safety"}:
        return "filtered"
    if reason not in {None, *_WHOLE, *_LONGEST} or (reason in _LONGEST and text == ""):
        return "unfinished"  # or all of it was reasoning
    return None if isinstance(text, str) else "null"
