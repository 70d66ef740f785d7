"""Marks on outputs and tables: where units stand, what is missing or leaks, as metrics have it."""

import re
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.metrics.copy_rule import normalized, origins, verdicts
from spor_tasks.metrics.order import is_strict
from spor_tasks.report import marking
from spor_tasks.report.marking import KINDS, Extent, Fault, faults_of
from spor_tasks.report.sample_table import MOST_ROWS, ShownCell, table_view
from spor_tasks.text import align, filters
from spor_tasks.text.filters import first_line
from spor_tasks.text.normalize import clean, token_spans
from tests.support import cell_runs

SHIP = Sample(
    "1",
    "mini",
    (Triple("Amber_Heron", "home port", "Morvmouth"), Triple("Amber_Heron", "length", "46_metres")),
    ("Amber Heron of Morvmouth measures 46 metres.",),
)
ORDERED = replace(SHIP, challenge=Orders(((0, 1), (1, 0)), ((0, 1),)))
TERSE = replace(SHIP, references=("Morvmouth 46 metres",))
ELM = Sample("8", "e2e", (AttributeValue("near", "Elm"),), ())
CHESS = Sample("7", "mini", (Triple("Chess", "country", "United_States"),), ())
HIDDEN = Hidden((("Low", "Entity 1"),))
PORT = Sample("2", "mini", (Triple("Entity 1", "harbour", "Old Basin"),), (), challenge=HIDDEN)
RATING = AttributeValue("customer rating", "Value A out of 5")
ENDS = replace(SHIP, units=SHIP.units[:1])  # both ends decide
PIERS = (AttributeValue("near", "The Old Pier"), AttributeValue("area", "Pier"))
PIER = Sample("5", "e2e", PIERS, (), {"name": "The Gull"})
INN = Sample("3", "e2e", (RATING,), (), {"name": "The Gull"}, Hidden((RATING,)))


def mark(sample, output):
    """The marks of an output of an untuned model."""
    return marking.mark(sample, output, filters.apply(filters.UNTUNED, output))


def shown(found):
    """Return an output with its marks in brackets, as on the terminal."""
    text, at = "", 0
    for start, end, labels in found.marks:
        signs = " ".join(KINDS[kind].sign.format(number) for kind, number in labels)
        text += f"{found.output[at:start]}[{signs}: {found.output[start:end]}]"
        at = end
    return text + found.output[at:]


PLACES = "[0: Morvmouth], [1: 46 metres]"


