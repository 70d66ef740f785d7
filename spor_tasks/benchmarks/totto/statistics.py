"""What the corpora come to, beside the paper's numbers (Table 5, section 6.3)."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean, median

from spor_tasks.benchmarks.totto.sets import MINI, TITLE
from spor_tasks.core.contracts import Figure, Figures, Value
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.table import table_of
from spor_tasks.corpora.totto_mini import worlds

_PAPER: Mapping[str, Mapping[str, Value]] = {
    "train": {
        "examples": 120_761,
        "tables": 83_141,
        "rows, median": 16,
        "rows, mean": 32.7,
        "cells, median": 87,
        "cells, mean": 206.6,
        "highlighted cells, median": 3,
        "highlighted cells, mean": 3.55,
        "words of a sentence, mean": 17.4,
        "different words": 136_777,
    },
    "dev": {"examples": 7_700, "overlap": 3_784, "non-overlap": 3_916},
    "test": {"examples": 7_700, "overlap": 3_853, "non-overlap": 3_847},
}
_NAMES = {"train": "training", "dev": "development", "test": "test"}


def statistics() -> Iterator[Figures]:
    """Yield the counts of the embedded corpus, then of each published file that there is.

    Raises:
        CorpusError: an example of a file is malformed.
    """
    for part in ("train", "test"):
        yield _counted(f"{MINI}, {_NAMES[part]}", worlds.samples(part), {})
    for part in reader.PARTS:
        if (samples := reader.part(part)).path.is_file():
            yield _counted(f"{TITLE}, {_NAMES[part]}", samples, _PAPER[part])


def _counted(title: str, samples: Iterable[Sample], paper: Mapping[str, Value]) -> Figures:
    rows, cells, highlighted, words = [], [], [], []
    tables: set[int] = set()
    vocabulary: set[str] = set()
    halves = {True: 0, False: 0}
    for sample in samples:
        table = table_of(sample)
        values = tuple(cell.value for cell in table.cells)
        rows.append(len(table.rows))
        cells.append(len(values))
        highlighted.append(len(table.highlighted))
        tables.add(hash((sample.about("title"), sample.about("section_title"), values)))
        for text in sample.references:
            words.append(len(text.split()))
            vocabulary.update(text.split())
        if (overlap := sample.context.get("overlap")) is not None:
            halves[bool(overlap)] += 1
    found: dict[str, Value] = {"examples": len(rows)}
    if any(halves.values()):
        found |= {"overlap": halves[True], "non-overlap": halves[False]}
    found["tables"] = len(tables)
    counted = (("rows", rows, 1), ("cells", cells, 1), ("highlighted cells", highlighted, 2))
    for name, counts, digits in counted:
        middle = median(counts)
        found |= {
            f"{name}, median": int(middle) if middle == int(middle) else middle,
            f"{name}, mean": round(fmean(counts), digits),
        }
    if words:
        found |= {
            "sentences": len(words),
            "words of a sentence, mean": round(fmean(words), 1),
            "different words": len(vocabulary),
        }
    return Figures(
        title, tuple(Figure(name, ours, paper.get(name)) for name, ours in found.items())
    )
