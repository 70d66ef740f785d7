"""Upload of finished adapters to the Hub, by its own client."""

from pathlib import Path

from huggingface_hub import HfApi

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from spor_tasks.report.publish import explained
from training.bases import KINDS


def push_adapter(adapter: Path, repository: str) -> str:
    """Upload an adapter's folder to a repository, with card and manifest; return its address.

    A repository that does not exist is created, as a private one. Files of the same names are
    replaced; the repository's history keeps the old ones.

    Raises:
        ConfigError: the folder is not a finished adapter, or the Hub refuses it or the name.
        ResultError: the folder has no manifest, or it is damaged.
    """
    if read_manifest(adapter).get("kind") not in KINDS.values():
        raise ConfigError(
            "is not a finished adapter or checkpoint",
            where=adapter,
            remedy="Name the folder of an adapter.",
        )
    api = HfApi()
    with explained(repository):
        created = api.create_repo(repository, private=True, exist_ok=True)
        api.upload_folder(
            repo_id=created.repo_id,
            folder_path=adapter,
            commit_message=f"Upload {adapter.parent.name}",
        )
    return str(created)
