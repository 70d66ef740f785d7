"""What tells a cell, a column or a code in a text."""

import pytest

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.corpora.logicnlg.surface import cells_of_columns
from spor_tasks.corpora.logicnlg_mini import worlds
from spor_tasks.corpora.surfaces import locate
from tests.support import totto


def cells(*values: str) -> Sample:
    units = tuple(AttributeValue("", value) for value in values)
    return Sample("0", "totto", units, ())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("13,529", "It had 13529 people."),
        ("1200", "It had 1,200 people."),
        ("76", "He was the 76th governor."),
        ("3", "She came third."),
        ("December 1, 1874", "He came on 1 December 1874."),
        ("1874-12-01", "He came on December 1, 1874."),
        ("Skua (ship)", "The Skua sailed."),
        ("+5.9%", "It grew by 5.9 percent."),
        ("Ralph J. Parker", "Ralph J. Parke spoke."),
    ],
)
def test_a_value_may_be_written_in_other_ways(value: str, text: str) -> None:
    assert locate(cells(value), text, strict=True) != (None,)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1874", "In 1875 it was so."),
        ("Ann Moss", "Ann saw the moss. Moss grew on Ann."),
        ("12", "In 2012 it was so."),
        ("Bo", "Jo is here."),
        ("–", "A text."),
        ("1874-13-01", "In January 1874."),
    ],
)
def test_a_value_is_not_found_in_others(value: str, text: str) -> None:
    assert locate(cells(value), text, strict=False) == (None,)


def test_no_two_cells_stand_at_one_place_but_equal_ones() -> None:
    found = locate(cells("7", "7 of 9", "7"), "He had 7 of 9, and then 7.", strict=False)
    assert found == (7, 2, 7)


def test_a_column_is_told_by_its_name_or_by_a_cell() -> None:
    sample = worlds.samples("test")[0]
    for string in next(cells_of_columns(sample)):
        assert locate(sample, f"So it is {string} .", strict=False)[0] == 3


def test_other_corpora_are_located_as_published() -> None:
    sample = totto.sample("Ann.")
    other = Sample("0", "e2e", (AttributeValue("food", "Old Basque"),), ())
    assert locate(sample, "Ann", strict=False) == (0,)
    assert locate(other, "Basque food", strict=False) == (0,)
    assert locate(other, "Basque food", strict=True) == (None,)
