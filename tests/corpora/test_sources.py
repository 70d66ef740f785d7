"""Fetching from a server of our own or from copies, and what can go wrong on the way."""

import hashlib
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import platformdirs
import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora import sources
from spor_tasks.corpora.sources import Archive, Repository, SourceFile

FILES = {
    "a.xml": ("needed", b"<a/>" * 5000),
    "sets/N=3/b.jsonl": ("needed", b"{}\n"),
    "c.csv": ("needed", b"mr,ref\n"),
    "big.csv": ("optional", b"mr,ref,fixed\n"),
    "follows.jsonl": ("rebuilt", b"[]\n"),
}
WANTED = {path: content for path, (role, content) in FILES.items() if role != "rebuilt"}
MEMBERS = {"data/x.jsonl": b'{"x": 1}\n' * 99, "data/sub/y.jsonl": b'{"y": 1}\n'}

# Of a failed request, pooch leaves the connection to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Answer = Callable[[SimpleHTTPRequestHandler], None]


def cut(handler: SimpleHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "9999")
    handler.end_headers()
    handler.wfile.write(b"<a/>")


def other_bytes(handler: SimpleHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<A/>")


class Server(ThreadingHTTPServer):
    """Serves a folder and counts requests; ``answer`` is the odd answer to requests for a path."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=folder))
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.folder, self.requests, self.answer = folder, Counter[str](), dict[str, Answer]()


class _Handler(SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path = unquote(self.path.removeprefix("/"))
        self.server.requests[path] += 1
        self.server.answer.get(path, lambda _: SimpleHTTPRequestHandler.do_GET(self))(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = copy_of(WANTED, tmp_path / "origin")
    with zipfile.ZipFile(folder / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in MEMBERS.items():
            archive.writestr(name, content)
        archive.writestr("data/more.txt", b"not wanted")
    with Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def small_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commit hold our files, no proxy stand between, and no time pass before a retry."""
    files = {
        path: SourceFile(path, sources.blob_id(content), role)
        for path, (role, content) in FILES.items()
    }
    monkeypatch.setattr(Repository, "files", lambda _: files)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)


@pytest.fixture
def packed(server: Server) -> Path:
    return server.folder / "data.zip"


@pytest.fixture
def repository(server: Server) -> Repository:
    return replace(sources.SPOR, url=server.url)


@pytest.fixture
def archive(server: Server, packed: Path) -> Archive:
    return replace(
        sources.TOTTO,
        url=f"{server.url}/data.zip",
        file="data.zip",
        sha256=hashlib.sha256(packed.read_bytes()).hexdigest(),
        root="data",
        files=("x.jsonl", "sub/y.jsonl"),
    )


def everything_below(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def copy_of(files: dict[str, bytes], folder: Path) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


# --- The files of a commit ------------------------------------------------------------------------


def test_a_blob_id_is_what_git_hash_object_says() -> None:
    assert sources.blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert sources.blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_manifest_lists_every_data_file_of_a_pinned_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    files = sources.SPOR.files()
    assert list(files) == sorted(file.path for file in files.values())
    assert {len(bytes.fromhex(file.blob)) for file in files.values()} == {20}
    roles = Counter(file.role for file in files.values())
    assert roles == {"needed": 214, "optional": 1, "rebuilt": 4}


def test_any_other_content_is_refused_with_both_digests(tmp_path: Path) -> None:
    name = "sets/N=3/b.jsonl"
    path = copy_of({name: b"{}"}, tmp_path) / name
    with pytest.raises(CorpusError, match="not the published file") as caught:
        sources.SPOR.read_published(name, tmp_path)
    assert caught.value.where == str(path)
    for content in (b"{}", FILES[name][1]):
        assert sources.blob_id(content) in caught.value.what
    path.unlink()
    with pytest.raises(CorpusError, match="is missing") as caught:
        sources.SPOR.read_published(name, tmp_path)
    assert caught.value.where == str(path)
    assert "spor data fetch" in str(caught.value.remedy)


def test_every_wanted_file_arrives_once(
    repository: Repository, server: Server, tmp_path: Path
) -> None:
    assert repository.fetch(tmp_path / "data") == {"fetched": 4}
    assert everything_below(tmp_path / "data") == WANTED
    assert repository.fetch(tmp_path / "data") == {"kept": 4}
    assert server.requests == dict.fromkeys(WANTED, 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (cut, "cannot be fetched"),
        (lambda handler: handler.send_error(503), "503"),
        (other_bytes, "not the published file"),
    ],
)
def test_a_faulty_answer_leaves_nothing_half_written(
    answer: Answer, message: str, repository: Repository, server: Server, tmp_path: Path
) -> None:
    server.answer = {"a.xml": answer}
    with pytest.raises(CorpusError, match=message) as caught:
        repository.fetch(tmp_path / "data")
    assert caught.value.where == f"{server.url}/a.xml"
    assert caught.value.remedy
    present = everything_below(tmp_path / "data")
    assert present.items() <= WANTED.items()
    assert "a.xml" not in present
    server.answer.clear()
    repository.fetch(tmp_path / "data")
    assert everything_below(tmp_path / "data") == WANTED
    assert all(server.requests[path] == 1 for path in present)


