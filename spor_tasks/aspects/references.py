"""What is to be known of the references of a corpus or of sets before these are used."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from spor_tasks.core.sample import CorpusSamples, Deferred, Sample, Sets, sides
from spor_tasks.text import align

FLOOR = 0.5
"""A share of mentioned units below which references are not in the words of the units."""

_ENOUGH = 2_000  # samples, evenly spaced, for a share

NO_REFERENCES = "texts without a letter or digit are left out: they are no references"


class ReferenceFacts(NamedTuple):
    """How many texts are no references, and the share of the units that references mention.

    Units are located as for coverage. Without references there is no share.
    """

    left_out: int
    mentioned: float | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Both in words, if there is something to say."""
        share = self.mentioned
        return (
            *([f"{self.left_out:,} {NO_REFERENCES}"] if self.left_out else []),
            *([f"references mention {share:.0%} of the units"] if share is not None else []),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a small share means for the scores."""
        if self.mentioned is None or self.mentioned >= FLOOR:
            return ()
        few = f"references mention {self.mentioned:.0%} of the units, fewer than half"
        return (f"{few}: PARENT and coverage say little where texts have other words than data",)


def of_corpus(corpus: CorpusSamples) -> ReferenceFacts:
    """Return what is to be known of a corpus; the share is of its test samples, if it has some."""
    return ReferenceFacts(left_out(corpus.samples), _share_mentioned(corpus.test or corpus.train))


def of_sets(pair: Sets) -> ReferenceFacts:
    """Return what is to be known of sets; the share is of their test samples, or of an arm."""
    shares = map(_share_mentioned, (pair.test, *pair.arms.values()))
    share = next((share for share in shares if share is not None), None)
    # Published arms are read when they are needed, and each of their texts is a reference.
    read = (each for each in pair.all.values() if not isinstance(each, Deferred))
    return ReferenceFacts(left_out(chain.from_iterable(read)), share)


def left_out(samples: Iterable[Sample]) -> int:
    """Return how many texts of samples are no references, since they have no letter or digit."""
    return sum(side.left_out for sample in samples for side in sides(sample))


def pooled(corpus: CorpusSamples) -> Iterator[str]:
    """Yield of which part of a corpus so many rows are fewer samples, or none, in words."""
    if corpus.empty:
        yield f"{corpus.empty:,} entries are left out: they have no unit, or no text to read"
    for part, samples in (("train", corpus.train), ("test", corpus.test)):
        if (rows := corpus.rows.get(part, 0)) > len(samples):
            yield (
                f"{rows:,} {part} rows are {len(samples):,} samples: rows with equal data are "
                "joined, with the texts of all"
            )


def _share_mentioned(samples: Sequence[Sample]) -> float | None:
    step = len(samples) // _ENOUGH + 1
    located = [
        position is not None
        for sample in samples[::step]
        for text in sample.references
        for position in align.locate(sample.units, text, strict=False)
    ]
    return sum(located) / len(located) if located else None
