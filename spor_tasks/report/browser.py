"""The samples of all runs, marked and packed for the page's browser.

A chunk is JSON in gzip in base64, which browsers unpack by themselves: chunk 0 is the index, with
what filters need of every sample; each other one has up to :data:`SIZE` samples of a test set, or
outcomes of a run. `page.js` reads them.
"""

import base64
import gzip
import json
import math
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from spor_tasks.aspects.named import place_of
from spor_tasks.core.codec import doc_of
from spor_tasks.core.errors import ResultError
from spor_tasks.core.sample import Sample, Triple
from spor_tasks.report.marking import Fault, has_attributes
from spor_tasks.report.sample_table import ShownCell, table_view
from spor_tasks.report.views import OutputView, RecordView, view_of
from spor_tasks.results.logged import SampleFile, alone
from spor_tasks.results.reading import Problem, TaskResult

SIZE = 1000
"""Samples in a chunk."""

_BITS = {fault: 1 << bit for bit, fault in enumerate(Fault)}


class Entry(NamedTuple):
    """A sample as a run got it; ``row`` is what the page has of it, as JSON.

    ``predicates`` are those of its units, or their attributes, each once.
    """

    id: str
    size: int
    category: str | None
    predicates: tuple[str, ...]
    inputs: tuple[str, ...]
    row: str


@dataclass(slots=True)
class TestSet:
    """The samples of a task, gathered from its runs: by number, and the numbers by id."""

    samples: list[Entry] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, entry: Entry) -> int:
        """Return the number of a sample, which is the next one if it is new."""
        number = self.numbers.setdefault(entry.id, len(self.samples))
        if number == len(self.samples):
            self.samples.append(entry)
        return number


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome of one run, sample by sample.

    ``samples`` are numbers of samples of ``test``, and ``scores`` the values of the headline,
    rounded, None for no verdict.
    """

    run: TaskResult
    test: TestSet
    samples: Sequence[int]
    scores: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Browser:
    """The packed samples and the outcomes of the runs. Without samples there is no chunk."""

    chunks: tuple[str, ...]
    outcomes: tuple[Outcomes, ...]
    problems: tuple[Problem, ...]


def browse(files: Iterable[SampleFile], *, jobs: int = 1) -> Browser:
    """Mark and pack the samples of runs; a damaged file is read up to the damage.

    Runs come in the order of benchmarks and aspects, then by corpus, sets, model, arm and seed.
    With several ``jobs`` files are read in as many processes, with the same result.
    """
    groups = by_test(files)
    runs = _read_all([file for group in groups for file in group], jobs)
    packing = _Packing()
    for group in groups:
        packing.add(group, runs)
    return packing.finished()


def by_test(files: Iterable[SampleFile]) -> list[list[SampleFile]]:
    """Return the runs of each test set, in the order of :func:`browse`."""
    groups: dict[tuple[str, str], list[SampleFile]] = {}
    for file in sorted(files, key=_place):
        run = file.run
        groups.setdefault((run.comparison, run.signature["test_sha256"]), []).append(file)
    return list(groups.values())


def _place(file: SampleFile) -> tuple[Any, ...]:
    run = file.run
    arms = run.spec.arms
    return (
        place_of(run.spec.benchmark, run.aspect),
        run.corpus,
        run.protocol,
        run.comparison,
        run.model,
        arms.index(run.arm) if run.arm in arms else -1,
        -1 if run.seed is None else run.seed,
        file.path,
    )


# --- One run, by itself: what takes time, and can be done for several runs at once ----------------


@dataclass(slots=True)
class _Run:
    """The samples of a run, with its outcomes; the lists run in parallel, faults are bits.

    ``given`` is the number of texts whose likelihood was measured, 0 if the model wrote outputs.
    """

    entries: list[Entry] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    given: int = 0
    scores: list[float | None] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    problem: Problem | None = None


def _read(file: SampleFile) -> _Run:
    run, metric = _Run(), file.run.spec.headline
    try:
        for record in file.records():
            sample, view = record.sample, view_of(record)
            row = _json(_sample_row(sample, record.inputs))
            predicates = predicates_of(sample)
            size, category = len(sample.units), _category(sample)
            run.entries.append(Entry(sample.id, size, category, predicates, record.inputs, row))
            scores = {name: _score(alone(name, value)) for name, value in record.scores.items()}
            run.outcomes.append(_outcome(view, scores))
            run.given = len(record.likelihoods)
            run.scores.append(scores.get(metric))
            run.faults.append(sum(_BITS[fault] for fault in view.faults))
    except ResultError as error:
        what = f"{error.what}: the samples from here on are left out"
        run.problem = Problem("samples", error.where or str(file.path), what)
    return run


def _category(sample: Sample) -> str | None:
    """Return the category of a sample, or whether the training set has a table with its header."""
    if isinstance(overlap := sample.context.get("overlap"), bool):
        return "overlap" if overlap else "non-overlap"
    return sample.about("category")


def predicates_of(sample: Sample) -> tuple[str, ...]:
    """Return the predicates of a sample's units, or their attributes, each once."""
    names = (
        unit.predicate if isinstance(unit, Triple) else unit.attribute for unit in sample.units
    )
    return tuple(dict.fromkeys(names))


