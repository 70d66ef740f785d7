"""Whatever one file says, the others are reported."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.report import browser, leaderboard, tables
from spor_tasks.report.document import plain_text
from tests.support.damage import LONG_NAME, SOAK
from tests.support.result_files import SAMPLE, result_content, sample_row, write_run
from tests.support.strategies import VALUES, changed, places

TASK = "spor_systematicity_mini"
RESULT = result_content(n=1, parent=3.0, seed=1)
ROW = sample_row(SAMPLE, ["By the sea."], {"parent": 3.0})


def report_of(result: bytes, samples: bytes) -> report.Report:
    """Return the report of a good run and of these two files, all its texts made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_run(folder, "good", [7.0], seed=0)
        (folder / "results_bad.json").write_bytes(result)
        (folder / f"samples_{TASK}_bad.jsonl").write_bytes(samples)
        found = report.collect([folder])
        document = tables.document(found)
        assert all([plain_text(document), *document.files("report").values()])
        json.loads(document.files("report")["report.json"])
        assert browser.browse(found.samples).chunks
        board = report.rank(report.collect([folder]))
        assert plain_text(leaderboard.document(board))
    values = [row.arms[0].values for table in found.tables for row in table.rows]
    assert any(7.0 in each for each in values)
    return found


@settings(max_examples=25 * SOAK)
@given(st.sampled_from(list(places(RESULT))), VALUES | st.just(...))
def test_any_value_anywhere_in_a_result(path: tuple[str, ...], value: object) -> None:
    bad = changed(RESULT, path, value)
    report_of(json.dumps(bad).encode(), json.dumps(ROW).encode())


@settings(max_examples=25 * SOAK)
@given(
    st.text(st.characters(), max_size=9)
    | st.sampled_from(["/", "..", "../x", "", "a/../b", LONG_NAME])
)
def test_any_name_of_a_task(name: str) -> None:
    bad = json.loads(json.dumps(RESULT).replace(json.dumps(TASK), json.dumps(name)))
    found = report_of(json.dumps(bad).encode(), json.dumps(ROW).encode())
    assert len(found.tables[0].rows) == 2


@settings(max_examples=25 * SOAK)
@given(st.sampled_from(list(places(ROW))), VALUES | st.just(...))
def test_any_value_anywhere_in_a_sample(path: tuple[str, ...], value: object) -> None:
    bad = changed(ROW, path, value)
    report_of(json.dumps(RESULT).encode(), json.dumps(bad).encode())


@settings(max_examples=25 * SOAK)
@given(st.integers(0, len(json.dumps(RESULT))), st.binary(max_size=4))
def test_a_result_that_ends_anywhere(end: int, rest: bytes) -> None:
    found = report_of(json.dumps(RESULT).encode()[:end] + rest, json.dumps(ROW).encode())
    if end < len(json.dumps(RESULT)) - 4:
        assert {problem.kind for problem in found.problems} >= {"unreadable"}


@settings(max_examples=25 * SOAK)
@given(st.integers(0, len(json.dumps(ROW))), st.binary(max_size=4))
def test_samples_that_end_anywhere(end: int, rest: bytes) -> None:
    report_of(json.dumps(RESULT).encode(), json.dumps(ROW).encode()[:end] + rest)
