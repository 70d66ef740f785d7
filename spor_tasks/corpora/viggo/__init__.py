"""ViGGO: utterances of dialogues about video games (Juraska et al., INLG 2019)."""

from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.slots import letters_of
from spor_tasks.corpora.viggo import reader
from spor_tasks.corpora.viggo.linearize import linearize

_NAMES = [
    "name",
    "developer",
    "release year",
    "exp release date",
    "esrb",
    "genres",
    "platforms",
    "player perspective",
    "rating",
    "specifier",
    *reader.NAMED_BY.values(),
    *reader.NAMED_BY,
]

VIGGO = Corpus(
    name="viggo",
    parts=lambda folder: {
        "train": reader.read_parts("train", folder=folder),
        "test": reader.read_parts("valid", "test", folder=folder),
    },
    linearize=linearize,
    attributes={letters_of(name): reader.NAMED_BY.get(name, name) for name in _NAMES},
)
