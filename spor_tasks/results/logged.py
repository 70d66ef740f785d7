"""lm-eval's sample files: what a run was asked, what it wrote, and what each output scored."""

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, TypeGuard, cast

from spor_tasks.core.codec import cluster_of, sample_of
from spor_tasks.core.errors import CorpusError, ResultError
from spor_tasks.core.files import ROW_BYTES, is_file, open_file
from spor_tasks.core.sample import (
    DataUnit,
    Rivals,
    Sample,
    sides,
)
from spor_tasks.metrics.base import Column, known_info, score_info
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.totals import GROUP_MEANS, MEAN, Value
from spor_tasks.prompts.styles import prompts_of
from spor_tasks.results.reading import TaskResult
from spor_tasks.text.filters import first_line

_FAULTS = (
    *(LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError),
    CorpusError,  # a part of a document that is read as that of a row
)
_MOST_UNITS = 1_000  # of a sample: far more than any has, and few enough to group by


@dataclass(frozen=True, slots=True)
class Record:
    """One test sample of one run.

    ``run`` has the task, model, arm and seed. ``sample`` includes its challenge, such as orders or
    hidden phrases. ``inputs`` are its prompts, ``contexts`` what the model was given: the prompts
    after any demonstrations and in any chat template. ``outputs`` are what it wrote, ``scored``
    what the filters left of that. A sample with two input orders has two of each, any other one; a
    twin has as many again.
    ``scores`` are the sample's logged values by metric. ``prompt_sha256`` is lm-eval's digest of
    the (first) context. ``number`` is the sample's place in the test set; None if it is not logged.
    ``likelihoods`` are those of given texts, which are then the outputs. ``reading`` is what a
    program says of the output, if programs were sought. ``said`` is which values were found in it.

    A sample with rivals has the prompt of its own units alone, and the likelihood after it. There,
    ``said`` are the units under which its text is likeliest.
    """

    run: TaskResult
    sample: Sample
    inputs: tuple[str, ...]
    contexts: tuple[str, ...]
    outputs: tuple[str, ...]
    scored: tuple[str, ...]
    scores: Mapping[str, Value]
    prompt_sha256: str
    number: int | None = None
    likelihoods: tuple[Likelihood, ...] = ()
    reading: "Reading | None" = None
    said: "tuple[Said, ...]" = ()


class Said(NamedTuple):
    """The value of an aspect that is found in the output, and the one asked for."""

    aspect: str
    value: str
    asked: str | None


class Reading(NamedTuple):
    """The best of so many ``programs`` that an output may mean, None if there is none.

    ``ended`` says why the search for them ended.
    """

    program: str | None
    verdict: bool | None
    programs: int
    ended: str


