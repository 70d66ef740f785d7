"""What the recipe gains over the plain loop."""

import pytest

from tests.speed import training_loops

pytestmark = pytest.mark.benchmark


def test_the_recipe_against_the_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """In float32, as bfloat16 takes minutes on processors without instructions for it."""
    loops = dict(training_loops.LOOPS)
    del loops["recipe, bfloat16"]
    monkeypatch.setattr(training_loops, "LOOPS", loops)
    training_loops.run([], pairs=12, seeds=1, threads=1)
