"""lm-eval's sample files: what a run was asked, what it wrote, and what each output scored."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from spor_tasks.core.codec import sample_of
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import ROW_BYTES, JsonObject, decode, is_file, open_file
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import Sample, sides
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import GROUP_MEANS, Answers, Value
from spor_tasks.prompts.styles import prompts_of
from spor_tasks.results.facts import Declared
from spor_tasks.results.runs import Run
from spor_tasks.text.filters import first_line


class Record(NamedTuple):
    """One test sample of one run.

    ``run`` has the task, model, arm and seed. ``sample`` includes its challenge, such as orders or
    hidden phrases. ``inputs`` are its prompts, ``contexts`` what the model was given: the prompts
    after any demonstrations and in any chat template. ``outputs`` are what it wrote, ``scored``
    what the filters left of that. A sample with two input orders has two of each, any other one; a
    twin has as many again.
    ``scores`` are the sample's logged values by metric. ``number`` is the sample's place in the
    test set; None if it is not logged.
    ``likelihoods`` are those of given texts, which are then the outputs. ``reading`` is what a
    program says of the output, if programs were sought. ``recognized`` are the values found in it.

    A sample with rivals has the prompt of its own units alone, and the likelihood after it. There,
    ``recognized`` are the units under which its text is likeliest.
    """

    run: Run
    sample: Sample
    inputs: tuple[str, ...]
    contexts: tuple[str, ...]
    outputs: tuple[str, ...]
    scored: tuple[str, ...]
    scores: Mapping[str, Value]
    number: int | None
    likelihoods: tuple[Likelihood, ...]
    reading: "Reading | None"
    recognized: "tuple[Recognized, ...]"
    shown_pairs: Mapping[str, float]
    """The share of its pairs of units that each arm shows together."""


class Recognized(NamedTuple):
    """The value of an aspect that is found in the output, and the one asked for."""

    aspect: str
    value: str
    requested: str | None


class Reading(NamedTuple):
    """The best of so many ``programs`` that an output may mean, None if there is none.

    ``ended`` says why the search for them ended.
    """

    program: str | None
    verdict: bool | None
    programs: int
    ended: str


@dataclass(frozen=True, slots=True)
class _Told:
    """All that a document says, which runs on the same samples have in common."""

    doc: JsonObject
    sample: Sample
    inputs: tuple[str, ...]
    tokens: Sequence[int | None] | None
    reading: "Reading | None"
    recognized: "tuple[Recognized, ...]"
    shown_pairs: Mapping[str, float]


_KNOWN_BYTES = 32_000_000  # of a file whose documents are held for other runs

Known = dict[str, _Told]
"""The documents of some runs by id."""


@dataclass(frozen=True, slots=True)
class SampleFile:
    """The samples of one result on the disk; each pass over them reads the file again."""

    path: Path
    run: Run

    def records(self, known: Known | None = None) -> Iterator[Record]:
        """Yield the samples in the order of the file, one in memory at a time.

        The documents that are ``known`` are taken from there, and new ones are put there, unless
        the file is large.

        Raises:
            ResultError: a line is incomplete, or lm-eval did not write it; ``where`` names it.
        """
        place = str(self.path)
        try:
            if known is not None and self.path.stat().st_size > _KNOWN_BYTES:
                known = None
            with open_file(self.path) as file:
                lines = iter(partial(file.readline, ROW_BYTES + 1), b"")
                for number, line in enumerate(lines, start=1):
                    place = f"{self.path}:{number}"
                    if line.strip():
                        yield _record(self.run, line, known)
        except Exception as error:  # whatever comes of what somebody wrote
            raise _damaged(place, error) from error


def find(result: Run) -> SampleFile | None:
    """Return the samples that lm-eval logged with a result; None if it logged none."""
    path = path_of(result.file, result.key)
    return SampleFile(path, result) if path else None


def path_of(file: Path, task: str) -> Path | None:
    """Return the sample file of a task in a result file; None if lm-eval logged none."""
    name = f"samples_{task}_{_stamp(file)}.jsonl"
    if Path(name).name != name:  # lm-eval cannot have written such a file
        return None
    path = file.with_name(name)
    return path if is_file(path) else None


def answered(row: JsonObject, place: str, *, whole: bool) -> tuple[Sample, tuple[str, ...]]:
    """Return the sample of a logged line, and its outputs, ``whole`` or as they were scored.

    Raises:
        ResultError: no task of ours has logged it, or it has likelihoods.
    """
    try:
        logged = msgspec.convert(row, _Row)
        outputs = msgspec.convert([first for first, *_ in logged.resps], tuple[str, ...])
        sample = with_references(sample_of(logged.doc))
    except Exception as error:  # as above
        raise _damaged(place, error) from error
    return sample, outputs if whole else _scored(logged.filtered_resps, outputs)


def orphans(folder: Path) -> tuple[Path, ...]:
    """Return the sample files below a folder that have no result file next to them."""
    results = {(path.parent, _stamp(path)) for path in folder.rglob("*_*.json")}
    return tuple(
        path
        for path in sorted(folder.rglob("samples_*.jsonl"))
        if (path.parent, _stamp(path)) not in results
    )


def _stamp(file: Path) -> str:
    """Return the time that lm-eval gives all files of a run."""
    return file.stem.rpartition("_")[2]


class _Request(msgspec.Struct):
    arg_0: str


class _Row(msgspec.Struct):
    """The fields of a logged line that every record needs; its scores stand beside them."""

    doc: Any
    resps: list[Annotated[list[str | list[Any]], msgspec.Meta(min_length=1)]]
    arguments: dict[str, _Request]
    prompt_hash: str
    doc_id: object = None
    filtered_resps: object = None


class _Document(msgspec.Struct):
    """The fields of a document beside its sample; metrics add the last ones, where they do."""

    id: str
    corpus: str
    recognized: dict[str, str] = msgspec.field(name="said", default_factory=dict)
    tokens: list[Annotated[int, msgspec.Meta(ge=1)]] | None = None
    shown_pairs: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]] = {}
    sp_search: str | None = None
    sp_program: str | None = None
    sp_verdict: bool | None = None
    sp_programs: int = 0


def _told(doc: JsonObject, known: Known | None) -> _Told:
    if known and (told := known.get(doc["id"])) and told.doc == doc:
        return told
    described = msgspec.convert(doc, _Document)
    sample = with_references(sample_of(doc))
    if len({(type(side.challenge), len(side.units)) for side in sides(sample)}) > 1:
        raise ValueError("a twin has another form than its sample")
    reading = None
    if described.sp_search is not None:
        found = described.sp_program, described.sp_verdict, described.sp_programs
        reading = Reading(*found, described.sp_search)
    requested = {unit[0]: unit[-1] for unit in sample.units}
    told = _Told(
        doc=doc,
        sample=sample,
        inputs=msgspec.convert(prompts_of(doc), tuple[str, ...]),
        tokens=described.tokens,
        reading=reading,
        recognized=tuple(
            Recognized(aspect, value, requested.get(aspect))
            for aspect, value in described.recognized.items()
        ),
        shown_pairs=described.shown_pairs,
    )
    if known is not None:
        known[described.id] = told
    return told


def _record(run: Run, line: bytes, known: Known | None) -> Record:
    if len(line) > ROW_BYTES:
        raise ValueError(f"it is longer than {ROW_BYTES:,} bytes")
    logged = decode(line)
    row = msgspec.convert(logged, _Row)
    told = _told(row.doc, known)
    answers: list[Any] = [first for first, *_ in row.resps]
    texts: tuple[str, ...] = ()
    likelihoods = []
    if isinstance(answers[0], list):  # log likelihoods of given texts
        texts = told.sample.texts
        counts = [None] * len(texts) if told.tokens is None else told.tokens
        for text, (log, *_), tokens in zip(texts, answers, counts, strict=True):
            size = len(text.encode(errors="surrogatepass"))
            likelihoods.append(Likelihood(float(log), tokens, size))
        answers = [
            f"{text}   [log likelihood {likelihood.log:.3f}]"
            for text, likelihood in zip(texts, likelihoods, strict=True)
        ]
    outputs = msgspec.convert(answers, tuple[str, ...])
    return Record(
        run=run,
        sample=told.sample,
        inputs=told.inputs,
        contexts=tuple([request.arg_0 for request in row.arguments.values()]),
        outputs=outputs,
        scored=texts or _scored(row.filtered_resps, outputs),
        scores={
            name: _value(logged[name])
            for name in logged["metrics"]
            if not name.endswith("_stderr") and name in logged
        },
        number=row.doc_id if isinstance(row.doc_id, int) else None,
        likelihoods=tuple(likelihoods),
        reading=told.reading,
        recognized=told.recognized,
        shown_pairs=told.shown_pairs,
    )


def _scored(logged: object, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return what was scored of each output; the first lines if the log does not say it."""
    texts = [
        each[0] if isinstance(each, list) and each else each
        for each in (logged if isinstance(logged, list) else [])
    ]
    if len(texts) != len(outputs) or not all(isinstance(text, str) for text in texts):
        return tuple(map(first_line, outputs))
    return tuple(texts)


def _value(logged: Any) -> Value:
    match logged:
        case None:
            return None
        case [[*kinds], dict(right)]:
            return Answers(tuple(kinds), right)
        case [*numbers]:
            return tuple(map(float, numbers))
        case number:
            return float(number)


def alone(declared: Declared, name: str, value: Value) -> float | None:
    """Return the score of one output by itself, from its logged value; None without a verdict."""
    if not isinstance(value, tuple):
        return value
    try:
        totals = declared.totals(name)
    except ConfigError:  # its metric is not installed
        totals = None
    if totals in {None, GROUP_MEANS}:
        *_, last = value
        return last if isinstance(last, float | int) else None
    score = float(Column.of([value], totals).each[0])
    return None if math.isnan(score) else score


def _damaged(place: str, error: Exception) -> ResultError:
    return ResultError(
        f"is not a sample of our tasks as lm-eval logs it: {type(error).__name__}: {error}",
        where=place,
        remedy="The run may have been interrupted. Run it again.",
    )
