"""Write the embedded corpus `compmctg_mini`, and the texts that its tiny base reads.

    python docs/generators/compmctg_mini.py spor_tasks/corpora/embedded training/pretraining

The texts of each combination are drawn from a seed; their words decide their attributes. One seed
makes the training texts, another one those of classifiers and of the base, and a third one texts
that no model is trained on. The base never reads a control code before a text.
"""

import gzip
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.compmctg.linearize import START
from spor_tasks.corpora.compmctg.reader import units_of
from spor_tasks.corpora.compmctg.spaces import Combination
from spor_tasks.corpora.embedded.attributes import DEGREES, PREFIXES, SPACE, WORDS
from spor_tasks.prompts.styles import prompt

NAME = SPACE.name
PATTERN = r"[A-Z]?[a-z]+|[^\w\s]"
"""The tokens of the base: codes and beginning are written together, as in `FoodIn short`."""

EACH, CLASSIFIER, HELD_OUT = 200, 50, 100
"""The number of texts of a combination: of training, for classifiers, held out."""

SHARE = 0.4
"""The share of texts with two clauses, and of clauses with a degree."""


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    train, other = list(samples(0, EACH)), list(samples(1, EACH))
    classifier = other[: CLASSIFIER * len(SPACE.combinations)]
    parts = {"train": train, "test": classifier, "held_out": held_out(train)}
    rows = ({"split": part, **to_row(one)} for part, listed in parts.items() for one in listed)
    write(corpus / f"{NAME}.jsonl.gz", rows)
    texts = chain.from_iterable([prompt(one, "causal"), *one.references] for one in other)
    words = sorted({word for text in texts for word in re.findall(PATTERN, text)})
    header = {"pattern": PATTERN, "words": words}
    lessons = ({"prompt": START, "texts": list(sample.references)} for sample in other)
    write(pretraining / f"{NAME}.jsonl.gz", chain([header], lessons))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def held_out(train: Iterable[Sample]) -> Iterator[Sample]:
    """Return texts of a third seed that are not for training; the combinations take turns."""
    trained = {sample.target for sample in train}
    pools: dict[object, list[Sample]] = {units_of(SPACE, each): [] for each in SPACE.combinations}
    for sample in samples(2, EACH):
        if sample.target not in trained:
            pools[sample.units].append(sample)
    return chain.from_iterable(zip(*(pool[:HELD_OUT] for pool in pools.values()), strict=True))


def samples(seed: int, each: int) -> Iterator[Sample]:
    """Yield so many different texts of each combination; the combinations take turns."""
    make = SampleMaker(NAME)
    texts = [list(islice(texts_of(combination, seed), each)) for combination in SPACE.combinations]
    for turn in zip(*texts, strict=True):
        for combination, text in zip(SPACE.combinations, turn, strict=True):
            yield make(units_of(SPACE, combination), [text])


def texts_of(combination: Combination, seed: int) -> Iterator[str]:
    """Yield different texts without end."""
    rng = random.Random(f"{NAME} {seed} {' '.join(combination)}")
    seen = set[str]()
    while True:
        text = draw_text(combination, rng)
        if text not in seen:
            seen.add(text)
            yield text


def draw_text(combination: Combination, rng: random.Random) -> str:
    """Return a text of one or two clauses."""
    qualities, verbs, things = (
        WORDS[aspect][value] for aspect, value in zip(SPACE.aspects, combination, strict=True)
    )
    clauses = [
        draw_clause(thing, verbs, qualities, rng)
        for thing in rng.sample(things, 2 if rng.random() < SHARE else 1)
    ]
    return f"{rng.choice(PREFIXES)} {' and '.join(clauses)}."


def draw_clause(
    thing: str, verbs: Sequence[str], qualities: Sequence[str], rng: random.Random
) -> str:
    """Return a clause, perhaps with a degree."""
    degree = rng.choice(DEGREES) if rng.random() < SHARE else ""
    words = (thing, rng.choice(verbs), degree, rng.choice(qualities))
    return f"the {' '.join(filter(None, words))}"


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
