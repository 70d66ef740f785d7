"""What of a run is published: result files, their samples, and a report of both.

The results are checked first. They are copied into a folder with the layout of the repository, and
the report is made there, so that it names the files as the repository does: `spor report results`
in a clone of the repository writes the same report again.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from spor_tasks import report
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import is_folder, read_json
from spor_tasks.core.visible import visible
from spor_tasks.corpora.sources import LICENCES, Licence
from spor_tasks.report import private
from spor_tasks.report.collect import read
from spor_tasks.report.hub import File, Repository
from spor_tasks.report.shipped import major, shipped_task
from spor_tasks.results.benchmarks import benchmark
from spor_tasks.results.logged import SampleFile
from spor_tasks.results.reading import Problem

RESULTS = "results"
"""The folder of the repository that the results go to, each in one of its model."""

_HARMLESS = {"foreign", "cut", "incomparable", "samples-only"}
_TABLES = ("report.md", "report.csv", "report.json")
_CARD = "README.md"
_NAME = re.compile(r"(results_[\w.-]+\.json|samples_[\w.:-]+\.jsonl)")
_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")  # what lm-eval replaces in a model's name
_MOST_BYTES = 200  # of a folder's name; file systems take 255


class Cargo(NamedTuple):
    """What goes to a repository.

    ``licences`` are those of the references in the samples, by corpus; None for a corpus of the
    user's own. ``local`` are the absolute paths in result files, with the number of files that have
    each. ``left_out`` are files beside the results that are not sent, and ``notices`` what a reader
    should know.
    """

    files: tuple[File, ...]
    results: int
    licences: Mapping[str, Licence | None]
    local: Mapping[str, int]
    left_out: tuple[Path, ...]
    notices: tuple[Problem, ...]


class _Told(NamedTuple):
    """What a result file tells: its folder, the licences of its corpora, and absolute paths."""

    folder: str
    licences: Mapping[str, Licence | None]
    paths: frozenset[str]


@contextmanager
def packed(paths: Sequence[Path], repository: Repository, *, jobs: int = 1) -> Iterator[Cargo]:
    """Check results, and yield what to send; the copies exist only in the block.

    The working directory is another one while the report is made.

    Raises:
        ResultError: there are no results of our tasks; one of them cannot be verified; a file is a
            link out of the given folders, or has a secret in it; or two files would be one.
    """
    samples, notices = checked(paths)
    told = {file: _inspected(file) for file in dict.fromkeys(each.run.file for each in samples)}
    places = _places(samples, told)
    _refuse_links(places.values(), paths)
    licences = {name: found for each in told.values() for name, found in each.licences.items()}
    with TemporaryDirectory(prefix="spor-push-") as name:
        stage = Path(name)
        for place, path in places.items():
            (stage / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, stage / place)
            private.refuse_tokens(stage / place, path)
        with chdir(stage):
            report.write([Path(RESULTS)], Path("report"), jobs=jobs)
        (stage / _CARD).write_text(_card(repository, samples, licences), "utf-8")
        page = "index.html" if repository.kind == "space" else report.PAGE
        yield Cargo(
            files=(
                *(File(place, stage / place) for place in sorted(places)),
                File(page, stage / "report" / report.PAGE),
                *(File(table, stage / "report" / table) for table in _TABLES),
                File(_CARD, stage / _CARD, once=True),
            ),
            results=len(samples),
            licences=licences,
            local=Counter(path for each in told.values() for path in each.paths),
            left_out=tuple(_left_out(paths, places.values())),
            notices=notices,
        )


def checked(paths: Sequence[Path]) -> tuple[tuple[SampleFile, ...], tuple[Problem, ...]]:
    """Return the samples of every result, and what a reader should know of the results.

    Raises:
        ResultError: a result cannot be read, has no samples, does not have the scores of its
            samples, or is not of the version and the whole test set of the task that it names; or
            two results are of one run.
    """
    found = read(paths)
    notices = tuple(problem for problem in found.problems if problem.kind in _HARMLESS)
    faults = [str(problem) for problem in found.problems if problem not in notices] or [
        f"{each.run.file}: {each.run.task} {why}" for each in found.samples if (why := _fault(each))
    ]
    if faults:
        raise ResultError(
            "cannot be published",
            where=", ".join(map(str, paths)),
            each=tuple(dict.fromkeys(faults)),
            remedy="Evaluate with --log_samples and this version of spor-tasks, and name each "
            "result once.",
        )
    return found.samples, notices


def _fault(file: SampleFile) -> str | None:
    """Return in what a result is not of the test set that it claims; None if it is.

    Raises:
        ResultError: a sample is damaged.
    """
    result, version = file.run, file.run.signature["version"]
    ours = shipped_task(result)
    if ours and major(version) != ours.major:
        return f"is of version {version}, and this package can check only {ours.version}"
    if result.n != result.documents:
        return f"has {result.n:,} of {result.documents:,} samples: evaluate without --limit"
    if result.signature["demonstrations_sha256"] != str(None):
        return None  # it has only the samples that every arm has demonstrations for
    logged = ((record.number or 0, record.sample) for record in file.records())
    samples = (sample for _, sample in sorted(logged, key=itemgetter(0)))
    if digest(samples) != result.signature["test_sha256"]:
        return "claims another test set than that of its samples"
    return None


def _inspected(file: Path) -> _Told:
    """Return what a result file tells.

    Raises:
        ResultError: it has a secret in it.
    """
    content = read_json(file, ResultError)
    private.refuse_secrets(content, file)
    tasks = (config.get("metadata") for config in content["configs"].values())
    licences = {
        str(metadata["corpus"]): None
        if metadata.get("own_corpus")
        else LICENCES.get(str(metadata["corpus"]))
        for metadata in tasks
        if isinstance(metadata, dict) and "spor" in metadata
    }
    return _Told(_folder(content), licences, private.local_paths(content))


def _folder(content: Mapping[str, Any]) -> str:
    """Return the folder of a result's model, named as lm-eval names it."""
    arguments = dict(private.texts({"model_args": content["config"]["model_args"]}))
    named = (arguments.get(key) for key in ("peft", "delta", "pretrained", "model", "path"))
    model = next(filter(None, named), None) or str(content["config"]["model"])
    safe = _UNSAFE.sub("__", visible(model)).encode()[:_MOST_BYTES].decode(errors="ignore")
    return re.sub(r"^[.\s]+|[.\s]+$", "_", safe)


