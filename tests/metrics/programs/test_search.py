"""The search for programs: the published one, program by program, and its limits."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linking import Linked
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.metrics.programs.search import search
from spor_tasks.metrics.programs.states import Limits, Stop
from spor_tasks.metrics.programs.triggers import left_out
from tests.metrics.programs.conftest import Typed
from tests.support import golden
from tests.support.linked import linked, mentions

GAMES = typed(
    Table(
        ("team", "points", "city"),
        (("ann", "3", "oslo"), ("bo", "5", "oslo"), ("cy", "4", "bern")),
    )
)
MOST = linked(
    sentence="<ENTITY0> have the most <ENTITY1> .",
    tags=("VBP", "DT", "JJS", "."),
    texts=(("team", "bo"),),
    numbers=(),
    text_columns=("team",),
    number_columns=("points",),
)
COUNT = linked(
    sentence="there be <COUNT0> team in <ENTITY0> .",
    texts=(("city", "oslo"),),
    numbers=((None, 2),),
    text_columns=("city",),
)
FAST = Limits(states=5000)


def found(given: Linked, limits: Limits = FAST) -> list[tuple[str, bool]]:
    return [(program, truth) for program, truth in search(GAMES, given, limits).programs]


def test_it_finds_what_a_superlative_means() -> None:
    assert ("eq{bo; hop{argmax{all_rows; points}; team}}", True) in found(MOST)
    assert ("eq{bo; hop{argmin{all_rows; points}; team}}", False) in found(MOST)


def test_it_finds_what_a_count_means() -> None:
    assert ("eq{2; count{filter_eq{all_rows; city; oslo}}}", True) in found(COUNT)


def test_an_operator_needs_a_word_that_means_it() -> None:
    plain = replace(MOST, sentence="<ENTITY0> have <ENTITY1> .", tags=("VBP", "."))
    assert not any("arg" in program for program, _ in found(plain))
    assert "argmax" in left_out(plain.sentence, plain.tags)
    assert "argmax" not in left_out(MOST.sentence, MOST.tags)
    assert "argmax" not in left_out("the top <ENTITY0>", ())
    assert "only" not in left_out("only <ENTITY0> win", ())
    assert "only" in left_out("only 3 win", ())
    assert "all_less" in left_out("all of them", ())
    assert "all_less" not in left_out("all be less than that", ())


def test_all_that_was_linked_is_used() -> None:
    both = replace(COUNT, texts=(("city", "oslo"), ("team", "bo")))
    programs = found(both)
    assert programs
    assert all("oslo" in program or "bo" in program for program, _ in programs)


def test_a_search_without_mentions_ends_at_once() -> None:
    nothing = linked()
    assert search(GAMES, nothing).stop is Stop.EMPTY
    assert search(typed(Table((), ())), nothing).programs == ()


@pytest.mark.parametrize("mentioned", [MOST, COUNT])
def test_the_verdict_of_a_program_is_that_of_its_text(mentioned: Linked) -> None:
    for program, truth in search(GAMES, mentioned, FAST).programs:
        assert verdict(program, GAMES) is truth


def test_a_column_that_the_table_lacks_is_a_move_that_fails() -> None:
    lost = replace(MOST, text_columns=("coach",), texts=(("coach", "bo"),))
    assert search(GAMES, lost, FAST).programs == ()


@given(
    st.lists(
        st.tuples(st.sampled_from(["team", "city", "coach"]), st.text(max_size=6)), max_size=2
    ),
    st.lists(
        st.tuples(st.sampled_from(["points", None]), st.floats() | st.integers() | st.text()),
        max_size=2,
    ),
)
def test_no_mention_raises(
    texts: list[tuple[str, str]], numbers: list[tuple[str | None, float | str]]
) -> None:
    sentence = "and all the first not <ENTITY0> be more than at most after average none total ."
    given_ = linked(
        sentence=sentence,
        tags=("JJS", "JJR"),
        texts=tuple(texts),
        numbers=tuple(numbers),
        text_columns=("team",),
        number_columns=("points",),
    )
    limits = Limits(states=300)
    found_ = search(GAMES, given_, limits)
    assert found_ == search(GAMES, given_, limits)
    assert found_.states <= limits.states


# --- Limits ---------------------------------------------------------------------------------------


def test_each_limit_ends_a_search_and_is_named() -> None:
    assert search(GAMES, MOST, Limits(steps=1)).stop is Stop.STEPS
    assert search(GAMES, MOST, Limits(enough=0)).stop is Stop.ENOUGH
    assert search(GAMES, MOST, Limits(seconds=0)).stop is Stop.SECONDS
    cut = search(GAMES, MOST, Limits(states=10))
    assert cut.stop is Stop.STATES
    assert cut.states == 10


def test_a_search_with_fewer_states_finds_the_first_programs_of_a_longer_one() -> None:
    whole, cut = search(GAMES, MOST, FAST), search(GAMES, MOST, Limits(states=200))
    assert 0 < len(cut.programs) < len(whole.programs)
    assert whole.programs[: len(cut.programs)] == cut.programs


# --- The published search -------------------------------------------------------------------------


def test_the_programs_are_those_of_the_published_search_in_its_order(
    typed_table: Typed, verdicts_dir: Path
) -> None:
    records = golden.read(verdicts_dir, "search_trace", rows=373)
    whole = [record for record in records if "error" not in record]
    assert len(whole) == 310  # the others ran out of the recorder's time
    for record in whole:
        ours = search(typed_table(record["table_id"]), mentions(record))
        assert ours.stop in {Stop.STEPS, Stop.ENOUGH, Stop.EMPTY}
        assert [f"{program}={truth}" for program, truth in ours.programs] == record["programs"]
