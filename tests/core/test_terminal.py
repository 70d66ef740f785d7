"""What is written to a guarded stream is seen, and acts on no terminal."""

import io
import sys
import unicodedata
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

from spor_tasks.core.terminal import Parser, guarded, unguarded

KINDS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXTS = st.text() | st.text("\x1b[31mAK]52;c\x07\x9b\u202e\u2066\r\n\t b")


def printed(*texts: str, encoding: str = "utf-8") -> str:
    """Return what a guarded stream of that encoding passes on of the texts, one after another."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding, newline="", write_through=True)
    with redirect_stdout(stream), guarded():
        for text in texts:
            sys.stdout.write(text)
    return raw.getvalue().decode(encoding)


@given(TEXTS)
def test_nothing_acts_but_line_ends_and_tabs(text: str) -> None:
    shown = printed(f"- {text}")
    assert [c for c in shown if unicodedata.category(c) in KINDS and c not in "\n\t"] == []


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" \n\t")))
def test_what_does_nothing_is_passed_on(text: str) -> None:
    assert printed(text) == text


def test_colours_of_others_are_left_out_and_hide_no_sequence() -> None:
    assert printed("\x1b[31;1mred\x1b[0m") == "red"
    assert printed("\x1b\x1b[m[2J") == r"\u001b[2J"


def test_what_the_encoding_lacks_is_written_as_its_code() -> None:
    assert printed("é ≠ 😀\n", encoding="latin-1") == "é \\u2260 \\U0001f600\n"
    assert printed("é", encoding="ascii") == r"\xe9"


def test_bars_move_as_they_did() -> None:
    def bars(*, guard: bool) -> str:
        stream = io.StringIO()
        with redirect_stderr(stream):
            if guard:
                with guarded():
                    _run_bars()
            else:
                _run_bars()
        return stream.getvalue()

    assert "\x1b[A" in bars(guard=False)
    assert bars(guard=True) == bars(guard=False)


def _run_bars() -> None:
    settings = {"bar_format": "{desc}{n}", "mininterval": 0, "miniters": 1}
    for _ in tqdm(range(2), desc="outer", **settings):  # type: ignore[call-overload]
        for _ in tqdm(range(2), desc="inner", leave=False, **settings):  # type: ignore[call-overload]
            pass


def test_our_own_colours_go_past_the_guard(capsys: pytest.CaptureFixture[str]) -> None:
    with guarded(), guarded():
        print("\x1b[1mbold", file=unguarded(sys.stdout))
    assert capsys.readouterr().out == "\x1b[1mbold\n"
    assert unguarded(sys.stdout) is sys.stdout


def test_a_stream_that_is_closed_from_the_start_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with guarded():
        print("nowhere")
        assert sys.stdout is None


def test_a_complaint_about_arguments_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="p")
    parser.add_subparsers().add_parser("c")
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(["c", "a\nerror: forged\x1b"])
    assert capsys.readouterr().err.splitlines()[-1].endswith(r"a\u000aerror: forged\u001b")
