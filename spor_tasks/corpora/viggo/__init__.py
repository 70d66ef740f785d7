"""ViGGO: utterances of dialogues about video games (Juraska et al., INLG 2019)."""

from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.viggo import reader
from spor_tasks.corpora.viggo.linearize import linearize

VIGGO = Corpus(
    name="viggo",
    parts=lambda folder: {
        "train": reader.read_parts("train", folder=folder),
        "test": reader.read_test(folder),
    },
    linearize=linearize,
)
