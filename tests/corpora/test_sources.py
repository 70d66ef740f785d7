"""Every file of the commit is known by its git blob id, and nothing else passes for it."""

from pathlib import Path

import platformdirs
import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora import sources
from spor_tasks.corpora.sources import Repository, SourceFile

FILE = "own/N=3/data.jsonl"
CONTENT = b"one line\n"


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commit hold one file of ours."""
    file = SourceFile(FILE, sources.blob_id(CONTENT), "needed")
    monkeypatch.setattr(Repository, "files", lambda _: {FILE: file})


def test_a_blob_id_is_what_git_hash_object_says() -> None:
    assert sources.blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert sources.blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_manifest_lists_every_data_file_of_the_commit() -> None:
    files = sources.SPOR.files()
    assert len(files) == 219
    assert list(files) == sorted(files)
    assert all(path == file.path for path, file in files.items())
    assert {len(bytes.fromhex(file.blob)) for file in files.values()} == {20}
    roles = [file.role for file in files.values()]
    assert {role: roles.count(role) for role in roles} == {
        "needed": 214,
        "optional": 1,
        "rebuilt": 4,
    }


def test_the_files_of_a_repository_are_below_its_pinned_commit() -> None:
    repositories = [each for each in sources.SOURCES if isinstance(each, Repository)]
    assert all(each.url.endswith(f"/{each.folder}") for each in repositories)
    assert {len(bytes.fromhex(each.folder)) for each in repositories} == {20}


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_variable_they_lie_in_the_cache_folder_of_the_user(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("SPOR_DATA_DIR", raising=False)
    else:
        monkeypatch.setenv("SPOR_DATA_DIR", value)
    assert sources.SPOR.data_dir().is_relative_to(platformdirs.user_cache_path())
    assert sources.SPOR.data_dir().name == sources.SPOR.folder


def test_a_missing_file_is_named_with_the_command_that_gets_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is missing") as caught:
        sources.SPOR.read_published("a/b.xml", tmp_path)
    assert caught.value.where == str(tmp_path / "a/b.xml")
    assert "spor data fetch" in str(caught.value)


@pytest.mark.usefixtures("one_file")
@pytest.mark.parametrize("content", [CONTENT[:-1], b"", CONTENT + b"\n", b"One line\n"])
def test_any_other_content_is_refused_with_both_digests(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(CorpusError, match="not the published file") as caught:
        sources.SPOR.read_published(FILE, tmp_path)
    assert caught.value.where == str(tmp_path / FILE)
    assert sources.blob_id(CONTENT) in caught.value.what
    assert sources.blob_id(content) in caught.value.what


def test_every_corpus_has_a_licence_and_someone_to_name() -> None:
    assert {corpus: licence.name for corpus, licence in sources.LICENCES.items()} == {
        "webnlg": "CC BY-NC-SA 4.0",
        "e2e": "CC BY-SA 4.0",
        "viggo": "CC BY-SA 4.0",
        "logicnlg": "CC BY-SA 4.0",
        "totto": "CC BY-SA 3.0",
        **dict.fromkeys(sources.COMPMCTG.corpora, "unknown"),
    }
    assert all(licence.attribution for licence in sources.LICENCES.values())


@pytest.mark.real_data
def test_every_needed_file_at_hand_is_the_published_one(data_dir: Path) -> None:
    needed = [path for path, file in sources.SPOR.files().items() if file.role == "needed"]
    assert len([sources.SPOR.read_published(path, data_dir) for path in needed]) == 214
