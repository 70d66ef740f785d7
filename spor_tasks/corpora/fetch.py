"""Fetch the files of a pinned commit; each is verified by its git blob id before it is kept."""

import http.client
import io
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import atomic_write, sweep
from spor_tasks.corpora.repository import Repository, SourceFile, blob_id, take
from spor_tasks.corpora.sources import SPOR

Outcome = Literal["fetched", "kept", "absent"]

TIMEOUT = 30.0
"""Seconds without data after which a connection is closed."""
PATIENCE = 300.0
"""Seconds in all for a file, with every attempt, before the time allowed for its size."""
SLOWEST = 10_000.0
"""Bytes per second: a file may take its size divided by this on top of ``PATIENCE``."""
PAUSES = (1.0, 2.0, 4.0)
"""Seconds to wait before each new attempt after an error that may pass."""

_AGAIN = "Run the command again: verified files stay, and only the rest is fetched."


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome for each file: ``fetched`` now, ``kept`` as it was, or ``absent`` at the source.

    Only an optional file may be absent.
    """

    outcomes: Mapping[str, Outcome]

    def paths(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the files with this outcome, sorted."""
        return tuple(sorted(path for path, got in self.outcomes.items() if got == outcome))


def wanted(repository: Repository) -> tuple[SourceFile, ...]:
    """Return the files to fetch: all except those that are rebuilt from others."""
    return tuple(file for file in repository.files().values() if file.role != "rebuilt")


def fetch(
    destination: Path,
    source: str | Path | None = None,
    *,
    repository: Repository = SPOR,
    jobs: int = 8,
    pauses: Sequence[float] = PAUSES,
    progress: Callable[[SourceFile, Outcome], None] | None = None,
) -> Summary:
    """Fetch every wanted file into ``destination``, ``jobs`` files at a time.

    ``source`` is a base URL, by default that of the repository's commit, or a folder with its tree.
    A published file that is there already is kept, so an interrupted fetch continues where it
    stopped. A new file is written completely and verified, or not at all. Two fetches may run at
    once, and other files in the folder are not touched. ``progress`` is called with each file when
    it is done.

    Raises:
        ConfigError: ``source`` is a text but not an http or https URL.
        CorpusError: a needed file cannot be fetched, is not the published file, or cannot be
            written.
    """
    if isinstance(source, str) and not source.startswith(("https://", "http://")):
        raise ConfigError(f"{source!r} is not an http or https URL", where="source")
    outcomes: dict[str, Outcome] = {}
    stop = threading.Event()

    def bring(file: SourceFile) -> Outcome:
        return _bring(repository, file, destination, source, pauses=pauses, stop=stop)

    with ThreadPoolExecutor(jobs) as pool:
        tasks = {pool.submit(bring, file): file for file in wanted(repository)}
        try:
            for task in as_completed(tasks):
                file, outcome = tasks[task], task.result()
                outcomes[file.path] = outcome
                if progress:
                    progress(file, outcome)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Summary(outcomes)


def _bring(
    repository: Repository,
    file: SourceFile,
    destination: Path,
    source: str | Path | None,
    *,
    pauses: Sequence[float],
    stop: threading.Event,
) -> Outcome:
    target = destination / file.path
    sweep(target)
    if _is_published(target, file):
        return "kept"
    if isinstance(source, Path):
        where, content = str(source / file.path), _copy(source / file.path, file.at_most)
    else:
        where = repository.url(file.path, source)
        content = _download(where, file.at_most, pauses, stop)
    if content is None:
        if file.role == "optional":
            return "absent"
        raise CorpusError("does not exist", where=where)
    repository.check(file.path, content, where=where)
    try:
        with atomic_write(target) as out:
            out.write(content)
    except OSError as error:
        raise CorpusError(f"cannot be written: {error}", where=target, remedy=_AGAIN) from error
    return "fetched"


def _is_published(target: Path, file: SourceFile) -> bool:
    try:
        return blob_id(take(target, file.at_most)) == file.blob
    except OSError:  # missing, or unreadable, which shows when it is written
        return False


