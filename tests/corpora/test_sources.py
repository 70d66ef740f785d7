"""Fetching from a site or from copies, and the faults on the way."""

import hashlib
import zipfile
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from unittest.mock import Mock
from urllib.parse import unquote

import pytest
import requests

from spor_tasks.core import folders
from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora import sources
from spor_tasks.corpora.sources import Repository, SourceFile

FILES = {
    "a.xml": ("needed", b"<a/>" * 5000),
    "sets/N=3/b.jsonl": ("needed", b"{}\n"),
    "c.csv": ("needed", b"mr,ref\n"),
    "big.csv": ("optional", b"mr,ref,fixed\n"),
    "follows.jsonl": ("rebuilt", b"[]\n"),
}
WANTED = {path: content for path, (role, content) in FILES.items() if role != "rebuilt"}
MEMBERS = {"data/x.jsonl": b'{"x": 1}\n' * 99, "data/sub/y.jsonl": b'{"y": 1}\n'}


class Site:
    """A web site: pooch's downloader, which counts requests and may give odd answers."""

    def __init__(self):
        self.files, self.requests = dict(WANTED), Counter[str]()
        self.answers = {}

    def __call__(self, url, place, _):
        path = unquote(url.partition("/site/")[2])
        self.requests[path] += 1
        answer = self.answers.get(path, self.files[path])
        if isinstance(answer, Exception):
            raise answer
        Path(place).write_bytes(answer)


@pytest.fixture
def site(monkeypatch):
    site = Site()
    monkeypatch.setattr("pooch.HTTPDownloader", lambda **_: site)
    return site


@pytest.fixture(autouse=True)
def small_commit(monkeypatch):
    """Let the commit hold our files, no proxy stand between, and no time pass before a retry."""
    files = {
        path: SourceFile(path, sources.blob_id(content), role)
        for path, (role, content) in FILES.items()
    }
    monkeypatch.setattr(Repository, "files", lambda _: files)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)


@pytest.fixture
def packed(site, tmp_path):
    path = tmp_path / "packed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (MEMBERS | {"data/more.txt": b"not wanted"}).items():
            archive.writestr(name, content)
    site.files["data.zip"] = path.read_bytes()
    return path


REPOSITORY = replace(sources.SPOR, url="https://invalid/site")
ARCHIVE = replace(
    sources.TOTTO,
    url="https://invalid/site/data.zip",
    file="data.zip",
    sha256=None,
    root="data",
    files=("x.jsonl", "sub/y.jsonl"),
)


@pytest.fixture
def archive(packed):
    return replace(ARCHIVE, sha256=hashlib.sha256(packed.read_bytes()).hexdigest())


def everything_below(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def copy_of(files, folder):
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def test_a_blob_id_is_what_git_hash_object_says():
    assert sources.blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert sources.blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_any_other_content_is_refused_with_both_digests(tmp_path):
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


def test_every_wanted_file_arrives_once(site, tmp_path):
    assert REPOSITORY.fetch(tmp_path / "data") == {"fetched": 4}
    assert everything_below(tmp_path / "data") == WANTED
    assert REPOSITORY.fetch(tmp_path / "data") == {"kept": 4}
    assert site.requests == dict.fromkeys(WANTED, 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"<a/>", "not the published file"),
        (requests.HTTPError("503"), "cannot be fetched, or is damaged: 503"),
    ],
)
def test_odd_answers(answer, message, site, tmp_path):
    site.answers = {"a.xml": answer}
    with pytest.raises(CorpusError, match=message) as caught:
        REPOSITORY.fetch(tmp_path / "data")
    assert caught.value.where == f"{REPOSITORY.url}/a.xml"
    assert caught.value.remedy
    present = everything_below(tmp_path / "data")
    assert present.items() <= WANTED.items()
    assert "a.xml" not in present
    site.answers.clear()
    REPOSITORY.fetch(tmp_path / "data")
    assert everything_below(tmp_path / "data") == WANTED
    assert all(site.requests[path] == 1 for path in present)


def test_without_a_network_one_line_names_the_host(tmp_path):
    offline = replace(sources.SPOR, url="http://127.0.0.1:9")
    with pytest.raises(CorpusError, match=r"cannot connect to 127\.0\.0\.1\n") as caught:
        offline.fetch(tmp_path)
    assert "--from" in str(caught.value.remedy)
    assert everything_below(tmp_path) == {}


def test_a_copy_is_verified(site, tmp_path):
    copy = copy_of({path: WANTED[path] for path in ("a.xml", "c.csv")}, tmp_path / "copy")
    with pytest.raises(CorpusError, match="No such file") as caught:
        REPOSITORY.fetch(tmp_path / "data", copy)
    assert caught.value.where == str(copy / "sets/N=3/b.jsonl")
    copy_of({"sets/N=3/b.jsonl": b"{}"}, copy)
    with pytest.raises(CorpusError, match="not the published file"):
        REPOSITORY.fetch(tmp_path / "data", copy)
    (copy / "sets/N=3/b.jsonl").unlink()
    (copy / "sets/N=3/b.jsonl").symlink_to("/dev/zero")
    with pytest.raises(CorpusError, match="not a regular file"):
        REPOSITORY.fetch(tmp_path / "data", copy)
    (copy / "sets/N=3/b.jsonl").unlink()
    copy_of({"sets/N=3/b.jsonl": b"{}\n"}, copy)
    assert REPOSITORY.fetch(tmp_path / "other", copy) == {"fetched": 3, "absent": 1}
    assert not site.requests


