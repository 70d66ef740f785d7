"""`spor show`: one sample of a run as text, with its outputs marked, and those of another run."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spor_tasks.core.errors import ConfigError, ResultError, advice
from spor_tasks.core.files import is_file
from spor_tasks.core.visible import visible
from spor_tasks.report.marking import KINDS
from spor_tasks.report.views import RecordView, SampleView, run_name, sample_views, view_of
from spor_tasks.results import runs
from spor_tasks.results.samples import Record, SampleFile, find

_SAMPLES = ".jsonl"
_ROWS, _CELL = 12, 24  # rows of a table, and characters of a cell, that are shown
_SIGNS = "*°"  # of columns that the text, or the contrast, is linked to


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
        files = _files(against, task)
        same = [file for file in files if file.run.comparison == record.run.comparison]
        records.append(_record(same, record.sample.id, against)[1])
    try:
        return Exhibit(index, tuple((each, view_of(each)) for each in records))
    except Exception as error:  # whatever comes of what somebody wrote
        what = f"sample {index} cannot be shown: {type(error).__name__}: {error}"
        raise ResultError(what, where=path) from error


def _files(path: Path, task: str | None) -> tuple[SampleFile, ...]:
    """Return the sample files of a result file, of a folder, or of a sample file's own result."""
    is_samples = path.suffix == _SAMPLES and is_file(path)
    results = runs.collect([path.parent if is_samples else path]).runs
    files = tuple(
        file
        for result in results
        if (file := find(result))
        if task in {None, file.run.task} and (not is_samples or file.path.samefile(path))
    )
    if not files:
        known = {result.task for result in results}
        remedy = "Evaluate again with --log_samples and --output_path."
        raise ResultError(
            f"has no samples of {task}" if task else "has no samples beside its results",
            where=path,
            remedy=remedy if task in {None, *known} else advice(task, known),
        )
    return files


def _record(files: Sequence[SampleFile], which: str, path: Path) -> tuple[int, Record]:
    """Return the sample of that id or index, and its index in its file."""
    hits, most = [], 0
    for file in files:
        for index, record in enumerate(file.records()):
            most = max(most, index)
            if which in {str(index), record.sample.id}:
                hits.append((index, record))
                break
    if not hits:
        what = f"{which!r} is neither the id of a sample nor an index from 0 to {most}"
        raise ConfigError(what, where=path)
    if len(hits) > 1:
        places = ", ".join(f"{record.run.task} in {record.run.file}" for _, record in hits)
        raise ConfigError(
            f"several runs have a sample {which}: {places}",
            where=path,
            remedy="Give one of these files, or name one task.",
        )
    return hits[0]


# --- Text ----------------------------------------------------------------------------------------


_TEXT = " " * 8  # before texts; numbers of units and scores stand before them


def terminal(exhibit: Exhibit, width: int = 100) -> str:
    """Return the sample, then each run's outputs, without control characters.

    Marks are brackets: ``[0: words]`` expresses unit 0, ``[0?: words]`` may express it,
    ``[=: words]`` copies a phrase, ``[!: words]`` leaks, and ``[(!): words]`` counts as a leak
    inside a word.
    """
    first, _ = exhibit.runs[0]
    run, sample = first.run, first.sample
    lines = [f"{run.comparison} {run.spec.sets.protocol}: sample {exhibit.index}, {sample.id}"]
    for number, side in enumerate(sample_views(sample, _ROWS)):
        lines += [*([f"{_TEXT}twin:"] if number else []), *_side(side)]
    for record, view in exhibit.runs:
        lines += ["", *_run(record, view)]
    wrapped = []
    for line in map(visible, lines):
        text = line.lstrip(" ")
        indent = line[: len(line) - len(text)]
        wrapped.append(
            textwrap.fill(
                text,
                width,
                initial_indent=indent,
                subsequent_indent=f"{indent}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(wrapped)


def _side(side: SampleView) -> Iterator[str]:
    if side.about:
        yield _TEXT + ", ".join(side.about)
    if side.table:
        yield _TEXT + side.table.title
        for row in side.table.rows:
            if isinstance(row, int):
                yield f"{_TEXT}({row:,} {'row' if row == 1 else 'rows'} not shown)"
                continue
            cells = []
            for cell in row:
                text = " ".join(cell.text.split())
                text = text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
                if cell.units:
                    cells.append(f"[{' '.join(map(str, cell.units))}: {text}]")
                else:
                    signs = (_SIGNS[side] for side in cell.sides if cell.header)
                    cells.append(f"{text}{''.join(signs)}")
            yield _TEXT + " | ".join(cells)
    if side.table and side.table.linked:
        yield f"{_TEXT}* columns of the text, ° columns of the contrast"
    else:
        for number, unit in enumerate(side.units):
            yield f"    {f'[{number}]':<4}{' | '.join(unit)}"
    yield from (f"{_TEXT}{phrase} hides {what}" for what, phrase in side.hidden)
    yield from (_TEXT + reference for reference in side.references)


def _run(record: Record, view: RecordView) -> Iterator[str]:
    yield f"{record.run.model}, {run_name(record.run)}"
    yield "    " + "  ".join(f"{name} {score:.2f}" for name, score in view.scores.items())
    for output in view.outputs:
        if output.purpose:
            yield f"    {output.purpose}:"
        marked = output.marked
        text, (at, end_of_scored) = marked.output, marked.scored
        before, after = text[:at].strip(), text[end_of_scored:].strip()
        parts = [f"(not scored: {before}) "] if before else []
        for start, end, labels in marked.marks:
            signs = " ".join(KINDS[label.kind].sign.format(label.number) for label in labels)
            parts += [text[at:start], f"[{signs}: {text[start:end]}]"]
            at = end
        parts += [text[at:end_of_scored], f" (not scored: {after})" if after else ""]
        yield _TEXT + ("".join(parts) if text.strip() else "no output")
        yield from (_TEXT + note for note in output.notes)
    yield from (_TEXT + note for note in view.notes)
    if view.faults is not None:
        yield f"{_TEXT}→ {', '.join(view.faults) or view.faultless}"
