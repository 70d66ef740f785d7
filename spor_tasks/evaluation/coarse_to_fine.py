"""Coarse-to-fine generation writes a template, ``[SEP]``, and then a sentence.

As published (LogicNLG, section 5), no ``[ENT]`` follows another one, and after ``[SEP]`` neither of
the two is written.
"""

import logging
from functools import cache

import torch
from transformers import LogitsProcessor, PreTrainedTokenizerBase

from spor_tasks.core.visible import visible
from spor_tasks.text.filters import SEPARATOR

_ENTITY = "[ENT]"
_log = logging.getLogger(__name__)


class TemplateFirst(LogitsProcessor):  # type: ignore[misc]  # skipped, as is lm-eval
    """Forbids a row to go on with a token that may not follow what it has written after its prompt.

    ``entity`` and ``separator`` are the ids of the two tokens.
    """

    def __init__(self, entity: int, separator: int, prompt_length: int) -> None:
        self._entity = entity
        self._separator = separator
        self._prompt_length = prompt_length

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores with minus infinity for what is forbidden."""
        written = input_ids[:, self._prompt_length :]
        separated = (written == self._separator).any(1)
        allowed = scores.clone()
        allowed[separated, self._separator] = -torch.inf
        allowed[separated | (written[:, -1:] == self._entity).any(1), self._entity] = -torch.inf
        return allowed


def template_first(tokenizer: PreTrainedTokenizerBase, prompt_length: int) -> list[LogitsProcessor]:
    """Return what keeps outputs after prompts of this length in form.

    For a tokenizer that does not have both as single tokens there is nothing that does, which is
    logged once.
    """
    vocabulary = tokenizer.get_vocab()
    if _ENTITY in vocabulary and SEPARATOR in vocabulary:
        return [TemplateFirst(vocabulary[_ENTITY], vocabulary[SEPARATOR], prompt_length)]
    _say_unknown(tokenizer.name_or_path)
    return []


@cache  # once for each tokenizer
def _say_unknown(name: str) -> None:
    _log.warning(
        "%s does not have %s and %s as single tokens, so nothing keeps templates in form",
        visible(name),
        _ENTITY,
        SEPARATOR,
    )
