"""Cleaned E2E, as the paper filters it."""

from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.e2e import reader
from spor_tasks.corpora.e2e.linearize import linearize
from spor_tasks.corpora.slots import letters_of

_ATTRIBUTES = (
    "name",
    "eat type",
    "food",
    "price range",
    "customer rating",
    "area",
    "family friendly",
    "near",
)

E2E = Corpus(
    name="e2e",
    parts=lambda folder: {"train": reader.read_train(folder), "test": reader.read_test(folder)},
    linearize=linearize,
    attributes={letters_of(attribute): attribute for attribute in _ATTRIBUTES},
)
