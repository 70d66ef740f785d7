"""One test sample beside the training samples that share its units."""

from collections.abc import Sequence
from dataclasses import dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import DataUnit, Sample, Split, SplitPair


@dataclass(frozen=True, slots=True)
class Holder:
    """A training sample, and the indices of the test sample's units that it has."""

    sample: Sample
    held: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """What an arm shows of a test sample.

    ``holders`` counts the samples that share a unit with it, ``together`` those that share two or
    more, and ``per_unit`` the samples that have each unit. ``samples`` are some of the holders,
    those that share most units first.
    """

    name: str
    holders: int
    together: int
    per_unit: tuple[int, ...]
    samples: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A test sample, its index in the test set, and what each arm shows of it."""

    sample: Sample
    index: int
    arms: tuple[Arm, ...]


def show(pair: SplitPair, which: str, *, most: int) -> Exhibit:
    """Return the test sample with this id or index, and at most ``most`` samples of each arm.

    Raises:
        ConfigError: there is no such test sample.
    """
    tests = pair.test.samples
    index = next((i for i, sample in enumerate(tests) if sample.id == which), None)
    if index is None and which.isdecimal() and int(which) < len(tests):
        index = int(which)
    if index is None:
        raise ConfigError(
            f"there is no test sample {which!r}",
            remedy=f"Give an index from 0 to {len(tests) - 1}, or an id.",
        )
    sample = tests[index]
    arms = (_arm(arm, sample.units, most) for arm in pair.arms)
    return Exhibit(sample, index, tuple(arms))


def _arm(arm: Split, units: Sequence[DataUnit], most: int) -> Arm:
    holders = [
        Holder(sample, held)
        for sample in arm.samples
        if (held := tuple(i for i, unit in enumerate(units) if unit in sample.units))
    ]
    return Arm(
        name=arm.name,
        holders=len(holders),
        together=sum(len(holder.held) > 1 for holder in holders),
        per_unit=tuple(sum(i in holder.held for holder in holders) for i in range(len(units))),
        samples=tuple(sorted(holders, key=lambda holder: -len(holder.held))[:most]),
    )
