"""A test sample beside the training samples that hold its units."""

import pytest

from spor_tasks.aspects.show import Arm, Holder, show
from spor_tasks.core.errors import ConfigError
from tests.support.strategies import pool, sets

ATOM = pool(["ax", "b", "x", "a"])
COMBINATION = pool(["b", "cab", "x", "ba"])
TESTS = pool(["bc", "ab"])
PAIR = sets("systematicity", TESTS, atom=ATOM, combination=COMBINATION)


def test_samples_that_hold_most_units_come_first() -> None:
    exhibit = show(PAIR, "1", most=2)
    assert (exhibit.index, exhibit.sample) == (1, TESTS[1])
    assert exhibit.arms == (
        Arm(
            name="atom",
            holders=3,
            together=0,
            per_unit=(2, 1),
            samples=(Holder(ATOM[0], (0,)), Holder(ATOM[1], (1,))),
        ),
        Arm(
            name="combination",
            holders=3,
            together=2,
            per_unit=(2, 3),
            samples=(Holder(COMBINATION[1], (0, 1)), Holder(COMBINATION[3], (0, 1))),
        ),
    )


def test_a_sample_is_found_by_its_id() -> None:
    assert show(PAIR, TESTS[0].id, most=1).sample is TESTS[0]


@pytest.mark.parametrize("which", ["2", "-1", "x", "²", "1" * 16])
def test_a_sample_that_there_is_not_is_refused(which: str) -> None:
    with pytest.raises(ConfigError, match="no test sample") as caught:
        show(PAIR, which, most=1)
    assert "from 0 to 1" in str(caught.value)
