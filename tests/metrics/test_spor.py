"""PARENT, order invariance, CWIO and the copy rule equal their slow definitions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks import __version__
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES
from spor_tasks.metrics.copy_rule import COPY_RULE, Leak, verdicts
from spor_tasks.metrics.coverage import COVERAGE
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE, kendall
from spor_tasks.metrics.parent import PARENT, Parent, ParentEvidence
from tests.oracles import copy_rule as slow_copy_rule
from tests.oracles import order as slow_order
from tests.oracles import parent as slow_parent
from tests.support.scores import scores_of

# --- Coverage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("yes", "no"), [("yes", "no"), ("true", "false"), ("True", "False"), ("TRUE", "FALSE")]
)
@pytest.mark.parametrize(
    ("internet", "dogs"),
    [
        ("has internet", "dogs allowed"),
        ("hasInternet", "dogsAllowed"),
        ("has_internet", "Dogs_Allowed"),
        ("hasinternet", "dogsallowed"),
    ],
)
def test_yes_and_no_are_found_by_a_name_however_both_are_spelled(internet, dogs, yes, no):
    text = "The Gull has internet, but no dogs are allowed."
    units = (AttributeValue(internet, yes), AttributeValue(dogs, no))
    for some in (units, units[:1], units[1:]):
        of = Sample("7", "e2e", some, ())
        assert COVERAGE.judge_one(of, text).values["coverage"] == 100
        assert COVERAGE.judge_one(of, "The Gull is quiet.").values["coverage"] == 0


def test_a_name_that_a_text_has_as_one_word_is_found():
    of = Sample("7", "games", (AttributeValue("PlayStation", "yes"),), ())
    assert COVERAGE.judge_one(of, "It runs on PlayStation.").values["coverage"] == 100


def test_fidelity_finds_names_in_words():
    units = (AttributeValue("hasInternet", "True"), AttributeValue("food", "Thai"))
    of = Sample("7", "cafes", units, ("",), challenge=Orders(((0, 1), (1, 0)), ((1, 0),)))
    values, _ = ORDER_INVARIANCE.judge_one(of, "Thai, has internet.", "It has internet, and Thai.")
    assert values["fidelity_pbh"] == 100


# --- PARENT ---------------------------------------------------------------------------------------


def measure(of, output, metric=PARENT):
    details = metric.judge_one(of, output).details
    suffix = "_full_table" if metric.full_table else ""
    return ParentEvidence(*(details[f"{side}{suffix}"] for side in ParentEvidence._fields))


def sample(*references, units=()):
    return Sample("0" * 16, "letters", units, references)


ANN = Triple("Ann", "friend", "Bob")


def test_the_published_table_leaves_out_dates_and_countries():
    text = "Ann met Bob"
    without = measure(sample(text, units=(ANN,)), text)
    for unit, is_published in (
        (Triple("Ann", "birth date", "May"), False),
        (Triple("Ann", "house", "12345"), False),
        (Triple("2001", "founder", "123 456"), True),
        (AttributeValue("date country", "2001"), True),
    ):
        both = sample(text, units=(ANN, unit))
        full = measure(both, text, Parent(full_table=True))
        assert full != without
        assert measure(both, text) == (full if is_published else without)


def test_the_signature_holds_every_setting():
    tok, version = "tok:nltk3.9-punkt-en", f"v:{__version__}"
    assert PARENT.signature == f"parent|lambda:0.5|order:4|{tok}|table:published|{version}"
    other = Parent(weight=0.25, max_order=2, full_table=True).signature
    assert other == f"parent_full_table|lambda:0.25|order:2|{tok}|table:full|{version}"


letters = st.sampled_from("abcdefg")
letter_texts = st.lists(letters, max_size=12)


@given(
    output=letter_texts,
    references=st.lists(letter_texts, min_size=1, max_size=4),
    table=st.lists(st.lists(letters, min_size=1, max_size=5), max_size=4),
    weight=st.floats(0, 1),
    max_order=st.integers(1, 6),
)
def test_every_number_is_that_of_the_definition(output, references, table, weight, max_order):
    units = tuple(AttributeValue("is", " ".join(value)) for value in table)
    drawn = sample(*map(" ".join, references), units=units)
    evidence = measure(drawn, " ".join(output), Parent(weight, max_order))
    expected = slow_parent.parent(output, references, table, weight, max_order)
    assert evidence == pytest.approx(expected, abs=1e-12)


tokens = st.sampled_from(["ann", "2001", "country", "'s", "."])
phrases = st.lists(tokens, max_size=3).map(" ".join)


@given(st.lists(st.builds(AttributeValue, phrases, phrases)), phrases, phrases)
def test_attributes_are_unfiltered(table, reference, output):
    drawn = sample(reference, units=tuple(table))
    assert measure(drawn, output) == measure(drawn, output, Parent(full_table=True))


# --- Orders ---------------------------------------------------------------------------------------


def test_one_unit_has_no_order():
    with pytest.raises(ValueError, match="fewer than two"):
        kendall((0,), (0,))


# Few words, near and far, so that mentions mention units in part, twice, or not at all.
names_of_units = st.sampled_from(
    ["gull", "gulls", "pier", "old pier", "a b", "7", "turkish", "yes", "no"]
)
texts = st.lists(st.sampled_from(["gull", "pier", "old", "a", "b", "7", "turkey", "yes", "area"]))
mentions = texts.map(" ".join)


@st.composite
def ordered(draw):
    triples = st.builds(Triple, names_of_units, st.just("is"), names_of_units)
    attributes = st.builds(AttributeValue, st.sampled_from(["area", "near"]), names_of_units)
    unit = draw(st.sampled_from([triples, attributes]))
    units = tuple(draw(st.lists(unit, min_size=2, max_size=4)))
    orders = st.permutations(range(len(units))).map(tuple)
    references = tuple(draw(st.lists(orders, min_size=1, max_size=3)))
    context = draw(st.fixed_dictionaries({}, optional={"name": names_of_units}))
    challenge = Orders((draw(orders), draw(orders)), references)
    return Sample("drawn", "drawn", units, ("unread",), context, challenge)


@given(ordered(), mentions, mentions)
def test_verdicts_are_those_of_the_definition(sample, first, second):
    values, details = ORDER_INVARIANCE.judge_one(sample, first, second)
    properties = []
    for number, output in enumerate((first, second), start=1):
        positions = slow_order.located(sample, output)
        assert details[f"pos_{number}"] == positions
        lost = tuple(unit for unit, position in enumerate(positions) if position is None)
        assert details[f"missing_{number}"] == lost
        faithful, proper, exact = verdict = slow_order.judge(sample, output)
        assert tuple(details[f"{key}_{number}"] for key in ("fidelity", "proper", "em")) == verdict
        properties.append((faithful, proper, exact, proper and faithful))
    names = ("fidelity", "ordering", "ordering_em", "faithful_ordering")
    for name, one, other in zip(names, *properties, strict=True):
        assert values.pop(f"{name}_pbh") == 100 * (one and other)
        assert values.pop(f"{name}_poh") == 100 * (one != other)
    assert values == {}


@given(st.lists(st.tuples(ordered(), mentions), min_size=1, max_size=5))
def test_cwio_is_that_of_the_definition(drawn):
    judgements = [CWIO.judge_one(sample, output) for sample, output in drawn]
    scores = {score.name: score.value for score in scores_of(CWIO, judgements)}
    expected = slow_order.cwio(*zip(*drawn, strict=True))
    names = ("cwio", "cwio_located", "cwio_located_share")
    assert [scores[name] for name in names] == pytest.approx(expected, nan_ok=True)


# --- The copy rule --------------------------------------------------------------------------------


def hiding(unit, *phrases):
    challenge = Hidden(phrases, (("hull", ("oak",)),))
    return Sample("1", "invented", (unit,), (), challenge=challenge)


PORT = hiding(Triple("Entity 1", "harbour", "Old Basin"), ("Greyport", "Entity 1"))


def test_a_leak_is_located_and_every_phrase_must_be_copied():
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


def hidden_samples(unit, secrets):
    phrase = st.tuples(st.sampled_from(secrets), st.sampled_from(PHRASES))
    return st.lists(phrase, min_size=1, max_size=3).map(lambda drawn: hiding(unit, *drawn))


@settings(max_examples=500)
@given(
    hidden_samples(Triple("a", "b", "c"), ENTITIES)
    | hidden_samples(AttributeValue("a", "b"), [*POSSIBLE_VALUES, "hull"]),
    outputs,
)
def test_both_verdicts_are_those_of_the_definition(sample, output):
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
