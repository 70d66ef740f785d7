"""The samples of all runs, marked and packed for the page's browser.

A chunk is JSON in gzip in base64, which browsers unpack by themselves: chunk 0 is the index, with
what filters need of every sample; each other one has up to :data:`SIZE` samples of a test set, or
outcomes of a run. `page.js` reads them.
"""

import base64
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import FileContent
from spor_tasks.core.named import place_of
from spor_tasks.core.sample import Triple
from spor_tasks.report.grid import full_title
from spor_tasks.report.marking import KINDS, Fault
from spor_tasks.report.views import (
    AS_IS,
    RecordView,
    category_of,
    run_name,
    sample_views,
    view_of,
)
from spor_tasks.results.rows import PLAIN, prompt_in_words
from spor_tasks.results.runs import Problem
from spor_tasks.results.samples import Known, Record, SampleFile
from spor_tasks.results.stats import clusters_of

SIZE = 1000
"""Samples in a chunk."""

Records = Callable[[SampleFile, Known], Iterator[Record]]
"""Yields the samples of a file, with documents that are known or become known."""

CHANGES = {
    "higher": "The first score is higher than that of the other system.",
    "lower": "The first score is lower than that of the other system.",
    "other output": "The other system wrote something else.",
}
"""How an output may differ from another system's, and what that means."""

TESTED = (
    "Tested of each output: its form, and whether the words of each unit are in it, where units "
    "can be located. Not tested: whether the rest is true."
)

_BITS = {fault: 1 << bit for bit, fault in enumerate((*map(str, Fault), *CHANGES))}


class Traits(Struct, frozen=True):
    """The facts of a sample that filters compare."""

    category: str | None
    units: int
    predicate: tuple[str, ...]
    """The predicates of its triples, or the attributes."""
    pairs: tuple[str, ...] = ()
    """In words, the share of its pairs of units that each arm shows together."""


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
    clusters: list[int]
    """The cluster of each sample."""
    chunks: list[int]
    runs: list[RunOutcomes]


class Browser(NamedTuple):
    """The packed samples, in no chunk if there are none.

    ``outcomes`` is the index of them, without the texts.
    """

    chunks: tuple[str, ...]
    outcomes: tuple[TestOutcomes, ...]
    problems: tuple[Problem, ...]


class Shown(NamedTuple):
    """What a run has of a sample: the prompts, and the outputs with their marks."""

    id: str
    inputs: tuple[str, ...]
    view: RecordView
    sample: Callable[[], tuple[Traits, FileContent]]
    """The sample's traits and content, which are asked of the first run that has it."""
    cluster: Hashable
    """The key that samples of a cluster share."""
    changes: tuple[str, ...] = ()
    """Those of :data:`CHANGES`."""


class RunSource(NamedTuple):
    """A run whose samples are shown, one in memory at a time."""

    name: str
    facets: Facets
    where: Path
    rows: Iterable[Shown]


class TestSource(NamedTuple):
    """A test set with its runs; the fields are those of :class:`TestOutcomes`."""

    title: str
    metric: str
    labels: Mapping[str, str]
    arms: tuple[str, ...]
    runs: Sequence[RunSource]


