"""Invented numbers and dates."""

import calendar
import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.twins.numbers import Numbers, as_integer, mantissa, ordinal

SEEDS = ("webnlg 0", "e2e 0", "viggo 0")
numbers = st.builds(
    lambda whole, fraction, grouped: f"{whole:,}{fraction}" if grouped else f"{whole}{fraction}",
    st.integers(0, 10**12),
    st.sampled_from(["", ".0", ".5", ".00", ".038", ".750"]),
    st.booleans(),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_numbers_become_one(seed: str) -> None:
    exchange = Numbers(seed).exchange
    assert len({exchange(str(number)) for number in range(12_000)}) == 12_000


@given(st.sampled_from(SEEDS), numbers, numbers)
def test_a_number_keeps_its_form(seed: str, number: str, other: str) -> None:
    exchange = Numbers(seed).exchange
    twin = exchange(number)
    assert re.sub(r"\d", "0", twin) == re.sub(r"\d", "0", number)
    is_year = (value := as_integer(number)) in range(1000, 2100)
    assert (as_integer(twin) in range(1000, 2100)) is is_year
    assert is_year or len(mantissa(twin)) == len(mantissa(number))
    if value not in {0, 1}:
        assert (twin != number) or value in range(2100, 3000)  # where a year may be in the way
    if number.replace(",", "") != other.replace(",", ""):
        assert twin.replace(",", "") != exchange(other).replace(",", "")


@given(st.sampled_from(SEEDS), st.dates(date(1200, 1, 1), date(2099, 12, 31)))
def test_a_date_stays_a_date_of_as_many_digits(seed: str, day: date) -> None:
    invented = Numbers(seed)
    year, month, number = (
        invented.year(day.year),
        invented.month(day.month),
        invented.day(day.day),
    )
    assert day.year - year in {4, 8}
    assert (month == day.month) is (day.month == 2)
    assert (number == day.day) is (day.day > 28)
    assert len(str(number)) == len(str(day.day))
    if day.month != 2 or day.day < 29 or calendar.isleap(year):  # 1904 - 4 was no leap year
        date(year, month, number)


@pytest.mark.parametrize("seed", SEEDS)
def test_dates_are_exchanged_one_to_one_and_runways_turned_alike(seed: str) -> None:
    invented = Numbers(seed)
    assert len({invented.month(month) for month in range(1, 13)}) == 12
    assert len({invented.day(day) for day in range(1, 32)}) == 31
    ends = [(invented.runway(end), invented.runway(end + 18)) for end in range(1, 19)]
    assert {*sum(ends, ())} == {*range(1, 37)}
    assert all(abs(one - other) == 18 for one, other in ends)


def test_ordinals_and_spelled_numbers() -> None:
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
        *("st", "nd", "rd", "th", "th", "th", "th", "st", "th")
    ]
    invented = Numbers("webnlg 0")
    for number in range(2, 20):
        word, digits = invented.spelled(number), invented.exchange(str(number))
        assert (word is None) is (int(digits) > 20 and int(digits) % 10 > 0), digits
