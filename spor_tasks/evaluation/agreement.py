"""How well metrics agree with human judgements of outputs, over texts and over systems.

A row of a file is one judged output: a sample in the published field names
(:mod:`spor_tasks.core.codec`; without ``texts`` if there are none) with its ``output``, the
``system`` that wrote it, its ``input`` (a number or a text; outputs for equal inputs are resampled
together), ``judgements`` (human numbers by name) and, optionally, ``scores`` (numbers of metrics
that are not measured here, by name). The part of an output that counts is the same as in
:mod:`spor_tasks.evaluation.scoring`.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.jsonl import RowReader
from spor_tasks.evaluation.scoring import text_of
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.coverage import COVERAGE
from spor_tasks.metrics.order import is_strict
from spor_tasks.metrics.parent import PARENT, PARENT_FULL_TABLE
from spor_tasks.metrics.significance import ROUNDING, blocks, percentile_interval
from spor_tasks.metrics.totals import Numbers
from spor_tasks.text import align
from spor_tasks.text.filters import first_line

Codes = NDArray[np.int64]
"""The input or the system of each output, numbered from 0."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done and the number of all steps."""

RESAMPLES = 1_000
SEED = 0
FEWEST = 3
"""The fewest texts or systems to correlate: a correlation of two is always 1 or -1."""

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
    positions = align.locate(sample.units, output, strict=is_strict(sample))
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
    _require_known("metric", metrics, known)
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
                _codes([repr(row.input) for row in of_file]),
                _codes([row.system for row in of_file]),
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


def _codes(names: Sequence[str] | NDArray[Any]) -> Codes:
    """Return the index of each name among the sorted names: rows may come in any order."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


def _require_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            raise ConfigError(
                f"there is no {what} {name!r}",
                remedy=f"Use one of {', '.join(known)}." if known else None,
            )


# --- Correlations ---------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A number with its 95 % bootstrap interval; NaN stands for an undefined number."""

    value: float
    low: float
    high: float


class Correlation(NamedTuple):
    """How a metric correlates with a judgement ``over`` texts or systems.

    ``kendall`` is τ-b. A correlation with a constant is NaN.
    """

    over: str
    metric: str
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


