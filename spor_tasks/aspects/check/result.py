"""What a check finds: counts, the requirements that do not hold, and the samples concerned."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_type_hints

from spor_tasks.core.sample import Sample


class Violation(NamedTuple):
    """A requirement that does not hold, in words, with the ids of the samples concerned by split.

    There are no ids where whole sets differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The counts of an aspect's sets, and the requirements that do not hold.

    Each count is annotated with its label. A tuple has one number for each arm, in their order.
    """

    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """Whether every requirement holds."""
        return not self.violations

    @classmethod
    def labels(cls) -> dict[str, str]:
        """Return what each field counts, in words."""
        types = get_type_hints(cls, include_extras=True)
        return {name: kind.__metadata__[0] for name, kind in types.items() if name != "violations"}


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


def unless_equal(counts: Sequence[int], words: str) -> Iterator[Violation]:
    """Yield a violation if the counts of the arms differ; ``words`` has placeholders for them."""
    return unless(len(set(counts)) == 1, words.format(*counts))
