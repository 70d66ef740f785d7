"""How fast PARENT is over the WebNLG test set, tokenizing included."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from spor_tasks.benchmarks.spor import released
from spor_tasks.core.sample import Sample
from spor_tasks.metrics import parent
from spor_tasks.metrics.parent import Parent
from spor_tasks.text.tokenize import tokens
from tests.oracles import parent as slow_parent
from tests.support.samples import read_samples
from tests.support.timing import least, seconds

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]

# The published implementation, single process, on two shared cores.
PUBLISHED_SAMPLES_A_SECOND = 1150
PUBLISHED_TOKENIZING_SECONDS = 1.6


def slow(samples: Sequence[Sample]) -> None:
    for sample in samples:
        table = tuple(filter(parent._is_published, sample.units))
        slow_parent.parent(
            tokens(sample.references[-1]),
            [tokens(reference) for reference in sample.references],
            [parent._value(unit) for unit in table],
            weight=0.5,
            max_order=4,
        )


def test_parent_over_the_webnlg_test_set(data_dir: Path) -> None:
    path = data_dir / released.path("test_webnlg_order-invariance_performance")
    samples = read_samples(path, "webnlg")
    outputs = [sample.references[-1] for sample in samples]
    metric = Parent()

    def tokenize_all() -> None:
        for sample, output in zip(samples, outputs, strict=True):
            for text in (output, *sample.references):
                tokens(text)
            for unit in sample.units:
                parent._value(unit)

    def score_all() -> None:
        for sample, output in zip(samples, outputs, strict=True):
            metric.judge_one(sample, output)

    def score_afresh() -> None:
        parent._entity_tokens.cache_clear()
        parent._prepare.cache_clear()
        score_all()

    parent._entity_tokens.cache_clear()
    tokenizing = seconds(tokenize_all)
    new = least(score_afresh)
    prepared = least(score_all)
    oracle = seconds(lambda: slow(samples))

    n = len(samples)
    theirs = n / PUBLISHED_SAMPLES_A_SECOND + PUBLISHED_TOKENIZING_SECONDS
    print(
        f"\n{n:,} samples. Tokenizing alone {tokenizing.wall:.2f} s"
        f"\nfirst outputs, tokenizing included: {new.pace(n, 'samples')}"
        f"\nsecond outputs, references prepared: {prepared.pace(n, 'samples')}"
        f"\nthe slow version {oracle.wall:.2f} s: ratio {oracle.processor / new.processor:.1f}"
        f"\nthe published implementation's pace {theirs:.2f} s: ratio {theirs / new.wall:.1f}"
    )
