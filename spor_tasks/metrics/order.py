"""Order invariance (section 3.3): fidelity and ordering under two input orders, and CWIO.

An output's *order* is that in which it mentions the units (:mod:`spor_tasks.text.align`), units
not located after all others in the order of the sample's data. E2E values are located strictly,
WebNLG entities are not.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, OrderSample, Sample
from spor_tasks.metrics.base import Score, Values, reduce_values
from spor_tasks.text import align

Order = tuple[int, ...]
Positions = tuple[int | None, ...]


def kendall(one: Sequence[int], other: Sequence[int]) -> float:
    """Return Kendall's τ of two orders of the same units, from -1 (reversed) to 1 (equal).

    Over all pairs of units: the share that both orders rank alike less the share that they do not.

    Raises:
        ValueError: there are fewer than two units, so nothing is ordered.
    """
    rank = {unit: place for place, unit in enumerate(other)}
    pairs = [rank[before] < rank[after] for before, after in combinations(one, 2)]
    if not pairs:
        raise ValueError("an order of fewer than two units correlates with nothing")
    return (2 * sum(pairs) - len(pairs)) / len(pairs)


def is_strict(sample: Sample) -> bool:
    """Tell whether the sample's units must be located by every token, as E2E's limited values."""
    return isinstance(sample.units[0], AttributeValue)


def is_proper(order: Order, references: Iterable[Order]) -> bool:
    """Tell whether τ > 0 with some reference's order."""
    return any(kendall(order, reference) > 0 for reference in references)


@dataclass(frozen=True, slots=True)
class OutputOrder:
    """What one of the two outputs does with the units.

    ``positions`` are token indices, None where a unit is not located. ``proper`` is τ > 0 with some
    reference's order, ``exact`` equality with one.
    """

    positions: Positions
    order: Order
    proper: bool
    exact: bool

    @property
    def missing(self) -> tuple[int, ...]:
        """The units that are not located."""
        return _missing(self.positions)

    @property
    def faithful(self) -> bool:
        """Whether all units are located."""
        return None not in self.positions


class OrderEvidence(NamedTuple):
    """Both outputs of one sample, in the order of its two input orders."""

    first: OutputOrder
    second: OutputOrder


_PROPERTIES = {
    "fidelity": lambda output: output.faithful,
    "ordering": lambda output: output.proper,
    "ordering_em": lambda output: output.exact,
    "faithful_ordering": lambda output: output.proper and output.faithful,
}


