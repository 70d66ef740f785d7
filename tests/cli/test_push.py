"""`spor push` against a server that speaks as the Hub does."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.report import plots
from tests.support.hub_server import READER, Hub, Repo, cut, serving
from tests.support.whole_runs import write_whole

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

Push = Callable[..., tuple[int, str]]
TASK = "spor_productivity_mini_n4"
KEY = "datasets/me/runs"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs, below the working directory; reports have no plots, for speed."""
    monkeypatch.setattr(plots, "draw", lambda _report, _outcomes: ())
    monkeypatch.chdir(tmp_path)
    for arm in ("invisible", "visible"):
        write_whole(Path("runs"), arm, arm=arm)
    return Path("runs")


@pytest.fixture
def server() -> Iterator[Hub]:
    with serving() as hub:
        hub.repos[KEY] = Repo()
        yield hub


@pytest.fixture
def push(capsys: pytest.CaptureFixture[str], runs: Path) -> Push:
    def call(*options: str) -> tuple[int, str]:
        status = cli.main(["push", str(runs), "--to", "me/runs", *options])
        return status, "".join(capsys.readouterr())

    return call


def test_a_clone_of_the_dataset_gives_the_same_report(
    server: Hub, runs: Path, push: Push, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, printed = push()
    assert status == 0, printed
    assert f"{server.url}/{KEY}/commit/" in printed
    sent = server.repos[KEY].files
    results = {f"results/runs/{path.name}": path.read_bytes() for path in runs.iterdir()}
    report = {f"report.{ending}" for ending in ("md", "tex", "csv", "json")}
    assert sent.keys() == {"README.md", "page.html", *report, *results}
    assert sent.items() >= results.items()
    rows = json.loads(sent["report.json"])["rows"]
    assert {row["arm"]: row.get("runs") for row in rows}["invisible"] == [
        "results/runs/results_invisible.json"
    ]
    for name, content in sent.items():
        Path("clone", name).parent.mkdir(parents=True, exist_ok=True)
        Path("clone", name).write_bytes(content)
    monkeypatch.chdir("clone")
    assert cli.main(["report", "results", "--out", "again"]) == 0
    for name in ("page.html", "report.md", "report.csv", "report.json"):
        assert Path("again", name).read_bytes() == sent[name]


def test_a_second_push_sends_what_is_new(server: Hub, runs: Path, push: Push) -> None:
    server.repos[KEY].add({"README.md": b"# Mine"})
    push()
    before = server.repos[KEY].files
    assert before["README.md"] == b"# Mine"
    commits = len(server.repos[KEY].commits)
    assert push()[0] == 0
    assert len(server.repos[KEY].commits) == commits
    write_whole(runs, "other", arm="visible", seed=1)
    assert push()[0] == 0
    assert server.repos[KEY].files.keys() > before.keys()


def test_a_space_shows_the_page(server: Hub, push: Push) -> None:
    assert push("--type", "space", "--create", "public")[0] == 0
    made = server.repos["spaces/me/runs"]
    assert (made.private, made.sdk) == (False, "static")
    assert b"<html" in made.files["index.html"]
    assert "page.html" not in made.files


def test_a_dry_run_and_a_pull_request_leave_the_repository_as_it_is(
    server: Hub, push: Push
) -> None:
    status, printed = push("--dry-run")
    assert status == 0
    assert "results/runs/results_invisible.json" in printed
    assert server.requests == []
    status, printed = push("--pr")
    assert status == 0
    assert f"{server.url}/{KEY}/discussions/1" in printed
    assert server.repos[KEY].files == {}


def test_a_refused_push_changes_nothing_and_can_be_repeated(
    server: Hub, push: Push, monkeypatch: pytest.MonkeyPatch
) -> None:
    for token in (READER, "hf_invented"):
        with monkeypatch.context() as patch:
            patch.setenv("HF_TOKEN", token)
            status, printed = push()
        assert status == 2
        assert "hf auth login" in printed
    server.answers = {"/commit/": [cut]}
    assert push()[0] == 2
    assert server.repos[KEY].files == {}
    assert push()[0] == 0
    assert len(server.repos[KEY].files) == 10
    server.repos.clear()
    assert push()[0] == 2
    assert server.repos == {}
