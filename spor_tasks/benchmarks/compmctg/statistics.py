"""What the spaces, the shipped splits and the texts come to, beside the paper's numbers.

The paper's highest divergences are those that its search reaches, with the published code.
"""

from collections.abc import Iterator, Mapping

from spor_tasks.benchmarks.compmctg import sets, splits
from spor_tasks.benchmarks.compmctg.protocols import divergence
from spor_tasks.core.contracts import Figure, Figures, Value
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.spaces import Space
from spor_tasks.corpora.compmctg_mini import worlds

_PAPER: Mapping[str, Mapping[str, Value]] = {
    "fyelp": {
        "combinations": 40,
        "splits of Hold-Out": 40,
        "splits of ACD": 10,
        "divergence of ACD": 0.331,
        "splits of Few-Shot": 2,
        "texts for generators": 70_000,
        "texts for classifiers": 40_000,
    },
    "amazon": {
        "combinations": 12,
        "splits of Hold-Out": 12,
        "splits of Few-Shot": 10,
        "texts for generators": 120_000,
        "texts for classifiers": 180_000,
    },
    "yelp": {
        "combinations": 8,
        "splits of Hold-Out": 8,
        "splits of ACD": 10,
        "divergence of ACD": 0.5,
        "splits of Few-Shot": 8,
        "divergence of Few-Shot": 0.63,
        "texts for generators": 24_000,
        "texts for classifiers": 24_000,
    },
    "mixture": {
        "combinations": 8,
        "splits of Hold-Out": 8,
        "splits of Few-Shot": 8,
        "texts for generators": 4_800,
        "texts for classifiers": 4_264,
    },
}
_PARTS = {"gen": "texts for generators", "cls": "texts for classifiers"}


def statistics() -> Iterator[Figures]:
    """Yield the counts of each corpus; of the published texts only if their files are there.

    Raises:
        CorpusError: a text of a file is malformed.
    """
    for space in splits.SPACES:
        found = dict([*_of_splits(space), *_of_texts(space)])
        paper = _PAPER.get(space.name, {})
        title = space.name if space.name == sets.MINI else reader.FOLDERS[space.name]
        yield Figures(title, tuple(Figure(name, it, paper.get(name)) for name, it in found.items()))


def _of_splits(space: Space) -> Iterator[tuple[str, Value]]:
    yield "combinations", len(space.combinations)
    for mode, protocol in reader.MODES.items():
        if protocol not in {"holdout", *splits.NUMBERS[space.name]}:
            continue
        found = splits.shipped(space, protocol)
        yield f"splits of {mode}", len(found)
        if protocol != "holdout":
            yield f"divergence of {mode}", divergence(*found[0])
            yield f"splits with it, {mode}", splits.facts()["splits"][space.name][protocol]["ties"]


def _of_texts(space: Space) -> Iterator[tuple[str, Value]]:
    if space.name == sets.MINI:
        yield _PARTS["gen"], len(worlds.samples())
        return
    for part, label in _PARTS.items():
        if (path := reader.file_of(space.name, part)).is_file():
            yield label, sum(1 for _ in reader.read(path, space))