def browse(files: Iterable[SampleFile], records: Records = SampleFile.records) -> Browser:
    """Mark and pack the samples of runs; a damaged file is read up to the damage.

    Runs come in the order of benchmarks and aspects, then by corpus, sets, model, arm and seed.
    ``records`` reads a file, for somebody who needs its samples as well.
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
    fine = "None of the kinds of error was found, which does not make an output right."
    sources = (_source(group, records) for group in groups.values())
    return pack(sources, tested=TESTED, fine={"name": "no fault", "meaning": fine})


def pack(sources: Iterable[TestSource], **more: object) -> Browser:
    """Pack tests; ``more`` is what else the index says.

    ``fine`` names the outputs without a fault or change, and ``tested`` says what these may be.
    """
    chunks, problems = [""], list[Problem]()  # the first is the index, which is known last
    packed = [_test(source, chunks, problems) for source in sources]
    tests = tuple(test for test in packed if test.traits)  # a damaged file may have no sample
    faults = [{"name": fault.value, "meaning": fault.meaning} for fault in Fault]
    changes = [{"name": name, "meaning": text, "change": True} for name, text in CHANGES.items()]
    index = {
        "size": SIZE,
        "faults": [*faults, *changes],
        "kinds": {kind: sign._asdict() for kind, sign in KINDS.items()},
        "tests": to_builtins(tests),
        **more,
    }
    chunks[0] = _packed(_json(index))
    return Browser(tuple(chunks) if tests else (), tests, tuple(problems))


# --- One test set ---------------------------------------------------------------------------------


def shown(record: Record) -> Shown:
    """Return what is shown of a record."""

    def sample() -> tuple[Traits, FileContent]:
        units = record.sample.units
        names = (unit.predicate if isinstance(unit, Triple) else unit.attribute for unit in units)
        own, *twins = map(to_builtins, sample_views(record.sample))
        predicates = tuple(dict.fromkeys(names))
        pairs = (f"{arm}: {_share(share)}" for arm, share in record.shown_pairs.items())
        traits = Traits(category_of(record.sample), len(units), predicates, tuple(pairs))
        return traits, {**own, "twins": twins}

    cluster = record.sample.cluster
    return Shown(record.sample.id, record.inputs, view_of(record), sample, cluster)


def _share(share: float) -> str:
    """Return a share in one of four steps."""
    if share in {0, 1}:
        return f"{100 * share:.0f} %"
    return "1 to 49 %" if share < 1 / 2 else "50 to 99 %"


def _source(files: Sequence[SampleFile], records: Records) -> TestSource:
    runs, copies, known = list[RunSource](), Counter[tuple[str, str]](), Known()
    for file in files:
        run, prompt = file.run, prompt_in_words(file.run.signature)
        name = run_name(run) if prompt == PLAIN else f"{run_name(run)}, {prompt}"
        copies[run.model, name] += 1
        if (copy := copies[run.model, name]) > 1:
            name = f"{name} ({copy})"
        seed = None if run.seed is None else str(run.seed)
        facets = Facets(full_title(run), run.model, prompt, run.arm or AS_IS, seed)
        runs.append(RunSource(name, facets, file.path, map(shown, records(file, known))))
    spec = files[0].run.spec
    labels = {name: score.label for name, score in spec.scores.items()}
    return TestSource(full_title(files[0].run), spec.headline, labels, spec.arms, runs)


def _test(source: TestSource, chunks: list[str], problems: list[Problem]) -> TestOutcomes:
    """Pack the runs of one test set, then its samples; return its entry in the index."""
    samples: dict[str, _PackedSample] = {}  # by id
    runs = [_run(run, source.metric, samples, chunks, problems) for run in source.runs]
    return TestOutcomes(
        title=source.title,
        metric=source.metric,
        labels={**source.labels},
        arms=source.arms,
        traits=[sample.traits for sample in samples.values()],
        clusters=clusters_of(sample.cluster for sample in samples.values()).tolist(),
        chunks=_pack([sample.packed for sample in samples.values()], chunks),
        runs=runs,
    )


class _PackedSample(NamedTuple):
    """A sample, as the first run has it."""

    traits: Traits
    cluster: Hashable
    inputs: tuple[str, ...]
    packed: str


def _run(
    run: RunSource,
    metric: str,
    samples: dict[str, _PackedSample],
    chunks: list[str],
    problems: list[Problem],
) -> RunOutcomes:
    """Pack the outcomes of a run; add its samples that are new, and the damage of its file."""
    numbers = {key: number for number, key in enumerate(samples)}
    own, packed, faultless = list[int](), list[str](), ""
    scores, faults = list[float | None](), list[int | None]()
    try:
        for row in run.rows:
            view = row.view
            if row.id not in samples:
                numbers[row.id] = len(samples)
                traits, content = row.sample()
                text = _json({**content, "inputs": row.inputs})
                samples[row.id] = _PackedSample(traits, row.cluster, row.inputs, text)
            is_same = row.inputs == samples[row.id].inputs
            packed.append(_json(to_builtins(view) | ({} if is_same else {"inputs": row.inputs})))
            own.append(numbers[row.id])
            scores.append(view.scores.get(metric))
            is_given = view.faults is None and not row.changes
            faults.append(
                None
                if is_given
                else sum(_BITS[each] for each in (*(view.faults or ()), *row.changes))
            )
            faultless = max(faultless, view.faultless)
    except ResultError as error:
        what = f"{error.what}: the samples from here on are left out"
        problems.append(Problem("samples", error.where or str(run.where), what))
    packs = _pack(packed, chunks)
    return RunOutcomes(run.name, run.facets, own, scores, faults, faultless, packs)


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
