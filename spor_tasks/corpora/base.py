"""The contract of a corpus: a name, its samples, and the prompt of each sample.

To add a corpus, write a module with a :class:`Corpus`, and add a line to `registry.toml`. A corpus
in a JSON Lines file needs neither (:mod:`spor_tasks.corpora.own`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import CorpusSamples, Sample

Style: TypeAlias = Literal["causal", "seq2seq", "instruction"]
"""How a prompt is worded (:mod:`spor_tasks.prompts.styles`)."""

# The text follows the colon directly, without a space [code].
_CAUSAL_CUE = " Output:"
_INSTRUCTION = "Write a short English text that says all of these facts and nothing else."
_TEXT_CUE = "Text:"


class Corpus(Protocol):
    """A corpus by name.

    It may also have ``parts(folder=None)``, which returns samples by the name of their part, with
    ``train`` for training samples, if it has others than training and test samples;
    ``references(path=None)``, which yields the samples that a file of outputs is about, one a line,
    and where each stands; and, if prompts are worded differently where there are demonstrations,
    ``preamble(style)``, what stands once before these, with ``example(sample, style)``, the prompt
    of a sample among them.
    """

    @property
    def name(self) -> str:
        """The name in the registry, in tasks and in ``Sample.corpus``."""

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return all samples, equal in each call.

        ``folder`` holds the published repository's tree; by default it is
        :meth:`spor_tasks.corpora.sources.SPOR.data_dir`. A corpus that needs no file ignores it.

        Raises:
            CorpusError: a file is missing or is not the published one.
        """

    def everything(self, folder: Path | None = None) -> Sequence[Sample]:
        """Return every sample of the sources in a fixed order, also those that no set has.

        ToTTo returns its development set, since memory may not hold all.


        Raises:
            CorpusError: a file is missing or is not the published one.
        """

    def linearize(self, sample: Sample, style: Style) -> str:
        """Return the whole prompt, with the units in the order of the sample.

        It depends only on units and context.

        Raises:
            ConfigError: there is no such style.
        """


def in_style(style: Style, line: str, facts: Iterable[str], *, before: str = "") -> str:
    """Return a prompt, given the units in the paper's one line and as facts in plain words.

    ``before`` is a sentence that the plain words begin with.

    Raises:
        ConfigError: there is no such style.
    """
    check_style(style)
    match style:
        case "causal":
            return line + _CAUSAL_CUE
        case "seq2seq":
            return line
        case "instruction":
            asked = f"{before} {_INSTRUCTION}".lstrip()
            return "\n".join([asked, *(f"- {fact}" for fact in facts), _TEXT_CUE])


def check_style(style: str) -> None:
    """Check that there is such a style.

    Raises:
        ConfigError: there is not.
    """
    if style not in get_args(Style):
        raise ConfigError(
            f"there is no prompt style {style!r}",
            remedy=f"Use one of {', '.join(get_args(Style))}.",
        )