class Scored(NamedTuple):
    """A run's scores on a sample; samples of the same ``cluster`` are not independent."""

    id: str
    cluster: Hashable
    scores: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class SampleFile:
    """The samples of one result on the disk; each pass over them reads the file again."""

    path: Path
    run: TaskResult

    def records(self) -> Iterator[Record]:
        """Yield the samples in the order of the file, one in memory at a time.

        Raises:
            ResultError: a line is incomplete, or lm-eval did not write it; ``where`` names it.
        """
        for place, row in self._rows():
            try:
                record = _record(self.run, row)
            except _FAULTS as error:
                raise _damaged(place, error) from error
            yield record

    def scores(self) -> Iterator[Scored]:
        """Yield the scores of each sample, faster than whole records.

        Raises:
            ResultError: as :meth:`records`.
        """
        for place, row in self._rows():
            try:
                doc = row["doc"]
                scored = Scored(str(doc["id"]), cluster_of(doc), _scores(row))
            except _FAULTS as error:
                raise _damaged(place, error) from error
            yield scored

    def _rows(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        try:
            with open_file(self.path) as file:
                lines = iter(partial(file.readline, ROW_BYTES + 1), b"")
                for number, line in enumerate(lines, start=1):
                    place = f"{self.path}:{number}"
                    try:
                        row = _parsed(line)
                    except (ValueError, RecursionError) as error:
                        raise _damaged(place, error) from error
                    yield place, row
        except OSError as error:
            raise _damaged(str(self.path), error) from error


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    if len(line) > ROW_BYTES:
        raise ValueError(f"it is longer than {ROW_BYTES:,} bytes")
    return json.loads(line)


def find(result: TaskResult) -> SampleFile | None:
    """Return the samples that lm-eval logged with a result; None if it logged none."""
    name = f"samples_{result.key}_{_stamp(result.file)}.jsonl"
    if Path(name).name != name:  # lm-eval cannot have written such a file
        return None
    path = result.file.with_name(name)
    return SampleFile(path, result) if is_file(path) else None


def orphans(folder: Path) -> tuple[Path, ...]:
    """Return the sample files below a folder that have no result file next to them."""
    return tuple(
        path
        for path in sorted(folder.rglob("samples_*.jsonl"))
        if not any(path.parent.glob(f"*_{escape(_stamp(path))}.json"))
    )


def _stamp(file: Path) -> str:
    """Return the time that lm-eval gives all files of a run."""
    return file.stem.rpartition("_")[2]


def _record(run: TaskResult, row: Mapping[str, Any]) -> Record:
    doc = row["doc"]
    sample = _checked(sample_of(doc))
    answers = [first for first, *_ in row["resps"]]
    prompts = prompts_of(doc)
    contexts = [request["arg_0"] for request in row["arguments"].values()]
    values: Mapping[str, str] = doc.get("said") or {}
    texts: tuple[str, ...] = ()
    likelihoods: tuple[Likelihood, ...] = ()
    if isinstance(answers[0], list):  # log likelihoods of given texts
        texts = sample.given
        likelihoods = tuple(_likelihoods(texts, answers, doc.get("tokens")))
        if isinstance(rivals := sample.challenge, Rivals):
            values = _likeliest((sample.units, *rivals.units), likelihoods)
            texts, likelihoods, prompts = texts[:1], likelihoods[:1], prompts[:1]
            contexts = contexts[:1]
        outputs = tuple(
            f"{text}   [log likelihood {likelihood.log:.3f}]"
            for text, likelihood in zip(texts, likelihoods, strict=True)
        )
    else:
        outputs = _texts(answers)
    return Record(
        run=run,
        sample=sample,
        inputs=_texts(prompts),
        contexts=_texts(contexts),
        outputs=outputs,
        scored=texts or _scored(row.get("filtered_resps"), outputs),
        scores=_scores(row),
        prompt_sha256=_texts([row["prompt_hash"]])[0],
        number=number if type(number := row.get("doc_id")) is int else None,
        likelihoods=likelihoods,
        reading=_reading(doc) if doc.get("sp_search") is not None else None,
        said=tuple(_said(values, sample)),
    )


def _likelihoods(
    texts: Sequence[str],
    answers: Sequence[Sequence[Any]],
    counts: Any,  # noqa: ANN401 - logged
) -> Iterator[Likelihood]:
    counts = [None] * len(texts) if counts is None else counts
    for text, (log, *_), tokens in zip(texts, answers, counts, strict=True):
        if tokens is not None and (type(tokens) is not int or tokens < 1):
            raise ValueError(f"{tokens!r} is not a number of tokens")
        yield Likelihood(_finite(float(log)), tokens, len(text.encode(errors="surrogatepass")))


def _likeliest(
    choices: Sequence[Sequence[DataUnit]], likelihoods: Sequence[Likelihood]
) -> dict[str, str]:
    """Return the units with the highest likelihood, of equal ones the first."""
    units, _ = max(zip(choices, likelihoods, strict=True), key=lambda each: each[1].log)
    return {unit[0]: unit[-1] for unit in units}


def _said(values: Mapping[str, str], sample: Sample) -> Iterator[Said]:
    requested = {unit[0]: unit[-1] for unit in sample.units}
    for aspect, value in values.items():
        _texts([aspect, value])
        yield Said(aspect, value, requested.get(aspect))


def _reading(doc: Mapping[str, Any]) -> Reading:
    program, verdict, programs = doc["sp_program"], doc["sp_verdict"], doc["sp_programs"]
    if (type(program), type(verdict)) not in {(str, bool), (NoneType, NoneType)}:
        raise TypeError("a program has no verdict")
    if type(programs) is not int:
        raise TypeError(f"{programs!r} is not a number of programs")
    (ended,) = _texts([doc["sp_search"]])
    return Reading(program, verdict, programs, ended)


def _scored(logged: object, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return what was scored of each output; the first lines if the log does not say it."""
    texts = [
        each[0] if isinstance(each, list) and each else each
        for each in (logged if isinstance(logged, list) else [])
    ]
    if len(texts) != len(outputs) or not all(isinstance(text, str) for text in texts):
        return tuple(map(first_line, outputs))
    return tuple(texts)


def _checked(sample: Sample) -> Sample:
    """Return the sample if a twin has the form of its sample, and ids are texts.

    Raises:
        TypeError, ValueError: it is not so.
    """
    own, *twins = sides(sample)
    for twin in twins:
        if type(own.challenge) is not type(twin.challenge) or len(own.units) != len(twin.units):
            raise ValueError("a twin has another form than its sample")
    _texts([sample.id, sample.corpus])
    return sample


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    texts = tuple(values)
    if not {str}.issuperset(map(type, texts)):
        wrong = next(text for text in texts if type(text) is not str)
        raise TypeError(f"{wrong!r} is not a string")
    return cast("tuple[str, ...]", texts)


def _scores(row: Mapping[str, Any]) -> dict[str, Value]:
    return {
        name: _value(row[name], name)
        for name in row["metrics"]
        if not name.endswith("_stderr") and name in row
    }


def _value(logged: object, name: str) -> Value:
    match logged:
        case None:
            return None
        case [int(group), int() | float()] if _is_grouped(name) and not 0 <= group <= _MOST_UNITS:
            raise ValueError(f"{group} is not a group")
        case [_, _, *_] if len(logged) <= _most(name) and all(map(_is_number, logged)):
            return tuple(_finite(number) for number in logged if _is_number(number))
        case int() | float():
            return _finite(logged)
    raise TypeError(f"{logged!r} is not a score")


def _most(name: str) -> int:
    """Return how many numbers an output may add to a score; of one nobody knows, two."""
    info = known_info(name)
    return 2 if info is None or info.totals in {MEAN, GROUP_MEANS} else info.totals.most_numbers


def alone(name: str, value: Value) -> float | None:
    """Return the score of one output by itself, from its logged value; None without a verdict."""
    if not isinstance(value, tuple):
        return value
    if _is_grouped(name):
        return value[-1]
    score = float(Column.of([value], score_info(name).totals).each[0])
    return None if math.isnan(score) else score


def _is_grouped(name: str) -> bool:
    info = known_info(name)
    return info is None or info.totals is GROUP_MEANS


def _is_number(logged: object) -> TypeGuard[float]:
    return isinstance(logged, int | float)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a score")
    return float(number)


def _damaged(place: str, error: Exception) -> ResultError:
    return ResultError(
        f"is not a sample of our tasks as lm-eval logs it: {type(error).__name__}: {error}",
        where=place,
        remedy="The run may have been interrupted. Run it again.",
    )
