"""A repository on the Hub: which files it has, and one commit with those that it lacks.

The Hub's own client sends. A commit changes the head of a repository once, or not at all. The
client uploads large files before the commit, by their digests, so that a push after a cut
connection does not send them again.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Literal, NamedTuple, TypeVar

from huggingface_hub import (
    CommitOperationAdd,
    HfApi,
    RepoFile,
    RepoFolder,
    constants,
    get_session,
    get_token,
    set_client_factory,
)
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.corpora.sources import blob_id
from spor_tasks.report.submission import is_hub_name

T = TypeVar("T")
Kind = Literal["dataset", "space"]
Visibility = Literal["private", "public"]
State = Literal["new", "changed", "same", "kept"]

SILENCE = 120.0
"""Seconds without data after which a request is given up."""
PATIENCE = 900.0
"""Seconds in all for a push, with every attempt, before the time allowed for its size."""
SLOWEST = 10_000.0
"""Bytes per second: a push may take its size divided by this on top of ``PATIENCE``."""
ATTEMPTS = 3
"""How often a commit is tried while others commit to the same repository."""

_MOST_PATHS = 500  # in one question; the Hub answers at most 1,000
_LACKING = {"new", "changed"}
_CONFLICTS = (409, 412)
_LOGIN = "Run `hf auth login` with a token that may write, and unset HF_HUB_OFFLINE."
_AGAIN = "Run the command again later: it sends only what is missing."
_MEANINGS = {
    401: ("the token is not accepted, or sees no such repository", _LOGIN),
    403: ("the token may not write there", _LOGIN),
    404: (
        "there is no such repository, or the token does not see it",
        "Check its name and type; `spor push --create private` creates it.",
    ),
    413: ("the server takes no commit of this size", "Push fewer results at a time."),
    429: ("the server takes no more requests from you now", _AGAIN),
}
_SERVER_FAILS = 500


class Repository(NamedTuple):
    """A dataset repository or a Space, by its full name ``OWNER/NAME``."""

    name: str
    kind: Kind

    @property
    def url(self) -> str:
        """Its page."""
        return f"{constants.ENDPOINT}/{self.kind}s/{self.name}"


class File(NamedTuple):
    """A file to send, and its ``name`` in the repository, with slashes.

    A file that is sent ``once`` never replaces one of the same name.
    """

    name: str
    path: Path
    once: bool = False

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.path.stat().st_size


class Pushed(NamedTuple):
    """What was sent, and the address of the commit or pull request; None if nothing was lacking."""

    address: str | None
    files: tuple[File, ...]


def repository(name: str, kind: Kind) -> Repository:
    """Return the repository of a full name.

    Raises:
        ConfigError: the Hub takes no such name.
    """
    if not is_hub_name(name):
        raise ConfigError(
            "is not the full name of a repository",
            where=name or "--to",
            remedy="Write it as OWNER/NAME, with letters, digits, `-`, `_` and `.`.",
        )
    return Repository(name, kind)


def states(
    repository: Repository, files: Sequence[File], *, create: bool = False
) -> Mapping[str, State]:
    """Return what each file is to the repository, by name; ``kept`` is one that is not replaced.

    With ``create``, all files are new to a repository that does not exist.

    Raises:
        ConfigError: the Hub cannot be asked, refuses, or has a Space that is not static.
    """

    def ask() -> Mapping[str, State]:
        api = HfApi()
        try:
            return _look(api, repository, files, _head(api, repository))
        except RepositoryNotFoundError:
            if create:
                return {file.name: "new" for file in files}
            raise

    return _patiently(repository, files, ask)


def push(
    repository: Repository,
    files: Sequence[File],
    message: str,
    *,
    create: Visibility | None = None,
    pull_request: bool = False,
) -> Pushed:
    """Send the files that the repository lacks, in one commit or pull request.

    With ``create``, a repository that does not exist is created. If others commit meanwhile, the
    files are compared again, so that nothing of theirs is undone.

    Raises:
        ConfigError: there is no token; the Hub refuses; the server does not answer as the Hub does,
            or not in time; or others commit all the time. The repository then has all files or
            none of them.
    """

    def send() -> Pushed:
        api = HfApi()
        if create:
            api.create_repo(
                repository.name,
                repo_type=repository.kind,
                private=create == "private",
                space_sdk="static" if repository.kind == "space" else None,
                exist_ok=True,
            )
        for _ in range(ATTEMPTS):
            head = _head(api, repository)
            found = _look(api, repository, files, head)
            lacking = tuple(file for file in files if found[file.name] in _LACKING)
            if not lacking:
                return Pushed(None, ())
            try:
                done = api.create_commit(
                    repository.name,
                    [CommitOperationAdd(file.name, file.path) for file in lacking],
                    commit_message=message,
                    repo_type=repository.kind,
                    parent_commit=head,
                    create_pr=pull_request,
                )
            except HfHubHTTPError as error:
                if _status(error) in _CONFLICTS:
                    continue
                raise
            now = _look(api, repository, lacking, done.pr_revision or done.oid)
            _confirm(repository, lacking, now)
            return Pushed(done.pr_url or done.commit_url, lacking)
        raise ConfigError(
            f"cannot be pushed: others committed to it during each of {ATTEMPTS} attempts",
            where=repository.name,
            remedy=_AGAIN,
        )

    if get_token() is None:
        raise ConfigError("cannot be pushed: there is no token", where="HF_TOKEN", remedy=_LOGIN)
    return _patiently(repository, files, send)


@contextmanager
def explained(repository: str) -> Iterator[None]:
    """Turn whatever the Hub's client raises in the block into an error that says what to do.

    Raises:
        ConfigError: in place of any other error; a SporError passes.
    """
    try:
        yield
    except SporError:
        raise
    except Exception as error:  # the client raises whatever a network library raises
        what, remedy = _explanation(error)
        raise ConfigError(f"cannot be pushed: {what}", where=repository, remedy=remedy) from error


def _explanation(error: Exception) -> tuple[str, str]:
    """Return what went wrong, and what to do about it."""
    status = _status(error)
    told = str(getattr(error, "server_message", None) or error) or type(error).__name__
    cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
    if cause is not error:  # it names the file, and its cause the reason
        told = f"{told} {cause}"
    kind = type(cause)
    if status in _MEANINGS:
        meaning, remedy = _MEANINGS[status]
        return f"{meaning} ({status}: {told})", remedy
    if status is not None and status >= _SERVER_FAILS:
        return f"the server failed ({told})", _AGAIN
    if "Timeout" in kind.__name__:  # ours, or one of several of the client's
        return f"the server is too slow: {told}", _AGAIN
    if kind.__module__.startswith("httpx"):  # httpx2, or httpx in clients before 2.0
        return f"the connection failed: {told}", _AGAIN
    if issubclass(kind, json.JSONDecodeError | LookupError | TypeError | AttributeError):
        return (
            f"the server does not answer as the Hub does ({kind.__name__}: {told})",
            "Check HF_ENDPOINT, and that no proxy or login page answers in the Hub's place.",
        )
    return told, _LOGIN


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status that the error is about, or one that caused it."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        error = error.__cause__
    return None


def _patiently(repository: Repository, files: Sequence[File], work: Callable[[], T]) -> T:
    """Return the result of the work, and give up when the time for these files is over.

    The client itself would wait for ever. When it is given up or interrupted, its threads may still
    wait for an answer, but ask nothing more.
    """
    seconds = PATIENCE + sum(file.size for file in files) / SLOWEST
    answer: Future[T] = Future()
    over = Event()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            answer.set_exception(error)

    with explained(repository.name):
        _limit(over)
        Thread(target=run, daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError as error:
            told = str(error) or f"not done after {seconds:,.0f} s in all"
            raise TimeoutError(told) from error
        finally:
            if not answer.done():
                over.set()


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Refuses requests of what is over."""

    over: Event

    def __call__(self, _request: object) -> None:
        if self.over.is_set():
            raise ConnectionAbortedError("it was given up")


