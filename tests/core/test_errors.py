"""Errors say what, where and what to do."""

import pickle
from pathlib import Path

from spor_tasks.core.errors import CorpusError, SporError


def test_an_error_says_what_where_and_what_to_do() -> None:
    error = CorpusError("is cut short", where=Path("a.xml"), remedy="Fetch it again.")
    assert isinstance(error, SporError)
    assert str(error) == "a.xml: is cut short\n  Fetch it again."


def test_further_faults_have_lines_of_their_own() -> None:
    error = SporError("a fails", each=["b fails", "c fails"], where="3 failed", remedy="Mend them.")
    assert str(error) == "3 failed: a fails\nb fails\nc fails\n  Mend them."


def test_what_others_wrote_acts_on_no_terminal_and_forges_no_line() -> None:
    evil = "\x1b]52;c;eA==\x07\u202e\nerror: forged"
    shown = r"\u001b]52;c;eA==\u0007\u202e"
    error = SporError(f"is {evil}", where=evil, remedy=evil, each=[evil])
    assert str(error).splitlines() == [
        rf"{shown}\u000aerror: forged: is {shown} error: forged",
        f"{shown} error: forged",
        rf"  {shown}\u000aerror: forged",
    ]


def test_an_error_is_the_same_after_a_way_between_processes() -> None:
    error = CorpusError("is wrong", where="a", remedy="Mend it.", each=["is short"])
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert str(again) == str(error)


def test_place_and_advice_may_be_left_out() -> None:
    assert str(SporError("is wrong")) == "is wrong"
