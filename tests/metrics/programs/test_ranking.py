"""Which programs fit a sentence, by words and by a classifier, and how a program is traced."""

from pathlib import Path

import pytest

from spor_tasks.core.columns import typed
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.table import Table
from spor_tasks.metrics.programs import classified
from spor_tasks.metrics.programs.execute import Executor, Variant
from spor_tasks.metrics.programs.operators import OPERATORS
from spor_tasks.metrics.programs.ranking import (
    KINDS,
    PLAIN,
    LexicalRanker,
    RankerInput,
    kinds,
    spaced,
)
from spor_tasks.metrics.programs.trace import trace
from tests.support.classifiers import save_classifier

TEAMS = Table(("team", "points"), (("ann", "3"), ("bo", "5"), ("cy", "4")))

ANN, BO = (f"hop{{filter_eq{{all_rows; team; {name}}}; points}}" for name in ("ann", "bo"))
ANN_MORE, BO_MORE = f"greater{{{ANN}; {BO}}}", f"greater{{{BO}; {ANN}}}"


def best(sentence: str, *programs: str) -> str:
    scores = LexicalRanker()([RankerInput("games", sentence, program) for program in programs])
    return programs[scores.index(max(scores))]


@pytest.mark.parametrize(
    ("sentence", "fits", "other"),
    [
        (
            "bo has the most points",
            "eq{bo; hop{argmax{all_rows; points}; team}}",
            "eq{bo; hop{argmin{all_rows; points}; team}}",
        ),
        (
            "the lowest points are of ann",
            "eq{ann; hop{argmin{all_rows; points}; team}}",
            "eq{ann; hop{argmax{all_rows; points}; team}}",
        ),
        (
            "there are 2 teams with more than 3 points",
            "eq{2; count{filter_greater{all_rows; points; 3}}}",
            "eq{2; max{all_rows; points}}",
        ),
        (
            "the average points are 4",
            "eq{4; avg{all_rows; points}}",
            "eq{4; max{all_rows; points}}",
        ),
        (
            "bo has more points than ann",
            BO_MORE,
            ANN_MORE,
        ),
        (
            "ann has fewer points than bo",
            BO_MORE,
            ANN_MORE,
        ),
        (
            "the points of ann are 3",
            f"eq{{3; {ANN}}}",
            "eq{3; count{all_rows}}",
        ),
    ],
)
def test_a_program_fits_by_the_words_of_the_sentence(sentence: str, fits: str, other: str) -> None:
    assert best(sentence, fits, other) == best(sentence, other, fits) == fits


def test_a_verdict_at_the_end_of_a_program_changes_nothing() -> None:
    program = "eq{bo; hop{argmax{all_rows; points}; team}}"
    items = [RankerInput("", "bo has most", text) for text in (program, f"{program}=True")]
    assert len(set(LexicalRanker()(items))) == 1


def test_hostile_programs_and_sentences_have_numbers() -> None:
    items = [
        RankerInput("", sentence, program)
        for sentence in ("", "\0", "most " * 1000)
        for program in ("", "{", "eq{", "eq{1; 2}", "x{" * 70, "only{all_rows}")
    ]
    assert len(LexicalRanker()(items)) == len(items)
    assert LexicalRanker()([]) == []


def test_every_operator_of_a_kind_is_one() -> None:
    assert frozenset().union(*KINDS.values()) <= OPERATORS.keys()
    assert kinds("eq{avg{all_rows; points}; count{all_rows}}") == ("count", "average")
    assert kinds("eq{bo; hop{filter_eq{all_rows; points; 5}; team}}") == (PLAIN,)
    assert kinds("nonsense") == (PLAIN,)


def test_a_program_is_written_as_the_published_ranker_reads_it() -> None:
    program = "eq{count{filter_eq{all_rows; home team; new york}}; 6}=True"
    assert spaced(program) == (
        "[eq] { [count] { [filter_eq] { all_rows ; home team ; new york } } ; 6 }"
    )


# --- A classifier ---------------------------------------------------------------------------------

ITEMS = [
    RankerInput("games", "bo has the most points", "eq{bo; hop{argmax{all_rows; points}; team}}"),
    RankerInput("games", "bo has the most points", "eq{bo; hop{argmin{all_rows; points}; team}}"),
    RankerInput("games", "ann", "only{all_rows}"),
    RankerInput("t" * 400, "s" * 400, f"only{{filter_eq{{all_rows; team; {'x' * 400}}}}}"),
]


def test_a_classifier_ranks_each_program_alone(tmp_path: Path) -> None:
    ranker = classified.load(str(save_classifier(tmp_path / "ranker")), device="cpu", batch_size=2)
    found = ranker(ITEMS)
    assert found == ranker(ITEMS[::-1])[::-1] == [ranker([item])[0] for item in ITEMS]
    assert all(0 <= one <= 1 for one in found)
    assert len(set(found[:3])) == 3
    assert ranker([]) == []
    assert "ranker:classifier|model:ranker|weights:" in ranker.signature


def test_a_classifier_whose_labels_say_nothing_needs_one_named(tmp_path: Path) -> None:
    folder = str(save_classifier(tmp_path / "ranker", labels=("good", "bad", "ugly")))
    with pytest.raises(ConfigError) as caught:
        classified.load(folder, device="cpu")
    assert "sp_label" in str(caught.value.remedy)
    assert "label:good" in classified.load(folder, "good", "cpu").signature


def test_a_classifier_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        classified.load(str(tmp_path / "none"))
    assert caught.value.remedy


# --- Traces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", Variant)
def test_a_trace_has_each_part_with_its_value(variant: Variant) -> None:
    executor = Executor(typed(TEAMS), variant)
    steps = trace("eq{bo; hop{argmax{all_rows; points}; team}}=True", executor)
    assert [tuple(step) for step in steps] == [
        ("argmax{all_rows; points}", [2]),
        ("hop{argmax{all_rows; points}; team}", "bo"),
        ("eq{bo; hop{argmax{all_rows; points}; team}}", True),
    ]
    same = trace("and{only{top{all_rows}}; only{top{all_rows}}}", executor)
    assert [step.part for step in same] == [
        "top{all_rows}",
        "only{top{all_rows}}",
        "and{only{top{all_rows}}; only{top{all_rows}}}",
    ]


def test_a_part_that_fails_says_why_and_a_text_that_is_not_a_program_has_no_trace() -> None:
    executor = Executor(typed(TEAMS))
    (step, *_) = trace("eq{1; max{all_rows; height}}", executor)
    assert step.value == "names a column that the table lacks height"
    assert trace("eq{1; ", executor) == []
    empty = Executor(typed(Table(("a", "b"), (("x", ""), ("y", "1")))))
    assert trace("eq{1; hop{top{all_rows}; b}}", empty)[1].value == "nan"
    assert trace("only{all_rows}", Executor(typed(Table(("a",), (("1", "2"),))))) == []
