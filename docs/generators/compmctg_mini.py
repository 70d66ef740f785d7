"""Write the embedded corpus `compmctg_mini`, and the texts that its tiny base reads.

    python docs/generators/compmctg_mini.py spor_tasks/corpora/embedded training/pretraining

Texts are drawn from a seed for each combination, with words that decide their attributes. Seed 0
makes the training texts, seed 1 those of classifiers and of the base, and seed 2 texts that no
model is trained on. The base never reads a control code before a text.
"""

import gzip
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
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
PATTERN = r"[A-Z]?[a-z]+|[^\w\s]"  # tokens of the base; codes are written together: `FoodIn short`
EACH, CLASSIFIER, HELD_OUT = 200, 50, 100  # texts of a combination
SHARE = 0.4  # of texts with two clauses, and of clauses with a degree


def main(corpus: Path, pretraining: Path) -> None:
    """Write both files."""
    train, base, third = (list(samples(seed)) for seed in range(3))
    trained = {sample.target for sample in train}
    untrained = [sample for sample in third if sample.target not in trained]
    pools = (
        [sample for sample in untrained if sample.units == units_of(SPACE, combination)]
        for combination in SPACE.combinations
    )
    held_out = [sample for turn in islice(zip(*pools, strict=False), HELD_OUT) for sample in turn]
    parts = {"train": train, "test": base[: CLASSIFIER * len(SPACE.combinations)]}
    rows = [
        {"split": part, **to_row(sample)}
        for part, listed in {**parts, "held_out": held_out}.items()
        for sample in listed
    ]
    write(corpus / f"{NAME}.jsonl.gz", rows)
    texts = " ".join(text for sample in base for text in (prompt(sample, "causal"), sample.target))
    header = {"pattern": PATTERN, "words": sorted({*re.findall(PATTERN, texts)})}
    lessons = [{"prompt": START, "texts": [sample.target]} for sample in base]
    write(pretraining / f"{NAME}.jsonl.gz", [header, *lessons])


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(b"".join(map(encode_row, rows)), 9, mtime=0))


def samples(seed: int) -> Iterator[Sample]:
    """Yield different texts of each combination; the combinations take turns."""
    make = SampleMaker(NAME)
    texts = [list(islice(texts_of(combination, seed), EACH)) for combination in SPACE.combinations]
    for turn in zip(*texts, strict=True):
        for combination, text in zip(SPACE.combinations, turn, strict=True):
            yield make(units_of(SPACE, combination), [text])


def texts_of(combination: Combination, seed: int) -> Iterator[str]:
    """Yield different texts without end."""
    rng = random.Random(f"{NAME} {seed} {' '.join(combination)}")
    written = set[str]()
    while True:
        text = draw_text(combination, rng)
        if text not in written:
            written.add(text)
            yield text


def draw_text(combination: Combination, rng: random.Random) -> str:
    """Return a text of one or two clauses, some with a degree."""
    qualities, verbs, things = (
        words[value] for words, value in zip(WORDS.values(), combination, strict=True)
    )
    clauses = []
    for thing in rng.sample(things, 2 if rng.random() < SHARE else 1):
        degree = [rng.choice(DEGREES)] if rng.random() < SHARE else []
        words = ["the", thing, rng.choice(verbs), *degree, rng.choice(qualities)]
        clauses.append(" ".join(words))
    return f"{rng.choice(PREFIXES)} {' and '.join(clauses)}."


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
