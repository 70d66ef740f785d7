"""Scores a file of outputs, whatever system wrote them, without the harness.

Each row is a sample in the published field names (:mod:`spor_tasks.corpora.jsonl`) with its
``output`` or, under the metric ``order``, ``output_1`` and ``output_2``. Of an output the same is
scored as by the tasks (:mod:`spor_tasks.text.answers`). Rows are read one at a time, and only
numbers are kept of them.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError, SporError
from spor_tasks.core.files import (
    ROW_VARIABLE,
    encode_row,
    read_rows,
    row_limit,
    stream_rows,
    write_rows,
    writing,
)
from spor_tasks.core.sample import AttributeValue, CopySample, OrderSample, Sample, Triple
from spor_tasks.corpora.jsonl import RowReader
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Metric, Score, Tally
from spor_tasks.metrics.chrf import Chrf
from spor_tasks.metrics.copy_rule import CopyEvidence, CopyRule, Verdict
from spor_tasks.metrics.coverage import Coverage, Located
from spor_tasks.metrics.facts import Facts, Told, share, untold
from spor_tasks.metrics.order import Cwio, CwioEvidence, OrderEvidence, OrderInvariance
from spor_tasks.metrics.parent import Parent, ParentEvidence
from spor_tasks.metrics.significance import Clusters, Comparison
from spor_tasks.text.answers import answer
from spor_tasks.text.tokenize import tokens

STANDARD_INPUT = Path("-")
SEED = 0
"""Of the resampling, so that equal files have equal intervals."""

_UNITS = {"webnlg": Triple, "e2e": AttributeValue}
CORPORA = tuple(_UNITS)

_AT_ONCE = 256  # rows that a classifier judges together

Fields = dict[str, Any]
"""What is written of one sample."""


class _Plan(NamedTuple):
    """What a metric of the command line stands for.

    Its ``metrics`` are all measured on a row's sample, which must be of type ``sample`` and may
    have to have texts, and on the fields ``outputs``. ``describe`` makes what is written of
    sample, output and the metrics' evidence. Without metrics it is a classifier that judges.
    """

    metrics: tuple[Metric[Any, Any, Any], ...]
    sample: type[Sample]
    needs_texts: bool
    outputs: tuple[str, ...]
    describe: Callable[..., Fields]


@dataclass(frozen=True, slots=True)
class Result:
    """What the outputs of a file come to.

    ``clusters`` counts the samples with different units. ``samples_sha256`` is the digest of the
    samples as the published file of them would have it, whatever else the rows hold: scores are of
    the same test set if it is the same. ``comparisons`` are by score, where another file was given.
    """

    metric: str
    corpus: str
    samples: int
    clusters: int
    samples_sha256: str
    scores: tuple[Score, ...]
    comparisons: Mapping[str, Comparison | None]


def score(
    file: Path,
    metric: str,
    corpus: str,
    *,
    per_sample: Path | None = None,
    against: Path | None = None,
    intervals: bool = False,
    facts: Facts | None = None,
) -> Result:
    """Score the outputs in ``file``, which may be :data:`STANDARD_INPUT` and gzipped.

    ``per_sample`` is written each row as it was, with what the metric found. ``against`` holds
    another system's outputs for the same samples in the same order. The metric ``facts`` is the
    one that is given, with its classifier.

    Raises:
        ConfigError: the metric or corpus is unknown, ``facts`` lacks a classifier, or
            ``per_sample`` cannot be written.
        CorpusError: a row cannot be read or scored; the error names the line.
        ResultError: ``against`` is of other samples.
    """
    if metric not in _PLANS or corpus not in CORPORA:
        raise ConfigError(
            f"there is no metric {metric!r} of corpus {corpus!r}",
            remedy=f"Metrics are {', '.join(METRICS)}, corpora {', '.join(CORPORA)}.",
        )
    plan = _PLANS[metric]
    if (metric == "facts") != (facts is not None):
        raise ConfigError(
            "the metric facts, and no other, needs a classifier",
            remedy="Name one with `--metric facts --model PATH_OR_NAME`.",
        )
    metrics = plan.metrics if facts is None else (facts,)
    own, other = _Summary(metrics), _Summary(metrics)
    judged = own.counted(_judge(_read(file), plan, corpus, facts))
    if against:
        judged = _paired(judged, other.counted(_judge(_read(against), plan, corpus, facts)))
    if per_sample:
        with writing(per_sample):
            rows = ({**each.row, **plan.describe(*each.found)} for each in judged)
            write_rows(per_sample, rows)
    else:
        for _ in judged:
            pass
    if not own.samples:
        raise CorpusError("holds no row", where=file)
    return Result(
        metric,
        corpus,
        own.samples,
        len(set(own.units)),
        own.sha.hexdigest(),
        tuple(own.scores(intervals=intervals)),
        dict(own.compared(other)) if against else {},
    )


class _Judged(NamedTuple):
    where: str
    row: Mapping[str, Any]
    sample: Sample
    output: str | tuple[str, ...]
    evidence: tuple[Any, ...]

    @property
    def found(self) -> tuple[Any, ...]:
        return (self.sample, self.output, *self.evidence)


class _Summary:
    """What is kept of the rows of one file."""

    def __init__(self, metrics: Iterable[Metric[Any, Any, Any]]) -> None:
        self.tallies = [(metric, Tally(metric.names)) for metric in metrics]
        self.units: list[int] = []  # hashes: samples with equal units are one cluster
        self.sha = hashlib.sha256()
        self.samples = 0

    @property
    def clusters(self) -> Clusters:
        """Which samples show the same units."""
        return significance.clusters_of(self.units)

    def counted(self, judged: Iterable[_Judged]) -> Iterator[_Judged]:
        """Yield what comes, and keep its numbers."""
        for each in judged:
            for (metric, tally), evidence in zip(self.tallies, each.evidence, strict=True):
                tally.add(metric.values(evidence))
            self.units.append(hash(frozenset(each.sample.units)))
            self.sha.update(encode_row(to_row(each.sample)))
            self.samples += 1
            yield each

    def scores(self, *, intervals: bool) -> Iterator[Score]:
        clusters = self.clusters
        for metric, tally in self.tallies:
            signature = f"{metric.signature}|samples:{self.sha.hexdigest()[:16]}"
            for name in tally.names:
                column = tally.column(name)
                found = column.score(name, signature)
                yield (
                    replace(
                        found,
                        interval=significance.interval(
                            column, clusters[tally.outputs(name)], seed=SEED
                        ),
                    )
                    if intervals
                    else found
                )

    def compared(self, other: "_Summary") -> Iterator[tuple[str, Comparison | None]]:
        clusters = self.clusters
        for (_, tally), (_, theirs) in zip(self.tallies, other.tallies, strict=True):
            for name in tally.names:
                pair = tally.column(name), theirs.column(name)
                of_column = clusters[tally.outputs(name)]
                yield name, significance.compare(*pair, of_column, seed=SEED)


def _read(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if file != STANDARD_INPUT:
        return read_rows(file)
    return stream_rows(open(0, "rb", closefd=False), "standard input")


def _judge(
    rows: Iterable[tuple[str, Mapping[str, Any]]], plan: _Plan, corpus: str, facts: Facts | None
) -> Iterator[_Judged]:
    measured = _measure(rows, plan, corpus)
    if facts is None:
        yield from measured
        return
    while judged := list(islice(measured, _AT_ONCE)):
        outputs = [str(each.output) for each in judged]
        told = facts.judge([each.sample for each in judged], outputs)
        for each, evidence in zip(judged, told, strict=True):
            yield each._replace(evidence=(evidence,))


def _measure(
    rows: Iterable[tuple[str, Mapping[str, Any]]], plan: _Plan, corpus: str
) -> Iterator[_Judged]:
    for where, row in rows:
        try:
            sample = _sample(row, plan, corpus, where)
            texts = tuple(answer(text_of(row, field, where)) for field in plan.outputs)
            output = texts if len(texts) > 1 else texts[0]
            evidence = tuple(metric.measure(sample, output) for metric in plan.metrics)
        except SporError as error:
            raise CorpusError(error.what, where=where, remedy=error.remedy) from error
        yield _Judged(where, row, sample, output, evidence)


def _sample(row: Mapping[str, Any], plan: _Plan, corpus: str, where: str) -> Sample:
    # A reader for each row, for one remembers every sample to number equal ones.
    sample = RowReader(corpus, needs_texts=plan.needs_texts)(row, where)
    if not isinstance(sample.units[0], _UNITS[corpus]):
        raise CorpusError(
            f"its units are none of {corpus}",
            where=where,
            remedy="WebNLG's are triples, E2E's are attribute-value pairs.",
        )
    if not isinstance(sample, plan.sample):
        raise CorpusError(
            "lacks what the metric looks at",
            where=where,
            remedy="Samples of `order` have `output_order`, those of `copy_rule` have "
            "`replaced_entity` or `replaced_kv_pair`.",
        )
    return sample


def text_of(row: Mapping[str, Any], field: str, where: str) -> str:
    """Return the text in a field of a row.

    It has at most a quarter as many characters as a row may have bytes
    (:func:`spor_tasks.core.files.row_limit`): measuring a million takes seconds and 200 MB.

    Raises:
        CorpusError: there is none, or it is longer; the error names ``where`` and the field.
        ConfigError: as :func:`spor_tasks.core.files.row_limit`.
    """
    text = row.get(field)
    if not isinstance(text, str):
        fault = (
            f"`{field}` is {type(text).__name__}, not text" if field in row else f"has no `{field}`"
        )
        raise CorpusError(fault, where=where)
    if len(text) > (most := row_limit() // 4):
        raise CorpusError(
            f"`{field}` has {len(text):,} characters, more than {most:,}",
            where=where,
            remedy=f"Did the system not stop? To score it nevertheless, set {ROW_VARIABLE}="
            f"{math.ceil(4 * len(text) / 1_000_000)} in the environment.",
        )
    return text


def _paired(ones: Iterable[_Judged], others: Iterable[_Judged]) -> Iterator[_Judged]:
    """Yield the first file's rows while the second has the same samples."""
    remedy = "Two systems are compared on the same samples in the same order."
    for one, other in zip_longest(ones, others):
        if one is None or other is None:
            raise ResultError(
                "has no counterpart in the other file",
                where=(one or other).where,
                remedy=remedy,
            )
        if one.sample.id != other.sample.id:
            raise ResultError(
                f"is another sample than {other.where}", where=one.where, remedy=remedy
            )
        yield one


