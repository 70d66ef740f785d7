"""Finished adapters on the Hub, by its own client."""

from pathlib import Path

from huggingface_hub import HfApi

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.folders import read_manifest
from training.bases import KIND


def push_adapter(adapter: Path, repository: str) -> str:
    """Put an adapter's folder, with its card and manifest, into a repository; return its address.

    The repository is made, a private one, if it is not there. What is there under the
    same names is replaced, and stays in its history.

    Raises:
        ConfigError: the folder is not a finished adapter, or the Hub refuses it or the name.
    """
    try:
        kind = read_manifest(adapter).get("kind")
    except ResultError as error:
        raise ConfigError(error.what, where=adapter) from error
    if kind != KIND:
        raise ConfigError(f"is not a finished {KIND}", where=adapter)
    api = HfApi()
    try:
        made = api.create_repo(repository, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=made.repo_id,
            folder_path=adapter,
            commit_message=f"Upload {adapter.parent.name}",
        )
    except Exception as error:  # its client lets through whatever a network library raises
        raise ConfigError(
            f"cannot be pushed: {error}",
            where=repository,
            remedy="`hf auth login` with a token that may write, and leave HF_HUB_OFFLINE unset.",
        ) from error
    return str(made)
