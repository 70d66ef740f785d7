"""A number is of the test set that its task names, or it is nowhere."""

import pytest

from spor_tasks import report
from spor_tasks.core.errors import ResultError
from spor_tasks.results import runs
from tests.support.result_files import write_result
from tests.support.whole_runs import write_whole

TASK = "spor_productivity_mini_n4"
PUBLISHED = {"corpus": "webnlg", "protocol": "published"}


def models(folder):
    """The models of tables, which must be those of the boards."""
    collected = report.collect([folder])
    found = {row.model for table in collected.tables for row in table.rows}
    boards = report.rank(collected).boards
    assert {entry.model for board in boards for entry in board.entries} == found
    return found


@pytest.mark.parametrize(
    "claimed",
    [
        {"test_sha256": "b" * 64},
        {"test_sha256": "b" * 64, "version": 2.7},  # of the same N
        {"corpus": "webnlg", "protocol": "published"},
        {"protocol": "published"},
        {"part": "n3"},
        {"aspect": "order_invariance", "part": "main"},
    ],
)
def test_a_false_claim_is_left_out(tmp_path, claimed, spor):
    honest = write_whole(tmp_path, "1", model="honest")
    wrong = write_whole(tmp_path, "2", model="wrong", metadata=claimed)
    assert models(tmp_path) == {"honest"}
    (problem,) = report.collect([tmp_path]).problems
    assert (problem.kind, problem.lost) == ("test", True)
    assert problem.where == f"{wrong}: {TASK}"
    assert TASK in problem.what
    if "test_sha256" in claimed:
        (run,) = runs.read(honest)
        assert "bbbbbbbbbbbb" in problem.what
        assert run.signature["test_sha256"][:12] in problem.what
    for more in ("", "--leaderboard"):
        assert str(problem) in spor(f"report {tmp_path} {more}", ends=1)
    honest.unlink()
    with pytest.raises(ResultError) as caught:  # nothing is left to report
        report.collect([tmp_path])
    assert (caught.value.where, len(caught.value.each)) == (str(tmp_path), 1)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("stated", "counts"),
    [
        ({"task": "spor_mine", "version": 2.0, "metadata": {"corpus": "towns"}}, True),
        ({"task": "spor_mine", "version": 2.0, "metadata": {"test_sha256": "c" * 64}}, True),
        ({"version": 1.0}, True),
        ({"version": 3.0}, True),
        # a task of the same fixed sets has their digest, however a user called it
        ({"task": "spor_mine", "version": 2.0, "metadata": PUBLISHED}, False),
    ],
)
def test_own_sets_and_other_versions_have_any_digest(tmp_path, stated, *, counts):
    write_whole(tmp_path, "1", model="honest")
    write_result(tmp_path / "results_2.json", model="any", **stated)
    assert models(tmp_path) == ({"honest", "any"} if counts else {"honest"})
