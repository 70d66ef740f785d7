"""How long strict sets of systematicity take to load, and how large searched ones are."""

from pathlib import Path

import pytest

from spor_tasks.aspects import check, search
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.registry import registry
from tests.support.timing import least

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]
SECONDS = 180
SETS = [("webnlg", None), ("e2e", None), ("e2e", "algorithm_1"), ("viggo", None)]


@pytest.mark.parametrize(("corpus", "part"), SETS)
def test_loading(corpus: str, part: str | None) -> None:
    samples = registry().get("corpus", corpus).read().samples
    took = least(lambda: shipped.load(corpus, samples, part))
    print(f"\n{corpus} {part or ''} made of its corpus in {took.wall:.2f} s")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("corpus", ["webnlg", "e2e"])
def test_searching(data_dir: Path, corpus: str) -> None:
    samples = registry().get("corpus", corpus).read(data_dir).samples
    known = shipped.load(corpus, samples)
    found = search.systematicity(samples, 0, seconds=SECONDS)
    assert check.systematicity(found.pair).violations == ()
    sizes = ", ".join(
        f"{one.name} {len(one.samples):,} (shipped: {len(other.samples):,})"
        for one, other in zip(found.pair.splits, known.splits, strict=True)
    )
    print(f"\n{corpus}: {found.rounds} rounds in {SECONDS} s find {sizes}")
