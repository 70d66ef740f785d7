"""Adapters go to the Hub through its client, for which a stub stands here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import RepoUrl
from huggingface_hub.errors import OfflineModeIsEnabled

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.folders import write_manifest
from training import upload
from training.__main__ import main
from training.config import TrainingConfig
from training.settings import dump_settings


class StubApi:
    """Notes what it is asked for; ``fault`` is raised instead of uploading."""

    calls: list[tuple[str, dict[str, Any]]]
    fault: Exception | None = None

    def create_repo(self, repo_id: str, **options: Any) -> RepoUrl:  # noqa: ANN401
        self.calls.append((repo_id, options))
        return RepoUrl(f"https://huggingface.co/{repo_id}")

    def upload_folder(self, **options: Any) -> None:  # noqa: ANN401
        if self.fault:
            raise self.fault
        self.calls.append((options.pop("repo_id"), options))


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> StubApi:
    api = StubApi()
    api.calls = []
    monkeypatch.setattr(upload, "HfApi", lambda: api)
    return api


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "atom-0" / "adapter"
    folder.mkdir(parents=True)
    write_manifest(folder, {"kind": "adapter"})
    return folder


def test_a_finished_adapter_is_put_into_a_private_repository(stub: StubApi, adapter: Path) -> None:
    assert upload.push_adapter(adapter, "me/tiny-atom-0") == "https://huggingface.co/me/tiny-atom-0"
    assert stub.calls == [
        ("me/tiny-atom-0", {"private": True, "exist_ok": True}),
        ("me/tiny-atom-0", {"folder_path": adapter, "commit_message": "Upload atom-0"}),
    ]


def test_what_is_no_finished_adapter_is_not_pushed(stub: StubApi, tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="is not a finished folder"):
        upload.push_adapter(tmp_path, "me/tiny")
    write_manifest(tmp_path, {"kind": "base"})
    with pytest.raises(ConfigError, match="is not a finished adapter"):
        upload.push_adapter(tmp_path, "me/tiny")
    assert stub.calls == []


def test_a_refusal_is_an_error_with_a_remedy(stub: StubApi, adapter: Path) -> None:
    stub.fault = OfflineModeIsEnabled("offline")
    with pytest.raises(ConfigError, match="cannot be pushed: offline") as caught:
        upload.push_adapter(adapter, "me/tiny")
    assert caught.value.where == "me/tiny"
    assert "hf auth login" in str(caught.value)


def test_a_training_can_push_what_it_saved(
    stub: StubApi, configure: Callable[..., TrainingConfig], tmp_path: Path
) -> None:
    config = configure("optimization.max_steps=1", "data.corpus=mini")
    (tmp_path / "some.yaml").write_text(dump_settings(config))
    assert main(["train", str(tmp_path / "some.yaml"), "--push-to-hub", "me/mine"]) == 0
    assert [repository for repository, _ in stub.calls] == ["me/mine"] * 2
    assert stub.calls[1][1]["folder_path"] == config.output
