"""How long it takes to choose demonstrations for whole test sets."""

import time

import pytest

from spor_tasks.aspects import named
from spor_tasks.prompts.demonstrations import choose


@pytest.mark.benchmark
@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("corpus", ["webnlg", "e2e"])
@pytest.mark.parametrize(
    ("aspect", "part"),
    [
        ("systematicity", None),
        ("productivity", "n3"),
        ("order_invariance", "performance"),
        ("rule_learnability", None),
    ],
)
def test_demonstrations(corpus: str, aspect: str, part: str | None) -> None:
    pair = named.load(aspect, corpus, None, part)
    start = time.perf_counter()
    covered = len(choose(pair, 8))
    seconds = time.perf_counter() - start
    print(f"\n{aspect} {corpus}: {covered} of {len(pair.test.samples)} in {seconds:.2f} s")
