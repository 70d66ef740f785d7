"""Fetching from a server of our own or from copies, with what can go wrong on the way."""

import gc
import hashlib
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

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

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


class Server:
    """Serves files; ``answers`` holds the odd answers to the next requests for a path."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.requests: Counter[str] = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path.removeprefix("/base/"))
                server.requests[path] += 1
                odd = server.answers.get(path)
                answer = odd.pop(0) if odd else whole
                answer(self, files[path])

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/base"


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
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "origin" / "data.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in MEMBERS.items():
            archive.writestr(name, content)
        archive.writestr("data/more.txt", b"not wanted")
    return path


@pytest.fixture
def server(packed: Path) -> Iterator[Server]:
    serving = Server(WANTED | {"data.zip": packed.read_bytes()})
    thread = threading.Thread(target=serving.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serving
    serving.http.shutdown()
    thread.join()
    serving.http.server_close()
    gc.collect()


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


def whole(handler: BaseHTTPRequestHandler, content: bytes, *, sent: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:sent])


def cut(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    whole(handler, content, sent=len(content) // 2)


def other_bytes(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    whole(handler, content.upper())


def unavailable(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    handler.send_error(503)


def everything_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def copy_of(files: dict[str, bytes], folder: Path) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


# --- The files of a commit ------------------------------------------------------------------------


def test_every_wanted_file_arrives_once(
    repository: Repository, server: Server, tmp_path: Path
) -> None:
    assert repository.fetch(tmp_path / "data") == {"fetched": 4}
    assert everything_below(tmp_path / "data") == WANTED
    assert repository.fetch(tmp_path / "data") == {"kept": 4}
    assert server.requests == dict.fromkeys(WANTED, 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [(cut, "cannot be fetched"), (unavailable, "503"), (other_bytes, "not the published file")],
)
def test_a_faulty_answer_leaves_nothing_half_written(
    answer: Answer, message: str, repository: Repository, server: Server, tmp_path: Path
) -> None:
    server.answers = {"a.xml": [answer] * 3}
    with pytest.raises(CorpusError, match=message) as caught:
        repository.fetch(tmp_path / "data")
    assert caught.value.where == f"{server.url}/a.xml"
    assert caught.value.remedy
    present = everything_below(tmp_path / "data")
    assert present.items() <= WANTED.items()
    assert "a.xml" not in present
    server.answers.clear()
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
    assert repository.fetch(tmp_path / "data", copy) == {"fetched": 1, "kept": 2, "absent": 1}
    assert not server.requests


@pytest.mark.real_data
def test_real_files_are_copied_and_verified(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real commit again
    part = {path: sources.SPOR.files()[path] for path in sources.SPOR.under("e2e-clean")}
    monkeypatch.setattr(Repository, "files", lambda _: part)
    assert sources.SPOR.fetch(tmp_path, data_dir)["fetched"] == len(everything_below(tmp_path))


# --- Archives -------------------------------------------------------------------------------------


def test_an_archive_is_fetched_unpacked_and_deleted(
    archive: Archive, server: Server, tmp_path: Path
) -> None:
    expected = {name.removeprefix("data/"): content for name, content in MEMBERS.items()}
    assert archive.fetch(tmp_path / "data") == {"fetched": 2}
    assert everything_below(tmp_path / "data") == expected
    assert archive.fetch(tmp_path / "data") == {"kept": 2}
    (tmp_path / "data/x.jsonl").unlink()
    assert archive.fetch(tmp_path / "data") == {"fetched": 2}
    assert everything_below(tmp_path / "data") == expected
    assert server.requests == {"data.zip": 2}


def test_another_archive_is_refused_wherever_it_is_from(
    archive: Archive, packed: Path, tmp_path: Path
) -> None:
    other = replace(archive, sha256="0" * 64)
    for copy in (None, packed):
        with pytest.raises(CorpusError, match="not the published file"):
            other.fetch(tmp_path / "data", copy)
        assert everything_below(tmp_path / "data") == {}


def test_an_archive_is_copied_from_a_zip_or_from_its_files(
    archive: Archive, packed: Path, server: Server, tmp_path: Path
) -> None:
    for copy in (packed, copy_of(MEMBERS, tmp_path / "copy")):
        target = tmp_path / f"data-{copy.name}"
        assert archive.fetch(target, copy) == {"fetched": 2}
        assert archive.find("sub/y.jsonl", target).read_bytes() == MEMBERS["data/sub/y.jsonl"]
    assert not server.requests


def test_a_damaged_or_incomplete_archive_leaves_no_half_file(
    archive: Archive, packed: Path, tmp_path: Path
) -> None:
    unverified = replace(archive, sha256=None)
    content = packed.read_bytes()
    damages = [content[:60], content.replace(b"data/sub/y", b"data/sub/z"), b""]
    compressed = bytearray(content)
    compressed[45] ^= 0xFF  # in the deflated bytes of the first file
    for damaged in (*damages, bytes(compressed)):
        packed.write_bytes(damaged)
        with pytest.raises(CorpusError, match="is damaged: ") as caught:
            unverified.fetch(tmp_path / "data", packed)
        assert caught.value.where == str(packed)
        assert set(everything_below(tmp_path / "data").values()) <= set(MEMBERS.values())


def test_an_archive_that_only_a_person_can_download_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be fetched by a program") as caught:
        sources.COMPMCTG.fetch(tmp_path / "data")
    assert caught.value.where == sources.COMPMCTG.url
    assert "--from data_compmctg.zip" in str(caught.value.remedy)
    assert not (tmp_path / "data").exists()
