"""The text of attribute-value pairs in a prompt (Appendix A)."""

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Style, in_style
from spor_tasks.text.normalize import display

_PREFIX = "translate from MR to Text: "


def linearize(sample: Sample, style: Style, instruction: str | None = None) -> str:
    """Return the prompt of a sample of pairs, its name first where it has one.

    Raises:
        ConfigError: the style is unknown.
    """
    name = sample.about("name")
    named = [] if name is None else [display(name)]
    pairs = [[display(part) for part in unit] for unit in sample.units]
    parts = [
        *(f"name[{text}]" for text in named),
        *(f"{attribute}[{value}]" for attribute, value in pairs),
    ]
    facts = [
        *(f"name: {text}" for text in named),
        *(": ".join(map(str.strip, pair)) for pair in pairs),
    ]
    return in_style(style, _PREFIX + " ".join(parts), facts, instruction=instruction)
