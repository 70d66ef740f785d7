"""Orders and hidden cells of random tables: whatever is built meets the requirements."""

import random
from collections.abc import Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spor_tasks.aspects import check, order_invariance
from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.copied_cells import hide_cells
from spor_tasks.core.sample import Contrast, Json, Sample, SampleMaker, hidden_of, views
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.reader import Statement, linked
from spor_tasks.corpora.totto.linearize import units_of
from spor_tasks.corpora.totto.table import Cell, CellTable, as_json, table_of
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt

STRINGS = ("Ann Moss", "Ann", "Old Basin", "Basin", "7", "1907", "07", "Entity", "val", "won", "")
strings = st.sampled_from(STRINGS)


def _told(strings_: Sequence[str], rng: random.Random) -> str:
    return " and ".join(rng.sample(strings_, len(strings_))) + " ."


@st.composite
def cell_samples(draw: st.DrawFn) -> Sample:
    """A sample of ToTTo: some texts tell all highlighted cells, and some do not."""
    width, height = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    header = tuple(Cell(f"column {i}", is_header=True) for i in range(width))
    rows = [tuple(Cell(draw(strings)) for _ in range(width)) for _ in range(height)]
    places = [(row, index) for row in range(1, height + 1) for index in range(width)]
    highlighted = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True))
    table = CellTable((header, *rows), tuple(highlighted))
    title, rng = draw(strings), random.Random(draw(st.integers(0, 9)))
    told = [cell.value for cell in table.highlighted_cells] + [title] * draw(st.integers(0, 1))
    told = told[draw(st.integers(0, 1)) :]
    texts = [_told(told, rng) for _ in range(draw(st.integers(1, 2)))]
    context = {"title": title, "section_title": draw(strings), "section_text": draw(strings)}
    return SampleMaker("totto")(units_of(table), texts, **context, table=as_json(table))


@st.composite
def column_samples(draw: st.DrawFn) -> Sample:
    """A sample of LogicNLG."""
    width, height = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rows = tuple(tuple(draw(strings) for _ in range(width)) for _ in range(height))
    table = Table(tuple(f"column {i}" for i in range(width)), rows)
    columns = draw(st.lists(st.integers(0, width - 1), min_size=1, unique=True))
    text = _told([rows[0][column] for column in columns], random.Random(0))
    statement = Statement(text, tuple(columns), draw(strings), "[ENT]")
    shown: Json = {"header": list(table.header), "rows": list(map(list, rows))}
    context = {"name": "1.csv", "title": statement.title, "template": "[ENT]", "target": text}
    return SampleMaker("logicnlg")(linked(statement, table, ""), [text], **context, table=shown)


samples = st.one_of(cell_samples(), column_samples())
pools = st.one_of(
    st.lists(cell_samples(), min_size=1, max_size=4), st.lists(column_samples(), min_size=1)
)


@given(pools, st.integers(0, 3))
@settings(max_examples=60)
def test_orders_hold_in_the_check(pool: list[Sample], seed: int) -> None:
    shown = order_invariance.shown_twice(pool, random.Random(seed))
    assume(shown)
    arms = pool, order_invariance.matched(pool)
    pair = strict_sets("order_invariance", *arms, test=shown, part="main_schema")
    assert check.check(pair).holds, check.check(pair).violations


@given(cell_samples(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_an_order_keeps_what_the_table_says(sample: Sample, rng: random.Random) -> None:
    shown = order_invariance.shown_twice([sample], rng)
    for one in shown:
        first, second = views(one)
        assert units_of(table_of(first)) == first.units
        assert units_of(table_of(second)) == second.units
        assert table_of(first).rows == table_of(second).rows == table_of(sample).rows
        assert sorted(prompt(first, "causal").split()) == sorted(prompt(second, "causal").split())
        assert first.units == second.units or prompt(first, "causal") != prompt(second, "causal")


@given(column_samples(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_a_pair_is_asked_with_the_columns_of_both(sample: Sample, rng: random.Random) -> None:
    other = Contrast(sample.units[:1], "It is so .")
    shown = order_invariance.contrasted_twice([sample_with(sample, other)], rng)
    assert len(shown) == (len(sample.units) > 1)
    for one in shown:
        assert [set(view.units) for view in views(one)] == [set(sample.units)] * 4
        pair = strict_sets("order_invariance", [sample], [sample], test=shown, part="main_schema")
        assert not any("false text" in each.words for each in check.check(pair).violations)


def sample_with(sample: Sample, contrast: Contrast) -> Sample:
    return Sample(
        sample.id, sample.corpus, sample.units, sample.references, sample.context, contrast
    )


@given(st.lists(samples, min_size=1, max_size=4))
@settings(max_examples=100)
def test_what_is_hidden_is_shown_nowhere(pool: list[Sample]) -> None:
    for sample in pool:
        (hidden,) = hide_cells([sample])
        if isinstance(hidden, str):
            continue
        pair = strict_sets("rule_learnability", [sample], test=[hidden], part="schema")
        assert check.check(pair).holds, check.check(pair).violations
        assert not hidden.references
        assert hidden.target == ""
        for what, phrase in hidden_of(hidden).phrases:
            assert phrase in prompt(hidden, "causal")
            for style in PROMPT_STYLES:
                assert what.lower() not in prompt(hidden, style).lower()
