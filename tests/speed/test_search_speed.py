"""How long strict sets of systematicity take to load, and to be searched."""

import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from spor_tasks.aspects import check, search, systematicity
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, SplitPair
from spor_tasks.corpora.e2e import E2E
from spor_tasks.corpora.viggo import VIGGO
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


def dense_samples() -> tuple[Sample, ...]:
    """13,000 samples of 2 to 8 attributes, with values that are the rarer the later they come."""
    rng, make = random.Random(0), SampleMaker("dense")
    values = [3, 5, 8, 12, 20, 30, 45, 60]

    def value(attribute: int) -> int:
        number = range(values[attribute])
        return rng.choices(number, [1 / (1 + each) for each in number])[0]

    return tuple(
        make(
            [AttributeValue(f"a{each}", f"v{each}_{value(each)}") for each in attributes], ["text"]
        )
        for attributes in (
            rng.sample(range(len(values)), rng.randint(2, len(values))) for _ in range(13_000)
        )
    )


def units(pair: SplitPair) -> int:
    return sum(len(sample.units) for sample in pair.test.samples)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("corpus", ["dense", "e2e", "viggo"])
def test_searching_a_corpus_of_ones_own(data_dir: Path, viggo_dir: Path, corpus: str) -> None:
    read: dict[str, Callable[[], Iterable[Sample]]] = {
        "dense": dense_samples,
        "e2e": lambda: E2E.read(data_dir).samples,
        "viggo": lambda: VIGGO.read(viggo_dir).samples,
    }
    samples, once = tuple(read[corpus]()), systematicity.Settings(restarts=1)
    ones = [units(systematicity.build(samples, once, random.Random(seed))) for seed in range(5)]
    found = list[search.Searched]()
    settings, before = search.effort(samples), os.times()
    took = seconds(lambda: found.append(search.in_rounds(samples, settings, seed=0)))
    pair, processor = found[0].pair, os.times().children_user - before.children_user
    print(
        f"\n{corpus}, {len(samples):,} samples searched in {took.wall:.0f} s, "
        f"{processor:.0f} s of all processors: "
        f"{len(pair.test.samples):,} test samples of {units(pair):,} units; "
        f"one construction finds {min(ones):,} to {max(ones):,} units"
    )
