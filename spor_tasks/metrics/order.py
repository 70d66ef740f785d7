"""Order invariance (section 3.3): fidelity and ordering under two input orders, and CWIO.

An output's *order* is that in which it mentions the units (:mod:`spor_tasks.text.align`), units
not located after all others in the order of the sample's data. E2E values are located strictly,
WebNLG entities are not.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Order, Orders, Sample, challenge_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.totals import GROUP_MEANS
from spor_tasks.text import align


def kendall(first: Sequence[int], second: Sequence[int]) -> float:
    """Return Kendall's τ of two orders of the same units, from -1 (reversed) to 1 (equal).

    Over all pairs of units: the share that both orders rank alike less the share that they do not.

    Raises:
        ValueError: there are fewer than two units, so nothing is ordered.
    """
    rank = {unit: place for place, unit in enumerate(second)}
    pairs = [rank[before] < rank[after] for before, after in combinations(first, 2)]
    if not pairs:
        raise ValueError("an order of fewer than two units correlates with nothing")
    return (2 * sum(pairs) - len(pairs)) / len(pairs)


def is_strict(sample: Sample) -> bool:
    """Return whether the sample's units must be located by every token, as E2E's limited values."""
    return isinstance(sample.units[0], AttributeValue)


def is_proper(order: Order, references: Iterable[Order]) -> bool:
    """Return whether τ > 0 with some reference's order."""
    return any(kendall(order, reference) > 0 for reference in references)


_PROPERTIES = (
    ("fidelity", "Fidelity", ("fidelity",)),
    ("ordering", "Ordering", ("proper",)),
    ("ordering_em", "Ordering EM", ("em",)),
    ("faithful_ordering", "Faithful ordering", ("proper", "fidelity")),
)
"""The names and labels of properties, and the details that must all be true."""


class OrderInvariance(Metric):
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
            is_share=True,
        )
        for name, label, _ in _PROPERTIES
        for share in ("pbh", "poh")
    )
    units = ("facts",)
    signature = f"order|align:published|names:words|v:{__version__}"
    outputs = 2
    needs_texts = True
    challenge = Orders

    def judge_one(self, sample: Sample, first: str, second: str) -> Judgement:
        """Locate the sample's units in both outputs.

        The details of an output are its plan, the order of the units in it, and its properties. It
        is ``proper`` if τ > 0 with some reference's order, and ``em`` if it is equal to one.
        ``fidelity`` is that all units have a position, the index of a token.

        Raises:
            CorpusError: the sample has no orders, or fewer than two units, so nothing is ordered.
        """
        if len(sample.units) < 2:
            what = "has fewer than two units, so nothing is ordered"
            raise CorpusError(what, where=f"sample {sample.id}")
        strict, references = is_strict(sample), challenge_of(sample, Orders).references
        orders: list[dict[str, object]] = []
        for output in (first, second):
            positions = align.locate(sample.units, output, strict=strict)
            order = align.order(positions)
            orders.append(
                {
                    "fidelity": None not in positions,
                    "proper": is_proper(order, references),
                    "em": order in references,
                    "plan": order,
                    "pos": positions,
                    "missing": _missing(positions),
                }
            )
        values: dict[str, float] = {}
        for name, _, keys in _PROPERTIES:
            has_first, has_second = (all(map(order.get, keys)) for order in orders)
            values[f"{name}_pbh"] = 100.0 * (has_first and has_second)
            values[f"{name}_poh"] = 100.0 * (has_first != has_second)
        details = {
            f"{key}_{number}": value
            for number, order in enumerate(orders, start=1)
            for key, value in order.items()
        }
        return Judgement(values, details)


class Cwio(Metric):
    """Correlation with the input order: τ averaged within each number of units, then over these.

    As published, units are sought leniently, E2E's as (name, value) pairs with yes and no taken
    literally, and an output that mentions nothing correlates perfectly. ``cwio_located`` averages
    only outputs that have an order; it means little without ``cwio_located_share`` beside it. A
    sample of one unit has no order, and so no verdict.
    """

    scores = (
        ScoreInfo("cwio", "CWIO", -1, 1, None, totals=GROUP_MEANS),
        ScoreInfo("cwio_located", "CWIO, located", -1, 1, None, "cwio", GROUP_MEANS),
        ScoreInfo(
            "cwio_located_share",
            "located",
            higher_is_better=None,
            own_title="CWIO, share located",
            is_share=True,
        ),
    )
    units = ("facts",)
    signature = f"cwio|align:published|names:words|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Correlate the order of the units in one output with the order of the sample's data."""
        units = len(sample.units)
        if units < 2:
            unscored = {info.name: None for info in self.scores}
            return Judgement(unscored, {"tau": None, "n": units, "tau_located": None})
        pairs: list[align.Ends] = [
            (sample.about("name"), unit.value)
            if isinstance(unit, AttributeValue)
            else (unit.subject, unit.object)
            for unit in sample.units
        ]
        located = positions = align.locate_ends(pairs, output, strict=False)
        if is_strict(sample):  # else both ways are the same
            located = align.locate(sample.units, output, strict=True)
        tau = kendall(align.order(positions), range(units))
        tau_located = None if None in located else kendall(align.order(located), range(units))
        values = {
            "cwio": (units, tau),
            "cwio_located": None if tau_located is None else (units, tau_located),
            "cwio_located_share": 100.0 * (tau_located is not None),
        }
        details = {
            "tau": tau,
            "n": units,
            "occ": units - positions.count(None),
            "pos": positions,
            "tau_located": tau_located,
            "pos_located": located,
            "missing": _missing(located),
        }
        return Judgement(values, details)


ORDER_INVARIANCE = OrderInvariance()
CWIO = Cwio()


def _missing(positions: Sequence[int | None]) -> tuple[int, ...]:
    return tuple(unit for unit, position in enumerate(positions) if position is None)
