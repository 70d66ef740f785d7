"""The corpora of the paper, as the strict sets are built from them."""

from pathlib import Path

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Corpus
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg

NAMES = ("webnlg", "e2e")


def read(name: str, folder: Path | None = None) -> Corpus:
    """Return one of :data:`NAMES`.

    WebNLG's test samples are those of which the training set knows every triple. ``folder`` holds
    the published repository's tree; by default it is :func:`sources.data_dir`.

    Raises:
        CorpusError: there is no such corpus, or a file is missing or is not the published one.
    """
    match name:
        case "webnlg":
            train = webnlg.read_train(folder)
            test = webnlg.read_parts("dev", "test", folder=folder)
            return Corpus(name, train, webnlg.keep_known(test, train, "strict"))
        case "e2e":
            return Corpus(name, e2e.read_train(folder), e2e.read_test(folder))
    raise CorpusError(f"there is no corpus {name!r}", remedy=f"There are {' and '.join(NAMES)}.")
