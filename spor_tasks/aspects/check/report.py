"""What a check finds: requirements that do not hold, and the samples in which they do not."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spor_tasks.core.sample import Sample


class Violation(NamedTuple):
    """A requirement that does not hold, in words, and the ids of the samples it shows in, by split.

    There are no samples where it is the sets as wholes that differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was counted in the sets of an aspect, and the requirements that do not hold."""

    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """Whether every requirement holds."""
        return not self.violations


def unless(
    met: bool,  # noqa: FBT001 - reads as a sentence
    words: str,
    **samples: Iterable[Sample],
) -> Iterator[Violation]:
    """Yield the violation, unless the requirement is met; ``samples`` of each split show it."""
    if not met:
        ids = {split: tuple(sample.id for sample in some) for split, some in samples.items()}
        yield Violation(words, {split: some for split, some in ids.items() if some})


def unless_none(
    found: Collection[object], words: str, **samples: Iterable[Sample]
) -> Iterator[Violation]:
    """Yield the violation that there are so many of what should not be there."""
    return unless(not found, f"{len(found)} {words}", **samples)


def unless_equal(counts: tuple[int, int], words: str) -> Iterator[Violation]:
    """Yield the violation that the two counts, which ``words`` has places for, differ."""
    return unless(counts[0] == counts[1], words.format(*counts))
