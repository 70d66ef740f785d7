"""What is worth a warning about scored outputs: references apart, and texts of another look."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from spor_tasks.core.references import has_words
from spor_tasks.core.sample import Sample, sides
from spor_tasks.evaluation.outputs import ScoredRow

_FEW = 0.01  # WebNLG's test set has four samples of 2,179 that share two inputs
_MOSTLY, _RARELY = 0.5, 0.1
"""The shares of outputs above which, and of references below which, they look different."""


def apart(samples: Sequence[Sample]) -> Iterator[str]:
    """Yield the warning that rows of one input have a text each."""
    alone = [sample for sample in samples if len(sample.references) == 1]
    if len(alone) <= _FEW * len(samples):
        return
    texts: dict[Hashable, list[str]] = defaultdict(list)
    for sample in alone:
        texts[sample.input] += sample.references
    divided = [each for each in texts.values() if len(set(each)) > 1]
    found = sum(map(len, divided))
    if found > _FEW * len(samples):
        yield (
            f"{found:,} rows are of {len(divided):,} inputs, and each is compared with its own "
            "text alone: write one row for each input, with all its texts"
        )


_LOOKS: tuple[tuple[str, Callable[[str], object], str], ...] = (
    ("lower-cased", str.islower, "`--lowercase` scores both in lower case"),
    (
        "tokenized",
        re.compile(r"\w [.,;:!?](?: |$)|\w n't\b|\w 's\b").search,
        "join the marks to their words, as Moses' detokenizer does",
    ),
)
"""What texts may look like, how to tell it of one, and what to do if only outputs look so."""


def looks(name: str, rows: Sequence[ScoredRow], *, lowercase: bool) -> Iterator[str]:
    """Yield warnings of outputs that look otherwise than references, which costs points."""
    outputs = [text for row in rows for text in row.outputs if has_words(text)]
    references = [text for row in rows for side in sides(row.sample) for text in side.references]
    for look, is_so, remedy in _LOOKS[lowercase:]:
        of_outputs, of_references = (
            sum(map(bool, map(is_so, texts))) / len(texts) if texts else 0.5
            for texts in (outputs, references)
        )
        if of_outputs > _MOSTLY and of_references < _RARELY:
            yield (
                f"{name}: {of_outputs:.0%} of the outputs look {look}, and "
                f"{of_references:.0%} of the references: {remedy}"
            )
