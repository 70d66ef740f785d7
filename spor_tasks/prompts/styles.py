"""The paper's prompt (Appendix A), and one in plain words for models that follow instructions.

What a prompt shows of a sample, its corpus says (:mod:`spor_tasks.corpora`).
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, get_args

from spor_tasks.core.codec import doc_of
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Rivals, Sample, Twin, views
from spor_tasks.corpora import own
from spor_tasks.corpora.base import Style

PromptStyle: TypeAlias = Style
PROMPT_STYLES: tuple[PromptStyle, ...] = get_args(Style)

Wording: TypeAlias = Callable[[Sample, PromptStyle], str]
"""What a model reads of a sample in a style."""


def prompt(sample: Sample, style: PromptStyle) -> str:
    """Return what a model reads.

    ``causal`` and ``seq2seq`` are the paper's: a decoder is given the cue to write, an encoder is
    not. ``instruction`` says in plain words what is asked for, to models that were never tuned.

    Raises:
        ConfigError: there is no such style.
    """
    word: Wording = getattr(_corpus(sample.corpus), "linearize", own.linearize)
    return word(sample, style)


def example(sample: Sample, style: PromptStyle) -> str:
    """Return what a model reads of a sample among demonstrations, mostly :func:`prompt`.

    Raises:
        ConfigError: there is no such style.
    """
    word: Wording = getattr(_corpus(sample.corpus), "example", prompt)
    return word(sample, style)


def preamble(corpus: str, style: PromptStyle) -> str:
    """Return what stands once before demonstrations, mostly nothing."""
    found: str = getattr(_corpus(corpus), "preamble", lambda _: "")(style)
    return found


@cache  # it is asked for every prompt
def _corpus(name: str) -> object:
    return registry().get("corpus", name) if name in registry().names("corpus") else None


def prompted(sample: Sample, style: PromptStyle, word: Wording = prompt) -> dict[str, Any]:
    """Return the sample as lm-eval's document, with what a model reads, as ``word`` has it.

    ``prompt`` shows the units in the sample's order. Of a sample with two input orders it shows
    the first, and ``prompt_2`` the second; of a pair it shows the units of the true text, and
    ``prompt_2`` those of the false one. ``prompts`` show each of a sample's rivals, or of a sample
    with a twin all that follows: its own second order, if it has one, and what its twin shows. So
    they do of a pair in several orders: both sides in each.
    """
    doc = doc_of(sample)
    first, *others = (word(view, style) for view in views(sample))
    more: dict[str, Any] = {"prompt_2": others[0]} if others else {}
    if isinstance(sample.challenge, Rivals | Twin) or len(others) > 1:
        more = {"prompts": others}
    return {"id": doc["id"], "prompt": first, **doc, **more}


def prompts_of(doc: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all prompts of a document of :func:`prompted`, in order.

    Raises:
        KeyError: it has none.
    """
    second = doc.get("prompt_2")
    others = [second] if second is not None else doc.get("prompts") or ()
    return (doc["prompt"], *others)
