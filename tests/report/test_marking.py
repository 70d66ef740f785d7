"""Marks on outputs: where units stand, what is missing, what leaks."""

from dataclasses import replace

import pytest

from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.report import marking
from spor_tasks.report.marking import Fault, Marked, Span, faults_of, mark_all
from spor_tasks.text import filters

SHIP = Sample(
    id="1",
    corpus="mini",
    units=(
        Triple("Amber_Heron", "home port", "Morvmouth"),
        Triple("Amber_Heron", "length", "46_metres"),
    ),
    references=("Amber Heron of Morvmouth measures 46 metres.",),
)
ORDERED = replace(SHIP, challenge=Orders(((0, 1), (1, 0)), ((0, 1),)))
PORT = Sample(
    id="2",
    corpus="mini",
    units=(Triple("Entity 1", "harbour", "Old Basin"),),
    references=(),
    challenge=Hidden((("Low", "Entity 1"),)),
)
INN = Sample(
    id="3",
    corpus="e2e",
    units=(AttributeValue("customer rating", "Value A out of 5"),),
    references=(),
    context={"name": "The Gull"},
    challenge=Hidden((("customer rating", "Value A out of 5"),)),
)


def mark(sample: Sample, output: str) -> Marked:
    """What is made of an output of an untuned model."""
    return marking.mark(sample, output, filters.apply(filters.UNTUNED, output))


def _marked(sample: Sample, output: str) -> list[tuple[str, str]]:
    """Return what is marked, each stretch with its labels."""
    return [
        (output[start:end], " ".join(f"{kind} {number}" for kind, number in labels))
        for start, end, labels in mark(sample, output).marks
    ]


@pytest.mark.parametrize(
    ("sample", "output", "marks"),
    [
        (
            SHIP,
            "From Morvmouth, the Amber Heron measures 46  metres.",
            [("Morvmouth", "unit 0"), ("46  metres", "unit 1")],
        ),
        (SHIP, "Amber Heron is based in Morvmouth.", [("Morvmouth", "unit 0")]),
        (
            SHIP,
            "46 long metres, and in Morvmouth.",
            [("46", "unit 1"), ("metres", "unit 1"), ("Morvmouth", "unit 0")],
        ),
        (  # where both ends decide
            replace(SHIP, units=SHIP.units[:1]),
            "Amber Heron is in Morvmouth.",
            [("Amber Heron", "unit 0"), ("Morvmouth", "unit 0")],
        ),
        (
            Sample(
                "5",
                "e2e",
                (AttributeValue("near", "The Old Pier"), AttributeValue("area", "Pier")),
                (),
                context={"name": "The Gull"},
            ),
            "At The Old Pier.",
            [("The Old ", "unit 0"), ("Pier", "unit 0 unit 1")],
        ),
        (
            PORT,
            " At  ENTITY   1 and low  lies Old Basin.",
            [("ENTITY   1", "phrase 0 unit 0"), ("low", "leak 0"), ("Old Basin", "unit 0")],
        ),
    ],
)
def test_units_phrases_and_leaks_are_marked_where_they_stand(
    sample: Sample, output: str, marks: list[tuple[str, str]]
) -> None:
    assert _marked(sample, output) == marks


def test_what_is_missing_and_what_leaks_is_named() -> None:
    assert mark(SHIP, "From Morvmouth, 46 metres.").faults == ()
    short = mark(SHIP, "Amber Heron is based in Morvmouth.")
    assert (short.units, short.faults) == ((1,), (Fault.UNIT,))
    leaking = mark(PORT, "At Entity 1 and low lies Old Basin.")
    assert (leaking.phrases, leaking.leaks, leaking.faults) == ((), ("Low",), (Fault.LEAK,))
    other = mark(PORT, "Old Basin is a harbour.")
    assert (other.phrases, other.leaks) == ((0,), ())
    assert Fault.PHRASE in other.faults


@pytest.mark.parametrize(
    ("output", "doubt"),
    [
        ("Morvmouth, 46 metres.", False),
        ("Morvmouths, 46 metre.", False),
        ("Marvmuth, 46 metres.", True),
        ("Morvmouth, 45 metres.", True),
        ("Morvmouth, 46.", True),
    ],
)
def test_a_unit_that_is_located_by_other_words_is_in_doubt(output: str, doubt: bool) -> None:  # noqa: FBT001
    found = mark(SHIP, output)
    kinds = {label.kind for _, _, labels in found.marks for label in labels}
    assert ("doubtful unit" in kinds) is doubt
    assert found.faults == ((Fault.DOUBT,) if doubt else ())


def test_a_synonym_is_no_doubt() -> None:
    sample = Sample("7", "mini", (Triple("Chess", "country", "United_States"),), ())
    assert mark(sample, "Chess is American.").faults == ()


