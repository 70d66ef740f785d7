"""How many pairs of unit and output a tiny classifier judges a second, in batches or singly."""

from pathlib import Path

import pytest
import torch

from spor_tasks.aspects import named
from spor_tasks.metrics import readers
from tests.support.classifiers import save_classifier
from tests.support.scores import answers_of
from tests.support.timing import least

pytestmark = pytest.mark.benchmark

FEW = 40  # samples that are judged one by one

torch.set_num_threads(1)  # for a model this small, threads cost more than they bring


@pytest.mark.parametrize("batch_size", [8, 32, 128])
def test_facts(tmp_path: Path, batch_size: int) -> None:
    samples = named.load("order_invariance", "mini", part="performance").test.samples
    outputs = [sample.references[0] for sample in samples]
    pairs = sum(len(sample.units) for sample in samples)
    facts = readers.facts(str(save_classifier(tmp_path)), device="cpu", batch_size=batch_size)
    texts = [(output,) for output in outputs]
    fast = least(lambda: facts.judge(samples, texts))

    def one_by_one() -> None:
        for sample, output in zip(samples[:FEW], outputs, strict=False):
            for unit in sample.units:
                answers_of(facts, [(output, ", ".join(unit))])

    few = sum(len(sample.units) for sample in samples[:FEW])
    slow = least(one_by_one)
    print(
        f"\nfacts in batches of {batch_size}: {fast.pace(pairs, 'pairs')}; "
        f"one by one: {slow.pace(few, 'pairs')}, ratio "
        f"{slow.processor / few / (fast.processor / pairs):.1f}"
    )
