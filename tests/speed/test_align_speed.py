"""How long the alignment takes: over the real corpora, and where the whole product cannot go."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter

import pytest

from spor_tasks.benchmarks.spor import released
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.text.align import Ends, locate, locate_ends, order
from tests.oracles import align as slow_align
from tests.oracles.webnlg import read_test as read_webnlg_test
from tests.support.samples import read_samples

pytestmark = pytest.mark.benchmark

WORDS = [f"{letter * 3}{letter}word" for letter in "abcdefghijklmnopqrstuvwxy"]


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def align_all(samples: Iterable[Sample], *, strict: bool) -> int:
    return sum(
        len(order(locate(sample.units, text, strict=strict)))
        for sample in samples
        for text in sample.references
    )


@pytest.mark.real_data
def test_match_of_both_corpora(data_dir: Path) -> None:
    e2e = read_samples(data_dir / released.path("train_e2e_order-invariance_original"), "e2e")
    for name, samples, strict in (
        ("WebNLG", webnlg.read_train(data_dir), False),
        ("E2E", e2e, True),
    ):
        texts = sum(len(sample.references) for sample in samples)
        took = seconds(lambda: align_all(samples, strict=strict))  # noqa: B023 - called at once
        print(f"\n{name} Match: {texts:,} texts in {took:.2f} s, {took / texts * 1e6:.0f} µs each")


@pytest.mark.real_data
def test_the_worst_reference_repeated_eight_times(data_dir: Path) -> None:
    samples = read_webnlg_test(data_dir)
    times = [
        seconds(lambda: locate(sample.units, f"{text} " * 8, strict=False))  # noqa: B023
        for sample in samples
        for text in sample.references
    ]
    mean = sum(times) / len(times)
    print(
        f"\n{len(times):,} WebNLG references repeated 8 times: worst {max(times) * 1e3:.1f} ms, "
        f"mean {mean * 1e3:.2f} ms"
    )


@pytest.mark.parametrize("tokens", [1, 9, 10, 25])
def test_an_entity_repeated_in_a_long_text(tokens: int) -> None:
    rng = random.Random(0)
    entity = " ".join(WORDS[:tokens])
    pair: Ends = (None, entity)
    for name, text in (
        ("14 times", f"{entity} " * 14),
        ("to 10,000 tokens", f"{entity} " * (10_000 // tokens)),
        ("shuffled, 10,000 tokens", " ".join(rng.choices(WORDS[:tokens], k=10_000))),
        ("each token 400 times", " ".join(word for word in WORDS[:tokens] for _ in range(400))),
    ):
        took = seconds(lambda: locate_ends([pair], text, strict=False))  # noqa: B023
        print(f"\n{tokens}-token entity, {name}: {took * 1e3:.1f} ms")


@pytest.mark.parametrize("repetitions", [2, 3, 4])
def test_against_the_whole_product(repetitions: int) -> None:
    choices = [list(range(token, 8 * repetitions, 8)) for token in range(8)]
    text = f"{' '.join(WORDS[:8])} " * repetitions
    pair: Ends = (None, " ".join(WORDS[:8]))
    fast = seconds(lambda: locate_ends([pair], text, strict=False))
    slow = seconds(lambda: slow_align.tightest(choices))
    print(
        f"\n8-token entity, {repetitions} times: {fast * 1e3:.2f} ms, the product alone "
        f"{slow * 1e3:.0f} ms, ratio {slow / fast:,.0f}"
    )