# --- What is written of one sample: the names of the published evaluation's results, and more -----


def _parent_fields(
    sample: Sample, output: str, published: ParentEvidence, full_table: ParentEvidence
) -> Fields:
    return {
        "n_table": len(_PUBLISHED.table(sample)),
        "tok_output": tokens(output),
        "precision": published.precision,
        "recall": published.recall,
        "f": published.f,
        "precision_full_table": full_table.precision,
        "recall_full_table": full_table.recall,
        "f_full_table": full_table.f,
    }


def _chrf_fields(_: Sample, __: str, chrf: float) -> Fields:
    return {"chrf": chrf}


def _coverage_fields(_: Sample, __: str, positions: Located) -> Fields:
    missing = [unit for unit, position in enumerate(positions) if position is None]
    covered = Coverage().values(positions)
    return {**covered, "pos": positions, "missing": missing}


def _facts_fields(_: Sample, __: str, told: Told) -> Fields:
    return {"facts": share(told), "told": told, "untold": untold(told)}


def _order_fields(_: Sample, __: tuple[str, ...], evidence: OrderEvidence) -> Fields:
    return {
        f"{name}_{number}": value
        for number, output in enumerate(evidence, start=1)
        for name, value in (
            ("fidelity", output.faithful),
            ("proper", output.proper),
            ("em", output.exact),
            ("plan", output.order),
            ("pos", output.positions),
            ("missing", output.missing),
        )
    }


