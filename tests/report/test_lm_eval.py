"""Reports of what lm-eval itself writes, of every aspect."""

from lm_eval.loggers import EvaluationTracker

from spor_tasks import report
from spor_tasks.core.sample import Hidden, Orders
from spor_tasks.results.runs import collect
from spor_tasks.results.samples import find
from tests.support.scripted import ScriptedLM, evaluate, half_right

LIMIT = 12


def test_all_of_it_is_reported_with_intervals_over_samples(tmp_path):
    """The results and samples of every task of the embedded corpus."""
    tracker = EvaluationTracker(output_path=str(tmp_path))
    settings = {"evaluation_tracker": tracker, "limit": LIMIT, "log_samples": True}
    written = evaluate(ScriptedLM(half_right), "spor_mini", "spor_mini_icl", **settings)
    samples = written.pop("samples")
    tracker.save_results_aggregated(results=written, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    found = report.collect([tmp_path])
    assert [problem.kind for problem in found.problems] == ["trial"]
    rows = [row for table in found.tables for row in table.rows]
    assert {row.spec.sets.aspect for row in rows} == {table.aspect for table in found.tables}
    assert len(found.tables) == 4
    assert len({row.task for row in rows}) == 2 * len(
        {(row.spec.sets.aspect, row.spec.sets.part) for row in rows}
    )
    for row in rows:
        cells = [row.as_is] if not row.variant else row.arms
        assert all(cell.interval and cell.interval.source == "samples" for cell in cells), row
        if row.difference:
            assert row.difference.p is not None or row.metric == "cwio_located"
    challenges = set()
    for result in collect([tmp_path]).runs:
        records = list(find(result).records())
        assert len(records) == result.n <= LIMIT
        for record in records:
            challenges.add(type(record.sample.challenge))
            assert len(record.inputs) == len(record.contexts) == len(record.outputs)
            for prompt, context in zip(record.inputs, record.contexts, strict=True):
                assert context.endswith(prompt)
                assert (context == prompt) == (result.asked.shown_arm is None)
    assert challenges > {Orders, Hidden}
