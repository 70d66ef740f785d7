"""The paper's prompt (Appendix A), and one in plain words for models that follow instructions.

No other place in the project puts a prompt together.
"""

from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from spor_tasks.core.codec import doc_of
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, DataUnit, OrderSample, Sample, Triple
from spor_tasks.text.normalize import display

PromptStyle: TypeAlias = Literal["causal", "seq2seq", "instruction"]
PROMPT_STYLES: tuple[PromptStyle, ...] = get_args(PromptStyle)

_TRIPLE_PREFIX = "translate from Triple to Text: "
_MR_PREFIX = "translate from MR to Text: "
# The text follows the colon directly, without a space [code].
_CAUSAL_CUE = " Output:"

_INSTRUCTION = "Write a short English text that says all of these facts and nothing else."
_TEXT_CUE = "Text:"


def linearize(sample: Sample) -> str:
    """Return the sample's units as one line, in the order in which the sample holds them.

    A meaning representation begins with the name, where the sample has one.
    """
    parts = [_linearize_unit(unit) for unit in sample.units]
    if isinstance(sample.units[0], Triple):
        return _TRIPLE_PREFIX + " ".join(parts)
    named = [] if sample.name is None else [f"name[{display(sample.name)}]"]
    return _MR_PREFIX + " ".join([*named, *parts])


def prompt(sample: Sample, style: PromptStyle) -> str:
    """Return what a model reads.

    ``causal`` and ``seq2seq`` are the paper's: a decoder is given the cue to write, an encoder is
    not. ``instruction`` says in plain words what is asked for, to models that were never tuned.

    Raises:
        ConfigError: there is no such style.
    """
    if style == "causal":
        return linearize(sample) + _CAUSAL_CUE
    if style == "seq2seq":
        return linearize(sample)
    if style == "instruction":
        return _instruct(sample)
    raise ConfigError(
        f"unknown prompt style {style!r}", remedy=f"Use one of {', '.join(PROMPT_STYLES)}."
    )


def prompted(sample: Sample, style: PromptStyle) -> dict[str, Any]:
    """Return the sample as lm-eval's document, with what a model reads.

    ``prompt`` shows the units in the sample's order. Of a sample with two input orders it shows
    the first, and ``prompt_2`` the second.
    """
    doc = doc_of(sample)
    if not isinstance(sample, OrderSample):
        return {"id": doc["id"], "prompt": prompt(sample, style), **doc}
    first, second = (
        prompt(replace(sample, units=tuple(sample.units[i] for i in order)), style)
        for order in sample.input_orders
    )
    return {"id": doc["id"], "prompt": first, **doc, "prompt_2": second}


def _linearize_unit(unit: DataUnit) -> str:
    match unit:
        case Triple(subject, predicate, obj):
            return (
                f"<head> {display(subject)} <relation> {display(predicate)} <tail> {display(obj)}"
            )
        case AttributeValue(attribute, value):
            return f"{display(attribute)}[{display(value)}]"


def _instruct(sample: Sample) -> str:
    """Return what to do, the facts one a line, and where the text begins."""
    named = [] if sample.name is None else [f"- name: {display(sample.name)}"]
    return "\n".join([_INSTRUCTION, *named, *map(_instruct_unit, sample.units), _TEXT_CUE])


def _instruct_unit(unit: DataUnit) -> str:
    separator = " | " if isinstance(unit, Triple) else ": "
    return "- " + separator.join(display(part).strip() for part in unit)
