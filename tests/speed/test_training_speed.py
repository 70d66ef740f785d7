"""What the recipe gains over the plain loop; `python -m training bench` takes other models."""

import pytest

from tests.speed import training_loops

pytestmark = pytest.mark.benchmark


@pytest.mark.timeout(900)
def test_the_recipe_against_the_plain_loop() -> None:
    training_loops.run([], pairs=12, seeds=1, threads=1)
