"""What holds of the sets of any corpus of slots: whatever is built, and what keeps it from it."""

from collections.abc import Sequence
from typing import TypeAlias

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spor_tasks.aspects import build
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    CorpusSamples,
    Hidden,
    Sample,
    SampleMaker,
    SplitPair,
    challenge_of,
)
from spor_tasks.corpora import own
from tests.oracles.requirements import broken

Part: TypeAlias = tuple[Sample, ...]

ASPECTS = (
    ("systematicity", None),
    ("productivity", "n1"),
    ("productivity", "n2"),
    ("order_invariance", "main"),
    ("order_invariance", "cwio"),
    ("order_invariance", "performance"),
    ("rule_learnability", None),
)
# Values that contain each other, tell nothing, or look like what is shown in their place.
VALUES = {"hull": ("oak", "red, blue"), "length": ("4", "£20–25"), "deck": ("Oak 4", "yes", "pine")}
VALUES |= {"value": ("a", "Value A", "")}
SLOTS = [AttributeValue(what, value) for what, values in VALUES.items() for value in values]

# The units, how many of them each of two texts tells, and the name.
drawn = st.tuples(
    st.lists(st.sampled_from([*SLOTS, *SLOTS[:5]]), min_size=1, max_size=4, unique=True),
    st.sampled_from([(4,), (4, 4), (4, 1)]),
    st.sampled_from([None, "Gull", "The Oak"]),
)


def made(contents: Sequence[tuple[list[AttributeValue], tuple[int, ...], str | None]]) -> Part:
    make = SampleMaker("boats")
    return tuple(
        make(
            units,
            [f"A boat: {' and '.join(unit.value for unit in units[:told])}." for told in texts],
            name=name,
        )
        for units, texts, name in contents
    )


# There is something to build of every aspect, and more that comes in the way.
always = [([slot], (4,), None) for slot in SLOTS * 2]
a, b, c, d, e = SLOTS[:5]
always += [(units, (4,), None) for units in ([a, b, d], [a, b, e], [a, b], [b, c])]
trains = st.lists(drawn, max_size=6).map(lambda contents: made([*always, *contents]))
some = st.lists(drawn, max_size=6)
tests = some.map(lambda contents: made([([a, c, d], (4, 4), None), *contents])) | some.map(made)
corpora = st.builds(CorpusSamples, st.just("boats"), trains | tests, tests)
hidden = st.lists(st.sampled_from([*VALUES]), max_size=2, unique=True).map(tuple)


def texts_shown(sample: Sample) -> list[str]:
    return [sample.about("name") or "", *(unit[-1] for unit in sample.units)]


def built_or_why_not(
    corpus: CorpusSamples, named: tuple[str, str | None], seed: int, hide: tuple[str, ...]
) -> SplitPair | SplitError:
    try:
        return build.build(corpus, *named, seed=seed, restarts=1, hide=hide)
    except SplitError as error:
        return error


@pytest.mark.parametrize("named", ASPECTS)
@settings(max_examples=25)
@given(corpora, st.integers(0, 3), hidden)
def test_whatever_is_built_holds_and_all_else_says_why_not(
    named: tuple[str, str | None], corpus: CorpusSamples, seed: int, hide: tuple[str, ...]
) -> None:
    pair = built_or_why_not(corpus, named, seed, hide)
    event(f"{named[0]}: {type(pair).__name__}")
    if isinstance(pair, SplitError):
        assert pair.what
        assert pair.remedy
        return
    assert broken(pair) == []
    tested = pair.test.samples
    if pair.aspect != "systematicity":
        assert len(tested) + sum(count for _, count in pair.untested) == len(corpus.test)
    if pair.aspect == "rule_learnability":
        for sample in tested:
            shown = [text.lower() for text in texts_shown(sample)]
            for what, phrase in challenge_of(sample, Hidden).phrases:
                assert not hide or what in hide
                secrets = dict(challenge_of(sample, Hidden).values)[what]
                assert not any(secret.lower() in text for secret in secrets for text in shown)
                assert phrase in own.linearize(sample, "instruction")
