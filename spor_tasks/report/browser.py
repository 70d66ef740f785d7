"""The samples of all runs, marked and packed for the page's browser.

A chunk is JSON in gzip in base64, which browsers unpack by themselves: chunk 0 is the index, with
what filters need of every sample; each other one has up to :data:`SIZE` samples of a test set, or
outcomes of a run. `page.js` reads them.
"""

import base64
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from msgspec import Struct, to_builtins

from spor_tasks.core.errors import ResultError
from spor_tasks.core.named import place_of
from spor_tasks.core.sample import Triple
from spor_tasks.report.grid import full_title
from spor_tasks.report.marking import KINDS, Fault
from spor_tasks.report.views import AS_IS, category_of, run_name, sample_views, view_of
from spor_tasks.results.rows import PLAIN, prompt_in_words
from spor_tasks.results.runs import Problem
from spor_tasks.results.samples import Record, SampleFile

SIZE = 1000
"""Samples in a chunk."""

_BITS = {fault: 1 << bit for bit, fault in enumerate(Fault)}


class Traits(Struct, frozen=True):
    """The facts of a sample that filters compare."""

    category: str | None
    units: int
    predicate: tuple[str, ...]
    """The predicates of its triples, or the attributes."""


class Facets(Struct, frozen=True):
    """The facts of a run that filters compare."""

    test: str
    model: str
    prompt: str
    arm: str
    seed: str | None


class RunOutcomes(Struct, frozen=True):
    """The outcomes of a run: of each sample its number, its headline and its faults."""

    name: str
    facets: Facets
    samples: list[int]
    scores: list[float | None]
    """None is a sample without a verdict."""
    faults: list[int | None]
    """Bits of the faults; None is a text that was given."""
    faultless: str
    """The label of a sample without faults."""
    chunks: list[int]


class TestOutcomes(Struct, frozen=True):
    """A test set, the traits of its samples, and its runs."""

    title: str
    metric: str
    labels: dict[str, str]
    """The names of scores for readers."""
    arms: tuple[str, ...]
    traits: list[Traits]
    chunks: list[int]
    runs: list[RunOutcomes]


class Browser(NamedTuple):
    """The packed samples, in no chunk if there are none.

    ``outcomes`` is the index of them, without the texts.
    """

    chunks: tuple[str, ...]
    outcomes: tuple[TestOutcomes, ...]
    problems: tuple[Problem, ...]


def browse(files: Iterable[SampleFile]) -> Browser:
    """Mark and pack the samples of runs; a damaged file is read up to the damage.

    Runs come in the order of benchmarks and aspects, then by corpus, sets, model, arm and seed.
    """

    def place(file: SampleFile) -> tuple[Any, ...]:
        run, sets = file.run, file.run.spec.sets
        arm = run.spec.arms.index(run.arm) if run.arm in run.spec.arms else -1
        aspect = place_of(run.spec.benchmark, sets.aspect)
        seed = -1 if run.seed is None else run.seed
        return aspect, sets.corpus, sets.protocol, run.comparison, run.model, arm, seed, file.path

    groups: dict[tuple[str, str], list[SampleFile]] = defaultdict(list)
    for file in sorted(files, key=place):
        groups[file.run.comparison, file.run.signature["test_sha256"]].append(file)
    chunks, problems = [""], list[Problem]()  # the first is the index, which is known last
    packed = [_test(group, chunks, problems) for group in groups.values()]
    tests = tuple(test for test in packed if test.traits)  # a damaged file may have no sample
    index = {
        "size": SIZE,
        "faults": [{"name": fault.value, "meaning": fault.meaning} for fault in Fault],
        "kinds": {kind: sign._asdict() for kind, sign in KINDS.items()},
        "tests": to_builtins(tests),
    }
    chunks[0] = _packed(_json(index))
    return Browser(tuple(chunks) if tests else (), tests, tuple(problems))


# --- One test set ---------------------------------------------------------------------------------


class _PackedSample(NamedTuple):
    """A sample, as the first run has it: its traits, its prompts, and its packed form."""

    traits: Traits
    inputs: tuple[str, ...]
    packed: str

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the sample of a record."""
        sample, inputs = record.sample, record.inputs
        names = (
            unit.predicate if isinstance(unit, Triple) else unit.attribute for unit in sample.units
        )
        traits = Traits(category_of(sample), len(sample.units), tuple(dict.fromkeys(names)))
        own, *twins = sample_views(sample)
        row = {**to_builtins(own), "twins": to_builtins(twins), "inputs": inputs}
        return cls(traits, inputs, _json(row))


def _test(files: Sequence[SampleFile], chunks: list[str], problems: list[Problem]) -> TestOutcomes:
    """Pack the runs of one test set, then its samples; return its entry in the index."""
    samples: dict[str, _PackedSample] = {}  # by id
    runs, copies = [], Counter[tuple[str, str]]()
    for file in files:
        run, prompt = file.run, prompt_in_words(file.run.signature)
        name = run_name(run) if prompt == PLAIN else f"{run_name(run)}, {prompt}"
        copies[run.model, name] += 1
        if (copy := copies[run.model, name]) > 1:
            name = f"{name} ({copy})"
        runs.append(_run(file, name, samples, chunks, problems))
    first = files[0].run
    return TestOutcomes(
        title=full_title(first),
        metric=first.spec.headline,
        labels={name: score.label for name, score in first.spec.scores.items()},
        arms=first.spec.arms,
        traits=[sample.traits for sample in samples.values()],
        chunks=_pack([sample.packed for sample in samples.values()], chunks),
        runs=runs,
    )


def _run(
    file: SampleFile,
    name: str,
    samples: dict[str, _PackedSample],
    chunks: list[str],
    problems: list[Problem],
) -> RunOutcomes:
    """Pack the outcomes of a run; add its samples that are new, and the damage of its file."""
    run, headline = file.run, file.run.spec.headline
    numbers = {key: number for number, key in enumerate(samples)}
    own, packed, faultless = list[int](), list[str](), ""
    scores, faults = list[float | None](), list[int | None]()
    try:
        for record in file.records():
            key, view = record.sample.id, view_of(record)
            if key not in samples:
                numbers[key] = len(samples)
                samples[key] = _PackedSample.of(record)
            changed = {} if record.inputs == samples[key].inputs else {"inputs": record.inputs}
            packed.append(_json(to_builtins(view) | changed))
            own.append(numbers[key])
            scores.append(view.scores.get(headline))
            bits = (_BITS[fault] for fault in view.faults or ())
            faults.append(None if view.faults is None else sum(bits))
            faultless = max(faultless, view.faultless)
    except ResultError as error:
        what = f"{error.what}: the samples from here on are left out"
        problems.append(Problem("samples", error.where or str(file.path), what))
    prompt, seed = prompt_in_words(run.signature), None if run.seed is None else str(run.seed)
    facets = Facets(full_title(run), run.model, prompt, run.arm or AS_IS, seed)
    return RunOutcomes(name, facets, own, scores, faults, faultless, _pack(packed, chunks))


def _pack(rows: Sequence[str], chunks: list[str]) -> list[int]:
    """Add rows of JSON as chunks; return the numbers of these."""
    first = len(chunks)
    batches = (rows[start : start + SIZE] for start in range(0, len(rows), SIZE))
    chunks += (_packed(f"[{','.join(batch)}]") for batch in batches)
    return list(range(first, len(chunks)))


def _packed(text: str) -> str:
    # No time in it, and one level everywhere: the same samples are the same bytes.
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
