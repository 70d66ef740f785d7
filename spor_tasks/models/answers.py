"""The answers that a server did not give, which lm-eval takes for empty texts.

A gateway may report an error with the status 200, and a filter leaves no text, or a part of one.
"""

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from functools import cache
from types import ModuleType

from lm_eval.api.instance import Instance

from spor_tasks.core.files import JsonObject
from spor_tasks.core.visible import visible

_log = logging.getLogger(__name__)

# With these a text is whole, or as long as it may be.
_WHOLE = ("", "stop", "eos", "eos_token", "stop_sequence", "end_turn")
_LONGEST = ("length", "max_tokens")
_FAULTS = dict.fromkeys((*_WHOLE, *_LONGEST)) | {
    "error": "error",
    "content_filter": "filtered",
    "safety": "filtered",
}
"""Why a text is not a whole answer, by the reason for its end; None if it is one."""

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
        models.AnthropicChat.parse_generations = _texts


@cache
def _mark(models: ModuleType) -> None:
    base = models.LocalCompletionsAPI
    create_message, parse_logprobs = base.create_message, base.parse_logprobs

    def counted(
        model: object, messages: Sequence[object], *args: object, **kwargs: object
    ) -> object:
        _asked.set(len(messages))
        return create_message(model, messages, *args, **kwargs)

    def logprobs(
        outputs: object, tokens: Sequence[object], *args: object, **kwargs: object
    ) -> object:
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
    base.parse_generations = models.LocalChatCompletion.parse_generations = _texts


def _texts(model: object, outputs: object, **_: object) -> list[str]:
    """Return a text for each prompt of a request, in their order."""
    from lm_eval.models.utils import postprocess_generated_text  # torch

    if isinstance(outputs, list) and len(outputs) == 1:
        (outputs,) = outputs
    sent = outputs if isinstance(outputs, dict) else {}
    choices = sent.get("choices")
    if "choices" not in sent and isinstance(parts := sent.get("content"), list):  # Anthropic's
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        text = "".join(text for text in texts if isinstance(text, str))
        choices = [{"text": text, "finish_reason": sent.get("stop_reason")}]
    if not isinstance(choices, list) or sent.get("error"):
        choices = None
    of_prompt: dict[int, JsonObject] = {}
    for number, choice in enumerate(choices or ()):
        if isinstance(choice, dict):
            index = choice.get("index")
            of_prompt.setdefault(index if isinstance(index, int) else number, choice)
    absent = None, "error" if choices is None else "missing"
    answers = []
    for number in range(_asked.get() or max(1, len(of_prompt))):
        given, why = _answer(of_prompt[number]) if number in of_prompt else absent
        answer: str = postprocess_generated_text(
            given if isinstance(given, str) else "",
            stop=None,
            think_end_token=getattr(model, "think_end_token", None),
        )
        if why:
            _log.warning("%s: the server sent %s", why, visible(outputs)[:_SHOWN])
            answer = failed = Failed(answer)
            failed.why = why
        answers.append(answer)
    return answers


def _answer(choice: JsonObject) -> tuple[object, str | None]:
    """Return the text of a choice, and why it is not a whole answer; None if it is."""
    message = choice.get("message")  # of a chat
    message = message if isinstance(message, dict) else {"content": choice.get("text")}
    text, reason = message.get("content"), choice.get("finish_reason")
    reason = reason.lower() if isinstance(reason, str) else ""
    if message.get("refusal"):
        return text, "refusal"
    if choice.get("error"):
        return text, "error"
    if reason in _LONGEST and text == "":
        return text, "unfinished"  # all of it was reasoning
    why = _FAULTS.get(reason, "unfinished")
    return text, why if why or isinstance(text, str) else "null"
