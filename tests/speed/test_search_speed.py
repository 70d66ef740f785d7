"""How long the shipped strict sets take to load, and to be searched again from scratch."""

from pathlib import Path

import pytest

from spor_tasks.aspects import check, search
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.registry import registry
from tests.support.timing import least, seconds

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]


@pytest.mark.parametrize(("corpus", "part"), shipped.SETS)
def test_loading(data_dir: Path, corpus: str, part: str | None) -> None:
    samples = registry().get("corpus", corpus).read(data_dir).samples
    took = least(lambda: shipped.load(corpus, samples, part))
    print(f"\n{shipped.name(corpus, part)} made of its corpus in {took.wall:.2f} s")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("corpus", "part"), shipped.SETS)
def test_searching_again(data_dir: Path, corpus: str, part: str | None) -> None:
    samples = registry().get("corpus", corpus).read(data_dir).samples
    settings, seed = shipped.recipe(corpus, part)
    found = []
    took = seconds(lambda: found.append(search.systematicity(samples, settings, seed)))
    report = check.systematicity(found[0])
    same = found[0] == shipped.load(corpus, samples, part)
    test, atom = found[0].test.samples, found[0].arms[0].samples
    print(
        f"\n{shipped.name(corpus, part)} searched again in {took.wall:.0f} s, "
        f"{'the same' if same else 'OTHER'} sets: "
        f"{len(test):,} test samples of {sum(len(sample.units) for sample in test):,} units, "
        f"{len(atom):,} in Atom, {report.pairs_in_combination:,} pairs in Combination"
    )
