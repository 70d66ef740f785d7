"""How long it takes to build sets, beside what was asked for and what the published code takes.

All of it is the work of one core, and measured in its own time, whatever else the machine does.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import pytest

from spor_tasks.aspects import check, named, order_invariance, productivity
from spor_tasks.aspects.numbers import LIMIT
from spor_tasks.aspects.systematicity import Overlaps, _combination, _largest_first
from spor_tasks.core.sample import CorpusSamples
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import WEBNLG
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.text import align

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]

RUNS = 3


@pytest.fixture(scope="module")
def corpora(data_dir: Path) -> dict[str, CorpusSamples]:
    return {
        "webnlg": CorpusSamples(
            "webnlg", webnlg.read_train(data_dir), WEBNLG.part("test", data_dir)
        ),
        "e2e": CorpusSamples("e2e", e2e.read_train(data_dir), e2e.read_test(data_dir)),
    }


@pytest.fixture(scope="module", autouse=True)
def head() -> Iterator[None]:
    print(f"\n{'':<56}{'here':>10}{'asked for':>12}{'published code':>28}")
    yield
    print()


def row(what: str, here: float, asked: str, published: str = "") -> None:
    print(f"\n{what:<56}{here:>8.3f} s{asked:>12}{published:>28}", end="")


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    times = []
    for _ in range(RUNS):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


@pytest.mark.parametrize(("corpus", "asked"), [("webnlg", "≤ 0.06 s"), ("e2e", "≤ 0.02 s")])
def test_systematicity(corpora: dict[str, CorpusSamples], corpus: str, asked: str) -> None:
    units = [frozenset(sample.units) for sample in corpora[corpus].samples]
    several = [i for i, held in enumerate(units) if len(held) > 1]
    order = _largest_first(several, units, random.Random(0))
    published = {"webnlg": "about 1 s in all", "e2e": "about 8.5 s in all"}[corpus]
    overlaps = Overlaps(units)
    first = fastest(lambda: Overlaps(units).atom_and_test(order))
    row(f"systematicity {corpus}: Atom and test set, first run", first, "")
    overlaps.atom_and_test(order)
    again = fastest(lambda: overlaps.atom_and_test(order))
    row(f"systematicity {corpus}: Atom and test set, each restart", again, asked)
    atom, test = overlaps.atom_and_test(order)
    took = fastest(lambda: _combination(units, atom, test, LIMIT))
    row(f"systematicity {corpus}: Combination", took, "≤ 3 s", published)


def test_productivity(corpora: dict[str, CorpusSamples]) -> None:
    def build() -> None:
        for corpus in corpora.values():
            for n in (3, 4, 5):
                productivity.build(corpus.train, corpus.test, n)

    row("productivity: all N, both corpora", fastest(build), "≤ 3 s", "42 s")


def test_order_invariance(corpora: dict[str, CorpusSamples]) -> None:
    start = process_time()
    for corpus in corpora.values():
        order_invariance.matched(corpus.train)
    row("order invariance: Match of both corpora", process_time() - start, "≤ 8 s", "23 s")


def test_a_reference_repeated_eight_times(corpora: dict[str, CorpusSamples]) -> None:
    worst = 0.0
    for sample in corpora["webnlg"].test:
        for text in sample.references:
            start = process_time()
            align.locate(sample.units, f"{text} " * 8, strict=False)
            worst = max(worst, process_time() - start)
    row("worst WebNLG reference, repeated eight times", worst, "≤ 0.020 s", "days for the set")


@pytest.mark.parametrize("corpus", ["webnlg", "e2e"])
def test_check(corpus: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    for aspect in ("systematicity", "productivity"):
        pair = named.load(aspect, corpus)
        row(f"check of {aspect} {corpus}", fastest(lambda: check.check(pair)), "")  # noqa: B023
