"""Send results to the Hub: result files, their samples, and a report of both.

The results are checked first. They are copied into a folder with the layout of the repository, and
the report is made there, so that `spor report results` in a clone writes the same report again.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from huggingface_hub import HfApi, get_session

from spor_tasks import report
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import open_file
from spor_tasks.core.visible import visible
from spor_tasks.corpora.sources import LICENCES
from spor_tasks.report.collect import collect
from spor_tasks.report.shipped import fault_of, shipped_task
from spor_tasks.results.runs import Problem

RESULTS = "results"
"""The folder of the repository that the results go to, each in one of its model."""

_CARD = "README.md"
_HARMLESS = {"foreign", "cut", "unanswered", "incomparable", "samples-only"}
# Tokens by their form, passwords in addresses, and in result files any value of a secret's name;
# `eos_token` of a tokenizer is not such a name.
_TOKEN = re.compile(rb"\bhf_[A-Za-z0-9]{30,}|\bsk-[\w-]{20,}|\w://[^\s/:@\"]+:[^\s/@\"]+@")
_NAMED_SECRET = re.compile(
    rb"(?i)[\",\s](((hf|use_auth|auth|access|api|bearer)_?)?token|(\w+_)?(api_?key|password|secret)"
    rb"|authorization|credentials)(\"\s*:\s*\"|=)(?!(true|false|none|null)?[\",])"
)


@contextmanager
def packed(paths: Sequence[Path], kind: str) -> Iterator[Path]:
    """Check results, and yield a folder with the layout of the repository, for the block only.

    Its README names the licences of the references in the samples, by corpus. The working
    directory is another one while the report is made.

    Raises:
        ResultError: there are no results of our tasks. A result cannot be read, has no samples, or
            does not have their scores. It is not of the version and the whole test set of its task.
            Two results are of one run, or two files would be one. A file has a secret in it.
    """
    collected = collect(paths)
    _refuse(collected.problems, paths)
    samples = collected.samples
    faults: list[str] = []
    for file in samples:
        if fault := fault_of(file):
            faults.append(f"{file.run.file}: {file.run.task} {fault}")
        faults += [*_secrets(file.run.file), *_secrets(file.path)]
    _refuse(faults, paths)
    # the licence of a corpus of the user's own is None
    licences = {
        corpus: LICENCES.get(corpus) if shipped_task(each.run) else None
        for each in samples
        for corpus in [each.run.spec.sets.corpus]
    }
    with TemporaryDirectory(prefix="spor-push-") as name:
        stage = Path(name)
        for path in {path: None for each in samples for path in (each.run.file, each.path)}:
            copy = stage / RESULTS / path.absolute().parent.name / path.name
            if copy.exists():
                raise ResultError(f"would be the same file as another {copy.name}", where=path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        with chdir(stage):
            _refuse(report.write([Path(RESULTS)], Path()).problems, paths)
        if kind == "space":
            (stage / report.PAGE).rename(stage / "index.html")
        names = sorted({each.name.lower().replace(" ", "-") for each in licences.values() if each})
        # the Hub shows a licence if all corpora have one
        head = "" if None in licences.values() else yaml.safe_dump({"license": names})
        sources = "".join(
            f"- {each.attribution}: [{each.name}]({each.url})\n"
            if each
            else f"- {visible(corpus)}: no licence is stated\n"
            for corpus, each in licences.items()
        )
        text = f"---\n{head}---\n\nResults of spor-tasks. References are from:\n\n{sources}"
        (stage / _CARD).write_text(text, "utf-8")
        yield stage


def _refuse(faults: Iterable[Problem | str], paths: Iterable[Path]) -> None:
    harmful = (each for each in faults if isinstance(each, str) or each.kind not in _HARMLESS)
    if texts := tuple(dict.fromkeys(map(str, harmful))):
        raise ResultError(
            "cannot be published",
            where=", ".join(map(str, paths)),
            each=texts,
            remedy="Evaluate with this version and log the samples, name each result once, and "
            "remove secrets from the files after making them invalid.",
        )


def _secrets(path: Path) -> Iterator[str]:
    """Yield where a file has a token or a password, without the secret."""
    patterns = [_TOKEN, _NAMED_SECRET] if path.suffix == ".json" else [_TOKEN]
    with open_file(path) as lines:
        for number, line in enumerate(lines, start=1):
            if any(pattern.search(line) for pattern in patterns):
                yield f"{path}:{number} has what looks like a token or a password in it"


def push(folder: Path, repository: str, kind: str, *, create: str | None, pr: bool) -> str:
    """Send a folder in one commit or pull request; return its address.

    ``create`` makes a repository that does not exist, ``private`` or ``public``. Files that the
    repository has are not sent again, and its own README stays.

    Raises:
        ConfigError: the token is missing, or the Hub refuses or cannot be reached.
    """
    api = HfApi()
    get_session().event_hooks["response"].append(_bound)
    try:
        if create:
            sdk = "static" if kind == "space" else None
            private = create == "private"
            api.create_repo(
                repository, repo_type=kind, private=private, space_sdk=sdk, exist_ok=True
            )
        has_card = api.get_paths_info(repository, [_CARD], repo_type=kind)
        done = api.upload_folder(
            repo_id=repository,
            repo_type=kind,
            folder_path=folder,
            commit_message="Add results",
            create_pr=pr,
            ignore_patterns=[_CARD] if has_card else None,
        )
    except Exception as error:  # the client raises whatever a network library raises
        raise ConfigError(
            f"cannot be pushed: {error}",
            where=repository,
            remedy="Check the name and the token (`hf auth login`), and run the command again.",
        ) from error
    finally:
        get_session().event_hooks["response"].remove(_bound)
    return done.pr_url or done.commit_url


_MOST_OF_AN_ANSWER = 10_000_000  # bytes; the Hub's answers to a push are of some thousand


def _bound(answer: Any) -> None:
    """Have an answer be refused where it grows too large, also one that grows when unpacked."""
    whole = answer.iter_bytes

    def iter_bytes(*size: int) -> Iterator[bytes]:
        length = 0
        for block in whole(*size):
            length += len(block)
            if length > _MOST_OF_AN_ANSWER:
                raise OSError(f"the answer is longer than {_MOST_OF_AN_ANSWER:,} bytes")
            yield block

    answer.iter_bytes = iter_bytes
