"""The sets of the embedded corpus: small, but everything that the real ones are."""

import random

import pytest

from spor_tasks.aspects import build, order_invariance
from spor_tasks.benchmarks.spor import built
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Orders, SplitPair, hidden_of
from spor_tasks.corpora.embedded import MINI


def load(aspect: str, part: str | None = None) -> SplitPair:
    return built.load("mini", aspect, part)


@pytest.mark.parametrize(("aspect", "part"), built.SETS["mini"])
def test_a_set_is_what_its_name_says(aspect: str, part: str | None) -> None:
    pair = load(aspect, part)
    assert (pair.aspect, pair.part) == (aspect, part)
    assert (pair.corpus, pair.protocol) == ("mini", "strict")
    known = {unit for arm in pair.arms for sample in arm.samples for unit in sample.units}
    if aspect != "rule_learnability":
        assert all(known.issuperset(sample.units) for sample in pair.test.samples)


def test_every_set_has_enough_to_test() -> None:
    sizes = {names: len(load(*names).test.samples) for names in built.SETS["mini"]}
    assert min(sizes.values()) > 30
    assert sizes["systematicity", None] == 200


def test_order_invariance_has_its_own_kind_of_samples() -> None:
    main = load("order_invariance", "main").test.samples
    assert all(isinstance(sample.challenge, Orders) for sample in main)
    drawn = order_invariance.shown_twice(build._testable(MINI.read()), random.Random(0))
    assert main == drawn


def test_rule_learnability_hides_an_entity_of_every_sample() -> None:
    for sample in load("rule_learnability").test.samples:
        assert hidden_of(sample).phrases
        assert any(unit[0].startswith("Entity ") for unit in sample.units)


def test_what_there_is_not_is_an_error_that_lists_what_there_is() -> None:
    with pytest.raises(SplitError, match="'productivity n5'") as caught:
        load("productivity", "n5")
    assert "order_invariance cwio" in str(caught.value)
