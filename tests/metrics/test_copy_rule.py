"""The copy rule is that of its definition, written down slowly, and every leak has its place."""

from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Hidden, Sample, Triple
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES
from spor_tasks.metrics.copy_rule import COPY_RULE, Leak, verdicts
from tests.oracles import copy_rule as slow_copy_rule


def hiding(unit: DataUnit, *phrases: tuple[str, str]) -> Sample:
    challenge = Hidden(phrases, (("hull", ("oak",)),))
    return Sample("1", "invented", (unit,), (), challenge=challenge)


PORT = hiding(Triple("Entity 1", "harbour", "Old Basin"), ("Greyport", "Entity 1"))


def test_a_leak_is_located_and_every_phrase_must_be_copied() -> None:
    published, whole_word = verdicts(PORT, "  At  GREYPORT lies Old Basin.")
    assert published.leaks == whole_word.leaks == (Leak("Greyport", 6),)
    assert published.missing == ("Entity 1",)
    phrases = (("Greyport", "Entity 1"), ("Northhaven", "Entity 2"))
    pair = hiding(Triple("Entity 1", "twin", "Entity 2"), *phrases)
    assert verdicts(pair, "Entity 2 is a twin.")[0].missing == ("Entity 1",)
    assert verdicts(pair, "Entity 2 is the twin of Entity 1.")[0].missing == ()


ENTITIES = ["Low", "Old Pier", "Ü 7", "No. 1", "_", "Pier "]
PHRASES = ["Entity 1", "Entity 2", "Entity 12", "Entity 10", "less than Value A", "Value A"]
# A sign after a word may make it another word, or another number.
joints = st.sampled_from(["", " ", "  ", ".", ",", "-", "1", ".5", "_", "ü", "\n"])
pieces = st.sampled_from(
    [*ENTITIES, *PHRASES, "12", "1", "2", "a", "1st entity", "10th entity", "yellow", "high", "oak"]
    + [value for values in POSSIBLE_VALUES.values() for value in values]
)
outputs = st.lists(st.tuples(joints, pieces | pieces.map(str.upper), joints)).map(
    lambda drawn: "".join("".join(parts) for parts in drawn)
)


def samples(unit: DataUnit, secrets: list[str]) -> st.SearchStrategy[Sample]:
    phrase = st.tuples(st.sampled_from(secrets), st.sampled_from(PHRASES))
    return st.lists(phrase, min_size=1, max_size=3).map(lambda drawn: hiding(unit, *drawn))


@settings(max_examples=500)
@given(
    samples(Triple("a", "b", "c"), ENTITIES)
    | samples(AttributeValue("a", "b"), [*POSSIBLE_VALUES, "hull"]),
    outputs,
)
def test_both_verdicts_are_those_of_the_definition(sample: Sample, output: str) -> None:
    plain, whole_word = (slow_copy_rule.judge(sample, output, whole=way) for way in (False, True))
    assert tuple(each.case for each in verdicts(sample, output)) == (plain, whole_word)
    names = {
        (0, 0): "copy_rule_00",
        (0, 1): "copy_rule_01",
        (1, 0): "copy_rule",
        (1, 1): "copy_rule_11",
    }
    expected = {name: 100 * (case == plain) for case, name in names.items()}
    expected["copy_rule_whole_word"] = 100 * (whole_word == (1, 0))
    assert COPY_RULE.judge_one(sample, output).values == expected
