"""Gets the needed files of the pinned commit, each proved by its git blob id before it is kept."""

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
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import atomic_write, sweep
from spor_tasks.corpora import sources
from spor_tasks.corpora.sources import SourceFile

Outcome = Literal["fetched", "kept", "absent"]

TIMEOUT = 30.0
"""Seconds without an answer after which a connection is given up."""
PATIENCE = 300.0
"""Seconds after which a file is given up, whatever was tried, plus those of its size."""
SLOWEST = 10_000.0
"""Bytes a second that a file may take on top of ``PATIENCE``."""
PAUSES = (1.0, 2.0, 4.0)
"""Seconds to wait before each new attempt, where the fault may pass."""

_AGAIN = "Run the command again: what was verified stays, and only the rest is fetched."


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of each file: ``fetched`` now, ``kept`` as it was, or ``absent`` at the source.

    Only a file that another one stands in for can be absent.
    """

    outcomes: Mapping[str, Outcome]

    def paths(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the files with this outcome, sorted."""
        return tuple(sorted(path for path, got in self.outcomes.items() if got == outcome))


def wanted() -> tuple[SourceFile, ...]:
    """Return the files that a fetch gets: all but those that follow from others."""
    return tuple(file for file in sources.files().values() if file.role != "rebuilt")


def fetch(
    destination: Path,
    source: str | Path = sources.RAW_URL,
    *,
    jobs: int = 8,
    pauses: Sequence[float] = PAUSES,
    progress: Callable[[SourceFile, Outcome], None] | None = None,
) -> Summary:
    """Bring every wanted file to ``destination``, ``jobs`` at a time.

    ``source`` is a base URL or a folder that holds the repository's tree. A file that is there
    already and is the published one stays as it is, so a fetch that was cut goes on where it
    stopped. A new one takes its place whole and verified or not at all; two fetches may run at
    once; nothing else in the folder is touched. ``progress`` hears of each file when it is done.

    Raises:
        ConfigError: ``source`` is a text but no http address.
        CorpusError: a needed file is not to be had, is not the published one, or cannot be
            written.
    """
    if isinstance(source, str) and not source.startswith(("https://", "http://")):
        raise ConfigError(f"{source!r} is no http address", where="source")
    outcomes: dict[str, Outcome] = {}
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        tasks = {
            pool.submit(_bring, file, destination, source, pauses, stop): file for file in wanted()
        }
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
    file: SourceFile,
    destination: Path,
    source: str | Path,
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
        where = sources.url(file.path, source)
        content = _download(where, file.at_most, pauses, stop)
    if content is None:
        if file.role == "optional":
            return "absent"
        raise CorpusError("is not there", where=where)
    sources.check(file.path, content, where=where)
    try:
        with atomic_write(target) as out:
            out.write(content)
    except OSError as error:
        raise CorpusError(f"cannot be written: {error}", where=target, remedy=_AGAIN) from error
    return "fetched"


def _is_published(target: Path, file: SourceFile) -> bool:
    try:
        return sources.blob_id(sources.take(target, file.at_most)) == file.blob
    except OSError:  # not there, or not readable, which writing will tell
        return False


def _copy(path: Path, at_most: int) -> bytes | None:
    try:
        return sources.take(path, at_most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorpusError(f"cannot be read: {error}", where=path) from error


def _download(
    address: str, at_most: int, pauses: Sequence[float], stop: threading.Event
) -> bytes | None:
    """Return what lies at the address, ``None`` where nothing does.

    Of a larger answer it is one byte more than ``at_most``. The files have a few megabytes at
    most, so each is held in memory and verified there.
    """
    deadline = time.monotonic() + PATIENCE + at_most / SLOWEST

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0 or stop.is_set():
            raise TimeoutError("it took too long")
        return seconds

    opener = _opener(left)
    request = urllib.request.Request(  # noqa: S310 - `fetch` admits http and https only
        address, headers={"User-Agent": f"spor-tasks/{__version__}"}
    )
    for pause in (*pauses, None):
        try:
            with opener.open(request, timeout=min(TIMEOUT, left())) as response:
                return _read(response, at_most)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            fault: Exception = error
            passing = error.code in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT) or (
                error.code >= HTTPStatus.INTERNAL_SERVER_ERROR
            )
        except (OSError, http.client.HTTPException) as error:  # cut, refused, timed out
            fault, passing = error, True
        if not passing or pause is None or time.monotonic() + pause > deadline or stop.wait(pause):
            break
    raise CorpusError(f"could not be fetched: {fault}", where=address, remedy=_AGAIN) from fault


def _read(response: http.client.HTTPResponse, at_most: int) -> bytes:
    """Return the body, or its start where it is too large.

    Raises:
        http.client.IncompleteRead: it is shorter than was announced.
    """
    content = response.read(at_most + 1)
    if len(content) <= at_most and response.length:
        raise http.client.IncompleteRead(content, response.length)
    return content


# --- Connections that end ------------------------------------------------------------------------


def _opener(left: Callable[[], float]) -> urllib.request.OpenerDirector:
    """Return what opens addresses, whose answers are read for as many seconds as are ``left``."""
    return urllib.request.build_opener(_Http(left), _Https(left), _Redirects)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows few redirects, from http to http or https, and from https to nothing else."""

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
        """Return the request to follow with; what came with the redirect itself is not read.

        Raises:
            CorpusError: the new address is less safe than the old one.
        """
        fp.close()
        allowed = ("https",) if urlsplit(req.full_url).scheme == "https" else ("http", "https")
        if (scheme := urlsplit(newurl).scheme) not in allowed:
            raise CorpusError(
                f"redirects to an address of {scheme}, which is not followed", where=req.full_url
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@cache  # reading the certificates takes as long as fetching a file
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Timely(urllib.request.AbstractHTTPHandler):
    """Opens connections whose answers, headers included, are read until no seconds are left."""

    def __init__(self, left: Callable[[], float], **more: Any) -> None:  # noqa: ANN401
        super().__init__(**more)
        self._left = left

    def do_open(
        self,
        http_class: Callable[..., Any],
        req: urllib.request.Request,
        **arguments: Any,  # noqa: ANN401
    ) -> http.client.HTTPResponse:
        def connection(*given: Any, **more: Any) -> http.client.HTTPConnection:  # noqa: ANN401
            made: http.client.HTTPConnection = http_class(*given, **more)
            made.response_class = partial(_Answer, self._left)  # type: ignore[assignment]
            return made

        return super().do_open(connection, req, **arguments)


class _Http(_Timely, urllib.request.HTTPHandler):
    pass


class _Https(_Timely, urllib.request.HTTPSHandler):
    def __init__(self, left: Callable[[], float]) -> None:
        super().__init__(left, context=_certificates())


class _Answer(http.client.HTTPResponse):
    def __init__(self, left: Callable[[], float], sock: socket.socket, **more: Any) -> None:  # noqa: ANN401
        super().__init__(sock, **more)
        self.fp = io.BufferedReader(_Timed(left, sock, self.fp.detach()))


class _Timed(io.RawIOBase):
    """What comes from a socket; a read waits no longer than there is time, however little comes."""

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
