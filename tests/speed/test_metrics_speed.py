"""How fast order, CWIO and the copy rule are, what a looping output costs, and what memory does."""

import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.benchmarks.spor import released
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import write_rows
from spor_tasks.core.sample import Sample
from spor_tasks.evaluation import scoring
from spor_tasks.metrics.base import Metric, Texts
from spor_tasks.metrics.copy_rule import COPY_RULE
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from spor_tasks.metrics.parent import PARENT
from tests.oracles import copy_rule as slow_copy_rule
from tests.oracles import order as slow_order
from tests.support.samples import read_samples
from tests.support.timing import least

pytestmark = [pytest.mark.benchmark, pytest.mark.real_data]

CORPORA = ("webnlg", "e2e")
# The published implementation's pace for order, single process, on two shared cores.
PUBLISHED_OUTPUTS_A_SECOND = 2100
FEW = 50  # samples for the slow versions


def read(data_dir: Path, corpus: str, name: str) -> tuple[Any, ...]:
    return read_samples(data_dir / released.path(f"test_{corpus}_{name}"), corpus)


def measure_all(
    metric: Metric, samples: Sequence[Sample], write: Callable[[Sample], Texts]
) -> Callable[[], object]:
    outputs = [write(sample) for sample in samples]
    return lambda: metric.judge(samples, outputs)


def few(samples: Sequence[Any]) -> Sequence[Any]:
    """Return some from all over; those of one size stand together."""
    return samples[:: len(samples) // FEW][:FEW]


def first(sample: Sample) -> str:
    return sample.references[0]


def both(sample: Sample) -> tuple[str, str]:
    return sample.references[0], sample.references[-1]


def copied(sample: Sample) -> str:
    return " . ".join(" ".join(unit) for unit in sample.units)


def single(write: Callable[[Sample], str]) -> Callable[[Sample], Texts]:
    return lambda sample: (write(sample),)


def until_128_tokens(text: str) -> str:
    return " ".join((text.split() * 128)[:128])


def eight_times(text: str) -> str:
    return " ".join([text] * 8)


@pytest.mark.parametrize("corpus", CORPORA)
def test_order(data_dir: Path, corpus: str) -> None:
    samples: tuple[Sample, ...] = read(data_dir, corpus, "order-invariance_main")
    n = 2 * len(samples)
    fast = least(measure_all(ORDER_INVARIANCE, samples, both))
    slow = least(
        lambda: [slow_order.judge(sample, first(sample)) for sample in few(samples)], times=1
    )
    print(
        f"\n{corpus} order: {fast.pace(n, 'outputs')}; published about "
        f"{PUBLISHED_OUTPUTS_A_SECOND:,}: ratio {n / fast.wall / PUBLISHED_OUTPUTS_A_SECOND:.1f}; "
        f"the slow version: ratio {slow.processor / FEW / (fast.processor / n):.0f}"
    )


@pytest.mark.parametrize("corpus", CORPORA)
def test_cwio(data_dir: Path, corpus: str) -> None:
    samples: tuple[Sample, ...] = read(data_dir, corpus, "order-invariance_main")
    n = len(samples)
    fast = least(measure_all(CWIO, samples, single(first)))
    chosen = few(samples)
    slow = least(lambda: slow_order.cwio(chosen, list(map(first, chosen))), times=1)
    print(
        f"\n{corpus} CWIO: {fast.pace(n, 'outputs')}; "
        f"the slow version: ratio {slow.processor / FEW / (fast.processor / n):.0f}"
    )


@pytest.mark.parametrize("corpus", CORPORA)
def test_copy_rule(data_dir: Path, corpus: str) -> None:
    samples: tuple[Sample, ...] = read(data_dir, corpus, "rule-learnability")
    n = len(samples)
    fast = least(measure_all(COPY_RULE, samples, single(copied)))
    slow = least(
        lambda: [
            slow_copy_rule.judge(sample, copied(sample), whole=whole)
            for sample in few(samples)
            for whole in (False, True)
        ],
        times=1,
    )
    print(
        f"\n{corpus} copy rule: {fast.pace(n, 'outputs')}; "
        f"the slow version: ratio {slow.processor / FEW / (fast.processor / n):.0f}"
    )


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_looping_output(data_dir: Path, corpus: str) -> None:
    told: tuple[Sample, ...] = read(data_dir, corpus, "order-invariance_main")
    hiding: tuple[Sample, ...] = read(data_dir, corpus, "rule-learnability")
    cases: list[tuple[Metric, Sequence[Sample], Callable[[Sample], str]]] = [
        (PARENT, told, first),
        (CWIO, told, first),
        (COPY_RULE, hiding, copied),
    ]
    for metric, samples, write in cases:
        once = least(measure_all(metric, samples, single(write))).processor
        ratios = [
            least(measure_all(metric, samples, lambda s: (loop(write(s)),))).processor / once  # noqa: B023
            for loop in (until_128_tokens, eight_times)
        ]
        print(
            f"\n{corpus} {type(metric).__name__}: an output to 128 tokens costs {ratios[0]:.1f} "
            f"times a normal one, eight times over {ratios[1]:.1f}"
        )


def test_memory_of_scoring_a_file(data_dir: Path, tmp_path: Path) -> None:
    samples = read(data_dir, "webnlg", "order-invariance_performance")
    rows = [{**to_row(sample), "output": first(sample)} for sample in samples[:500]]
    size = max(len(json.dumps(row)) for row in rows)
    scoring.score(_write(tmp_path, rows), "parent", "webnlg")  # fills the bounded caches
    for times in (1, 4, 16):
        file = _write(tmp_path, rows * times)
        tracemalloc.start()
        scoring.score(file, "parent", "webnlg")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(
            f"\n{len(rows) * times:,} rows of up to {size:,} bytes: {peak / 1e6:.1f} MB at most, "
            f"{peak / len(rows) / times:,.0f} bytes a row"
        )


def _write(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    file = folder / "outputs.jsonl"
    write_rows(file, rows)
    return file
