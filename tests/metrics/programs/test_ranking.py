"""Which programs fit a sentence, by its words."""

import pytest

from spor_tasks.metrics.programs.operators import OPERATORS
from spor_tasks.metrics.programs.ranking import KINDS, fit

ANN, BO = (f"hop{{filter_eq{{all_rows; team; {name}}}; points}}" for name in ("ann", "bo"))
ANN_MORE, BO_MORE = f"greater{{{ANN}; {BO}}}", f"greater{{{BO}; {ANN}}}"


def best(sentence: str, *programs: str) -> str:
    return max(programs, key=lambda program: fit(sentence, program))


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
    assert fit("bo has most", program) == fit("bo has most", f"{program}=True")


def test_hostile_programs_and_sentences_have_numbers() -> None:
    for sentence in ("", "\0", "most " * 1000):
        for program in ("", "{", "eq{", "eq{1; 2}", "x{" * 70, "only{all_rows}"):
            assert isinstance(fit(sentence, program), float)


def test_every_operator_of_a_kind_is_one() -> None:
    assert frozenset().union(*KINDS.values()) <= OPERATORS.keys()