def test_only_what_is_scored_counts_and_the_rest_is_kept() -> None:
    found = mark(SHIP, "Here:\n\nAmber Heron.\nIt is from Morvmouth, 46 metres.")
    assert (found.scored, found.units) == (Span(7, 19), (0, 1))
    assert found.faults == (Fault.UNIT, Fault.LINES)
    assert found.output.endswith("46 metres.")
    text = "The Amber Heron, 46 metres long, was built in Morvmouth."
    marks = [(start + 7, end + 7, labels) for start, end, labels in mark(SHIP, text).marks]
    assert list(mark(SHIP, f"Here:\n\n{text}").marks) == marks != []


@pytest.mark.parametrize(
    ("output", "scored", "start"),
    [
        ("<think>\nMorvmouth.\n</think>\nMorvmouth.", "Morvmouth.", 28),
        ("It is Morvmouth.\nMorvmouth.\nMorvmouth.", "Morvmouth.", 17),
        ("In Morvmouth, 46 metres", "Morvmouth", 3),
        ("<think>\nMorvmouth.", "<think>", 0),
        ("<think>\nMorvmouth.", "", 18),
        ("Morvmouth.\n46 metres.", "Morvmouth.\n46 metres.", 0),
        ("Morvmouth (a port)", "Morvmouth (a port)", 0),
    ],
)
def test_what_was_scored_is_found_in_the_output(output: str, scored: str, start: int) -> None:
    found = marking.mark(SHIP, output, scored)
    assert (found.output, found.scored) == (output, Span(start, start + len(scored)))


def test_what_was_scored_and_is_not_in_the_output_is_marked_alone() -> None:
    found = marking.mark(SHIP, "MORVMOUTH, 46 METRES", "Morvmouth, 46 metres.")
    assert (found.output, found.scored) == ("Morvmouth, 46 metres.", Span(0, 21))
    assert found.faults == ()


@pytest.mark.parametrize("output", ["", "  ", "\n", '"', "...", "<think>\nAmber Heron"])
def test_an_output_without_a_word_is_empty(output: str) -> None:
    assert mark(SHIP, output).faults[:2] == (Fault.EMPTY, Fault.UNIT)


@pytest.mark.parametrize(
    ("sample", "output", "copied"),
    [
        (PORT, "The 1st entity.", "1st entity"),
        (PORT, "Old Basin (1).", "1"),
        (INN, "It got value  A out of 5.", "value  A out of 5"),
        (INN, "It got a out of 5.", "a out of 5"),
    ],
)
def test_other_ways_to_copy_are_marked(sample: Sample, output: str, copied: str) -> None:
    assert [text for text, labels in _marked(sample, output) if "phrase" in labels] == [copied]
    assert Fault.PHRASE not in mark(sample, output).faults


def test_a_leak_inside_a_word_is_told_from_one_that_stands_alone() -> None:
    assert _marked(PORT, "Yellow Entity 1.")[0] == ("low", "inner leak 0")
    leaks = [text for text, labels in _marked(PORT, "Yellow, low.") if "leak" in labels]
    assert leaks == ["low", "low"]
    assert [labels[0].kind for _, _, labels in mark(PORT, "Yellow, low.").marks[:2]] == [
        "inner leak",
        "leak",
    ]


def test_an_order_unlike_every_reference_s_is_a_fault_only_of_a_faithful_output() -> None:
    assert mark(ORDERED, "46 metres, Morvmouth.").faults == (Fault.ORDER,)
    assert mark(ORDERED, "Morvmouth, 46 metres.").faults == ()
    assert mark(ORDERED, "46 metres.").faults == (Fault.UNIT,)
    assert mark(SHIP, "46 metres, Morvmouth.").faults == ()


def test_outputs_for_two_orders_are_judged_together() -> None:
    fine, short = "Morvmouth, 46 metres.", "Morvmouth."
    both = mark_all(ORDERED, [fine, short], [fine, short])
    assert faults_of(ORDERED, both) == (Fault.UNIT, Fault.UNEQUAL)
    assert faults_of(ORDERED, mark_all(ORDERED, [short] * 2, [short] * 2)) == (Fault.UNIT,)
    assert faults_of(ORDERED, mark_all(ORDERED, [fine] * 2, [fine] * 2)) == ()


@pytest.mark.parametrize(
    ("output", "repeats"),
    [
        ("A/S A/S A/S A/S A", True),
        ("so so so so so so so", True),
        ("The town is known for soup. The town is known for soup.", True),
        ("The town is known for soup, a town is known for soup.", False),
        ("of the of the of the", False),
    ],
)
def test_a_repetition_has_six_words_said_again_at_once(output: str, repeats: bool) -> None:  # noqa: FBT001
    assert (Fault.REPETITION in mark(SHIP, output).faults) is repeats


def test_an_output_is_unfinished_where_references_are_not() -> None:
    assert Fault.UNFINISHED in mark(SHIP, "Morvmouth, 46 metres and").faults
    for end in ('metres."', "metres!", "metres.) ", "metres…"):
        assert mark(SHIP, f"Morvmouth, 46 {end}").faults == ()
    terse = Sample("6", "mini", SHIP.units, ("Morvmouth 46 metres",))
    assert mark(terse, "Morvmouth, 46 metres").faults == ()


def test_each_fault_has_a_meaning() -> None:
    assert all(fault.meaning.endswith(".") for fault in Fault)
