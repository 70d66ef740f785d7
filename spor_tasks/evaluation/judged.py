"""Outputs with human judgements, and what metrics measure of them.

A row of a file is one judged output: a sample in the published field names
(:mod:`spor_tasks.core.codec`; without ``texts`` if there are none) with its ``output``, the
``system`` that wrote it, its ``input`` (a number or a text; outputs for equal inputs are resampled
together), ``judgements`` (human numbers by name) and, optionally, ``scores`` (numbers of metrics
that are not measured here, by name). The part of an output that counts is the same as in
:mod:`spor_tasks.evaluation.scoring`.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.corpora import surfaces
from spor_tasks.corpora.jsonl import RowReader
from spor_tasks.evaluation.scoring import text_of
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.correlation import Codes, codes
from spor_tasks.metrics.coverage import COVERAGE
from spor_tasks.metrics.order import is_strict
from spor_tasks.metrics.parent import PARENT, PARENT_FULL_TABLE
from spor_tasks.metrics.totals import Numbers
from spor_tasks.text.filters import first_line

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done and the number of all steps."""

_AT_ONCE = 256  # outputs measured together


class Measure(NamedTuple):
    """Numbers by ``names`` that are computed from outputs, and from references if needed.

    ``values`` takes samples and an output for each, and returns the numbers of each output.
    """

    names: tuple[str, ...]
    values: Callable[[Sequence[Sample], Sequence[str]], Iterable[Mapping[str, Any]]]
    needs_texts: bool = False


