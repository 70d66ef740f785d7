"""The outputs in the files of an evaluation."""

from spor_tasks.results import runs
from spor_tasks.results.samples import find


def scored(folder):
    """Return what was scored of the samples, sorted by id, of each model and task."""
    found = {}
    for result in runs.collect([folder]).runs:
        samples = find(result)
        assert samples
        records = sorted(samples.records(), key=lambda record: record.sample.id)
        found[result.model, result.task] = [tuple(record.scored) for record in records]
    return found
