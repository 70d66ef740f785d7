"""Each baseline writes what its name says, and looks at nothing else."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import (
    AttributeValue,
    Orders,
    Sample,
    Triple,
    challenge_of,
    without_first_reference,
)
from spor_tasks.evaluation.baselines import TextsByUnits, copy_input

ALONE = [
    Sample("1", "webnlg", (Triple("Low", "capital", "Greyport"),), ("Low's capital is Greyport.",)),
    Sample("2", "webnlg", (Triple("Low", "ruler", "Ada"),), ("Ada rules Low.", "Low has Ada.")),
]
PAIR = Sample(
    "3",
    "webnlg",
    (Triple("Low", "capital", "Greyport"), Triple("Low", "ruler", "Ada")),
    ("Ada rules Low from Greyport.",),
)
TRAINING = TextsByUnits([*ALONE, PAIR])


def test_the_input_is_copied_as_it_is_shown() -> None:
    units = (Triple("Old_Low", "birth date", "1203-04-01"), Triple("Old_Low", "ruler", "Ada"))
    sample = Sample("4", "webnlg", units, ("A text.",))
    assert copy_input(sample) == "Old Low birth date 1203-04-01. Old Low ruler Ada."
    cafe = Sample("5", "e2e", (AttributeValue("food", "Basque"),), (), context={"name": "The Gull"})
    assert copy_input(cafe) == "The Gull food Basque."


def test_a_training_set_gives_its_nearest_text() -> None:
    asked = Sample(
        "6", "webnlg", (Triple("Low", "ruler", "Ada"), Triple("Low", "capital", "Greyport")), ()
    )
    assert TRAINING.nearest_text(asked) == "Ada rules Low from Greyport."
    by_words = Sample("7", "webnlg", (Triple("High", "ruler", "Ada"),), ())
    assert TRAINING.nearest_text(by_words) == "Ada rules Low."
    unknown = Sample("8", "webnlg", (Triple("x", "y", "z"),), ())
    assert TRAINING.nearest_text(unknown) == ALONE[0].references[0]


def test_units_are_told_one_by_one_in_the_words_of_single_units() -> None:
    asked = Sample(
        "6", "webnlg", (Triple("Low", "ruler", "Ada"), Triple("Low", "capital", "Greyport")), ()
    )
    assert TRAINING.units_joined(asked) == "Ada rules Low. Low's capital is Greyport."


def test_without_single_units_the_smallest_samples_stand_in() -> None:
    training = TextsByUnits([PAIR])
    asked = Sample("6", "webnlg", (Triple("Low", "ruler", "Ada"),), ())
    assert training.units_joined(asked) == PAIR.references[0]


def test_what_has_no_text_is_not_retrieved() -> None:
    mute = Sample("0", "webnlg", (Triple("Low", "ruler", "Ada"),), ())
    assert TextsByUnits([mute, *ALONE]).nearest_text(mute) == "Ada rules Low."


WORD = st.sampled_from(["Ada", "Low", "Greyport", "is", "by"])
SAMPLE = st.builds(
    lambda number, units: Sample(f"{number:03}", "webnlg", tuple(units), (f"text {number}",)),
    st.integers(0, 999),
    st.lists(st.builds(Triple, WORD, WORD, WORD), min_size=1, max_size=3),
)


def units_of(sample: Sample) -> set[Any]:
    return set(sample.units)


def words_of(sample: Sample) -> set[Any]:
    return {word.lower() for unit in sample.units for part in unit for word in part.split()}


def jaccard(first: set[Any], second: set[Any]) -> float:
    return len(first & second) / len(first | second)


@given(st.lists(SAMPLE, min_size=1, max_size=12, unique_by=lambda s: s.id), SAMPLE)
def test_the_index_finds_what_comparing_with_all_finds(others: list[Sample], asked: Sample) -> None:
    """So does a training set in any order."""

    def unlikeness(other: Sample) -> tuple[float, float, str]:
        by_units = -jaccard(units_of(asked), units_of(other))
        return by_units, -jaccard(words_of(asked), words_of(other)), other.id

    expected = min(others, key=unlikeness).references[0]
    assert TextsByUnits(others).nearest_text(asked) == expected
    random.Random(0).shuffle(others)
    assert TextsByUnits(others).nearest_text(asked) == expected


def test_a_held_out_reference_takes_its_order_along() -> None:
    units = (Triple("Low", "capital", "Greyport"), Triple("Low", "ruler", "Ada"))
    sample = Sample(
        "4", "webnlg", units, ("a", "b"), challenge=Orders(((0, 1), (1, 0)), ((0, 1), (1, 0))),
        )  # fmt: skip
    rest = without_first_reference(sample)
    assert (rest.references, challenge_of(rest, Orders).references) == (("b",), ((1, 0),))
    assert rest.id == sample.id