def _limit(over: Event) -> None:
    """Let the Hub's client give up silent requests, and ask nothing more once it is over."""
    client = get_session()
    kind = type(client)  # of httpx2, or of httpx in clients before 2.0
    hooks = [hook for hook in client.event_hooks["request"] if not isinstance(hook, _Refusal)]
    set_client_factory(
        lambda: kind(
            event_hooks={"request": [*hooks, _Refusal(over)]},
            follow_redirects=True,
            timeout=SILENCE,
        )
    )


def _head(api: HfApi, repository: Repository) -> str:
    info = api.repo_info(repository.name, repo_type=repository.kind)
    if repository.kind == "space" and (sdk := getattr(info, "sdk", None)) != "static":
        raise ConfigError(
            f"is a Space of the SDK {sdk}, where a page would not be shown",
            where=repository.name,
            remedy="Name a static Space, or one that does not exist with `--create`.",
        )
    if not isinstance(info.sha, str):
        raise TypeError("it names no commit")
    return info.sha


def _look(
    api: HfApi, repository: Repository, files: Sequence[File], revision: str
) -> dict[str, State]:
    """Return the state of each file at a revision, by name."""
    found: dict[str, RepoFile | RepoFolder] = {}
    for start in itertools.count(0, _MOST_PATHS):
        names = [file.name for file in files[start : start + _MOST_PATHS]]
        if not names:
            break
        entries = api.get_paths_info(
            repository.name, names, revision=revision, repo_type=repository.kind
        )
        found |= {entry.path: entry for entry in entries}
    return {file.name: _state(file, found.get(file.name)) for file in files}


def _state(file: File, there: RepoFile | RepoFolder | None) -> State:
    if there is None:
        return "new"
    if file.once:
        return "kept"
    if not isinstance(there, RepoFile) or there.size != file.size:
        return "changed"
    if there.lfs:
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        return "same" if digest == there.lfs.sha256 else "changed"
    return "same" if blob_id(file.path.read_bytes()) == there.blob_id else "changed"


def _confirm(repository: Repository, sent: Sequence[File], now: Mapping[str, State]) -> None:
    """Refuse to call a push done if the repository dropped a file, as its .gitignore may say.

    Raises:
        ConfigError: it did.
    """
    if dropped := [file.name for file in sent if now[file.name] in _LACKING]:
        raise ConfigError(
            "was pushed to, but did not take all files",
            where=repository.name,
            each=dropped,
            remedy="See whether its .gitignore names them, then run the command again.",
        )
