"""Programs fit a sentence by its words."""

import pytest

from spor_tasks.metrics.programs.operators import OPERATORS
from spor_tasks.metrics.programs.ranking import KINDS, fit

ANN, BO = (f"hop{{filter_eq{{all_rows; team; {name}}}; points}}" for name in ("ann", "bo"))
ANN_MORE, BO_MORE = f"greater{{{ANN}; {BO}}}", f"greater{{{BO}; {ANN}}}"
MAX, MIN = (f"hop{{{name}{{all_rows; points}}; team}}" for name in ("argmax", "argmin"))
ABOVE_3 = "count{filter_greater{all_rows; points; 3}}"


@pytest.mark.parametrize(
    ("sentence", "better", "worse"),
    [
        ("bo has the most points", f"eq{{bo; {MAX}}}", f"eq{{bo; {MIN}}}"),
        ("the lowest points are of ann", f"eq{{ann; {MIN}}}", f"eq{{ann; {MAX}}}"),
        ("2 teams with more than 3 points", f"eq{{2; {ABOVE_3}}}", "eq{2; max{all_rows; points}}"),
        (
            "the average points are 4",
            "eq{4; avg{all_rows; points}}",
            "eq{4; max{all_rows; points}}",
        ),
        ("bo has more points than ann", BO_MORE, ANN_MORE),
        ("ann has fewer points than bo", BO_MORE, ANN_MORE),
        ("the points of ann are 3", f"eq{{3; {ANN}}}", "eq{3; count{all_rows}}"),
    ],
)
def test_a_program_fits_by_the_words_of_the_sentence(
    sentence: str, better: str, worse: str
) -> None:
    assert fit(sentence, better) > fit(sentence, worse)
    assert fit(sentence, better) == fit(sentence, f"{better}=True")


@pytest.mark.parametrize("sentence", ["", "\0", "most " * 1000])
@pytest.mark.parametrize("program", ["", "{", "eq{", "eq{1; 2}", "x{" * 70, "only{all_rows}"])
def test_hostile_programs_and_sentences_have_numbers(sentence: str, program: str) -> None:
    assert isinstance(fit(sentence, program), float)


def test_every_operator_of_a_kind_is_one() -> None:
    assert frozenset().union(*KINDS.values()) <= OPERATORS.keys()
