"""WebNLG (release 3.0)."""

from collections.abc import Mapping
from pathlib import Path

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.webnlg import reader
from spor_tasks.corpora.webnlg.linearize import linearize


def _parts(folder: Path | None) -> Mapping[str, tuple[Sample, ...]]:
    """Return the training samples, and the test samples of which training has every triple."""
    train = reader.read_train(folder)
    test = reader.read_parts("dev", "test", folder=folder)
    return {"train": train, "test": reader.keep_known(test, train)}


WEBNLG = Corpus(
    name="webnlg",
    parts=_parts,
    linearize=linearize,
    read_all=lambda folder: reader.read_parts("train", "dev", "test", folder=folder),
)
