"""The prompt of a sample of ViGGO: E2E's, after the dialogue act."""

import tomllib
from pathlib import Path

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Style, in_style
from spor_tasks.corpora.viggo.reader import NAMED_BY
from spor_tasks.text.normalize import display

_PREFIX = "translate from MR to Text: "

_PURPOSES = tomllib.loads(Path(__file__).with_name("purposes.toml").read_text("utf-8"))
_SLOTS = {words: slot.replace("_", " ") for slot, words in NAMED_BY.items()}


def linearize(sample: Sample, style: Style) -> str:
    """Return the prompt of a sample, its dialogue act first, then the name if it has one.

    Raises:
        ConfigError: the style is unknown.
    """
    act, name = sample.about("act") or "inform", sample.about("name")
    pairs = [] if name is None else [("name", display(name))]
    pairs += [
        (_SLOTS.get(unit[0], display(unit[0])), display(unit[-1]).strip()) for unit in sample.units
    ]
    line = " ".join([act.replace("_", " "), *(f"{slot}[{value}]" for slot, value in pairs)])
    purpose = f"Write one utterance of a dialogue about video games: {_PURPOSES[act]}."
    facts = [f"{slot}: {value}" for slot, value in pairs]
    return in_style(style, _PREFIX + line, facts, before=purpose)
