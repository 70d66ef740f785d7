"""The copy rule is what its definition, written down slowly, gives."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Hidden, Sample, Triple
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES
from spor_tasks.metrics.copy_rule import verdicts
from tests.oracles import copy_rule as slow_copy_rule

SAMPLES = tuple(
    Sample(id="1", corpus="drawn", units=(unit,), references=(), challenge=Hidden(()))
    for unit in (Triple("a", "b", "c"), AttributeValue("a", "b"))
)
ENTITIES = ["Low", "Old Pier", "Ü 7", "No. 1", "_", "Pier "]
PHRASES = ["Entity 1", "Entity 2", "Entity 12", "Entity 10", "less than Value A", "Value A"]
# What follows a word may make it another one, or another number.
joints = st.sampled_from(["", " ", "  ", ".", ",", "-", "1", ".5", "_", "ü", "\n"])
pieces = st.sampled_from(
    [*ENTITIES, *PHRASES, "12", "1", "2", "a", "1st entity", "10th entity", "yellow", "high"]
    + [value for values in POSSIBLE_VALUES.values() for value in values]
)
outputs = st.lists(st.tuples(joints, pieces | pieces.map(str.upper), joints)).map(
    lambda drawn: "".join("".join(parts) for parts in drawn)
)
phrases = st.sampled_from(PHRASES)
samples = st.one_of(
    st.lists(st.tuples(st.sampled_from(ENTITIES), phrases), min_size=1, max_size=3).map(
        lambda hidden: replace(SAMPLES[0], challenge=Hidden(tuple(hidden)))
    ),
    st.lists(st.tuples(st.sampled_from([*POSSIBLE_VALUES]), phrases), min_size=1, max_size=2).map(
        lambda hidden: replace(SAMPLES[1], challenge=Hidden(tuple(hidden)))
    ),
)


@settings(max_examples=500)
@given(samples, outputs)
def test_both_verdicts_are_those_of_the_definition(sample: Sample, output: str) -> None:
    for verdict, whole in zip(verdicts(sample, output), (False, True), strict=True):
        assert verdict.case == slow_copy_rule.judge(sample, output, whole=whole)
