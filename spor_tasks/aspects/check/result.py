"""What a check finds: counts, the requirements that do not hold, and the samples concerned."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spor_tasks.core.sample import Sample


class Violation(NamedTuple):
    """A requirement that does not hold, in words, with the ids of the samples concerned by split.

    There are no ids where whole sets differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The counts of an aspect's sets, and the requirements that do not hold."""

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
    """Yield a violation unless the requirement is met, with the ``samples`` concerned, by split."""
    if not met:
        ids = {split: tuple(sample.id for sample in some) for split, some in samples.items()}
        yield Violation(words, {split: some for split, some in ids.items() if some})


def unless_none(
    found: Collection[object], words: str, **samples: Iterable[Sample]
) -> Iterator[Violation]:
    """Yield a violation if anything was found that should not be there; ``words`` say what."""
    return unless(not found, f"{len(found)} {words}", **samples)


def unless_equal(counts: tuple[int, int], words: str) -> Iterator[Violation]:
    """Yield a violation if the two counts differ; ``words`` has placeholders for both."""
    return unless(counts[0] == counts[1], words.format(*counts))
