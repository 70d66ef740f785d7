"""A sample has one id wherever it is read."""

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Contrast, Rivals, SampleMaker, Triple, views

SHIP = Triple("Gull", "home port", "Anholt")
CREW = Triple("Gull", "crew", "4")


def test_ids_are_these_in_every_version_and_depend_on_everything_but_the_category() -> None:
    cafe = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Café Gull: fish."], name="Gull")
    assert cafe.id == "5a441f90a2a36db9"
    make, lies = SampleMaker("webnlg"), ["The Gull lies at Anholt."]
    ids = {
        make([SHIP], lies).id,
        make([SHIP], ["A"]).id,
        make([SHIP, CREW], ["A"]).id,
        make([CREW, SHIP], ["A"]).id,
        make([SHIP, CREW], ["A", "B"]).id,
        make([SHIP, CREW], ["A"], name="Gull").id,
        SampleMaker("mini")([SHIP, CREW], ["A"]).id,
    }
    assert len(ids) == 7
    assert "316202bcf595383e" in ids
    assert SampleMaker("webnlg")([SHIP, CREW], ["A"], category="Ship").id in ids


contents = st.lists(
    st.tuples(st.lists(st.sampled_from([SHIP, CREW]), min_size=1), st.lists(st.text(max_size=2))),
    min_size=1,
    max_size=4,
)


@given(contents, st.randoms())
def test_ids_depend_neither_on_the_order_of_a_source_nor_on_other_samples(
    contents: list[tuple[list[Triple], list[str]]], rng: random.Random
) -> None:
    straight, mixed, part = (SampleMaker("own") for _ in range(3))
    ids = [straight(*content).id for content in contents]
    assert len(set(ids)) == len(ids)  # equal samples are numbered
    assert {mixed(*content).id for content in rng.sample(contents, len(contents))} == set(ids)
    last = contents[-1]
    if contents.count(last) == 1:
        assert part(*last).id == ids[-1]


def test_every_prompt_of_a_likelihood_has_its_text() -> None:
    sample = SampleMaker("own")([SHIP], ["The Gull lies at Anholt."])
    contrast = replace(sample, challenge=Contrast((CREW,), "The Gull has a crew of 4."))
    rivals = replace(sample, challenge=Rivals(((CREW,), (SHIP, CREW)), (True, False)))
    assert contrast.texts == (sample.target, "The Gull has a crew of 4.")
    assert rivals.texts == (sample.target,) * 3
    assert [view.units for view in views(rivals)] == [(SHIP,), (CREW,), (SHIP, CREW)]
