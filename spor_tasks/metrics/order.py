"""Order invariance (section 3.3): fidelity and ordering under two input orders, and CWIO.

An output's *order* is that in which it mentions the units (:mod:`spor_tasks.text.align`), units
not located after all others in the order of the sample's data. E2E values are located strictly,
WebNLG entities are not.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Order, Orders, Sample, orders_of
from spor_tasks.metrics.base import EvidenceMetric, ScoreInfo, Texts, Values
from spor_tasks.metrics.totals import GROUP_MEANS
from spor_tasks.text import align

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
    """Return whether the sample's units must be located by every token, as E2E's limited values."""
    return isinstance(sample.units[0], AttributeValue)


def is_proper(order: Order, references: Iterable[Order]) -> bool:
    """Return whether τ > 0 with some reference's order."""
    return any(kendall(order, reference) > 0 for reference in references)


@dataclass(frozen=True, slots=True)
class OutputOrder:
    """The order of the units in one of the two outputs.

    ``positions`` are token indices, None where a unit is not located. ``proper`` is τ > 0 with some
    reference's order, ``exact`` equality with one.
    """

    positions: Positions
    order: Order
    proper: bool
    exact: bool

    @property
    def faithful(self) -> bool:
        """Whether all units are located."""
        return None not in self.positions


class OrderEvidence(NamedTuple):
    """Both outputs of one sample, in the order of its two input orders."""

    first: OutputOrder
    second: OutputOrder


_PROPERTIES: tuple[tuple[str, str, Callable[[OutputOrder], bool]], ...] = (
    ("fidelity", "Fidelity", lambda output: output.faithful),
    ("ordering", "Ordering", lambda output: output.proper),
    ("ordering_em", "Ordering EM", lambda output: output.exact),
    ("faithful_ordering", "Faithful ordering", lambda output: output.proper and output.faithful),
)


@dataclass(frozen=True, slots=True)
class OrderInvariance(EvidenceMetric[OrderEvidence]):
    """Share of samples where both outputs have a property (PBH), and where only one has (POH).

    Published are ``fidelity``, ``ordering`` and, unreported, ``ordering_em``. Published ordering
    does not ask for fidelity, so that saying nothing is mostly proper: ``faithful_ordering`` asks.
    """

    scores = tuple(
        ScoreInfo(
            f"{name}_{share}",
            f"{label} {share.upper()}",
            higher_is_better=share == "pbh",
            corrects=f"ordering_{share}" if name == "faithful_ordering" else None,
        )
        for name, label, _ in _PROPERTIES
        for share in ("pbh", "poh")
    )
    signature = f"order|align:published|v:{__version__}"
    outputs = 2
    needs_texts = True
    challenge = Orders

    def measured(self, sample: Sample, first: str, second: str) -> OrderEvidence:
        """Locate the sample's units in both outputs.

        Raises:
            CorpusError: the sample has no orders, or fewer than two units, so nothing is ordered.
        """
        _require_an_order(sample)
        return OrderEvidence(_output_order(sample, first), _output_order(sample, second))

    def values(self, evidence: OrderEvidence) -> dict[str, float]:
        """Return what one sample adds to each score: 100 where it counts, else 0."""
        verdicts: dict[str, float] = {}
        for name, _, has in _PROPERTIES:
            first, second = map(has, evidence)
            verdicts[f"{name}_pbh"] = 100.0 * (first and second)
            verdicts[f"{name}_poh"] = 100.0 * (first != second)
        return verdicts

    def describe(self, _: Sample, __: Texts, evidence: OrderEvidence) -> dict[str, Any]:
        """Return what each of the two outputs does with the units."""
        return {
            f"{name}_{number}": value
            for number, output in enumerate(evidence, start=1)
            for name, value in (
                ("fidelity", output.faithful),
                ("proper", output.proper),
                ("em", output.exact),
                ("plan", output.order),
                ("pos", output.positions),
                ("missing", _missing(output.positions)),
            )
        }


def _output_order(sample: Sample, output: str) -> OutputOrder:
    positions = align.locate(sample.units, output, strict=is_strict(sample))
    order, references = align.order(positions), orders_of(sample).references
    return OutputOrder(
        positions, order, proper=is_proper(order, references), exact=order in references
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


@dataclass(frozen=True, slots=True)
class Cwio(EvidenceMetric[CwioEvidence]):
    """Correlation with the input order: τ averaged within each number of units, then over these.

    As published, units are sought leniently, E2E's as (name, value) pairs with yes and no taken
    literally, and an output that mentions nothing correlates perfectly. ``cwio_located`` averages
    only outputs that have an order; it means little without ``cwio_located_share`` beside it.
    """

    scores = (
        ScoreInfo("cwio", "CWIO", -1, 1, None, totals=GROUP_MEANS),
        ScoreInfo("cwio_located", "CWIO, located", -1, 1, None, "cwio", GROUP_MEANS),
        ScoreInfo(
            "cwio_located_share", "located", higher_is_better=None, own_title="CWIO, share located"
        ),
    )
    signature = f"cwio|align:published|v:{__version__}"

    def measured(self, sample: Sample, output: str) -> CwioEvidence:
        """Correlate the order of the units in one output with the order of the sample's data.

        Raises:
            CorpusError: the sample has fewer than two units, so nothing is ordered.
        """
        _require_an_order(sample)
        input_order = tuple(range(len(sample.units)))
        located = positions = align.locate_ends(_pairs(sample), output, strict=False)
        if is_strict(sample):  # else both ways are the same
            located = align.locate(sample.units, output, strict=True)
        return CwioEvidence(
            units=len(input_order),
            positions=positions,
            tau=kendall(align.order(positions), input_order),
            located=located,
            located_tau=None if None in located else kendall(align.order(located), input_order),
        )

    def values(self, evidence: CwioEvidence) -> Values:
        """Return τ with its number of units, for the means over these.

        ``cwio_located`` has no verdict on an output that leaves out a unit.
        """
        units, located_tau = evidence.units, evidence.located_tau
        return {
            "cwio": (units, evidence.tau),
            "cwio_located": None if located_tau is None else (units, located_tau),
            "cwio_located_share": 100.0 * (located_tau is not None),
        }

    def describe(self, _: Sample, __: Texts, evidence: CwioEvidence) -> dict[str, Any]:
        """Return τ, the number of units and how many occur, as published and as located."""
        positions = evidence.positions
        return {
            "tau": evidence.tau,
            "n": evidence.units,
            "occ": len(positions) - positions.count(None),
            "pos": positions,
            "tau_located": evidence.located_tau,
            "pos_located": evidence.located,
            "missing": _missing(evidence.located),
        }


ORDER_INVARIANCE = OrderInvariance()
CWIO = Cwio()


def _require_an_order(sample: Sample) -> None:
    if len(sample.units) < 2:  # noqa: PLR2004 - one comes before nothing
        raise CorpusError(
            "has fewer than two units, so nothing is ordered", where=f"sample {sample.id}"
        )


def _missing(positions: Positions) -> tuple[int, ...]:
    return tuple(unit for unit, position in enumerate(positions) if position is None)


def _pairs(sample: Sample) -> list[align.Ends]:
    """Return the units' ends as the published CWIO sees them."""
    return [
        (sample.about("name"), unit.value)
        if isinstance(unit, AttributeValue)
        else (unit.subject, unit.object)
        for unit in sample.units
    ]
