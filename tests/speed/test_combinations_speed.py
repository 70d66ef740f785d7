"""How long it takes to prove which splits are the most divergent, and how far a climb gets."""

import pytest

from spor_tasks.benchmarks.compmctg.protocols import Best, hill_climb, most_divergent
from spor_tasks.benchmarks.compmctg.splits import SEED, size_of
from spor_tasks.corpora.compmctg.spaces import PUBLISHED, Space
from tests.oracles import climb
from tests.support.timing import seconds

RESTARTS = 1000  # the published code makes 30,000 or 100,000
PLAIN = 60  # of the plain climb, which takes long


@pytest.mark.benchmark
@pytest.mark.parametrize("protocol", ["acd", "fewshot"])
@pytest.mark.parametrize("space", PUBLISHED, ids=lambda space: space.name)
def test_the_search_and_the_published_climb(space: Space, protocol: str) -> None:
    size, found = size_of(space, protocol), list[Best]()
    proof = seconds(lambda: found.append(most_divergent(space, size, most=10, seed=SEED)))
    ours = seconds(lambda: found.append(hill_climb(space, size, restarts=RESTARTS, seed=SEED)))
    reached = list[float]()
    plain = seconds(lambda: reached.append(climb.search(space, size, restarts=PLAIN, seed=SEED)))
    proved, climbed = found
    print(
        f"\n{space.name} {protocol}: {proved.divergence:.6f} proved in {proof.wall:.3f} s of 10 s "
        f"({proof.processor:.3f} s of processor), {proved.ties:,} splits; "
        f"{climbed.divergence:.6f} climbed in {ours.wall:.3f} s with "
        f"{RESTARTS:,} restarts, {climbed.ties:,} splits; {reached[0]:.6f} climbed plainly, as "
        f"published, in {plain.wall:.3f} s with {PLAIN} restarts"
    )
    assert reached[0] <= proved.divergence + 1e-9
    assert climbed.divergence <= proved.divergence + 1e-9
