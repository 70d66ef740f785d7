"""The strict sets; that they meet every requirement is shown in `tests/aspects/test_check.py`."""

from pathlib import Path
from types import NoneType

import pytest

from spor_tasks.benchmarks.spor import shipped
from spor_tasks.benchmarks.spor.benchmark import SPOR
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Hidden, Orders, SetName
from spor_tasks.corpora.embedded import MINI
from tests.support.soak import soak


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
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, aspect: str, part: str | None, count: int
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    released, pair = (
        SPOR.load(SetName(aspect, "webnlg", protocol, part)) for protocol in ("published", "strict")
    )
    assert pair.arms == released.arms
    assert len(pair.test.samples) == count
    remaining = iter(released.test.samples)
    assert all(sample in remaining for sample in pair.test.samples)
    triples = {unit for sample in pair.arms[0].samples for unit in sample.units}
    for sample in pair.test.samples:
        if not isinstance(sample.challenge, Hidden):
            assert triples.issuperset(sample.units)
    kind = {"main": Orders, None: Hidden}.get(part, NoneType)
    assert all(isinstance(sample.challenge, kind) for sample in pair.test.samples)


def test_a_list_of_samples_is_of_one_corpus_in_its_order() -> None:
    with pytest.raises(SplitError, match="made of other samples") as caught:
        shipped.load("e2e", MINI.read().samples)
    assert caught.value.where == "systematicity_e2e: atom"
    assert caught.value.remedy