def _copy(path: Path, at_most: int) -> bytes | None:
    try:
        return take(path, at_most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error


def _download(
    address: str, at_most: int, pauses: Sequence[float], stop: threading.Event
) -> bytes | None:
    """Return the content at the address, or None if there is none.

    Of a larger answer, ``at_most`` bytes and one more are returned. The files have at most a few
    megabytes, so each is held in memory and verified there.
    """
    deadline = time.monotonic() + PATIENCE + at_most / SLOWEST

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0 or stop.is_set():
            raise TimeoutError("it took too long")
        return seconds

    for pause in (*pauses, None):
        try:
            with opened(address, left) as response:
                content: bytes = response.read(at_most + 1)
                if len(content) <= at_most and response.length:
                    raise http.client.IncompleteRead(content, response.length)
                return content
        except (OSError, http.client.HTTPException) as error:  # broken, refused, timed out
            fault = error
        if isinstance(fault, urllib.error.HTTPError):
            fault.close()
            if fault.code == HTTPStatus.NOT_FOUND:
                return None
        if (
            not may_pass(fault)
            or pause is None
            or time.monotonic() + pause > deadline
            or stop.wait(pause)
        ):
            break
    raise CorpusError(f"cannot be fetched: {fault}", where=address, remedy=_AGAIN) from fault


def opened(
    address: str, left: Callable[[], float], headers: Mapping[str, str] | None = None
) -> http.client.HTTPResponse:
    """Open an http or https address, whose answer is read only while seconds are ``left``.

    Raises:
        OSError, http.client.HTTPException: it cannot be opened, or the answer is an error.
        CorpusError: it redirects to another scheme.
    """
    sent = {"User-Agent": f"spor-tasks/{__version__}", **(headers or {})}
    request = urllib.request.Request(address, headers=sent)  # noqa: S310 - ours, or checked
    opener = urllib.request.build_opener(_Timely(left), _Redirects)
    response: http.client.HTTPResponse = opener.open(request, timeout=min(TIMEOUT, left()))
    return response


def may_pass(error: Exception) -> bool:
    """Return whether another attempt may not meet this error of :func:`opened` again."""
    if not isinstance(error, urllib.error.HTTPError):
        return True
    return error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code in (
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.REQUEST_TIMEOUT,
    )


# --- Connections that end ------------------------------------------------------------------------


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows at most five redirects, and none from https to another scheme."""

    max_redirections = 5

    def redirect_request(  # noqa: PLR0917 - the library's
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        fp.close()  # without reading the body
        allowed = ("https",) if urlsplit(req.full_url).scheme == "https" else ("http", "https")
        if (scheme := urlsplit(newurl).scheme) not in allowed:
            raise CorpusError(f"redirects to {scheme}, which is not followed", where=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@cache  # reading the certificates takes as long as fetching a file
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Timely(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens connections whose answers, headers included, are read only while seconds are left."""

    def __init__(self, left: Callable[[], float]) -> None:
        super().__init__(context=_certificates())
        self._left = left

    def do_open(
        self,
        http_class: Callable[..., Any],
        req: urllib.request.Request,
        **arguments: Any,  # noqa: ANN401
    ) -> http.client.HTTPResponse:
        def answer(sock: socket.socket, **more: Any) -> http.client.HTTPResponse:  # noqa: ANN401
            response = http.client.HTTPResponse(sock, **more)
            response.fp = io.BufferedReader(_Timed(self._left, sock, response.fp.detach()))
            return response

        def connection(*given: Any, **more: Any) -> http.client.HTTPConnection:  # noqa: ANN401
            made: http.client.HTTPConnection = http_class(*given, **more)
            made.response_class = answer  # type: ignore[assignment]
            return made

        return super().do_open(connection, req, **arguments)


class _Timed(io.RawIOBase):
    """A socket's data; a read ends when no seconds are left, however slowly the data arrives."""

    def __init__(self, left: Callable[[], float], sock: socket.socket, raw: io.RawIOBase) -> None:
        self._left, self._socket, self._raw = left, sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - a buffer of bytes
        self._socket.settimeout(min(TIMEOUT, self._left()))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
