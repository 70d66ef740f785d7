"""The paper's prompt (Appendix A), and one in plain words for models that follow instructions.

Each corpus defines its prompts (:mod:`spor_tasks.corpora`).
"""

from collections.abc import Callable
from typing import Any, TypeAlias, get_args

from spor_tasks.core.codec import doc_of
from spor_tasks.core.files import JsonObject
from spor_tasks.core.sample import Sample, views
from spor_tasks.corpora.base import Style
from spor_tasks.corpora.own import corpus_of, linearize

PromptStyle: TypeAlias = Style
PROMPT_STYLES: tuple[PromptStyle, ...] = get_args(Style)

Wording: TypeAlias = Callable[[Sample, PromptStyle, str | None], str]
"""What a model reads of a sample in a style, given an instruction or none."""


def prompt(sample: Sample, style: PromptStyle, instruction: str | None = None) -> str:
    """Return what a model reads.

    ``causal`` and ``seq2seq`` are the paper's: a decoder is given the cue to write, an encoder is
    not. ``instruction`` says in plain words what is asked for, to models that were never tuned: an
    English text or, of a corpus of one's own, what the argument of this name says.

    Raises:
        ConfigError: the style is unknown.
    """
    if instruction is not None:
        return linearize(sample, style, instruction)
    return corpus_of(sample.corpus).linearize(sample, style)


def example(sample: Sample, style: PromptStyle, instruction: str | None = None) -> str:
    """Return what a model reads of a sample among demonstrations, mostly :func:`prompt`.

    Raises:
        ConfigError: the style is unknown.
    """
    worded = corpus_of(sample.corpus).example
    return worded(sample, style) if worded else prompt(sample, style, instruction)


def preamble(corpus: str, style: PromptStyle) -> str:
    """Return the text before the demonstrations, which is empty for most corpora."""
    return corpus_of(corpus).preamble(style)


def prompted(
    sample: Sample, style: PromptStyle, word: Wording = prompt, instruction: str | None = None
) -> dict[str, Any]:
    """Return the sample as lm-eval's document, with what a model reads, as ``word`` has it.

    ``prompt`` shows the units in the sample's order. If the sample has two input orders, it shows
    the first, and ``prompt_2`` the second. If the sample is a pair, it shows the units of the true
    text, and ``prompt_2`` those of the false one. All prompts but the first are in ``prompts`` if
    the sample has a twin, or more than two prompts.
    """
    doc = doc_of(sample)
    first, *more_prompts = (word(view, style, instruction) for view in views(sample))
    more: dict[str, Any] = {"prompt_2": more_prompts[0]} if more_prompts else {}
    if sample.twin or len(more_prompts) > 1:
        more = {"prompts": more_prompts}
    return {"id": doc["id"], "prompt": first, **doc, **more}


def prompts_of(doc: JsonObject) -> tuple[str, ...]:
    """Return all prompts of a document of :func:`prompted`, in order.

    Raises:
        KeyError: it has none.
    """
    second = doc.get("prompt_2")
    more_prompts = [second] if second is not None else doc.get("prompts") or ()
    return (doc["prompt"], *more_prompts)