class Difference(NamedTuple):
    """The signed Pearson correlation of ``metric`` minus that of ``other``.

    ``t`` and ``p`` are those of :func:`williams`.
    """

    over: str
    metric: str
    other: str
    difference: Estimate
    t: float
    p: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the metrics of a file agree with one judgement.

    All correlations are over the same rows: those with the judgement and a score of every metric.
    ``left_out`` counts the other rows.
    """

    file: Path
    judgement: str
    texts: int
    inputs: int
    systems: int
    left_out: int
    resamples: int
    seed: int
    correlations: tuple[Correlation, ...]
    differences: tuple[Difference, ...]

    def strongest(self, over: str) -> str | None:
        """Return the metric with the largest absolute Pearson correlation."""
        found = {
            each.metric: abs(each.pearson.value)
            for each in self.correlations
            if each.over == over and not math.isnan(each.pearson.value)
        }
        return max(found, key=found.__getitem__, default=None)


def agreements(
    judged: Sequence[Judged],
    *,
    judgements: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    progress: Progress | None = None,
) -> tuple[Agreement, ...]:
    """Correlate the scores in each file with each of ``judgements`` in it, or with all judgements.

    Intervals come from resamples of whole inputs with all their outputs; systems are not resampled.

    Raises:
        ConfigError: a name in ``judgements`` is in no file.
    """
    known = tuple(dict.fromkeys(name for each in judged for name in each.judgements))
    _require_known("judgement", judgements, known)
    asked = [
        (each, name) for each in judged for name in each.judgements if name in (judgements or known)
    ]
    found = []
    for each, name in asked:
        found.append(_agreement(each, name, resamples, seed))
        if progress:
            progress(len(found), len(asked))
    return tuple(found)


def _agreement(judged: Judged, judgement: str, resamples: int, seed: int) -> Agreement:
    table = np.stack([judged.judgements[judgement], *judged.scores.values()])
    whole = ~np.isnan(table).any(axis=0)
    people, *columns = map(_standard, table[:, whole])
    scores = dict(zip(judged.scores, columns, strict=True))
    inputs, systems = (_codes(codes[whole]) for codes in (judged.inputs, judged.systems))
    correlations: list[Correlation] = []
    differences: list[Difference] = []
    for level in _levels(inputs, systems, resamples, seed):
        found = {name: level.correlate(column, people) for name, column in scores.items()}
        correlations += [
            Correlation(level.over, name, *map(_estimate, coefficients))
            for name, coefficients in found.items()
        ]
        differences += _differences(level, scores, {name: found[name][0] for name in found})
    return Agreement(
        judged.file,
        judgement,
        len(people),
        len(np.unique(inputs)),
        len(np.unique(systems)),
        int((~whole).sum()),
        resamples,
        seed,
        tuple(correlations),
        tuple(differences),
    )


def _standard(column: Numbers) -> Numbers:
    """Return the column with mean 0 and variance 1, so that rounding errors have one size."""
    scaled = column / (np.abs(column).max(initial=0) or 1)
    if not len(scaled) or not np.ptp(scaled):
        return np.zeros_like(scaled)
    standard: Numbers = (scaled - scaled.mean()) / scaled.std()
    return standard


class _Level(NamedTuple):
    """The ``n`` texts or systems to correlate.

    ``points`` returns their numbers for a column. ``correlate`` returns the three coefficients of
    two columns, for the data and then for each resample, in shape (3, 1 + resamples).
    """

    over: str
    n: int
    points: Callable[[Numbers], Numbers]
    correlate: Callable[[Numbers, Numbers], Numbers]


def _levels(inputs: Codes, systems: Codes, resamples: int, seed: int) -> Iterator[_Level]:
    if len(inputs) < FEWEST:
        return
    weights = _weights(int(inputs.max()) + 1, resamples, seed)
    yield _Level("texts", len(inputs), lambda column: column, partial(_over_texts, inputs, weights))
    if (count := int(systems.max()) + 1) >= FEWEST:
        means = partial(_means, inputs, systems)
        yield _Level(
            "systems",
            count,
            lambda column: means(column, weights[:1])[0],
            partial(_over_systems, means, weights, count),
        )


def _weights(inputs: int, resamples: int, seed: int) -> Numbers:
    """Return how often each resample has each input; the first row is the data itself."""
    if inputs == 1:  # every resample would equal the data
        resamples = 0
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(inputs, np.full(inputs, 1 / inputs), resamples)
    return np.vstack([np.ones((1, inputs)), drawn])


def _estimate(values: Numbers) -> Estimate:
    """Return the first value, with the interval of the defined values of resamples."""
    resampled = values[1:][~np.isnan(values[1:])]
    bounded = len(resampled) and not math.isnan(values[0])
    return Estimate(
        float(values[0]), *(percentile_interval(resampled) if bounded else (math.nan, math.nan))
    )


def _differences(
    level: _Level, scores: Mapping[str, Numbers], pearson: Mapping[str, Numbers]
) -> Iterator[Difference]:
    points = {name: level.points(column)[None] for name, column in scores.items()}
    for one, other in combinations(scores, 2):
        (shared,) = _pearson(points[one], points[other], np.ones_like(points[one]))
        test = williams(pearson[one][0], pearson[other][0], shared, level.n)
        yield Difference(level.over, one, other, _estimate(pearson[one] - pearson[other]), *test)


def williams(one: float, other: float, shared: float, n: int) -> tuple[float, float]:
    """Return t and two-sided p of no difference between two correlations with the same thing.

    ``one`` and ``other`` are the Pearson correlations of two metrics with a judgement, ``shared``
    is the correlation between the metrics, and ``n`` the number of texts or systems, which are
    taken as independent (Williams, 1959, as in Steiger, 1980, equation 7). Both are NaN if the
    metrics agree completely, or n < 4.
    """
    if n <= FEWEST or not abs(shared) < 1 - ROUNDING:
        return math.nan, math.nan
    rest = max(0.0, 1 - one**2 - other**2 - shared**2 + 2 * one * other * shared)
    spread = 2 * rest * (n - 1) / (n - 3) + (one + other) ** 2 / 4 * (1 - shared) ** 3
    if not spread > 0:
        return math.nan, math.nan
    t = float(one - other) * math.sqrt((n - 1) * (1 + shared) / spread)
    return t, 2 * float(stats.t.sf(abs(t), n - 3))


# --- The coefficients of many resamples -----------------------------------------------------------


def _over_texts(inputs: Codes, weights: Numbers, one: Numbers, other: Numbers) -> Numbers:
    found = []
    for block in blocks(len(weights), len(one)):
        drawn = weights[block][:, inputs]
        ranks = _ranks(one, drawn), _ranks(other, drawn)
        found.append([_pearson(one, other, drawn), _pearson(*ranks, drawn)])

    def concordance(a: Numbers, b: Numbers) -> Numbers:
        pairs = _concordance(a, b, inputs)
        total: Numbers = ((weights @ pairs) * weights).sum(axis=1)
        return total

    return np.vstack([np.concatenate(found, axis=1), _correlation(concordance, one, other)])


def _concordance(one: Numbers, other: Numbers, inputs: Codes) -> Numbers:
    """Return the concordant minus the discordant pairs of texts, by the inputs of both texts.

    The shape is (inputs, inputs). In a resample, each count is multiplied by how often the resample
    has either input.
    """
    count = int(inputs.max()) + 1
    rows = []
    for number in range(count):
        of = inputs == number
        signs = np.sign(one[of, None] - one) * np.sign(other[of, None] - other)
        rows.append(np.bincount(inputs, signs.sum(axis=0), count))
    return np.stack(rows)


def _over_systems(
    means: Callable[[Numbers, Numbers], Numbers],
    weights: Numbers,
    count: int,
    one: Numbers,
    other: Numbers,
) -> Numbers:
    def concordance(a: Numbers, b: Numbers) -> Numbers:
        total: Numbers = (_signs(a) * _signs(b)).sum(axis=(1, 2))
        return total

    found = []
    for block in blocks(len(weights), count**2):
        pair = means(one, weights[block]), means(other, weights[block])
        ranks = stats.rankdata(pair[0], axis=1), stats.rankdata(pair[1], axis=1)
        alike = np.ones_like(pair[0])
        found.append(
            [_pearson(*pair, alike), _pearson(*ranks, alike), _correlation(concordance, *pair)]
        )
    return np.concatenate(found, axis=1)


def _means(inputs: Codes, systems: Codes, column: Numbers, weights: Numbers) -> Numbers:
    """Return the systems' means, in shape (resamples, systems); NaN for one without outputs."""
    shape = weights.shape[1], int(systems.max()) + 1
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (inputs, systems), column)
    np.add.at(counts, (inputs, systems), 1)
    outputs = weights @ counts
    means = np.full(outputs.shape, math.nan)
    np.divide(weights @ sums, outputs, out=means, where=outputs > 0)
    rounded: Numbers = np.round(means / ROUNDING) * ROUNDING
    return rounded


