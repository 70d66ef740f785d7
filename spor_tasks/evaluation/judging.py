"""Judges the outputs of files by metrics, and gives each score a column for each file."""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.evaluation.outputs import ScoredRow
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.groups import GROUPS, TWINS, judge_all
from spor_tasks.metrics.scores import over_groups
from spor_tasks.metrics.tally import Column, columns_of
from spor_tasks.metrics.totals import Numbers

_ROWS_AT_ONCE = 128
_SECONDS = 1.0  # before a bar is shown


class Judged(NamedTuple):
    """One score of the outputs of a file."""

    info: ScoreInfo
    column: Column
    """What each output adds to it, of those that it is of."""
    named: NDArray[np.bool_]
    """A mask of these outputs."""
    signature: str

    @property
    def values(self) -> Numbers:
        """The score of each output alone, NaN where it has none."""
        values = np.full(len(self.named), np.nan)
        values[self.named] = self.column.each
        return values


def judged(
    files: Sequence[Sequence[ScoredRow]], judges: Sequence[Metric], signed: str, *, lowercase: bool
) -> tuple[list[dict[str, Judged]], list[list[Sequence[Judgement]]]]:
    """Return the scores of each file by name, also over groups of samples, and all judgements."""
    groups = (*([TWINS] if files[0][0].sample.twin else []), *GROUPS)
    infos = [over_groups(judge.scores, groups) for judge in judges]
    judgements = _judgements(files, judges, infos, lowercase=lowercase)
    judged: list[dict[str, Judged]] = [{} for _ in files]
    for rows, scores, found in zip(files, judged, judgements, strict=True):
        for judge, of_judge, of_rows in zip(judges, infos, found, strict=True):
            signature = f"{judge.signature_of([row.sample for row in rows])}|{signed}"
            if lowercase:  # as sacrebleu says it
                signature = signature.replace("|case:mixed|", "|case:lc|")
            for info, column, named in columns_of(of_judge, [each.values for each in of_rows]):
                scores[info.name] = Judged(info, column, named, signature)
    return judged, judgements


def _judgements(
    files: Sequence[Sequence[ScoredRow]],
    judges: Sequence[Metric],
    infos: Sequence[Sequence[ScoreInfo]],
    *,
    lowercase: bool,
) -> list[list[Sequence[Judgement]]]:
    """Return what each metric finds of each row, for each file.

    Metrics that judge output by output judge all those for a sample soon after one another. So what
    they prepare of it, as counts of its references, they need not keep for long.
    """
    keys = [{info.name for info in of_judge} for of_judge in infos]
    rows, count = [*chain(*zip(*files, strict=True))], len(files)
    at_once = count * max(1, _ROWS_AT_ONCE // count)
    flat: list[list[Judgement]] = [[] for _ in judges]
    with tqdm(desc="judging", total=len(rows), delay=_SECONDS, disable=None, leave=False) as bar:
        for start in range(0, len(rows), at_once):
            some = rows[start : start + at_once]
            for judge, of_judge, found in zip(judges, keys, flat, strict=True):
                if getattr(type(judge), "judge", None) is Metric.judge:
                    found.extend(_judge(some, judge, of_judge, lowercase=lowercase))
            bar.update(len(some))
    by_judge = [
        [found[number::count] for number in range(count)]
        if found
        else [_judge(of_file, judge, of_judge, lowercase=lowercase) for of_file in files]
        for judge, of_judge, found in zip(judges, keys, flat, strict=True)
    ]
    return [[*of_file] for of_file in zip(*by_judge, strict=True)]


def _judge(
    rows: Sequence[ScoredRow], judge: Metric, keys: Container[str], *, lowercase: bool
) -> list[Judgement]:
    """Return a metric's judgements of all rows, also for the scores over groups of these names."""
    samples, outputs = [row.sample for row in rows], [row.outputs for row in rows]
    if lowercase:
        samples = [*map(_lowered, samples)]
        outputs = [[*map(str.lower, texts)] for texts in outputs]
    try:
        return judge_all(judge, samples, outputs, keys)
    except CorpusError as error:
        if len(rows) == 1:
            raise CorpusError(error.what, where=rows[0].place, remedy=error.remedy) from error
        for row in rows:  # the one at fault is to be named
            _judge([row], judge, keys, lowercase=lowercase)
        raise


def _lowered(sample: Sample) -> Sample:
    """Return a sample with references in lower case."""
    texts = tuple(map(str.lower, sample.references))
    return replace(sample, references=texts, twin=sample.twin and _lowered(sample.twin))
