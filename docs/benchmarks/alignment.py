"""The alignment over the real corpora, and on texts where trying every placement cannot end."""

import random
from pathlib import Path

from docs.benchmarks.measure import folder, seconds, show
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import WEBNLG
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.text.align import Ends, locate, locate_ends, order
from tests.oracles import align as slow

WORDS = [f"{letter * 3}{letter}word" for letter in "abcdefghijklmnopqrstuvwxy"]


def corpora(data: Path) -> None:
    """Order the units of each training text; then the references of the test set, repeated."""
    for name, samples in (("WebNLG", webnlg.read_train(data)), ("E2E", e2e.read_train(data))):
        texts = [(sample.units, text) for sample in samples for text in sample.references]
        strict = name == "E2E"
        took = seconds(lambda: [order(locate(units, text, strict=strict)) for units, text in texts])  # noqa: B023
        show(f"{name}, {len(texts):,} texts", f"{took / len(texts) * 1e6:.0f} µs a text")
    times = [
        seconds(lambda: locate(sample.units, f"{text} " * 8, strict=False))  # noqa: B023
        for sample in WEBNLG.part("test", data)
        for text in sample.references
    ]
    mean = sum(times) / len(times)
    show("WebNLG test references repeated 8 times, mean", f"{mean * 1e3:.2f} ms")
    show("the worst of them", f"{max(times) * 1e3:.1f} ms")


def long_texts(tokens: int) -> None:
    """Find an entity of so many words in texts that repeat it."""
    rng = random.Random(0)
    entity = " ".join(WORDS[:tokens])
    pair: Ends = (None, entity)
    for name, text in (
        ("14 times", f"{entity} " * 14),
        ("10,000 words", f"{entity} " * (10_000 // tokens)),
        ("10,000 words, shuffled", " ".join(rng.choices(WORDS[:tokens], k=10_000))),
        ("each word 400 times", " ".join(word for word in WORDS[:tokens] for _ in range(400))),
    ):
        took = seconds(lambda: locate_ends([pair], text, strict=False))  # noqa: B023
        show(f"an entity of {tokens} words, {name}", f"{took * 1e3:.1f} ms")


def against_the_product(repetitions: int) -> None:
    """Compare with a search through the whole product of places."""
    choices = [list(range(word, 8 * repetitions, 8)) for word in range(8)]
    entity = " ".join(WORDS[:8])
    fast = seconds(lambda: locate_ends([(None, entity)], f"{entity} " * repetitions, strict=False))
    ratio = seconds(lambda: slow.tightest(choices)) / fast
    name = f"an entity of 8 words, {repetitions} times"
    show(name, f"{fast * 1e3:.2f} ms", ratio=ratio, to="the whole product")


if __name__ == "__main__":
    if data := folder("SPOR_DATA_DIR"):
        corpora(data)
    for tokens in (1, 9, 10, 25):
        long_texts(tokens)
    for repetitions in (2, 3, 4):
        against_the_product(repetitions)
