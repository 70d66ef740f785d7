"""Decisions under two orders of columns, by hand."""

import math
from itertools import product

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Contrast, Sample, views
from spor_tasks.metrics.adversarial_orders import ADVERSARIAL_ORDERS
from spor_tasks.metrics.base import Tally
from spor_tasks.metrics.likelihood import Likelihood

UNITS = (AttributeValue("city", "0"), AttributeValue("people", "1"))
PAIR = Sample(
    "1",
    "logicnlg",
    UNITS,
    ("the most people",),
    challenge=Contrast(UNITS, "the fewest people", orders=((0, 1), (1, 0))),
)


def scores(*told: tuple[Likelihood, ...]) -> dict[str, float]:
    tally = Tally(ADVERSARIAL_ORDERS.scores)
    for evidence in ADVERSARIAL_ORDERS.measure([PAIR] * len(told), told):
        assert len(ADVERSARIAL_ORDERS.describe(PAIR, (), evidence)["orders"]) == 2
        tally.add(ADVERSARIAL_ORDERS.values(evidence))
    return {score.name: score.value for score in tally.scores("")}


def of(log: float, tokens: int | None = 4) -> Likelihood:
    return Likelihood(log, tokens, 12)


WINS, LOSES = (of(-1.0), of(-2.0)), (of(-2.0), of(-1.0))


def test_independent_coins_are_right_under_both_orders_in_a_quarter() -> None:
    found = scores(*(one + other for one, other in product((WINS, LOSES), repeat=2)))
    assert (found["adv_pbh"], found["adv_poh"], found["adv_mean"]) == (25, 50, 50)


def test_a_tie_loses_and_lengths_count_by_token_or_by_byte() -> None:
    same, longer = (of(-1.0), of(-1.0)), (of(-1.5, 6), of(-1.2))
    assert scores(same + WINS)["adv_poh"] == 100
    found = scores(longer + WINS)
    assert (found["adv_pbh"], found["adv_pbh_byte"], found["adv_poh_byte"]) == (100, 0, 100)


def test_without_a_tokenizer_bytes_decide() -> None:
    unknown = tuple(likelihood._replace(tokens=None) for likelihood in WINS)
    found = scores(unknown + unknown)
    assert math.isnan(found["adv_pbh"])
    assert found["adv_pbh_byte"] == 100


def test_each_side_is_asked_in_both_orders() -> None:
    shown = [[unit[0] for unit in view.units] for view in views(PAIR)]
    assert shown == [["city", "people"]] * 2 + [["people", "city"]] * 2
    assert PAIR.given == ("the most people", "the fewest people") * 2


def test_a_pair_in_one_order_is_refused() -> None:
    once = Sample("1", "logicnlg", UNITS, ("a",), challenge=Contrast(UNITS, "b"))
    with pytest.raises(CorpusError):
        ADVERSARIAL_ORDERS.measure([once], [WINS * 2])