@pytest.mark.parametrize(
    ("sample", "marked", "faults"),
    [
        (SHIP, "From [0: Morvmouth], the Amber Heron measures [1: 46  metres].", ""),
        (SHIP, "Amber Heron is based in [0: Morvmouth].", "unit missing"),
        (SHIP, "[1: 46] long [1: metres], and in [0: Morvmouth].", ""),
        (ENDS, "[0: Amber Heron] is in [0: Morvmouth].", ""),
        (PIER, "At [0: The Old ][0 1: Pier].", "slot error"),  # no name
        (PORT, " At  [= 0: ENTITY   1] and [!: low]  lies [0: Old Basin].", "leak"),
        (PORT, "Yel[(!): low] [=: Entity 1].", "leak, unit missing"),
        (PORT, "Yel[(!): low], [!: low].", "leak, phrase missing, unit missing"),
        (PORT, "The [=: 1st entity].", "unit missing"),
        (PORT, "([=: 1]).", "unit missing"),
        (INN, "It got [= 0: value  A out of 5].", ""),
        (INN, "It got [=: a out of 5].", "unit missing"),
        (SHIP, "From [0: Morvmouth], [1: 46 metres].", ""),
        (PORT, "At [= 0: Entity 1] and [!: low] lies [0: Old Basin].", "leak"),
        (PORT, "Old Basin is a harbour.", "phrase missing, unit missing"),
        (SHIP, "[0: Morvmouths], [1: 46 metre].", ""),
        (SHIP, "[0?: Marvmuth], [1: 46 metres].", "unit in doubt"),
        (SHIP, "[0: Morvmouth], [1?: 45 metres].", "unit in doubt"),
        (SHIP, "[0: Morvmouth], [1?: 46].", "unit in doubt"),
        (ELM, "Near the [0?: Elms].", "slot error, unit in doubt"),  # too short to be inflected
        (CHESS, "[0: Chess] is [0: American].", ""),  # a synonym
        (SHIP, "", "empty, unit missing"),
        (SHIP, "  ", "empty, unit missing"),
        (SHIP, "\n", "empty, unit missing"),
        (SHIP, '"', "empty, unit missing"),
        (SHIP, "...", "empty, unit missing"),
        (SHIP, "<think>\nAmber Heron", "empty, unit missing, several lines"),
        (ORDERED, "[1: 46 metres], [0: Morvmouth].", "odd order"),
        (ORDERED, "[0: Morvmouth], [1: 46 metres].", ""),
        (ORDERED, "[1: 46 metres].", "unit missing"),  # only a faithful output has an order
        (SHIP, "[1: 46 metres], [0: Morvmouth].", ""),
        (SHIP, f"A/S A/S A/S A/S A {PLACES}.", "repetition"),
        (SHIP, f"so so so so so so so {PLACES}.", "repetition"),
        (
            SHIP,
            f"In the port of the old town, in the port of the old town, {PLACES}.",
            "repetition",
        ),
        (SHIP, f"The town is known for soup. The town is known for soup. {PLACES}.", "repetition"),
        (SHIP, f"The town is known for soup, a town is known for soup. {PLACES}.", ""),
        (SHIP, f"of the of the of the {PLACES}.", ""),
        (SHIP, f"In the port of the old town, in the port of the old, {PLACES}.", ""),
        (SHIP, "[0: Morvmouth], [1: 46 metres] and", "unfinished"),
        (SHIP, '[0: Morvmouth], [1: 46 metres]."', ""),
        (SHIP, "[0: Morvmouth], [1: 46 metres]!", ""),
        (SHIP, "[0: Morvmouth], [1: 46 metres].) ", ""),
        (SHIP, "[0: Morvmouth], [1: 46 metres…]", ""),
        (TERSE, "[0: Morvmouth], [1: 46 metres]", ""),
    ],
)
def test_units_leaks_and_faults_are_marked(sample, marked, faults):
    output = re.sub(r"\[[^]:]+: (.*?)\]", r"\1", marked, flags=re.DOTALL)
    found = mark(sample, output)
    assert (shown(found), ", ".join(found.faults)) == (marked, faults)


def test_only_what_is_scored_counts_and_the_rest_is_kept():
    found = mark(SHIP, "Here:\n\nAmber Heron.\nIt is from Morvmouth, 46 metres.")
    assert (found.scored, found.units) == (Extent(7, 19), (0, 1))
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
        ("MORVMOUTH, 46 METRES", "Morvmouth, 46 metres.", None),  # it is marked alone
    ],
)
def test_the_scored_part_is_found(output, scored, start):
    found = marking.mark(SHIP, output, scored)
    begin, text = (0, scored) if start is None else (start, output)
    assert (found.output, found.scored) == (text, Extent(begin, begin + len(scored)))


@pytest.mark.parametrize("twin", [None, SHIP])
def test_outputs_for_two_orders_are_judged_together(twin):
    """Those for a twin, which may be fine together, are compared with each other alone."""
    sample, fine = replace(ORDERED, twin=twin), "Morvmouth, 46 metres."
    for outputs, faults in (
        ((fine, "Morvmouth."), (Fault.UNIT, Fault.UNEQUAL)),
        (("Morvmouth.", "Morvmouth."), (Fault.UNIT,)),
        ((fine, fine), ()),
    ):
        texts = [*outputs, *[fine] * 2] if twin else outputs
        assert faults_of(sample, [mark(ORDERED, text) for text in texts]) == faults


# --- Whatever a model writes ----------------------------------------------------------------------


