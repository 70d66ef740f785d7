"""The text of triples in a prompt (Appendix A)."""

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Style, in_style
from spor_tasks.text.normalize import display

_PREFIX = "translate from Triple to Text: "
_MARKS = ("<head>", "<relation>", "<tail>")


def linearize(sample: Sample, style: Style, instruction: str | None = None) -> str:
    """Return the prompt of a sample of triples.

    Raises:
        ConfigError: the style is unknown.
    """
    triples = [[display(part) for part in unit] for unit in sample.units]
    marked = (
        f"{mark} {part}" for triple in triples for mark, part in zip(_MARKS, triple, strict=True)
    )
    facts = (" | ".join(map(str.strip, triple)) for triple in triples)
    return in_style(style, _PREFIX + " ".join(marked), facts, instruction=instruction)