def _cwio_fields(_: Sample, __: str, evidence: CwioEvidence) -> Fields:
    positions = evidence.positions
    return {
        "tau": evidence.tau,
        "n": evidence.units,
        "occ": len(positions) - positions.count(None),
        "pos": positions,
        "tau_located": evidence.located_tau,
        "pos_located": evidence.located,
        "missing": evidence.missing,
    }


def _copy_fields(_: Sample, __: str, evidence: CopyEvidence) -> Fields:
    return {
        **_verdict_fields(evidence.published, ""),
        **_verdict_fields(evidence.whole_word, "_whole_word"),
    }


def _verdict_fields(verdict: Verdict, suffix: str) -> Fields:
    return {
        f"a{suffix}": int(verdict.copied),
        f"b{suffix}": int(verdict.leaked),
        f"missing{suffix}": verdict.missing,
        f"leaks{suffix}": [leak._asdict() for leak in verdict.leaks],
    }


_PUBLISHED = Parent()
_PLANS: Mapping[str, _Plan] = {
    "parent": _Plan(
        metrics=(_PUBLISHED, Parent(full_table=True)),
        sample=Sample,
        needs_texts=True,
        outputs=("output",),
        describe=_parent_fields,
    ),
    "chrf": _Plan(
        metrics=(Chrf(),),
        sample=Sample,
        needs_texts=True,
        outputs=("output",),
        describe=_chrf_fields,
    ),
    "coverage": _Plan(
        metrics=(Coverage(),),
        sample=Sample,
        needs_texts=False,
        outputs=("output",),
        describe=_coverage_fields,
    ),
    "facts": _Plan(
        metrics=(),
        sample=Sample,
        needs_texts=False,
        outputs=("output",),
        describe=_facts_fields,
    ),
    "order": _Plan(
        metrics=(OrderInvariance(),),
        sample=OrderSample,
        needs_texts=True,
        outputs=("output_1", "output_2"),
        describe=_order_fields,
    ),
    "cwio": _Plan(
        metrics=(Cwio(),),
        sample=Sample,
        needs_texts=False,
        outputs=("output",),
        describe=_cwio_fields,
    ),
    "copy_rule": _Plan(
        metrics=(CopyRule(),),
        sample=CopySample,
        needs_texts=False,
        outputs=("output",),
        describe=_copy_fields,
    ),
}
METRICS = tuple(_PLANS)
