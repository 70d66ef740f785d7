"""`spor push` against a server that speaks as the Hub does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.report import plots
from tests.conftest import REPOSITORY
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
def push(capsys: pytest.CaptureFixture[str]) -> Push:
    def call(*arguments: object) -> tuple[int, str]:
        status = cli.main(["push", *map(str, arguments), "--to", "me/runs"])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return call


def test_results_samples_and_report_go_to_a_dataset(server: Hub, runs: Path, push: Push) -> None:
    status, printed = push(runs)
    assert status == 0, printed
    sent = server.repos[KEY].files
    assert sorted(sent) == [
        "README.md",
        "page.html",
        "report.csv",
        "report.json",
        "report.md",
        "report.tex",
        "results/runs/results_invisible.json",
        "results/runs/results_visible.json",
        f"results/runs/samples_{TASK}_invisible.jsonl",
        f"results/runs/samples_{TASK}_visible.jsonl",
    ]
    for path in runs.iterdir():
        assert sent[f"results/runs/{path.name}"] == path.read_bytes()
    told = json.loads(sent["report.json"])
    runs_of = {row["arm"]: row.get("runs") for row in told["rows"]}
    assert runs_of["invisible"] == ["results/runs/results_invisible.json"]
    assert f"{server.url}/{KEY}/commit/" in printed
    assert len(server.repos[KEY].commits) == 2


def test_a_clone_gives_the_same_report(
    server: Hub,
    runs: Path,
    push: Push,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    push(runs)
    sent = server.repos[KEY].files
    for name, content in sent.items():
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / name).write_bytes(content)
    monkeypatch.chdir(tmp_path / "clone")
    assert cli.main(["report", "results", "--out", "again"]) == 0
    for name in ("page.html", "report.md", "report.csv", "report.json"):
        assert Path("again", name).read_bytes() == sent[name]


def test_a_second_push_sends_what_is_new(server: Hub, runs: Path, push: Push) -> None:
    push(runs)
    before = server.repos[KEY].files
    status, printed = push(runs)
    assert status == 0, printed
    assert len(server.repos[KEY].commits) == 2
    write_whole(runs, "other", arm="visible", seed=1)
    assert push(runs)[0] == 0
    assert server.repos[KEY].files.keys() > before.keys()


def test_a_space_shows_the_page(server: Hub, runs: Path, push: Push) -> None:
    assert push(runs, "--type", "space", "--create", "public")[0] == 0
    made = server.repos["spaces/me/runs"]
    assert (made.private, made.sdk) == (False, "static")
    assert b"<html" in made.files["index.html"]
    assert "page.html" not in made.files


def test_a_readme_of_the_repository_stays(server: Hub, runs: Path, push: Push) -> None:
    server.repos[KEY].add({"README.md": b"# Mine"})
    assert push(runs)[0] == 0
    assert server.repos[KEY].files["README.md"] == b"# Mine"
    assert len(server.repos[KEY].files) == 10


def test_a_dry_run_lists_the_files_and_asks_nobody(server: Hub, runs: Path, push: Push) -> None:
    status, printed = push(runs, "--dry-run")
    assert status == 0
    assert "results/runs/results_invisible.json" in printed
    assert server.requests == []


def test_a_pull_request_leaves_the_repository_as_it_is(server: Hub, runs: Path, push: Push) -> None:
    status, printed = push(runs, "--pr")
    assert status == 0
    assert f"{server.url}/{KEY}/discussions/1" in printed
    assert server.repos[KEY].files == {}


@pytest.mark.parametrize("token", [READER, "hf_invented"])
def test_a_token_without_rights_is_an_error(
    token: str, server: Hub, runs: Path, push: Push, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    status, printed = push(runs)
    assert status == 2
    assert "hf auth login" in printed
    assert server.repos[KEY].files == {}


def test_a_repository_that_does_not_exist_is_an_error(server: Hub, runs: Path, push: Push) -> None:
    server.repos.clear()
    assert push(runs)[0] == 2
    assert server.repos == {}


def test_after_a_cut_connection_the_same_command_finishes(
    server: Hub,
    runs: Path,
    push: Push,
) -> None:
    server.answers = {"/commit/": [cut]}
    assert push(runs)[0] == 2
    assert server.repos[KEY].files == {}
    assert push(runs)[0] == 0
    assert len(server.repos[KEY].files) == 10


def test_the_environment_names_server_and_token(server: Hub, runs: Path) -> None:
    given = {"HF_ENDPOINT": server.url, "HF_TOKEN": "hf_writer", "HF_HUB_DISABLE_XET": "1"}
    environment = {**os.environ, **given, "HF_HUB_OFFLINE": "0", "PYTHONPATH": str(REPOSITORY)}
    command = [
        sys.executable,
        "-c",
        "import sys; from spor_tasks.cli import main; sys.exit(main())",
    ]
    done = subprocess.run(
        [*command, "push", str(runs), "--to", "me/runs"],
        env=environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert len(server.repos[KEY].commits) == 2
