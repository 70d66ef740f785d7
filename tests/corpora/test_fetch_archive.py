"""Fetching an archive against a server of our own, with what can go wrong on the way."""

import hashlib
import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.folders import MANIFEST, read_manifest
from spor_tasks.corpora.archive import Archive
from spor_tasks.corpora.fetch_archive import fetch_archive
from spor_tasks.corpora.sources import TOTTO
from tests.corpora.test_archive import FILES

Handler = BaseHTTPRequestHandler
Answer = Callable[[Handler, bytes], None]


def zipped(more: bytes = b"") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(f"totto_data/{name}", content + more)
    return held.getvalue()


CONTENT = zipped()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Serves an archive; ``answers`` are given to the first requests, the last one to all others.

    ``asked`` has the range that each request asked for.
    """

    def __init__(self, content: bytes) -> None:
        self.content, self.answers = content, list[Answer]([ranged])
        self.asked: list[str | None] = []
        server = self

        class Of(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.headers["Range"])
                answer = server.answers[0] if len(server.answers) == 1 else server.answers.pop(0)
                answer(self, server.content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Of)
        self.archive = replace(TOTTO, url=f"http://127.0.0.1:{self.http.server_port}/totto.zip")


def tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:8]}"'


def whole(handler: Handler, content: bytes, *, until: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.send_header("ETag", tag(content))
    handler.end_headers()
    handler.wfile.write(content[:until])


def untagged(handler: Handler, content: bytes, *, until: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:until])


def ranged(handler: Handler, content: bytes, *, until: int | None = None) -> None:
    asked = handler.headers["Range"]
    if asked is None or handler.headers["If-Range"] != tag(content):
        whole(handler, content, until=until)
        return
    start = int(asked.removeprefix("bytes=").removesuffix("-"))
    if start >= len(content):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(content)}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    handler.wfile.write(content[start:][:until])


def half(answer: Callable[..., None], until: int = 4000) -> Answer:
    return lambda handler, content: answer(handler, content, until=until)


def elsewhere(handler: Handler, content: bytes) -> None:
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 5-9/{len(content)}")
    handler.send_header("Content-Length", "5")
    handler.end_headers()
    handler.wfile.write(content[5:10])


def status(code: int) -> Answer:
    return lambda handler, _content: handler.send_error(code)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    serving = Server(CONTENT)
    thread = threading.Thread(target=serving.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield serving
    serving.http.shutdown()
    thread.join()
    serving.http.server_close()


def got(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MANIFEST}


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.parent.iterdir()} - {folder.name}


def test_the_files_arrive_with_a_manifest_and_are_kept(server: Server, tmp_path: Path) -> None:
    target, heard = tmp_path / "a" / "totto", list[int]()
    first = fetch_archive(server.archive, target, progress=lambda done, _: heard.append(done))
    assert (first.outcome, first.sha256) == ("fetched", SHA256)
    assert got(target) == FILES
    assert read_manifest(target)["sha256"] == SHA256
    assert read_manifest(target)["files"] == {
        name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()
    }
    assert heard
    assert not left(target)
    assert fetch_archive(server.archive, target, sha256=SHA256.upper()).outcome == "kept"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answers", "ranges"),
    [
        ([half(ranged), ranged], [None, "bytes=4000-"]),
        ([half(ranged), half(ranged, 10), ranged], [None, "bytes=4000-", "bytes=4010-"]),
        ([half(whole), whole], [None, "bytes=4000-"]),  # without ranges it starts again
        ([half(untagged), untagged], [None, None]),  # and where it may be another archive
        ([half(ranged), elsewhere, ranged], [None, "bytes=4000-", None]),
        ([status(503), ranged], [None, None]),
    ],
    ids=["goes on", "goes on twice", "no ranges", "no tag", "another part", "busy"],
)
def test_a_download_that_stops_goes_on(
    server: Server, tmp_path: Path, answers: list[Answer], ranges: list[str | None]
) -> None:
    server.answers = answers
    fetch_archive(server.archive, tmp_path / "totto", pauses=(0.0, 0.0))
    assert got(tmp_path / "totto") == FILES
    assert server.asked == ranges


def test_it_goes_on_in_another_run(server: Server, tmp_path: Path) -> None:
    server.answers = [half(ranged), status(404)]
    with pytest.raises(CorpusError) as error:
        fetch_archive(server.archive, tmp_path / "totto", pauses=(0.0,))
    assert error.value.where == server.archive.url
    assert "--from" in str(error.value.remedy)
    assert not (tmp_path / "totto").exists()
    assert (tmp_path / ".totto.zip.partial").read_bytes() == CONTENT[:4000]
    server.answers = [ranged]
    fetch_archive(server.archive, tmp_path / "totto")
    assert server.asked[-1] == "bytes=4000-"
    assert not left(tmp_path / "totto")


@pytest.mark.parametrize("changed", [False, True])
def test_a_whole_download_that_was_not_unpacked_is_used_or_replaced(
    server: Server, tmp_path: Path, *, changed: bool
) -> None:
    class StoppedError(Exception):
        pass

    def stop(_done: int, total: int | None) -> None:
        if total == sum(map(len, FILES.values())):
            raise StoppedError

    with pytest.raises(StoppedError):
        fetch_archive(server.archive, tmp_path / "totto", progress=stop)
    assert left(tmp_path / "totto") == {".totto.zip.partial", ".totto.zip.json"}
    server.content = zipped(b"new") if changed else CONTENT
    fetch_archive(server.archive, tmp_path / "totto")
    assert len(got(tmp_path / "totto")[TOTTO.files[0]]) == (3003 if changed else 3000)


def test_a_server_that_always_stops_is_given_up(server: Server, tmp_path: Path) -> None:
    server.answers = [half(untagged)]
    with pytest.raises(CorpusError):
        fetch_archive(server.archive, tmp_path / "totto", pauses=(0.0, 0.0))
    assert len(server.asked) == 3


@pytest.mark.parametrize("at_most", [100, 5000])
def test_too_large_an_archive_is_not_kept(server: Server, tmp_path: Path, at_most: int) -> None:
    with pytest.raises(CorpusError):
        fetch_archive(replace(server.archive, at_most=at_most), tmp_path / "totto")
    assert not left(tmp_path / "totto")


def test_another_digest_than_asked_for_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as error:
        fetch_archive(server.archive, tmp_path / "totto", sha256="0" * 64)
    assert SHA256 in error.value.what
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ConfigError):
        fetch_archive(server.archive, tmp_path / "totto", sha256="5")


def test_a_later_fetch_is_compared_with_the_first(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "totto"
    fetch_archive(server.archive, target)
    (target / TOTTO.files[1]).write_bytes(b"edited")
    server.content = zipped(b"new")
    with pytest.raises(CorpusError) as error:
        fetch_archive(server.archive, target)
    assert TOTTO.files[0] in error.value.what
    assert "--sha256" in str(error.value.remedy)
    assert got(target)[TOTTO.files[1]] == b"edited"
    new = hashlib.sha256(server.content).hexdigest()
    fetch_archive(server.archive, target, sha256=new)
    assert read_manifest(target)["sha256"] == new
    server.content = CONTENT
    (target / TOTTO.files[1]).unlink()
    fetch_archive(server.archive, target, sha256=SHA256)
    assert got(target) == FILES


def test_a_damaged_archive_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-50]
    with pytest.raises(CorpusError):
        fetch_archive(server.archive, tmp_path / "totto")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("form", ["archive", "folder of it", "files", "files below"])
def test_a_copy_is_used_in_any_form(server: Server, tmp_path: Path, form: str) -> None:
    source = tmp_path / "source"
    below = source / "totto_data" if form == "files below" else source
    below.mkdir(parents=True)
    if form.startswith("files"):
        for name, content in FILES.items():
            (below / name).write_bytes(content)
    else:
        (source / "totto.zip").write_bytes(CONTENT)
    given = source / "totto.zip" if form == "archive" else source
    fetched = fetch_archive(server.archive, tmp_path / "totto", given)
    assert got(tmp_path / "totto") == FILES
    assert fetched.sha256 == (None if form.startswith("files") else SHA256)
    assert not server.asked


def test_a_copy_that_lacks_a_file_or_is_not_there_is_named(tmp_path: Path) -> None:
    archive: Archive = TOTTO
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / TOTTO.files[0]).write_bytes(b"{}")
    for source in (tmp_path / "source", tmp_path / "none"):
        with pytest.raises(CorpusError) as error:
            fetch_archive(archive, tmp_path / "totto", source)
        assert str(source) in str(error.value.where)
        assert error.value.remedy
    with pytest.raises(ConfigError):
        fetch_archive(archive, tmp_path / "totto", tmp_path / "source", sha256=SHA256)
    assert {path.name for path in tmp_path.iterdir()} == {"source"}


def test_a_folder_of_other_things_is_not_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_bytes(b"x")
    with pytest.raises(ConfigError):
        fetch_archive(server.archive, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.tex"}