def test_another_file_is_refused_before_it_is_copied(tmp_path, monkeypatch):
    """By its size if that is known, by its digest else."""
    copy = copy_of(WANTED, tmp_path / "copy")
    with (copy / "a.xml").open("wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    known = {
        path: file._replace(size=len(FILES[path][1])) for path, file in sources.SPOR.files().items()
    }
    monkeypatch.setattr(Repository, "files", lambda _: known)
    with pytest.raises(CorpusError, match="of 1,099,511,627,776 bytes instead of 20,000"):
        REPOSITORY.fetch(tmp_path / "data", copy)
    with pytest.raises(CorpusError, match="not the published file"):
        sources.SPOR.read_published("a.xml", copy)
    monkeypatch.undo()
    copy_of({"a.xml": b"<b/>" * 5000}, copy)
    copied = Mock(side_effect=AssertionError)
    monkeypatch.setattr("shutil.copyfileobj", copied)
    small = {"a.xml": SourceFile("a.xml", sources.blob_id(b"<a/>"), "needed")}
    monkeypatch.setattr(Repository, "files", lambda _: small)
    with pytest.raises(CorpusError, match="not the published file"):
        REPOSITORY.fetch(tmp_path / "data", copy)
    assert not copied.called
    assert everything_below(tmp_path / "data").keys() <= {*WANTED} - {"a.xml"}


@pytest.mark.parametrize("known", [True, False])
def test_an_answer_without_end_is_left(known, tmp_path, monkeypatch):
    class Endless(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                for _ in range(10_000):
                    self.wfile.write(b"<a/>" * 2**16)

        def log_message(self, *_):
            pass

    monkeypatch.setattr(sources, "MOST_BYTES", 10**6)
    file = SourceFile("a.xml", sources.blob_id(b""), "needed", 20 if known else None)
    monkeypatch.setattr(Repository, "files", lambda _: {"a.xml": file})
    monkeypatch.setattr(ThreadingHTTPServer, "block_on_close", False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        near = replace(sources.SPOR, url=f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(CorpusError, match=r"longer than (20|1,000,000) bytes"):
            near.fetch(tmp_path)
        server.shutdown()
    assert everything_below(tmp_path) == {}


def test_a_member_of_an_archive_that_is_too_large_is_not_unpacked(packed, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_BYTES", 100)
    with pytest.raises(CorpusError, match="longer than 100 bytes"):
        ARCHIVE.fetch(tmp_path / "data", packed)
    assert everything_below(tmp_path / "data") == {}


@pytest.mark.real_data
def test_the_real_files(data_dir, tmp_path, monkeypatch):
    monkeypatch.undo()  # the real commit again
    files = sources.SPOR.files()
    needed = [path for path, file in files.items() if file.role == "needed"]
    assert len([sources.SPOR.read_published(path, data_dir) for path in needed]) == 214
    assert Counter(file.role for file in files.values()) == Counter(
        needed=214, optional=1, rebuilt=4
    )
    part = {path: files[path] for path in sources.SPOR.under("e2e-clean")}
    monkeypatch.setattr(Repository, "files", lambda _: part)
    assert sources.SPOR.fetch(tmp_path, data_dir)["fetched"] == len(everything_below(tmp_path))


def test_an_archive_is_unpacked(archive, packed, site, tmp_path):
    target = tmp_path / "data"
    expected = {name.removeprefix("data/"): content for name, content in MEMBERS.items()}
    for copy in (None, packed, copy_of(MEMBERS, tmp_path / "copy")):
        assert archive.fetch(target, copy) == {"fetched": 2}
        assert everything_below(target) == expected
        assert archive.fetch(target, copy) == {"kept": 2}
        (target / "x.jsonl").unlink()
    assert site.requests == {"data.zip": 1}


def test_a_damaged_archive_is_refused_and_leaves_no_half_file(packed, tmp_path):
    for copy in (None, packed):
        with pytest.raises(CorpusError, match="not the published file"):
            replace(ARCHIVE, sha256="0" * 64).fetch(tmp_path / "data", copy)
        assert everything_below(tmp_path / "data") == {}
    content = packed.read_bytes()
    compressed = bytearray(content)
    compressed[45] ^= 0xFF  # in the deflated bytes of the first file
    damages = [content[:60], content.replace(b"data/sub/y", b"data/sub/z"), b"", bytes(compressed)]
    for damaged in damages:
        packed.write_bytes(damaged)
        with pytest.raises(CorpusError, match="is damaged: ") as caught:
            ARCHIVE.fetch(tmp_path / "data", packed)
        assert caught.value.where == str(packed)
        assert set(everything_below(tmp_path / "data").values()) <= set(MEMBERS.values())


def test_an_archive_that_only_a_person_can_download_says_where_it_is(tmp_path):
    with pytest.raises(CorpusError, match="cannot be fetched by a program") as caught:
        sources.COMPMCTG.fetch(tmp_path / "data")
    assert caught.value.where == sources.COMPMCTG.url
    assert "--from data_compmctg.zip" in str(caught.value.remedy)
    assert not (tmp_path / "data").exists()


def test_by_default_files_lie_in_the_cache_of_the_user(monkeypatch):
    monkeypatch.setenv("SPOR_DATA_DIR", "")
    for change in (lambda: None, lambda: monkeypatch.delenv("SPOR_DATA_DIR")):
        change()
        assert sources.SPOR.data_dir().is_relative_to(folders.user_cache())
        assert sources.SPOR.data_dir().name == sources.SPOR.folder


def test_every_corpus_has_a_licence_and_someone_to_name():
    names = {"webnlg", "e2e", "viggo", "logicnlg", "totto", *sources.COMPMCTG.corpora}
    assert sources.LICENCES.keys() == names
    assert all(licence.name and licence.attribution for licence in sources.LICENCES.values())