def _places(samples: Iterable[SampleFile], told: Mapping[Path, _Told]) -> dict[str, Path]:
    """Return the place of each file in the repository.

    Raises:
        ResultError: a file does not have a name of lm-eval's, or two would be one.
    """
    places: dict[str, Path] = {}
    for each in samples:
        for path in (each.run.file, each.path):
            if not _NAME.fullmatch(path.name):
                raise ResultError(
                    "does not have the name that lm-eval gave it",
                    where=path,
                    remedy="Rename it to results_DATE.json, and its samples to "
                    "samples_TASK_DATE.jsonl.",
                )
            place = f"{RESULTS}/{told[each.run.file].folder}/{path.name}"
            other = places.setdefault(place, path)
            if other.resolve() != path.resolve():
                raise ResultError(
                    f"would be the same file as {other}: {place}",
                    where=path,
                    remedy="Rename one of them.",
                )
    return places


def _refuse_links(files: Iterable[Path], given: Iterable[Path]) -> None:
    """Refuse files that are links to somewhere else.

    Raises:
        ResultError: there is one.
    """
    roots = [(path if is_folder(path) else path.parent).resolve() for path in given]
    for file in files:
        if not any(file.resolve().is_relative_to(root) for root in roots):
            raise ResultError(
                f"is a link to {file.resolve()}, outside of what you named",
                where=file,
                remedy="Name that folder itself.",
            )


def _left_out(given: Iterable[Path], sent: Iterable[Path]) -> Iterator[Path]:
    """Yield the result and sample files in the given folders that are not sent."""
    known = {path.resolve() for path in sent}
    for folder in filter(is_folder, given):
        for pattern in ("results*.json", "samples_*.jsonl"):
            yield from (
                path for path in sorted(folder.rglob(pattern)) if path.resolve() not in known
            )


def _card(
    repository: Repository,
    samples: Sequence[SampleFile],
    licences: Mapping[str, Licence | None],
) -> str:
    """Return the README of the repository, with the head that the Hub reads."""
    benchmarks = [benchmark(name) for name in sorted({each.run.spec.benchmark for each in samples})]
    titles = " and ".join(each.title for each in benchmarks)
    tasks = sorted({each.run.task for each in samples})
    head: dict[str, object] = {}
    known = sorted({told.name for told in licences.values() if told})
    if known and None not in licences.values():
        head["license"] = [name.lower().replace(" ", "-") for name in known]
    if repository.kind == "space":
        head |= {"title": f"{titles} runs", "sdk": "static"}
    else:
        head |= {
            "pretty_name": f"{titles} runs",
            # The date follows the name of the task, as that of a variant may.
            "configs": [
                {
                    "config_name": task,
                    "data_files": [
                        {"split": "test", "path": f"{RESULTS}/*/samples_{task}_[0-9]*.jsonl"}
                    ],
                }
                for task in tasks
            ],
        }
    text = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=100)
    links = ", ".join(f"[{each.title}]({each.source})" for each in benchmarks)
    return "\n".join(
        [
            f"---\n{text}---\n\n# {titles} runs\n",
            f"Results and samples of lm-evaluation-harness on the tasks of {links}.",
            f"With spor-tasks, `spor report {RESULTS} --out report` in a clone of this repository",
            "writes its report again.",
            *(
                f"\nSamples have references of {told.attribution}: [{told.name}]({told.url})."
                for told in filter(None, licences.values())
            ),
            "",
        ]
    )
