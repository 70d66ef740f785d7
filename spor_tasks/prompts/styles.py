"""The paper's prompt (Appendix A), and one in plain words for models that follow instructions.

What a prompt shows of a sample, its corpus says (:mod:`spor_tasks.corpora`).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias, get_args

from spor_tasks.core.codec import doc_of
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Contrast, DataUnit, Orders, Sample
from spor_tasks.corpora import own
from spor_tasks.corpora.base import Style

PromptStyle: TypeAlias = Style
PROMPT_STYLES: tuple[PromptStyle, ...] = get_args(Style)


def prompt(sample: Sample, style: PromptStyle) -> str:
    """Return what a model reads.

    ``causal`` and ``seq2seq`` are the paper's: a decoder is given the cue to write, an encoder is
    not. ``instruction`` says in plain words what is asked for, to models that were never tuned.

    Raises:
        ConfigError: there is no such style.
    """
    return _linearizer(sample.corpus)(sample, style)


@cache  # it is asked for every prompt
def _linearizer(corpus: str) -> Callable[[Sample, PromptStyle], str]:
    if corpus not in registry().names("corpus"):
        return own.linearize
    found: Callable[[Sample, PromptStyle], str] = registry().get("corpus", corpus).linearize
    return found


def prompted(sample: Sample, style: PromptStyle) -> dict[str, Any]:
    """Return the sample as lm-eval's document, with what a model reads.

    ``prompt`` shows the units in the sample's order. Of a sample with two input orders it shows
    the first, and ``prompt_2`` the second; of a pair it shows the units of the true text, and
    ``prompt_2`` those of the false one.
    """
    doc = doc_of(sample)
    first, *others = (prompt(replace(sample, units=units), style) for units in _shown(sample))
    second = {"prompt_2": others[0]} if others else {}
    return {"id": doc["id"], "prompt": first, **doc, **second}


def _shown(sample: Sample) -> Iterator[tuple[DataUnit, ...]]:
    """Yield the units of each prompt of a sample."""
    match sample.challenge:
        case Orders(inputs, _):
            for order in inputs:
                yield tuple(sample.units[i] for i in order)
        case Contrast(units=others):
            yield sample.units
            yield others
        case _:
            yield sample.units