def test_without_a_network_one_line_names_the_host(tmp_path: Path) -> None:
    offline = replace(sources.SPOR, url="http://127.0.0.1:9")
    with pytest.raises(CorpusError, match=r"cannot connect to 127\.0\.0\.1\n") as caught:
        offline.fetch(tmp_path)
    assert "--from" in str(caught.value.remedy)
    assert everything_below(tmp_path) == {}


def test_a_copy_is_verified(repository: Repository, server: Server, tmp_path: Path) -> None:
    copy = copy_of({path: WANTED[path] for path in ("a.xml", "c.csv")}, tmp_path / "copy")
    with pytest.raises(CorpusError, match="No such file") as caught:
        repository.fetch(tmp_path / "data", copy)
    assert caught.value.where == str(copy / "sets/N=3/b.jsonl")
    copy_of({"sets/N=3/b.jsonl": b"{}"}, copy)
    with pytest.raises(CorpusError, match="not the published file"):
        repository.fetch(tmp_path / "data", copy)
    copy_of({"sets/N=3/b.jsonl": b"{}\n"}, copy)
    counts = repository.fetch(tmp_path / "other", copy)
    assert counts == {"fetched": 3, "absent": 1}
    assert not server.requests


@pytest.mark.real_data
def test_the_real_files_are_the_published_ones_and_can_be_copied(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real commit again
    files = sources.SPOR.files()
    needed = [path for path, file in files.items() if file.role == "needed"]
    assert len([sources.SPOR.read_published(path, data_dir) for path in needed]) == 214
    part = {path: files[path] for path in sources.SPOR.under("e2e-clean")}
    monkeypatch.setattr(Repository, "files", lambda _: part)
    assert sources.SPOR.fetch(tmp_path, data_dir)["fetched"] == len(everything_below(tmp_path))


# --- Archives -------------------------------------------------------------------------------------


def test_an_archive_is_fetched_unpacked_and_deleted(
    archive: Archive, server: Server, tmp_path: Path
) -> None:
    expected = {name.removeprefix("data/"): content for name, content in MEMBERS.items()}
    for outcome in ("fetched", "kept", "fetched"):
        assert archive.fetch(tmp_path / "data") == {outcome: 2}
        assert everything_below(tmp_path / "data") == expected
        if outcome == "kept":
            (tmp_path / "data/x.jsonl").unlink()
    assert server.requests == {"data.zip": 2}


def test_an_archive_is_copied_from_a_zip_or_from_its_files(
    archive: Archive, packed: Path, server: Server, tmp_path: Path
) -> None:
    for copy in (packed, copy_of(MEMBERS, tmp_path / "copy")):
        target = tmp_path / f"data-{copy.name}"
        assert archive.fetch(target, copy) == {"fetched": 2}
        assert archive.find("sub/y.jsonl", target).read_bytes() == MEMBERS["data/sub/y.jsonl"]
    assert not server.requests


def test_another_or_damaged_archive_is_refused_and_leaves_no_half_file(
    archive: Archive, packed: Path, tmp_path: Path
) -> None:
    for copy in (None, packed):
        with pytest.raises(CorpusError, match="not the published file"):
            replace(archive, sha256="0" * 64).fetch(tmp_path / "data", copy)
        assert everything_below(tmp_path / "data") == {}
    content = packed.read_bytes()
    compressed = bytearray(content)
    compressed[45] ^= 0xFF  # in the deflated bytes of the first file
    damages = [content[:60], content.replace(b"data/sub/y", b"data/sub/z"), b"", bytes(compressed)]
    for damaged in damages:
        packed.write_bytes(damaged)
        with pytest.raises(CorpusError, match="is damaged: ") as caught:
            replace(archive, sha256=None).fetch(tmp_path / "data", packed)
        assert caught.value.where == str(packed)
        assert set(everything_below(tmp_path / "data").values()) <= set(MEMBERS.values())


def test_an_archive_that_only_a_person_can_download_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be fetched by a program") as caught:
        sources.COMPMCTG.fetch(tmp_path / "data")
    assert caught.value.where == sources.COMPMCTG.url
    assert "--from data_compmctg.zip" in str(caught.value.remedy)
    assert not (tmp_path / "data").exists()


# --- Places and licences --------------------------------------------------------------------------


def test_without_the_variable_files_lie_in_the_cache_folder_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for change in (monkeypatch.delenv, lambda name: monkeypatch.setenv(name, "")):
        change("SPOR_DATA_DIR")
        assert sources.SPOR.data_dir().is_relative_to(platformdirs.user_cache_path())
        assert sources.SPOR.data_dir().name == sources.SPOR.folder


def test_every_corpus_has_a_licence_and_someone_to_name() -> None:
    names = {"webnlg", "e2e", "viggo", "logicnlg", "totto", *sources.COMPMCTG.corpora}
    assert sources.LICENCES.keys() == names
    assert all(licence.name and licence.attribution for licence in sources.LICENCES.values())