def _read_all(files: Sequence[SampleFile], jobs: int) -> Iterator[_Run]:
    """Yield the content of each file, in order; several jobs read in separate processes."""
    if min(jobs, len(files)) <= 1:
        yield from map(_read, files)
        return
    # Spawned, not forked: threads of the caller may hold locks that a fork would never release.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(files)), context) as pool:
        yield from pool.map(_read, files)


# --- All runs together ---------------------------------------------------------------------------


@dataclass(slots=True)
class _Packing:
    chunks: list[str] = field(default_factory=list)
    tests: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Outcomes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, files: Sequence[SampleFile], runs: Iterator[_Run]) -> None:
        """Pack the runs of one test set, then its samples."""
        task = files[0].run
        test = TestSet()
        for file in files:
            self._add_run(file.run, next(runs), test)
        self.tests.append(
            {
                "task": task.comparison,
                "aspect": task.aspect,
                "corpus": task.corpus,
                "part": task.part,
                "sets": task.protocol,
                "metric": task.spec.headline,
                "sizes": [sample.size for sample in test.samples],
                "categories": [sample.category for sample in test.samples],
                "predicates": [sample.predicates for sample in test.samples],
                "chunk": self._pack([sample.row for sample in test.samples]),
            }
        )

    def _add_run(self, result: TaskResult, run: _Run, test: TestSet) -> None:
        samples = list(map(test.number, run.entries))
        if run.problem:
            self.problems.append(run.problem)
        self.outcomes.append(Outcomes(result, test, samples, run.scores))
        for entry, outcome, number in zip(run.entries, run.outcomes, samples, strict=True):
            if entry.inputs != test.samples[number].inputs:
                outcome["inputs"] = entry.inputs
        self.runs.append(
            {
                "test": len(self.tests),
                "model": result.model,
                "arm": result.arm,
                "seed": result.seed,
                "samples": None if samples == list(range(len(samples))) else samples,
                "scores": run.scores,
                "faults": run.faults,
                "chunk": self._pack(list(map(_json, run.outcomes))),
                "given": run.given,
            }
        )

    def _pack(self, rows: Sequence[str]) -> int:
        """Pack rows of JSON; return the index of the first chunk."""
        first = 1 + len(self.chunks)
        self.chunks += [
            _packed(f"[{','.join(rows[start : start + SIZE])}]")
            for start in range(0, len(rows), SIZE)
        ]
        return first

    def finished(self) -> Browser:
        index = {
            "size": SIZE,
            "faults": [{"name": fault.value, "meaning": fault.meaning} for fault in Fault],
            "tests": self.tests,
            "runs": self.runs,
        }
        chunks = (_packed(_json(index)), *self.chunks) if self.chunks else ()
        return Browser(chunks, tuple(self.outcomes), tuple(self.problems))


def _packed(text: str) -> str:
    # No time in it, and one level everywhere: the same samples are the same bytes.
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def _sample_row(sample: Sample, inputs: Sequence[str]) -> dict[str, Any]:
    table = table_view(sample)
    if table:  # it may be large
        context = {key: value for key, value in sample.context.items() if key != "table"}
        sample = replace(sample, context=context)
    row = {**doc_of(sample), "inputs": inputs}
    del row["target"]  # the first of the references
    if has_attributes(sample):
        row["begins"] = sample.about("prefix")
    if table:
        lines = [row if isinstance(row, int) else list(map(_cell, row)) for row in table.rows]
        row["table"] = {"title": table.title, "linked": table.linked, "rows": lines}
    return row


def _cell(cell: ShownCell) -> dict[str, Any]:
    """Return the text of a cell, and whatever differs from a plain cell."""
    plain = ShownCell("")._asdict()
    special = {name: each for name, each in cell._asdict().items() if each != plain[name]}
    return {"text": cell.text, **special}


def _outcome(view: RecordView, scores: Mapping[str, float | None]) -> dict[str, Any]:
    """Return what is shown of the outputs for a sample, without what is empty."""
    outputs = list(map(_output, view.outputs))
    return {"outputs": outputs, "scores": scores} | _filled({"notes": view.notes})


def _output(view: OutputView) -> dict[str, Any]:
    marked = view.marked
    details = {
        "marks": [mark._asdict() for mark in marked.marks],
        "phrases": marked.phrases,
        "purpose": view.purpose,
        "verdicts": view.verdicts,
        "notes": view.notes,
    }
    return {"text": marked.output, "scored": marked.scored} | _filled(details)


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _score(number: float | None) -> float | None:
    """Return a score to four digits, more than are shown; None if there is no score."""
    return None if number is None or not math.isfinite(number) else round(number, 4)
