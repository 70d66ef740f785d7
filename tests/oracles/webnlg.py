"""The test samples of WebNLG as the released sets have them [code]."""

from pathlib import Path

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.webnlg import reader


def read_test(folder: Path) -> tuple[Sample, ...]:
    """Return the test samples of which some training sample has every (predicate, object)."""
    train = reader.read_train(folder)
    known = {unit[1:] for sample in train for unit in sample.units}
    samples = reader.read_parts("dev", "test", folder=folder)
    return tuple(s for s in samples if known.issuperset(unit[1:] for unit in s.units))