_PIECES = ["Amber_Heron", "Morvmouth", "46 metres", "a", "Entity 1", "1st entity", "low", "yellow"]
_PIECES += ["Value A", "out of 5", "İ", "Σ", "\n", '"', "\\", "_", "\u202e", "😀", "\ud800", "<b>"]
texts = st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map(" ".join)
units = st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=4)
values = st.lists(st.builds(AttributeValue, texts, texts), min_size=1, max_size=4)
pairs = st.tuples(st.sampled_from(["Low", "İ Heron", "Morvmouth"]), st.sampled_from(_PIECES[4:6]))
plain = st.builds(
    lambda units: Sample("1", "drawn", tuple(units), ("A b.",)), st.one_of(units, values)
)
copying = st.builds(
    lambda units, hidden: Sample("1", "drawn", tuple(units), (), challenge=Hidden(tuple(hidden))),
    units,
    st.lists(pairs, max_size=3),
)


@given(texts)
def test_spans_and_origins_are_those_of_the_cleaned_text(text):
    spans = token_spans(text)
    assert [clean(text[start:end]) for start, end in spans] == clean(text).split()
    seen, (*begins, end) = normalized(text), origins(text)
    assert (len(begins), end) == (len(seen), len(text))
    assert begins == sorted(begins)
    assert all(0 <= begin < len(text) for begin in begins)


@given(plain | copying | copying, texts)
def test_marks_are_as_the_metrics_have_them(sample, output):
    text = first_line(output)
    found = marking.mark(sample, output, text)
    assert found.output == output
    edges = [edge for start, end, _ in found.marks for edge in (start, end)]
    assert edges == sorted(edges)
    first, last = found.scored
    assert all(first <= start < end <= last <= len(output) for start, end, _ in found.marks)

    labels = [label for _, _, labels in found.marks for label in labels]
    positions = align.locate(sample.units, text, strict=is_strict(sample))
    assert found.units == tuple(i for i, position in enumerate(positions) if position is None)
    marked = {label.number for label in labels if "unit" in label.kind}
    assert marked == set(range(len(sample.units))) - set(found.units)
    assert (Fault.UNIT in found.faults) is bool(found.units)

    if isinstance(sample.challenge, Hidden):
        verdict = verdicts(sample, text)[0]
        assert found.leaks == tuple(leak.value for leak in verdict.leaks)
        leaks = {label.number for label in labels if "leak" in label.kind}
        assert {found.leaks[number] for number in leaks} == set(found.leaks)
        copied = {number for kind, number in labels if kind == "phrase"}
        assert copied.isdisjoint(found.phrases)
        assert (Fault.LEAK in found.faults) is bool(verdict.leaks)
        assert (Fault.PHRASE in found.faults) is bool(verdict.missing)


# --- The table of a sample ------------------------------------------------------------------------


def rows_shown(sample):
    view = table_view(sample)
    assert view is not None
    return view.rows


def test_a_small_table_is_shown_whole_if_every_unit_is_highlighted():
    cells = [[["Port", True, 1, 1], ["Boats", True, 2, 1]], ["Harl", "3", "10"], ["Lowdean", ""]]
    sample = cell_runs.of_cells(cells, [[1, 2], [0, 0], [1, 2]])
    assert rows_shown(sample) == (
        (ShownCell("Port", header=True, units=(1,)), ShownCell("Boats", header=True, columns=2)),
        (ShownCell("Harl"), ShownCell("3"), ShownCell("10", units=(0, 2))),
        (ShownCell("Lowdean"), ShownCell("")),
    )
    assert table_view(replace(sample, units=sample.units[1:])) is None


def test_of_a_large_table_the_part_around_highlighted_cells_is_rows_shown():
    cells = [[f"{row} {at}" for at in range(100)] for row in range(100)]
    rows = rows_shown(cell_runs.of_cells(cells, [[50, 60], [99, 0]]))
    assert [row if isinstance(row, int) else row[0].text for row in rows] == [
        *(48, "48 0", "49 0", "50 0", "51 0", "52 0", 44, "97 0", "98 0", "99 0"),
    ]
    assert len(rows[3]) == 100
    everywhere = rows_shown(cell_runs.of_cells(cells, [[row, 3] for row in range(100)]))
    assert len(everywhere) == MOST_ROWS + 1
    assert everywhere[-1] == 100 - MOST_ROWS
    narrow = rows_shown(cell_runs.of_cells([["x"]] * MOST_ROWS, [[MOST_ROWS - 1, 0]]))
    assert [type(row) for row in narrow] == [tuple] * MOST_ROWS
    (row,) = rows_shown(cell_runs.of_cells([[["x" * 9_999, False, 10**12, 10**12]]], [[0, 0]]))
    assert [(len(cell.text), cell.columns, cell.rows) for cell in row] == [(501, 1000, 1)]


