"""How long the sets of three aspects take to build, beside what is asked for and published."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from spor_tasks.aspects import order_invariance, productivity, rule_learnability
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.webnlg import read_test as read_webnlg_test

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]

Corpora = dict[str, tuple[tuple[Sample, ...], tuple[Sample, ...]]]


@pytest.fixture(scope="module")
def corpora(data_dir: Path) -> Corpora:
    """The training and the test samples of each corpus."""
    return {
        "webnlg": (webnlg.read_train(data_dir), read_webnlg_test(data_dir)),
        "e2e": (e2e.read_train(data_dir), e2e.read_test(data_dir)),
    }


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's time, which a busy machine does not stretch."""
    start = process_time()
    work()
    return process_time() - start


def report(what: str, took: float, *, target: float, published: float) -> None:
    print(
        f"\n{what}: {took:.2f} s, {took / target:.0%} of the {target:g} s asked for, "
        f"{published / took:.0f} times as fast as the published {published:g} s"
    )


def test_productivity_of_all_thresholds(corpora: Corpora) -> None:
    def build_all() -> None:
        for train, test in corpora.values():
            for n in (3, 4, 5):
                productivity.build(train, test, n)

    took = seconds(build_all)
    report("productivity, N = 3, 4, 5, both corpora", took, target=3, published=42)


def test_match_of_both_corpora(corpora: Corpora) -> None:
    took = seconds(lambda: [order_invariance.matched(train) for train, _ in corpora.values()])
    report("Match, both corpora", took, target=8, published=23)


def test_hidden_entities(corpora: Corpora) -> None:
    took = seconds(lambda: rule_learnability.hide_entities(corpora["webnlg"][1]))
    print(f"\nrule learnability, WebNLG: {took:.2f} s")
