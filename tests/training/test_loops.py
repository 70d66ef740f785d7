"""The recipe and a plain loop: both loops learn the same, and the table says what was measured."""

from collections.abc import Callable
from pathlib import Path

import pytest

from docs.benchmarks import training_loops
from docs.benchmarks.training_loops import LOOPS, PLAIN, compare
from spor_tasks.aspects import named
from spor_tasks.core.sample import Split


@pytest.fixture
def short() -> Split:
    """Samples that fit into the positions of the tiny bases."""
    arm = named.load("systematicity", "mini").arms[0]
    return Split("atom", tuple(s for s in arm.samples if len(s.units) == 1)[:30])


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_without_dropout_and_in_one_type_both_loops_learn_the_same(
    base: Callable[..., Path], short: Split, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(training_loops, "_HELD_OUT", 10)
    monkeypatch.setattr(training_loops, "LORA", {**training_loops.LORA, "lora_dropout": 0.0})
    monkeypatch.setattr(
        training_loops, "LOOPS", {PLAIN: LOOPS[PLAIN], "recipe": LOOPS["recipe, float32"]}
    )
    measured = compare(str(base(name)), short, pairs=20, seeds=2, threads=1)
    for one, other in zip(*measured.values(), strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-5)
        assert (other.pairs, other.tokens) == (one.pairs, one.tokens)
    first, second = measured["recipe"]
    assert first.loss != second.loss
