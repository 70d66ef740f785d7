"""Marks on outputs: where units stand, which are missing, and what leaks."""

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
TERSE = replace(SHIP, references=("Morvmouth 46 metres",))
ELM = Sample("8", "e2e", (AttributeValue("near", "Elm"),), ())
CHESS = Sample("7", "mini", (Triple("Chess", "country", "United_States"),), ())
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
PIER = Sample(
    "5",
    "e2e",
    (AttributeValue("near", "The Old Pier"), AttributeValue("area", "Pier")),
    (),
    context={"name": "The Gull"},
)


def mark(sample: Sample, output: str) -> Marked:
    """The marks of an output of an untuned model."""
    return marking.mark(sample, output, filters.apply(filters.UNTUNED, output))


def labelled(sample: Sample, output: str) -> list[tuple[str, str]]:
    """Return each marked stretch with its labels."""
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
        (PIER, "At The Old Pier.", [("The Old ", "unit 0"), ("Pier", "unit 0 unit 1")]),
        (
            PORT,
            " At  ENTITY   1 and low  lies Old Basin.",
            [("ENTITY   1", "phrase 0 unit 0"), ("low", "leak 0"), ("Old Basin", "unit 0")],
        ),
        (PORT, "Yellow Entity 1.", [("low", "inner leak 0")]),
        (PORT, "Yellow, low.", [("low", "inner leak 0"), ("low", "leak 0")]),
        (PORT, "The 1st entity.", [("1st entity", "phrase 0")]),
        (INN, "It got value  A out of 5.", [("value  A out of 5", "phrase 0 unit 0")]),
    ],
)
def test_units_phrases_and_leaks_are_marked_where_they_stand(
    sample: Sample, output: str, marks: list[tuple[str, str]]
) -> None:
    assert labelled(sample, output)[: len(marks)] == marks


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
    assert [text for text, labels in labelled(sample, output) if "phrase" in labels] == [copied]
    assert Fault.PHRASE not in mark(sample, output).faults


@pytest.mark.parametrize(
    ("sample", "output", "faults"),
    [
        (SHIP, "From Morvmouth, 46 metres.", ()),
        (SHIP, "Amber Heron is based in Morvmouth.", (Fault.UNIT,)),
        (PORT, "At Entity 1 and low lies Old Basin.", (Fault.LEAK,)),
        (PORT, "Old Basin is a harbour.", (Fault.PHRASE, Fault.UNIT)),
        (SHIP, "Morvmouths, 46 metre.", ()),
        (SHIP, "Marvmuth, 46 metres.", (Fault.DOUBT,)),
        (SHIP, "Morvmouth, 45 metres.", (Fault.DOUBT,)),
        (SHIP, "Morvmouth, 46.", (Fault.DOUBT,)),
        (ELM, "Near the Elms.", (Fault.DOUBT,)),  # too short to be inflected
        (CHESS, "Chess is American.", ()),  # a synonym
        *(
            (SHIP, output, (Fault.EMPTY, Fault.UNIT))
            for output in ("", "  ", "\n", '"', "...", "<think>\nAmber Heron")
        ),
        (ORDERED, "46 metres, Morvmouth.", (Fault.ORDER,)),
        (ORDERED, "Morvmouth, 46 metres.", ()),
        (ORDERED, "46 metres.", (Fault.UNIT,)),  # only a faithful output has an order
        (SHIP, "46 metres, Morvmouth.", ()),
        *(
            (SHIP, f"{output} Morvmouth, 46 metres.", (Fault.REPETITION,))
            for output in (
                "A/S A/S A/S A/S A",
                "so so so so so so so",
                "In the port of the town there, in the port of the town there,",
                "The town is known for soup. The town is known for soup.",
            )
        ),
        *(
            (SHIP, f"{output} Morvmouth, 46 metres.", ())
            for output in (
                "The town is known for soup, a town is known for soup.",
                "of the of the of the",
                "In the port of the town there, in the port of the town,",
            )
        ),
        (SHIP, "Morvmouth, 46 metres and", (Fault.UNFINISHED,)),
        *(
            (SHIP, f"Morvmouth, 46 {end}", ())
            for end in ('metres."', "metres!", "metres.) ", "metres…")
        ),
        (TERSE, "Morvmouth, 46 metres", ()),
    ],
)
def test_faults_of_an_output(sample: Sample, output: str, faults: tuple[Fault, ...]) -> None:
    found = mark(sample, output)
    assert found.faults[: max(len(faults), 2)] == faults
    kinds = {label.kind for _, _, labels in found.marks for label in labels}
    assert ("doubtful unit" in kinds) is (Fault.DOUBT in faults)


def test_missing_units_and_phrases_and_leaks_are_named() -> None:
    assert mark(SHIP, "Amber Heron is based in Morvmouth.").units == (1,)
    leaking = mark(PORT, "At Entity 1 and low lies Old Basin.")
    assert (leaking.phrases, leaking.leaks) == ((), ("Low",))
    other = mark(PORT, "Old Basin is a harbour.")
    assert (other.phrases, other.leaks) == ((0,), ())


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


def test_outputs_for_two_orders_are_judged_together() -> None:
    fine, short = "Morvmouth, 46 metres.", "Morvmouth."
    for outputs, faults in (
        ([fine, short], (Fault.UNIT, Fault.UNEQUAL)),
        ([short, short], (Fault.UNIT,)),
        ([fine, fine], ()),
    ):
        assert faults_of(ORDERED, mark_all(ORDERED, outputs, outputs)) == faults
