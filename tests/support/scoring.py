"""Scores a file by one metric, as most tests of `spor score` do."""

from types import SimpleNamespace

from spor_tasks.core.files import write_rows
from spor_tasks.evaluation.score import score as score_files


def score(file, metric, corpus, *, per_sample=None, judge=None, **settings):
    """Return what is found of the file; comparisons are by score."""
    result = score_files([file], metrics=[judge or metric], corpus=corpus, **settings)
    system = result.systems[0]
    if per_sample:
        write_rows(per_sample, system.evidence())
    return SimpleNamespace(
        samples=result.samples,
        samples_sha256=result.samples_sha256,
        scores=system.scores,
        comparisons={each.score: each.estimate for each in result.comparisons},
        warnings=result.warnings,
    )
