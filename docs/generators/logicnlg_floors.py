"""Print what systems without logic score on LogicNLG's pairs: rows of docs/results/floors.csv.

python docs/generators/logicnlg_floors.py      # with LOGICNLG_DATA_DIR and TABFACT_DATA_DIR
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from spor_tasks.core.sample import Contrast, DataUnit, Sample, challenge_of
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import table_of

System = Callable[[Sample, str, Sequence[DataUnit]], float]


class Trigrams:
    """An interpolated model of words, also with a share for the words of the linked cells."""

    def __init__(self, texts: Sequence[str], weights: tuple[float, float, float]) -> None:
        self.weights = weights
        ngrams = [ngram[start:] for text in texts for ngram in trigrams(text) for start in range(3)]
        self.counts, self.before = Counter(ngrams), Counter(ngram[:-1] for ngram in ngrams)
        self.words = self.before[()] + sum(len(ngram) == 1 for ngram in self.counts) + 1

    def __call__(self, _: Sample, text: str, __: Sequence[DataUnit]) -> float:
        """Return the mean log probability of a text's words."""
        return mean(math.log(self.likely(ngram)) for ngram in trigrams(text))

    def with_cells(self, sample: Sample, text: str, units: Sequence[DataUnit]) -> float:
        """Return the same, with a share for the words of the linked cells."""
        rows = table_of(sample).rows
        words = Counter(w for u in units for row in rows for w in row[int(u[-1])].lower().split())
        cells = {word: number / words.total() for word, number in words.items()}
        return mean(
            math.log(0.8 * self.likely(ngram) + 0.2 * cells.get(ngram[-1], 0.0))
            for ngram in trigrams(text)
        )

    def likely(self, ngram: tuple[str, ...]) -> float:
        """Return the probability of the last word of a trigram after the two before it."""
        one, *others = (ngram[start:] for start in (2, 1, 0))
        shares = [(self.counts[one] + 1) / self.words]
        for each in others:
            before = self.before[each[:-1]]
            shares.append(self.counts[each] / before if before else 0.0)
        return sum(weight * share for weight, share in zip(self.weights, shares, strict=True))


def mean(values: Iterable[float]) -> float:
    """Return the mean, of equal values in equal order to the last bit: ties count."""
    known = [*values]
    return sum(known) / len(known)


def trigrams(text: str) -> list[tuple[str, ...]]:
    """Return the trigrams of a text, with marks for its ends."""
    words = ["<s>", "<s>", *text.lower().split(), "</s>"]
    return list(zip(words, words[1:], words[2:], strict=False))


def overlap(sample: Sample, text: str, _: Sequence[DataUnit]) -> float:
    """Return the share of words that the table or its title has."""
    table = table_of(sample)
    known = {word for row in (table.header, *table.rows) for c in row for word in c.lower().split()}
    known.update(str(sample.about("title")).lower().split())
    words = text.lower().split()
    return sum(word in known for word in words) / max(1, len(words))


def shortness(_: Sample, text: str, __: Sequence[DataUnit]) -> float:
    """Return how short a text is."""
    return -len(text.split())


def figures(pairs: Sequence[Sample], system: System) -> str:
    """Return the two figures of a system, as the page has them."""
    wins = ties = 0
    for pair in pairs:
        other = challenge_of(pair, Contrast)
        true, false = system(pair, pair.target, pair.units), system(pair, other.text, other.units)
        wins, ties = wins + (true > false), ties + (true == false)
    return f"| {100 * wins / len(pairs):.1f} | {100 * (wins + ties / 2) / len(pairs):.1f} |"


def main() -> None:
    """Print a line for each system: accuracy, and accuracy with ties as half."""
    texts = [sample.target for sample in reader.read_part("val")]
    pairs = reader.read_pairs("test")
    interpolated = Trigrams(texts, (0.3, 0.4, 0.3))
    systems: dict[str, System] = {
        "frequencies of single words": Trigrams(texts, (1, 0, 0)),
        "trigrams, interpolated": interpolated,
        "trigrams, and the words of the linked cells": interpolated.with_cells,
        "share of words that the table has": overlap,
        "the shorter side": shortness,
    }
    for name, system in systems.items():
        print(f"| {name} {figures(pairs, system)}")


if __name__ == "__main__":
    main()
