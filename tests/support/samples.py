"""Samples from files."""

from pathlib import Path

from spor_tasks.core.sample import Sample
from spor_tasks.corpora import jsonl


def read_samples(path: Path, corpus: str) -> tuple[Sample, ...]:
    return jsonl.parse_samples(path.read_bytes(), corpus, where=str(path))
