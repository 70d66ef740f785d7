"""The text of attribute-value pairs in a prompt (Appendix A)."""

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Style, in_style
from spor_tasks.text.normalize import display

_PREFIX = "translate from MR to Text: "


def linearize(sample: Sample, style: Style, instruction: str | None = None) -> str:
    """Return the prompt of a sample of pairs: its dialogue act and its name first, if it has them.

    Raises:
        ConfigError: the style is unknown.
    """
    name, act = sample.about("name"), sample.about("act")
    named = [] if name is None else [display(name)]
    pairs = [[display(part) for part in unit] for unit in sample.units]
    parts = [
        *([display(act)] if act else []),
        *(f"name[{text}]" for text in named),
        *(f"{attribute}[{value}]" for attribute, value in pairs),
    ]
    facts = [
        *(f"name: {text}" for text in named),
        *(": ".join(map(str.strip, pair)) for pair in pairs),
    ]
    before = f"Dialogue act: {display(act)}." if act else ""
    line = _PREFIX + " ".join(parts)
    return in_style(style, line, facts, before=before, instruction=instruction)