@dataclass(frozen=True, slots=True)
class OrderInvariance:
    """Share of samples where both outputs have a property (PBH), and where only one has (POH).

    Published are ``fidelity``, ``ordering`` and, unreported, ``ordering_em``. Published ordering
    does not ask for fidelity, so that saying nothing is mostly proper: ``faithful_ordering`` asks.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """All scores."""
        return tuple(f"{name}_{share}" for name in _PROPERTIES for share in ("pbh", "poh"))

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return f"order|align:published|v:{__version__}"

    def measure(self, sample: OrderSample, outputs: tuple[str, str]) -> OrderEvidence:
        """Locate the sample's units in both outputs.

        Raises:
            CorpusError: the sample has fewer than two units, so nothing is ordered.
        """
        _require_an_order(sample)
        first, second = outputs
        return OrderEvidence(_output_order(sample, first), _output_order(sample, second))

    def values(self, evidence: OrderEvidence) -> dict[str, float]:
        """Return what one sample adds to each score: 100 where it counts, else 0."""
        verdicts: dict[str, float] = {}
        for name, has in _PROPERTIES.items():
            first, second = map(has, evidence)
            verdicts[f"{name}_pbh"] = 100.0 * (first and second)
            verdicts[f"{name}_poh"] = 100.0 * (first != second)
        return verdicts

    def reduce(self, evidence: Iterable[OrderEvidence]) -> tuple[Score, ...]:
        """Return all scores, from 0 to 100."""
        return reduce_values(self.names, map(self.values, evidence), self.signature)


def _output_order(sample: OrderSample, output: str) -> OutputOrder:
    positions = align.locate(sample.units, output, strict=is_strict(sample))
    order = align.order(positions)
    return OutputOrder(
        positions,
        order,
        proper=is_proper(order, sample.reference_orders),
        exact=order in sample.reference_orders,
    )


@dataclass(frozen=True, slots=True)
class CwioEvidence:
    """How one output's order correlates with its input's.

    ``units`` is their number, ``tau`` and ``positions`` are as published. ``located`` are the
    positions by the rules that hold everywhere else; ``located_tau`` is None where some unit has
    none, since such an output has no order.
    """

    units: int
    positions: Positions
    tau: float
    located: Positions
    located_tau: float | None

    @property
    def missing(self) -> tuple[int, ...]:
        """The units that are not located by the rules that hold everywhere else."""
        return _missing(self.located)


@dataclass(frozen=True, slots=True)
class Cwio:
    """Correlation with the input order: τ averaged within each number of units, then over these.

    As published, units are sought leniently, E2E's as (name, value) pairs with yes and no taken
    literally, and an output that mentions nothing correlates perfectly. ``cwio_located`` averages
    only outputs that have an order; it means little without ``cwio_located_share`` beside it.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The scores that there always are; beside them is one for each number of units."""
        return "cwio", "cwio_located", "cwio_located_share"

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return f"cwio|align:published|v:{__version__}"

    def measure(self, sample: Sample, output: str) -> CwioEvidence:
        """Correlate the order of the units in one output with the order of the sample's data.

        Raises:
            CorpusError: the sample has fewer than two units, so nothing is ordered.
        """
        _require_an_order(sample)
        given = tuple(range(len(sample.units)))
        located = positions = align.locate_pairs(_pairs(sample), output, strict=False)
        if is_strict(sample):  # else both ways are the same
            located = align.locate(sample.units, output, strict=True)
        return CwioEvidence(
            units=len(given),
            positions=positions,
            tau=kendall(align.order(positions), given),
            located=located,
            located_tau=None if None in located else kendall(align.order(located), given),
        )

    def values(self, evidence: CwioEvidence) -> Values:
        """Return τ with its number of units for the two means over these, and for each on its own.

        ``cwio_located`` has no verdict on an output that leaves out a unit.
        """
        units, located_tau = evidence.units, evidence.located_tau
        return {
            "cwio": (units, evidence.tau),
            f"cwio_{units}": evidence.tau,
            "cwio_located": None if located_tau is None else (units, located_tau),
            "cwio_located_share": 100.0 * (located_tau is not None),
        }

    def reduce(self, evidence: Iterable[CwioEvidence]) -> tuple[Score, ...]:
        """Return both means and the located share, then the published mean per number of units."""
        return reduce_values(self.names, map(self.values, evidence), self.signature)


def _require_an_order(sample: Sample) -> None:
    if len(sample.units) < 2:  # noqa: PLR2004 - one comes before nothing
        raise CorpusError(
            "has fewer than two units, so nothing is ordered", where=f"sample {sample.id}"
        )


def _missing(positions: Positions) -> tuple[int, ...]:
    return tuple(unit for unit, position in enumerate(positions) if position is None)


def _pairs(sample: Sample) -> list[align.Pair]:
    """Return the units' ends as the published CWIO sees them."""
    return [
        (sample.name, unit.value)
        if isinstance(unit, AttributeValue)
        else (unit.subject, unit.object)
        for unit in sample.units
    ]


def macro_mean(taus: Iterable[tuple[int, float]]) -> float:
    """Return the mean over numbers of units of the mean τ of each, NaN where there is nothing.

    Each τ stands with its number of units; their order does not matter, to the last bit.
    """
    values = ({"cwio": (units, tau)} for units, tau in taus)
    (score,) = reduce_values(["cwio"], values, signature="")
    return score.value


def macro_stderr(taus: Iterable[tuple[int, float]]) -> float:
    """Return the standard error of :func:`macro_mean`, NaN where a number of units has one τ only.

    The numbers of units are fixed and the outputs independent, so it is √(Σ s²/n) over how many
    numbers there are, with s the sample standard deviation and n the count within each.
    """
    variances = [
        statistics.variance(same) / len(same) if len(same) > 1 else math.nan
        for same in _by_size(taus).values()
    ]
    return math.sqrt(math.fsum(variances)) / len(variances) if variances else math.nan


def _by_size(taus: Iterable[tuple[int, float]]) -> Mapping[int, list[float]]:
    sizes: dict[int, list[float]] = defaultdict(list)
    for units, tau in taus:
        sizes[units].append(tau)
    return sizes
