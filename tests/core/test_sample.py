"""The data model, above all that one sample has one id wherever it was read."""

import dataclasses

import pytest

from spor_tasks.core.sample import AttributeValue, SampleMaker, Split, SplitPair, Triple

SHIP = Triple("Gull", "home port", "Anholt")
CREW = Triple("Gull", "crew", "4")


def test_an_id_is_the_same_on_every_machine_and_in_every_version() -> None:
    make = SampleMaker("webnlg")
    assert make([SHIP], ["The Gull lies at Anholt."]).id == "316202bcf595383e"
    named = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Café Gull: fish."], name="Gull")
    assert named.id == "5a441f90a2a36db9"


def test_samples_that_differ_in_anything_but_category_have_different_ids() -> None:
    ids = {
        SampleMaker("webnlg")([SHIP, CREW], ["A"]).id,
        SampleMaker("mini")([SHIP, CREW], ["A"]).id,
        SampleMaker("webnlg")([CREW, SHIP], ["A"]).id,
        SampleMaker("webnlg")([SHIP], ["A"]).id,
        SampleMaker("webnlg")([SHIP, CREW], ["B"]).id,
        SampleMaker("webnlg")([SHIP, CREW], ["A", "B"]).id,
        SampleMaker("webnlg")([SHIP, CREW], ["A"], name="Gull").id,
    }
    assert len(ids) == 7
    assert SampleMaker("webnlg")([SHIP, CREW], ["A"], category="Ship").id in ids


def test_equal_samples_of_one_source_are_told_apart_by_their_number() -> None:
    make, other = SampleMaker("webnlg"), SampleMaker("webnlg")
    ids = [make([SHIP], ["A"]).id for _ in range(3)]
    assert len(set(ids)) == 3
    assert [other([SHIP], ["A"]).id for _ in range(3)] == ids


def test_a_source_that_holds_a_part_gives_the_ids_that_the_whole_one_gives() -> None:
    whole, part = SampleMaker("webnlg"), SampleMaker("webnlg")
    whole([SHIP], ["A"])
    assert part([SHIP], ["B"]) == whole([SHIP], ["B"])


def test_a_sample_holds_tuples_and_cannot_be_changed() -> None:
    sample = SampleMaker("webnlg")([SHIP], ["A"])
    assert (sample.units, sample.references) == ((SHIP,), ("A",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.id = "another"  # type: ignore[misc]


def test_the_splits_of_a_pair_are_both_arms_and_then_the_test_set() -> None:
    first, second, test = Split("atom", ()), Split("combination", ()), Split("test", ())
    pair = SplitPair("systematicity", "mini", "strict", (first, second), test)
    assert pair.splits == (first, second, test)
