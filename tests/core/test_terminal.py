"""A guarded stream shows everything, errors too, and nothing in it acts on a terminal."""

import io
import pickle
import sys
import unicodedata
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

from spor_tasks.core.errors import CorpusError, SporError
from spor_tasks.core.terminal import columns, facts, guarded

KINDS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXTS = st.text() | st.text("\x1b[31mAK]52;c\x07\x9b\u202e\u2066\r\n\t b")


def printed(*texts, encoding="utf-8"):
    """Return what a guarded stream of that encoding passes on of the texts, one after another."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding, newline="", write_through=True)
    with redirect_stdout(stream), guarded():
        for text in texts:
            sys.stdout.write(text)
    return raw.getvalue().decode(encoding)


@given(TEXTS)
def test_nothing_acts_but_line_ends_and_tabs(text):
    shown = printed(f"- {text}")
    assert [c for c in shown if unicodedata.category(c) in KINDS and c not in "\n\t"] == []


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" \n\t")))
def test_plain_text_is_passed_on(text):
    assert printed(text) == text


def test_colours_of_other_packages_are_dropped_and_hide_no_sequence():
    assert printed("\x1b[31;1mred\x1b[0m") == "red"
    assert printed("\x1b\x1b[m[2J") == r"\u001b[2J"


def test_bars_move_as_they_did():
    def bars(guard):
        settings = {"bar_format": "{desc}{n}", "mininterval": 0, "miniters": 1}
        with redirect_stderr(io.StringIO()) as stream, guard:
            for _ in tqdm(range(2), desc="outer", **settings):
                for _ in tqdm(range(2), desc="inner", leave=False, **settings):
                    pass
        return stream.getvalue()

    assert "\x1b[A" in bars(nullcontext())
    assert bars(guarded()) == bars(nullcontext())


def test_a_stream_that_is_closed_from_the_start_stays_so(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with guarded():
        print("nowhere")
        assert sys.stdout is None


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SporError("is wrong"), "is wrong"),
        (
            CorpusError("is cut", where=Path("a.xml"), remedy="Fetch it."),
            "a.xml: is cut\n  Fetch it.",
        ),
        (
            SporError("a fails", each=["b fails", "c fails"], where="3 failed", remedy="Mend."),
            "3 failed: a fails\nb fails\nc fails\n  Mend.",
        ),
        (SporError("a\nb", where="c\nd", remedy="e\x1b"), "c\\u000ad: a b\n  e\\u001b"),
    ],
)
def test_an_error_is_printed_and_passes_between_processes(error, text):
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text  # noqa: S301 - our own


def test_cells_stand_below_one_another_at_least_as_wide_as_their_format():
    lines = [("score", "value", ""), ("parent\x1b[2J", "27.3590", "95 %"), ("b", "-1", "")]
    assert columns(lines, "<7", ">9", gap="  ").split("\n") == [
        "score                value",
        r"parent\u001b[2J    27.3590  95 %",
        "b                       -1",
    ]
    assert columns([]) == ""


def test_facts_are_wrapped_after_their_word_and_empty_ones_left_out():
    text = facts({"arms": "atom", "shows": None, "tags": " ".join(["tag"] * 30), "more": ""})
    first, *wrapped = text.split("\n")
    assert first == "  arms      atom"
    assert [line[:12] for line in wrapped] == ["  tags      ", " " * 12]
    assert max(map(len, wrapped)) <= 100
