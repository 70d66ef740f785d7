"""Verdicts of programs: the published ones, and none for a broken program."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.metrics.programs.operators import OPERATORS
from tests.support import golden

HEADER = ("year", "name", "place", "points", "note")
ROWS = (
    ("1990", "ann lee", "oslo", "3.5", "n/a"),
    ("1991", "bo ( jr )", "+5 rome", "1.5", "won"),
    ("1992", "Cy", "bern", "", "lost"),
    ("1993", "dée", "bern", "1.5", "no information"),
)
CITIES = typed(Table(HEADER, ROWS))

# --- One operator after another -------------------------------------------------------------------

VERDICTS = {
    # The dot stands for any character, and a plus repeats what comes before it.
    "only{filter_eq{all_rows; place; o.lo}}": True,
    "only{filter_eq{all_rows; place; +5 rome}}": False,
    # Beyond ASCII, a negation is ignored.
    "eq{count{filter_not_eq{all_rows; name; dée}}; 3}": False,
    "all_not_eq{all_rows; place; zürich}": True,
    # Of no rows.
    "all_eq{filter_eq{all_rows; name; zoe}; place; oslo}": True,
    "eq{sum{filter_eq{all_rows; year; 1}; points}; 0}": True,
    "eq{hop{filter_eq{all_rows; year; 1}; name}; x}": None,
    # A missing number.
    "eq{count{argmax{all_rows; points}}; 1}": False,
    "eq{max{all_rows; points}; 3.5}": True,
    "eq{uniq{all_rows; points}; 3}": True,
    "only{filter_not_eq{filter_eq{all_rows; place; bern}; points; 1.5}}": True,
    # Where one is asked for.
    "eq{most_freq{all_rows; name}; cy}": None,
    # A row by its first four cells, of which one is missing, or by its place.
    "third{all_rows; filter_eq{all_rows; year; 1992}}": None,
    "last{all_rows; argmax{all_rows; year}}": True,
    # The search writes that several rows are only rows.
    "only{all_rows}=True": True,
    # Numbers up to rounding, and with commas.
    "eq{add{0.1; 0.2}; 0.3}": False,
    "eq{sum{all_rows; year}; 7,966}": None,
    "greater{hop{top{all_rows}; name}; 3}": None,
}
BROKEN = """

all_rows
count{all_rows
only{all_rows}; only{all_rows}
only{all_rows};
only{only{all_rows}{all_rows}}
only{all_rows} and more
{all_rows}
only{count{all_rows} x}
is_at{all_rows; all_rows}
__init__{all_rows}
only{all_rows; year}
only{year}
eq{hop{all_rows; count{all_rows}}; 1}
eq{hop{all_rows; height}; 1}
and{count{all_rows}; only{all_rows}}
only{count{all_rows}}
"""
VERDICTS |= {f"only{{filter_eq{{all_rows; name; {'a' * 999}$}}}}": False}
VERDICTS |= dict.fromkeys([*BROKEN.splitlines(), "only{" * 65 + "}" * 65])
VERDICTS |= {f"only{{filter_eq{{all_rows; name; {'a' * 1000}$}}}}": None}  # too long


@pytest.mark.parametrize("program", VERDICTS)
def test_a_program_has_a_verdict_and_a_broken_one_has_none(program):
    assert verdict(program, CITIES) is VERDICTS[program]


def test_verdicts_about_odd_tables():
    twice = Table(("a", "a", "b # c"), (("1", "x", "3 # 4"),))
    missing = Table(("a", "b"), (("1", "x"), ("2", ""), ("3", "")))
    for table, program, expected in (
        (Table(("a",), (("1", "2"),)), "only{all_rows}", None),
        (twice, "eq{hop{all_rows; a.1}; x}", True),
        (twice, "eq{hop{all_rows; b # c}; 3 # 4}", True),
        (Table((), ()), "eq{count{all_rows}; 0}", True),
        (missing, "eq{most_freq{all_rows; b}; None}", None),
        (Table(("a", "b"), (("1", "x"), ("2", "y"))), "first{all_rows; top{all_rows}}", None),
    ):
        assert verdict(program, typed(table)) is expected


SLOW = "(a+)+b,( ( ( ( ) ) ) ) a*b,(?:a|aa)(?:a|aa)(?:a|aa)*c,[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*1"
REPEATED = (".*" * 12 + "b", "a?" * 28 + "a" * 28, "|" * 200 + "a*b", "(" * 400)


@pytest.mark.parametrize("value", [*SLOW.split(","), *REPEATED])
@pytest.mark.parametrize("length", [28, 3000])
def test_a_text_that_is_a_slow_regular_expression_takes_no_time(value, length):
    table = typed(Table(("a", "b"), (("a" * length, "x"),)))
    start = process_time()
    verdict(f"only{{filter_eq{{all_rows; a; {value}}}}}", table)
    assert process_time() - start < 1  # seconds


PIECES = st.sampled_from(
    [*OPERATORS, "all_rows", *HEADER, "{", "}", ";", "=True", "1990", "oslo", "(", "*", "\n", "é"]
)
BYTES = st.binary(max_size=80).map(lambda drawn: drawn.decode("utf-8", errors="surrogateescape"))


@given(BYTES | st.lists(PIECES, max_size=40).map(" ".join))
def test_random_bytes_and_pieces_never_raise(program):
    assert verdict(program, CITIES) in {True, False, None}


@given(st.data())
def test_random_cells_never_raise(data):
    row = st.tuples(*[st.text(max_size=8)] * len(NAMES))
    table = typed(Table(NAMES, tuple(data.draw(st.lists(row, max_size=4)))))
    assert verdict(as_text(data.draw(trees("b"))), table) in {True, False, None}


NAMES = ("a", "b", "c", "d")
VALUES = ["1", "2.5", "1,000", "x", "y", "x y", "", "z", "0"]
VALUED = ("count", "half", "one_third", "uniq", "avg", "sum", "max", "min", "mean", "hop", "diff")
GIVES = {
    "r": [name for name in OPERATORS if name.startswith(("filter", "arg", "top", "bottom"))],
    "v": [*VALUED, "most_freq", "add"],
}
GIVES["b"] = [name for name in OPERATORS if name not in GIVES["r"] + GIVES["v"]]
ENDS = {"r": ["all_rows"], "v": VALUES, "b": [["only", "all_rows"]]}


def trees(kind, depth=3):
    if kind == "c":
        return st.sampled_from(NAMES)
    if depth == 0:
        return st.sampled_from(ENDS[kind])

    def call(name):
        takes = OPERATORS[name].takes
        kinds = "vv" if takes == "*" else takes
        return st.tuples(st.just(name), *(trees(each, depth - 1) for each in kinds)).map(list)

    calls = st.sampled_from(GIVES[kind]).flatmap(call)
    return calls if kind == "b" else st.one_of(st.sampled_from(ENDS[kind]), calls)


def as_text(tree):
    return tree if isinstance(tree, str) else f"{tree[0]}{{{'; '.join(map(as_text, tree[1:]))}}}"


@pytest.mark.parametrize(("name", "rows"), [("programs_search", 5786), ("programs_bootstrap", 375)])
def test_published_verdicts(typed_table, golden_dir, name, rows):
    """Where the published code raises an error, ours has no verdict."""
    records = golden.read(golden_dir / "logicnlg", name, rows=rows)
    ours = [verdict(each["program"], typed_table(each["table_id"])) for each in records]
    assert ["error" if truth is None else str(truth) for truth in ours] == [
        each["verdict"] for each in records
    ]
