"""A report has all results but a faulty one."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.harness import task_files
from spor_tasks.report import browser, leaderboard, tables
from spor_tasks.report.document import plain_text
from tests.support.damage import LONG_NAME, SOAK
from tests.support.result_files import SAMPLE, result_content, sample_row, write_run
from tests.support.strategies import VALUES, changed, places

TASK = "spor_systematicity_mini"
RESULT = result_content(n=1, parent=3.0, seed=1)
ROW = sample_row(SAMPLE, ["By the sea."], {"parent": 3.0})


def report_of(result, samples):
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


def faulty(content):
    """The content with any value anywhere, or with another end."""
    whole = json.dumps(content).encode()
    changes = st.builds(
        lambda path, value: json.dumps(changed(content, path, value)).encode(),
        st.sampled_from(list(places(content))),
        VALUES | st.just(...),
    )
    ends = st.builds(
        lambda end, rest: whole[:end] + rest, st.integers(0, len(whole)), st.binary(max_size=4)
    )
    return changes | ends


WHOLE = [st.just(json.dumps(each).encode()) for each in (RESULT, ROW)]


@settings(max_examples=100 * SOAK)
@given(st.tuples(faulty(RESULT), WHOLE[1]) | st.tuples(WHOLE[0], faulty(ROW)))
def test_a_faulty_result_and_faulty_samples_hide_no_others(files):
    found = report_of(*files)
    try:
        json.loads(files[0])
    except ValueError:
        assert "unreadable" in {problem.kind for problem in found.problems}


SCORES = ("configs", TASK, "metadata", "spor", "declared", "scores", "parent")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*SCORES, "higher_is_better"), None),
        ((*SCORES, "range"), [-1, 1000]),
        ((*SCORES[:-2], "reported"), ["chrf"]),
    ],
)
def test_a_score_that_is_declared_otherwise_stands_apart(path, value):
    bad = changed(RESULT, path, value)
    found = report_of(json.dumps(bad).encode(), json.dumps(ROW).encode())
    (apart,) = (problem for problem in found.problems if problem.kind == "incomparable")
    assert "they differ in scores: " in apart.what
    assert "parent in [0, 100], more is better" in apart.what


@settings(max_examples=25 * SOAK)
@given(
    st.text(st.characters(), max_size=9).filter(lambda name: name not in task_files.names())
    | st.sampled_from(["/", "..", "../x", "", "a/../b", LONG_NAME])
)
def test_a_task_may_have_any_name(name):
    bad = json.loads(json.dumps(RESULT).replace(json.dumps(TASK), json.dumps(name)))
    found = report_of(json.dumps(bad).encode(), json.dumps(ROW).encode())
    assert len(found.tables[0].rows) == 2
