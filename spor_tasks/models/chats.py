"""Chats as a model's template renders them, with no system message lost."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from jinja2 import TemplateError

_log = logging.getLogger(__name__)

FIRST_TURN: Final = "first user turn"
"""Where a system message stands if a template has no place for it."""

_MARK = "7301946285"  # no template changes or cuts digits, and no prompt has these


class Chat:
    """A model's chat template, with the text of a system message in the first user turn if needed.

    Some templates refuse a system message, as Gemma 1 and 2's, and lm-eval then removes it. Others
    drop its text, as Mistral 0.1's. So the template is tried with a mark before and after the text.
    """

    def __init__(self, render: Callable[..., object], task: str) -> None:
        self._render, self._task = render, task
        self._keeps: dict[tuple[str, ...], bool] = {}  # by the roles of the messages

    @property
    def moved(self) -> str | None:
        """Where system messages were moved to; None if there were none, or all have their role."""
        return None if all(self._keeps.values()) else FIRST_TURN

    def __call__(self, history: Sequence[Mapping[str, str]], **settings: object) -> object:
        """Return the chat as the template renders it."""
        system, *turns = history
        roles = tuple(message["role"] for message in history)
        if system["role"] == "system" and roles not in self._keeps:
            marked = {**system, "content": f"{_MARK}\n{system['content']}\n{_MARK}"}
            try:
                rendered = self._render([marked, *turns], **settings)
            except TemplateError:
                rendered = ""
            keeps = not isinstance(rendered, str) or rendered.count(_MARK) > 1
            if not isinstance(rendered, str) and not self._keeps:
                _log.warning(
                    "%s: the server renders the chat: if its template has no system role, the "
                    "instruction is lost",
                    self._task,
                )
            elif not keeps and self.moved is None:
                _log.warning(
                    "%s: the chat template has no system role, so the instruction begins the first "
                    "user turn",
                    self._task,
                )
            self._keeps[roles] = keeps
        if not self._keeps.get(roles, True):
            text = f"{system['content'].rstrip()}\n\n{turns[0]['content']}"
            history = [{**turns[0], "content": text}, *turns[1:]]
        return self._render(list(history), **settings)
