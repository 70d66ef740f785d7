"""`spor push`, with a stand-in for the Hub's client that takes what the client takes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock, create_autospec

import pytest
from huggingface_hub import CommitInfo, HfApi

from spor_tasks import cli
from spor_tasks.report import plots, publish
from tests.support.whole_runs import write_whole

Push = Callable[..., tuple[int, str]]
COMMIT, REQUEST = (f"https://huggingface.co/me/runs/{end}" for end in ("commit/1", "discussions/1"))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs, below the working directory; reports have no plots, for speed."""
    monkeypatch.setattr(plots, "draw", lambda _report, _outcomes: ())
    monkeypatch.chdir(tmp_path)
    for arm in ("invisible", "visible"):
        write_whole(Path("runs"), arm, arm=arm)
    return Path("runs")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """The client; `files` are what was sent, by name."""
    client = create_autospec(HfApi, instance=True, files={})
    client.get_paths_info.return_value = []

    def upload(*, folder_path: Path, create_pr: bool, **_: Any) -> CommitInfo:  # noqa: ANN401
        files = (path for path in folder_path.rglob("*") if path.is_file())
        client.files |= {
            path.relative_to(folder_path).as_posix(): path.read_bytes() for path in files
        }
        return CommitInfo(COMMIT, "", "", "1", pr_url=REQUEST if create_pr else None)

    client.upload_folder.side_effect = upload
    monkeypatch.setattr(publish, "HfApi", lambda: client)
    return client


@pytest.fixture
def push(capsys: pytest.CaptureFixture[str], runs: Path) -> Push:
    def call(*options: str) -> tuple[int, str]:
        status = cli.main(["push", str(runs), "--to", "me/runs", *options])
        return status, "".join(capsys.readouterr())

    return call


def test_a_clone_of_the_dataset_gives_the_same_report(
    hub: Mock, runs: Path, push: Push, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, printed = push()
    assert status == 0, printed
    assert printed.endswith(f"{COMMIT}\n")
    results = {f"results/runs/{path.name}": path.read_bytes() for path in runs.iterdir()}
    report = {f"report.{ending}" for ending in ("md", "tex", "csv", "json")}
    assert hub.files.keys() == {"README.md", "page.html", *report, *results}
    assert hub.files.items() >= results.items()
    rows = json.loads(hub.files["report.json"])["rows"]
    assert {row["arm"]: row.get("runs") for row in rows}["invisible"] == [
        "results/runs/results_invisible.json"
    ]
    for name, content in hub.files.items():
        Path("clone", name).parent.mkdir(parents=True, exist_ok=True)
        Path("clone", name).write_bytes(content)
    monkeypatch.chdir("clone")
    assert cli.main(["report", "results", "--out", "again"]) == 0
    for name in ("page.html", "report.md", "report.csv", "report.json"):
        assert Path("again", name).read_bytes() == hub.files[name]


@pytest.mark.parametrize("has_card", [False, True])
def test_a_push_is_one_upload_that_leaves_a_readme_of_its_own(
    hub: Mock, push: Push, *, has_card: bool
) -> None:
    hub.get_paths_info.return_value = ["README.md"] * has_card
    assert push()[0] == 0
    hub.create_repo.assert_not_called()
    hub.get_paths_info.assert_called_once_with("me/runs", ["README.md"], repo_type="dataset")
    (sent,) = hub.upload_folder.call_args_list
    assert (sent.kwargs["repo_id"], sent.kwargs["repo_type"]) == ("me/runs", "dataset")
    assert sent.kwargs["ignore_patterns"] == (["README.md"] if has_card else None)


@pytest.mark.parametrize(
    ("kind", "create", "made"),
    [
        ("space", "public", {"private": False, "space_sdk": "static"}),
        ("dataset", "private", {"private": True, "space_sdk": None}),
    ],
)
def test_a_repository_is_created_and_a_space_shows_the_page(
    hub: Mock, push: Push, kind: str, create: str, made: dict[str, object]
) -> None:
    assert push("--type", kind, "--create", create)[0] == 0
    hub.create_repo.assert_called_once_with("me/runs", repo_type=kind, exist_ok=True, **made)
    assert hub.upload_folder.call_args.kwargs["repo_type"] == kind
    page, other = ("index.html", "page.html") if kind == "space" else ("page.html", "index.html")
    assert b"<html" in hub.files[page]
    assert other not in hub.files


def test_a_dry_run_sends_nothing_and_a_pull_request_is_named(hub: Mock, push: Push) -> None:
    status, printed = push("--dry-run")
    assert status == 0
    assert "results/runs/results_invisible.json" in printed
    assert hub.method_calls == []
    status, printed = push("--pr")
    assert status == 0
    assert REQUEST in printed


@pytest.mark.parametrize("step", ["create_repo", "get_paths_info", "upload_folder"])
def test_a_refused_push_names_the_remedy(hub: Mock, push: Push, step: str) -> None:
    getattr(hub, step).side_effect = ConnectionError("401 Client Error")
    status, printed = push("--create", "private")
    assert status == 2
    assert "me/runs" in printed
    assert "hf auth login" in printed