def test_cells_are_located_missing_or_in_doubt():
    cells = ["Anna Bo", "14", "–", "5", ""]
    sample = cell_runs.of_cells([cells], [[0, at] for at in range(5)])
    for output, missing, in_doubt, faults in (
        ("Anna Bo was 14 and had 5.", (), set(), ()),
        ("Anna came 14th, with 5.", (), {0, 1}, (Fault.DOUBT,)),
        ("Nobody was 15, or 6.", (0, 1, 3), set(), (Fault.UNIT,)),
    ):
        found = marking.mark(sample, output, output)
        labels = [label for each in found.marks for label in each.labels]
        doubtful = {label.number for label in labels if label.kind == "doubtful unit"}
        assert (found.units, doubtful, found.faults) == (missing, in_doubt, faults)


def columns_of(rows):
    """Return the column of each cell by its text, as HTML fills slots; no cells overlap."""
    taken = set()
    found = {}
    for number, row in enumerate(rows):
        column = 0
        for text, columns, height in row:
            while (number, column) in taken:
                column += 1
            found[text] = column
            for at in range(column, column + columns):
                if (number, at) in taken:
                    break
                taken |= {(number + below, at) for below in range(height)}
            column += columns
    return found


spans = st.tuples(st.integers(1, 3), st.integers(1, 4))
tables = st.lists(st.lists(spans, max_size=30), min_size=1, max_size=60).filter(any)


@st.composite
def highlighted(draw):
    sizes = draw(tables)
    places = [(number, at) for number, row in enumerate(sizes) for at in range(len(row))]
    return sizes, draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))


COVERED_FROM_ABOVE = [
    [*[(1, 1)] * 3, (1, 2)],
    [(1, 1), (1, 1), (1, 2), (1, 2), *[(1, 1)] * 21],
    [(2, 1), (1, 1)],
]
REACHING_PAST_HIDDEN_ROWS = [*[[]] * 37, [(1, 4)], *[[]] * 2, [(1, 1)]]
BESIDE_A_SHORT_ROW = [*[[]] * 37, [*[(1, 1)] * 5, (1, 2)], *[[]] * 2, [(1, 1)]]


@given(highlighted())
@example((COVERED_FROM_ABOVE, [(0, 0)]))
@example((BESIDE_A_SHORT_ROW, [(40, 0)]))
@example((REACHING_PAST_HIDDEN_ROWS, [(40, 0)]))
def test_a_cell_stands_in_its_column_whatever_is_left_out(table):
    sizes, chosen = table
    rows = [
        [(f"{number} {at}", *size) for at, size in enumerate(row)]
        for number, row in enumerate(sizes)
    ]
    cells = [[[text, False, columns, height] for text, columns, height in row] for row in rows]
    found = rows_shown(cell_runs.of_cells(cells, chosen))
    counts = [row if isinstance(row, int) else 1 for row in found]
    assert sum(counts) == len(rows)
    starts = accumulate(counts, initial=0)
    expected = columns_of(rows)
    units = set()
    block = []
    for row, start in zip([*found, 0], starts, strict=True):
        if isinstance(row, int):
            placed = {text: at for text, at in columns_of(block).items() if text[0] != "h"}
            assert {text: expected[text] for text in placed} == placed
            block = []
            continue
        names = ((cell.text or f"h{start} {at}", cell) for at, cell in enumerate(row))
        block.append([(name, cell.columns, cell.rows) for name, cell in names])
        for cell in row:
            units |= {chosen[unit] for unit in cell.units}
            assert all(f"{chosen[unit][0]} {chosen[unit][1]}" == cell.text for unit in cell.units)
    assert units == set(chosen)