def measure_of(metric: Metric[Any]) -> Measure:
    """Return the scores of single outputs by a metric whose values are numbers."""

    def values(samples: Sequence[Sample], outputs: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        return map(metric.values, metric.measure(samples, [(output,) for output in outputs]))

    return Measure(tuple(info.name for info in metric.scores), values, metric.needs_texts)


def _fidelity(sample: Sample, output: str) -> dict[str, float]:
    """Return 100 if every unit is located, as the metric ``order`` locates units, else 0."""
    positions = surfaces.locate(sample, output, strict=is_strict(sample))
    return {"fidelity": 100.0 * (None not in positions)}


def _bleu(sample: Sample, output: str) -> dict[str, float]:
    return {"bleu": _scorer().sentence_score(output, list(sample.references)).score}


@cache
def _scorer() -> BLEU:
    return BLEU(effective_order=True)  # as sacrebleu advises for sentences


MEASURES = (
    measure_of(PARENT),
    measure_of(PARENT_FULL_TABLE),
    measure_of(CHRF),
    Measure(("bleu",), partial(map, _bleu), needs_texts=True),
    measure_of(COVERAGE),
    Measure(("fidelity",), partial(map, _fidelity)),
)
"""The measures of every output. ``bleu`` is sacrebleu's sentence BLEU, for comparison."""


# --- Reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged outputs of a file; NaN stands for a missing number."""

    file: Path
    inputs: Codes
    systems: Codes
    scores: Mapping[str, Numbers]
    judgements: Mapping[str, Numbers]


class _Row(NamedTuple):
    sample: Sample
    output: str
    input: int | str
    system: str
    judgements: Mapping[str, float]
    scores: Mapping[str, float]


def read_judged(
    files: Sequence[Path],
    *,
    metrics: Sequence[str] = (),
    measures: Sequence[Measure] = MEASURES,
    progress: Progress | None = None,
) -> tuple[Judged, ...]:
    """Read files of judged outputs, and measure the outputs by ``metrics``, or by all metrics.

    Raises:
        CorpusError: a file cannot be read or has no rows or no judgements, or a row is malformed
            or repeated; the error names the line.
        ConfigError: a name in ``metrics`` is neither measured nor in the rows' ``scores``.
    """
    ours = tuple(name for measure in measures for name in measure.names)
    rows = {file: _rows(file, ours) for file in dict.fromkeys(files)}
    theirs = {name: None for row in chain(*rows.values()) for name in row.scores}
    known = (*ours, *theirs)
    require_known("metric", metrics, known)
    wanted = [name for name in known if name in (metrics or known)]
    chosen = [measure for measure in measures if not set(wanted).isdisjoint(measure.names)]
    total, done = sum(map(len, rows.values())) * len(chosen), 0
    judged = []
    for file, of_file in rows.items():
        scores = [dict(row.scores) for row in of_file]
        for measure in chosen:
            for start in range(0, len(of_file), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                _measure(measure, of_file[part], scores[part])
                done += len(of_file[part])
                if progress:
                    progress(done, total)
        judged.append(
            Judged(
                file,
                codes([repr(row.input) for row in of_file]),
                codes([row.system for row in of_file]),
                _columns(scores, wanted),
                _columns([row.judgements for row in of_file]),
            )
        )
    return tuple(judged)


def _measure(measure: Measure, rows: Sequence[_Row], scores: Sequence[dict[str, float]]) -> None:
    """Add the measured scores to those rows that can be measured."""
    able = [
        number
        for number, row in enumerate(rows)
        if row.sample.references or not measure.needs_texts
    ]
    found = measure.values(
        [rows[number].sample for number in able], [rows[number].output for number in able]
    )
    for number, values in zip(able, found, strict=True):
        scores[number].update(values)


def _rows(file: Path, ours: Sequence[str]) -> list[_Row]:
    reader = RowReader(file.stem, needs_texts=False)
    rows = []
    places: dict[tuple[int | str, str], str] = {}
    for where, fields in read_rows(file):
        row = _row(fields, where, reader)
        if clash := row.scores.keys() & set(ours):
            raise CorpusError(
                f"`scores` has {min(clash)!r}, which is measured here",
                where=where,
                remedy="Use another name, such as `their_bleu`.",
            )
        first = places.setdefault((row.input, row.system), where)
        if first != where:
            raise CorpusError(
                f"has a second output of {row.system!r} for input {row.input!r}, after {first}",
                where=where,
                remedy="Give each output once, with the mean of its judgements.",
            )
        rows.append(row)
    if not rows:
        raise CorpusError("has no rows", where=file)
    if not any(row.judgements for row in rows):
        raise CorpusError(
            "has no judgements",
            where=file,
            remedy='Add human judgements to the rows, such as "judgements": {"fluency": 3}.',
        )
    return rows


def _row(fields: Mapping[str, Any], where: str, reader: RowReader) -> _Row:
    of = fields.get("input")
    if isinstance(of, bool) or not isinstance(of, int | str):
        raise CorpusError(f"`input` must be an integer or a string, not {of!r}", where=where)
    return _Row(
        reader(fields, where),
        first_line(text_of(fields, "output", where)),
        of,
        text_of(fields, "system", where),
        _numbers(fields.get("judgements"), "judgements", where),
        _numbers(fields.get("scores", {}), "scores", where),
    )


def _numbers(value: object, field: str, where: str) -> dict[str, float]:
    if not isinstance(value, dict):
        raise CorpusError(f"`{field}` must be an object with a number for each name", where=where)
    for name, number in value.items():
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if number is not None and not (is_number and abs(number) <= sys.float_info.max):
            raise CorpusError(
                f"`{name}` in `{field}` must be a number or null, not {number!r}", where=where
            )
    return {name: float(number) for name, number in value.items() if number is not None}


def _columns(
    rows: Sequence[Mapping[str, float]], names: Sequence[str] | None = None
) -> dict[str, Numbers]:
    """Return the numbers of each name, over all rows, if any row has one."""
    if names is None:
        names = list(dict.fromkeys(chain(*rows)))
    columns = {name: np.array([row.get(name) for row in rows], float) for name in names}
    return {name: column for name, column in columns.items() if not np.isnan(column).all()}


def require_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        ConfigError: one of ``asked`` is not in ``known``.
    """
    for name in asked:
        if name not in known:
            raise ConfigError(
                f"there is no {what} {name!r}",
                remedy=f"Use one of {', '.join(known)}." if known else None,
            )
