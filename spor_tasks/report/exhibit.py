"""One sample of a run, with its outputs, and those of another run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import is_file
from spor_tasks.report.views import RecordView, view_of
from spor_tasks.results import reading
from spor_tasks.results.logged import Record, SampleFile, find

_SAMPLES = ".jsonl"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A sample, its index in the file, and the records of one or two runs with their views."""

    index: int
    runs: tuple[tuple[Record, RecordView], ...]


def exhibit(
    path: Path, which: str, *, against: Path | None = None, task: str | None = None
) -> Exhibit:
    """Return the sample of a run with this id or index.

    ``path`` is a result file, a sample file, or a folder of them; ``task`` names the task if there
    are several. ``against`` is another run, which must have the same sample of the same task.

    Raises:
        ConfigError: the sample does not exist, or several tasks have one.
        ResultError: a file is missing or damaged, or has no samples.
    """
    index, record = _record(_files(path, task), which, path)
    records = [record]
    if against is not None:
        same = [
            file for file in _files(against, task) if file.run.comparison == record.run.comparison
        ]
        records.append(_record(same, record.sample.id, against)[1])
    return Exhibit(index, tuple((each, view_of(each)) for each in records))


def _files(path: Path, task: str | None) -> tuple[SampleFile, ...]:
    """Return the sample files of a result file, of a folder, or of a sample file's own result."""
    places = [path.parent] if path.suffix == _SAMPLES and is_file(path) else [path]
    found = tuple(filter(None, map(find, reading.collect(places).results)))
    chosen = tuple(
        file
        for file in found
        if task in {None, file.run.task} and (places == [path] or file.path.samefile(path))
    )
    if not chosen:
        raise ResultError(
            f"has no samples of {task}" if task else "has no samples beside its results",
            where=path,
            remedy="Evaluate with --log_samples and --output_path.",
        )
    return chosen


def _record(files: Sequence[SampleFile], which: str, path: Path) -> tuple[int, Record]:
    """Return the sample of that id or index, and its index in its file."""
    found = [hit for file in files for hit in islice(_named(file, which), 1)]
    if not found and which.isdecimal():
        start = int(which)
        rows = ((start, islice(file.records(), start, start + 1)) for file in files)
        found = [(index, record) for index, records in rows for record in records]
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigError(f"{which!r} is neither the id nor the index of a sample", where=path)
    places = ", ".join(f"{record.run.task} in {record.run.file}" for _, record in found)
    raise ConfigError(
        f"several runs have a sample {which}: {places}",
        where=path,
        remedy="Give one of these files, or name a task with --task.",
    )


def _named(file: SampleFile, which: str) -> Iterator[tuple[int, Record]]:
    for index, record in enumerate(file.records()):
        if record.sample.id == which:
            yield index, record
