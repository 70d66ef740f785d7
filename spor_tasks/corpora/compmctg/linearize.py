"""The prompt of a combination: the words of its values, and the beginning of the text.

The published code gives GPT-2 its end token, a token for each value, and the tokens of the
beginning. Written together, without a blank before the beginning, they are divided into the same
tokens, for every value and beginning of the benchmark.
"""

from collections.abc import Iterable
from importlib.resources import files

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Style, check_style
from spor_tasks.corpora.compmctg.spaces import Space

START = "<|endoftext|>"

PREFIXES = tuple(files(__package__).joinpath("beginnings.txt").read_text("utf-8").splitlines())
"""The 35 beginnings of the benchmark, which are those of PPLM (Dathathri et al., 2020)."""

_REQUEST = "Task: write a sentence that meets the requirement of input control conditions."
_EXAMPLES = "Below are some examples (Input, Output) for the task:"


def codes(values: Iterable[str]) -> str:
    """Return how a decoder is given the values of all aspects."""
    return START + "".join(f" {value}" for value in values)


def prefix_of(sample: Sample) -> str:
    """Return how the text of a sample must begin; empty for a text that people wrote."""
    return sample.about("prefix") or ""


def linearize(sample: Sample, style: Style) -> str:
    """Return the prompt of a sample.

    For models that follow instructions, it is the published request, with the values in words.

    Raises:
        ConfigError: the style is unknown.
    """
    check_style(style)
    values, prefix = [unit[-1] for unit in sample.units], prefix_of(sample)
    match style:
        case "causal":
            return f"{codes(values)}{prefix}"
        case "seq2seq":
            return f"{' '.join(values)}: {prefix}".rstrip()
        case "instruction":
            named = ", ".join(f"{unit[0]}: {unit[-1]}" for unit in sample.units)
            return f"{_REQUEST}\n{_example(named, prefix)}"


def preamble(style: Style) -> str:
    """Return what stands once before demonstrations, for models that follow instructions."""
    return f"{_REQUEST}\n{_EXAMPLES}\n" if style == "instruction" else ""


def example(sample: Sample, style: Style, space: Space) -> str:
    """Return the prompt of a sample among demonstrations.

    In the published template a value is its number in its aspect, such as ``cuisine-0``: what that
    means, demonstrations must show.

    Raises:
        ConfigError: the style is unknown.
    """
    if style != "instruction":
        return linearize(sample, style)
    numbers = (f"{unit[0]}-{space.aspects[unit[0]].index(unit[-1])}" for unit in sample.units)
    return _example(", ".join(numbers), prefix_of(sample))


def _example(values: str, prefix: str) -> str:
    return f"Input: {values}.\nOutput: {prefix}".rstrip()
