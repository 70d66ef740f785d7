"""An error has a fault, a place and a remedy."""

import pickle
from pathlib import Path

import pytest

from spor_tasks.core.errors import CorpusError, SporError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SporError("is wrong"), "is wrong"),
        (
            CorpusError("is cut short", where=Path("a.xml"), remedy="Fetch it again."),
            "a.xml: is cut short\n  Fetch it again.",
        ),
        (
            SporError("a fails", each=["b fails", "c fails"], where="3 failed", remedy="Mend."),
            "3 failed: a fails\nb fails\nc fails\n  Mend.",
        ),
        (SporError("a\nb", where="c\nd", remedy="e\x1b"), "c\\u000ad: a b\n  e\\u001b"),
    ],
)
def test_an_error_is_printed_and_passes_between_processes(error: SporError, text: str) -> None:
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text  # noqa: S301 - our own
