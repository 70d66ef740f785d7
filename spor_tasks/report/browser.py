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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spor_tasks.aspects.named import place_of
from spor_tasks.core.errors import ResultError
from spor_tasks.core.sample import Hidden, Sample, Triple, sides
from spor_tasks.metrics.groups import memberships
from spor_tasks.report.marking import KINDS, Fault
from spor_tasks.report.sample_table import ShownCell, table_view
from spor_tasks.report.views import OutputView, RecordView, view_of
from spor_tasks.results.logged import Record, SampleFile, alone
from spor_tasks.results.reading import Problem, TaskResult

SIZE = 1000
"""Samples in a chunk."""

_MOST_SCORES = 4  # beside an output
_BITS = {fault: 1 << bit for bit, fault in enumerate(Fault)}


class Entry(NamedTuple):
    """A sample as a run got it: its id and traits, and its packed row, without the prompts.

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
    groups: dict[tuple[str, str], list[SampleFile]] = {}
    for file in sorted(files, key=_place):
        run = file.run
        groups.setdefault((run.comparison, run.signature["test_sha256"]), []).append(file)
    runs = _read_all([file for group in groups.values() for file in group], jobs)
    packing = _Packing()
    for group in groups.values():
        packing.add([file.run for file in group], runs)
    return packing.finished()


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
    run, headline = _Run(), file.run.spec.headline
    try:
        for record in file.records():
            view, scores = view_of(record), _scores(record, headline)
            run.entries.append(_entry(record))
            run.outcomes.append(_outcome(view, scores))
            run.given = len(record.likelihoods)
            run.scores.append(scores.get(headline))
            run.faults.append(sum(_BITS[fault] for fault in view.faults))
    except ResultError as error:
        what = f"{error.what}: the samples from here on are left out"
        run.problem = Problem("samples", error.where or str(file.path), what)
    return run


def _scores(record: Record, headline: str) -> dict[str, float]:
    """Return the scores of a sample, the headline first, to four digits."""
    scores = {name: alone(name, value) for name, value in record.scores.items()}
    return {
        name: round(score, 4)
        for name in sorted(scores, key=headline.__ne__)
        if (score := scores[name]) is not None and math.isfinite(score)
    }


def _entry(record: Record) -> Entry:
    sample = record.sample
    names = (
        unit.predicate if isinstance(unit, Triple) else unit.attribute for unit in sample.units
    )
    return Entry(
        id=sample.id,
        size=len(sample.units),
        category=category_of(sample),
        predicates=tuple(dict.fromkeys(names)),
        inputs=record.inputs,
        row=_json(_sample_row(sample, record.inputs)),
    )


def category_of(sample: Sample) -> str | None:
    """Return the category of a sample, or the group of samples that it belongs to."""
    groups = (membership.group for membership in memberships(sample))
    return sample.about("category") or next(groups, None)


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
    """The index and the chunks, test set by test set."""

    chunks: list[str] = field(default_factory=list)
    tests: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Outcomes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, results: Sequence[TaskResult], runs: Iterator[_Run]) -> None:
        """Pack the runs of one test set, then its samples."""
        test = TestSet()
        names: Counter[tuple[str, str]] = Counter()
        for result in results:
            run = next(runs)
            entry = self._run(result, run, test)
            names[result.model, entry["name"]] += 1
            if (copies := names[result.model, entry["name"]]) > 1:
                entry["name"] += f" ({copies})"
            self.runs.append(entry)
        task = results[0]
        title = [task.aspect.replace("_", " ").capitalize(), task.corpus, task.part]
        self.tests.append(
            {
                "title": " · ".join(filter(None, title)),
                "metric": task.spec.headline,
                "traits": {
                    "category": [sample.category for sample in test.samples],
                    "units": [str(sample.size) for sample in test.samples],
                    "predicate": [sample.predicates for sample in test.samples],
                },
                "chunks": self._pack(sample.row for sample in test.samples),
            }
        )

    def _run(self, result: TaskResult, run: _Run, test: TestSet) -> dict[str, Any]:
        """Pack the outcomes of a run, and return its entry in the index."""
        samples = list(map(test.number, run.entries))
        self.outcomes.append(Outcomes(result, test, samples, run.scores))
        self.problems += filter(None, [run.problem])
        for entry, outcome, number in zip(run.entries, run.outcomes, samples, strict=True):
            if entry.inputs != test.samples[number].inputs:
                outcome["inputs"] = entry.inputs
        facets = {
            "aspect": result.aspect.replace("_", " "),
            "corpus": result.corpus,
            "part": result.part,
            "sets": result.protocol,
            "model": result.model,
            "arm": result.arm or "as is",
            "seed": None if result.seed is None else str(result.seed),
        }
        seed = facets["seed"] and f"seed {facets['seed']}"
        return {
            "test": len(self.tests),
            "name": ", ".join(filter(None, [facets["arm"], seed])),
            "facets": facets,
            "samples": samples,
            "scores": run.scores,
            "faults": run.faults,
            "chunks": self._pack(map(_json, run.outcomes)),
            "given": run.given,
        }

    def _pack(self, rows: Iterable[str]) -> list[int]:
        """Pack rows of JSON; return the numbers of the chunks."""
        first, texts = 1 + len(self.chunks), list(rows)
        self.chunks += [
            _packed(f"[{','.join(texts[start : start + SIZE])}]")
            for start in range(0, len(texts), SIZE)
        ]
        return list(range(first, 1 + len(self.chunks)))

    def finished(self) -> Browser:
        """Return the chunks after their index."""
        index = {
            "size": SIZE,
            "faults": [{"name": fault.value, "meaning": fault.meaning} for fault in Fault],
            "kinds": {kind: sign._asdict() for kind, sign in KINDS.items()},
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
    own, *twins = sides(sample)
    row: dict[str, Any] = {
        "id": own.id,
        "name": own.about("name"),
        "category": category_of(own),
        "begins": own.about("prefix"),
        "units": own.units,
        "references": own.references,
        "hidden": own.challenge.phrases if isinstance(own.challenge, Hidden) else (),
        "inputs": inputs,
    }
    if twins:
        row["twin"] = {"units": twins[0].units, "references": twins[0].references}
    if table := table_view(sample):
        lines = [row if isinstance(row, int) else list(map(_cell, row)) for row in table.rows]
        row["table"] = {"title": table.title, "linked": table.linked, "rows": lines}
        row["about"] = own.about("section_text")
    return row


def _cell(cell: ShownCell) -> dict[str, Any]:
    """Return the text of a cell, and whatever differs from a plain cell."""
    plain = ShownCell._field_defaults
    return {name: value for name, value in cell._asdict().items() if value != plain.get(name)}


def _outcome(view: RecordView, scores: Mapping[str, float]) -> dict[str, Any]:
    """Return what is shown of the outputs for a sample, without what is empty."""
    outputs = list(map(_output, view.outputs))
    first = dict(list(scores.items())[:_MOST_SCORES])
    return {"outputs": outputs, "scores": first} | _filled({"notes": view.notes})


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