def _signs(means: Numbers) -> Numbers:
    signs: Numbers = np.sign(means[:, :, None] - means[:, None, :])
    return signs


def _ranks(column: Numbers, drawn: Numbers) -> Numbers:
    """Return the rank of each text in each resample, minus a half; ties share the mean rank."""
    codes = _codes(column)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    sizes = np.add.reduceat(drawn[:, order], starts, axis=1)
    ranks: Numbers = (np.cumsum(sizes, axis=1) - sizes / 2)[:, codes]
    return ranks


def _pearson(one: Numbers, other: Numbers, weights: Numbers) -> Numbers:
    """Return the weighted correlation of each row."""
    total = weights.sum(axis=1, keepdims=True)
    one, other = (
        column - (weights * column).sum(axis=1, keepdims=True) / total for column in (one, other)
    )

    def product(a: Numbers, b: Numbers) -> Numbers:
        total: Numbers = (weights * a * b).sum(axis=1)
        return total

    return _correlation(product, one, other)


def _correlation(
    product: Callable[[Numbers, Numbers], Numbers], one: Numbers, other: Numbers
) -> Numbers:
    """Return the product of both over the root of their squares; NaN if one is constant."""
    both, ones, others = product(one, other), product(one, one), product(other, other)
    varied = (ones > ROUNDING**2) & (others > ROUNDING**2)
    found = np.full(both.shape, math.nan)
    found[varied] = both[varied] / np.sqrt(ones[varied] * others[varied])
    clipped: Numbers = np.clip(found, -1, 1)  # rounding errors may exceed 1
    return clipped
