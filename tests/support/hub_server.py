"""A server that speaks as the Hub does, as far as a push asks, with all that can go wrong."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import huggingface_hub
import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _http

from spor_tasks.corpora.sources import blob_id

WRITER, READER = "hf_writer", "hf_reader"
"""Tokens: one may write, the other may not."""

_MOST_REQUESTS = 500
_LARGE = 2_000  # bytes, from which on a file is uploaded before the commit

Handler = BaseHTTPRequestHandler
Answer = Callable[[Handler], None]


@dataclass
class Repo:
    """A repository: its files after each commit, by its digest; the last one is the head.

    ``proposed`` has the files of each pull request, by its revision.
    """

    private: bool = False
    sdk: str | None = None
    commits: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"0" * 40: {}})
    proposed: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def head(self) -> str:
        return list(self.commits)[-1]

    @property
    def files(self) -> dict[str, bytes]:
        return self.commits[self.head]

    def add(self, files: dict[str, bytes]) -> None:
        """Commit files, as anyone else might."""
        self.commits[f"{len(self.commits):040x}"] = {**self.files, **files}


class Hub:
    """Its repositories by type and name, and the uploaded contents by digest.

    ``answers`` has the odd answers to the next requests whose method and path contain a text;
    ``requests`` are the methods and paths of all requests.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.uploaded: dict[str, bytes] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[str] = []
        hub = self

        class Handling(BaseHTTPRequestHandler):
            def _handle(self) -> None:
                hub.handle(self)

            do_GET = do_POST = do_PUT = _handle  # noqa: N815 - as the base class calls them

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handling)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def asked(self, part: str) -> int:
        """Return how many requests had a text in their method and path."""
        return sum(part in request for request in self.requests)

    def handle(self, handler: Handler) -> None:
        called = f"{handler.command} {unquote(handler.path)}"
        self.requests.append(called)
        for part, answers in self.answers.items():
            if part in called and answers:
                answers.pop(0)(handler)
                return
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        if len(self.requests) > _MOST_REQUESTS:
            refuse(429)(handler)
            return
        self._answer(handler, unquote(handler.path), body)

    def _answer(self, handler: Handler, path: str, body: bytes) -> None:
        token = handler.headers.get("Authorization", "").removeprefix("Bearer ")
        if path.startswith("/lfs/"):  # as a storage, to which a signed address is enough
            self.uploaded[path.removeprefix("/lfs/")] = body
            reply(handler, {})
        elif token not in {"", WRITER, READER}:
            refuse(401, "Invalid credentials in Authorization header")(handler)
        elif path == "/api/validate-yaml":
            reply(handler, {"errors": [], "warnings": []})
        elif token != WRITER and "/paths-info/" not in path and handler.command != "GET":
            refuse(403 if token else 401, "You do not have the right to write")(handler)
        elif path == "/api/repos/create":
            self._create(handler, json.loads(body))
        else:
            self._of_repo(handler, path, body)

    def _create(self, handler: Handler, asked: dict[str, Any]) -> None:
        key = f"{asked['type']}s/{asked['organization']}/{asked['name']}"
        status = 409 if key in self.repos else 200
        private = asked.get("private", asked.get("visibility") == "private")
        self.repos.setdefault(key, Repo(private, asked.get("sdk")))
        _send(handler, status, json.dumps({"url": f"{self.url}/{key}"}).encode(), {})

    def _of_repo(self, handler: Handler, path: str, body: bytes) -> None:
        parts = urlsplit(path).path.removeprefix("/api").removeprefix("/").split("/")
        key, what = "/".join(parts[:3]).removesuffix(".git"), parts[3:]
        repo = self.repos.get(key)
        if repo is None:
            refuse(404, "Repository not found", "RepoNotFound")(handler)
            return
        match what:
            case [] | ["revision", "main"]:
                told = {"id": "/".join(parts[1:3]), "sha": repo.head, "private": repo.private}
                reply(handler, told | ({"sdk": repo.sdk} if repo.sdk else {}))
            case ["paths-info", *revision]:
                files = ({"main": repo.files} | repo.commits | repo.proposed)["/".join(revision)]
                names = parse_qs(body.decode())["paths"]
                reply(handler, [_entry(name, files[name]) for name in names if name in files])
            case ["preupload", _]:
                sizes = {file["path"]: file["size"] for file in json.loads(body)["files"]}
                ignored = repo.files.get(".gitignore", b"").decode().split()
                files_told = [
                    {
                        "path": name,
                        "uploadMode": "lfs" if size >= _LARGE else "regular",
                        "shouldIgnore": name in ignored,
                        "oid": _oid(repo.files.get(name)),
                    }
                    for name, size in sizes.items()
                ]
                reply(handler, {"files": files_told})
            case ["info", "lfs", "objects", "batch"]:
                objects = json.loads(body)["objects"]
                reply(handler, {"objects": list(map(self._upload, objects))})
            case ["commit", _]:
                self._commit(handler, repo, key, list(map(json.loads, body.splitlines())))
            case _:
                refuse(404)(handler)

    def _upload(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if wanted["oid"] in self.uploaded:
            return wanted
        return {**wanted, "actions": {"upload": {"href": f"{self.url}/lfs/{wanted['oid']}"}}}

    def _commit(self, handler: Handler, repo: Repo, key: str, lines: list[dict[str, Any]]) -> None:
        header, *operations = lines
        proposed = "create_pr=1" in handler.path
        if header["value"].get("parentCommit", repo.head) != repo.head and not proposed:
            refuse(412, "A commit has happened since. Please refresh and try again.")(handler)
            return
        files = dict(repo.files)
        for each in operations:
            value = each["value"]
            files[value["path"]] = (
                self.uploaded[value["oid"]]
                if each["key"] == "lfsFile"
                else base64.b64decode(value["content"])
            )
        told = {}
        if proposed:
            number = len(repo.proposed) + 1
            told["pullRequestUrl"] = f"{self.url}/{key}/discussions/{number}"
            repo.proposed[f"refs/pr/{number}"] = files
        else:
            repo.commits[f"{len(repo.commits):040x}"] = files
        told |= {"commitUrl": f"{self.url}/{key}/commit/{repo.head}", "commitOid": repo.head}
        reply(handler, told)


def _oid(content: bytes | None) -> str | None:
    """Return what the client compares with its own file."""
    if content is None:
        return None
    large = len(content) >= _LARGE
    return hashlib.sha256(content).hexdigest() if large else blob_id(content)


def _entry(name: str, content: bytes) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "file", "path": name, "size": len(content)}
    if len(content) >= _LARGE:
        digest = hashlib.sha256(content).hexdigest()
        told["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 130}
    return told | {"oid": blob_id(content)}


def reply(handler: Handler, content: object) -> None:
    _send(handler, 200, json.dumps(content).encode(), {"Content-Type": "application/json"})


def refuse(status: int, message: str = "no", code: str = "") -> Answer:
    """Return an answer with a status, a message, and the Hub's code of an error."""
    headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {})}
    return lambda handler: _send(handler, status, b"{}", headers)


def page(handler: Handler) -> None:
    """Answer with a page, as a proxy or a login page does."""
    _send(handler, 200, b"<html>Please log in</html>", {"Content-Type": "text/html"})


def cut(handler: Handler) -> None:
    """Close the connection in the middle of the request."""
    handler.close_connection = True
    handler.connection.close()


def _send(handler: Handler, status: int, body: bytes, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving() -> Iterator[Hub]:
    """Serve on the loopback interface until the block ends; the Hub's client asks nobody else."""
    hub = Hub()
    thread = threading.Thread(target=hub.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "*")
        patch.setenv("HF_TOKEN", WRITER)
        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # it has a protocol of its own
        patch.setattr(constants, "HF_TOKEN_PATH", "nowhere/token")
        patch.setattr(_http, "time", SimpleNamespace(sleep=lambda _seconds: None))
        huggingface_hub.close_session()
        try:
            yield hub
        finally:
            huggingface_hub.close_session()
            hub.http.shutdown()
            thread.join()
            hub.http.server_close()
