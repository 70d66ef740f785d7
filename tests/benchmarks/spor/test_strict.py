"""The strict sets of the real corpora; that they meet every requirement is shown elsewhere."""

from pathlib import Path
from types import NoneType

import pytest

from spor_tasks.benchmarks.spor import released as published
from spor_tasks.benchmarks.spor import strict
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Hidden, Orders
from tests.support.soak import soak


@pytest.mark.parametrize(
    ("aspect", "corpus", "part"),
    [
        ("order_invariance", "e2e", "main"),
        ("productivity", "webnlg", None),
        ("colour", "e2e", None),
    ],
)
def test_what_there_is_not_is_an_error_that_lists_what_there_is(
    aspect: str, corpus: str, part: str | None
) -> None:
    with pytest.raises(SplitError, match=f"'{corpus}'") as caught:
        strict.load(aspect, corpus, part=part)
    assert "productivity webnlg n3" in str(caught.value)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("aspect", "part", "count"),
    [
        ("order_invariance", "main", 1_553),
        soak("order_invariance", "cwio", 1_750),
        soak("order_invariance", "performance", 2_140),
        soak("rule_learnability", None, 1_584),
    ],
)
def test_only_samples_of_unknown_triples_are_missing(
    data_dir: Path, aspect: str, part: str | None, count: int
) -> None:
    released = published.load(aspect, "webnlg", data_dir, part=part)
    pair = strict.load(aspect, "webnlg", data_dir, part=part)
    assert (pair.aspect, pair.corpus, pair.protocol) == (aspect, "webnlg", "strict")
    assert (pair.arms, pair.part) == (released.arms, part)
    assert len(pair.test.samples) == count
    left = iter(released.test.samples)
    assert all(sample in left for sample in pair.test.samples)
    triples = {unit for sample in pair.arms[0].samples for unit in sample.units}
    for sample in pair.test.samples:
        if not isinstance(sample.challenge, Hidden):
            assert triples.issuperset(sample.units)
    kind = {"main": Orders, None: Hidden}.get(part, NoneType)
    assert all(isinstance(sample.challenge, kind) for sample in pair.test.samples)
